/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows grouped by attributes: buffers and calls. The functions that use a relation differ
 * only in what they do with the groups, so that the check of table and subset and the
 * workspace are here once. The index has two attributes to spare, for
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

tsanom_status tsn_rs_relation_check(void *context) {
  const tsn_rs_relation_call *call = context;
  size_t attributes = call->input.table.attributes;
  tsanom_status status = tsn_rs_check_table(&call->input);
  if (status < 0 || !call->subset) return status;
  size_t bit = tsn_rs_first_beyond(call->subset, attributes);
  if (bit == TSANOM_NONE) return TSANOM_OK;
  return tsn_reject_is(&call->input.exec, TSANOM_E_INDEX, "subset", bit,
                       "1; 0 is expected beyond the %zu attributes", attributes);
}

tsanom_status tsn_rs_relation_run(tsn_body *check, tsn_body *body, void *context) {
  const tsn_rs_relation_call *call = context;
  return tsn_workspace_run(&call->input.exec, layout, check, body, context);
}
