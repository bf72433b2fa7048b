/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows grouped by attributes: buffers and calls. The functions that use a relation differ
 * only in what they do with the groups, so that their size queries, the check of the
 * subset and the workspace are here once. The index has two attributes to spare, for
 * grouping by (group, decision). */
#include "roughset/relation.h"

bool tsn_rs_agree(const tsanom_roughset_table *table, const uint32_t *list, size_t count,
                  size_t x, size_t y) {
  const int32_t *a = table->values + x * table->ld;
  const int32_t *b = table->values + y * table->ld;
  for (size_t k = 0; k < count; k++) {
    int32_t u = a[list[k]], v = b[list[k]];
    bool wild = u == TSANOM_ROUGHSET_MISSING || v == TSANOM_ROUGHSET_MISSING;
    if (u != v && !wild) return false;
  }
  return true;
}

static void layout(tsn_arena *arena, void *context) {
  tsn_rs_relation_call *call = context;
  tsn_rs_relation *r = &call->relation;
  size_t rows = call->input.table.rows, attributes = call->input.table.attributes;
  tsn_rs_index_layout(arena, rows, attributes + 2, &r->index);
  r->list = tsn_arena_take(arena, attributes + 1, sizeof *r->list);
  r->group = tsn_arena_take(arena, rows, sizeof *r->group);
  r->decision = tsn_arena_take(arena, rows, sizeof *r->decision);
  r->count = tsn_arena_take(arena, rows + 1, sizeof *r->count);
  r->first = tsn_arena_take(arena, rows + 1, sizeof *r->first);
  r->pairs = tsn_arena_take(arena, rows, 2 * sizeof *r->pairs);
  r->flag = tsn_arena_take(arena, rows, sizeof *r->flag);
}

tsanom_status tsn_rs_relation_bytes(int uses, size_t rows, size_t attributes,
                                    const tsanom_roughset_options *options,
                                    const tsanom_exec *exec, size_t *bytes) {
  tsn_rs_relation_call call;
  tsanom_status status =
      tsn_rs_read_sizes(&call.input, uses, rows, attributes, options, exec);
  return status < 0 ? status
                    : tsn_workspace_query(&call.input.exec, layout, &call, bytes);
}

tsanom_status tsn_rs_relation_run(tsn_body *body, void *context) {
  const tsn_rs_relation_call *call = context;
  const tsanom_exec *exec = &call->input.exec;
  size_t bit = call->subset
                   ? tsn_rs_first_beyond(call->subset, call->input.table.attributes)
                   : TSANOM_NONE;
  if (bit != TSANOM_NONE) return tsn_reject_at(exec, TSANOM_E_INDEX, "subset", bit);
  return tsn_workspace_run(exec, layout, NULL, body, context);
}
