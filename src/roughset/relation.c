/* SPDX-License-Identifier: BSD-3-Clause */
#include "roughset/relation.h"

void tsn_rs_relation_layout(tsn_arena *arena, const tsn_rs_input *input,
                            tsn_rs_relation *r) {
  size_t rows = input->table.rows, attributes = input->table.attributes;
  tsn_rs_index_layout(arena, rows, attributes + 2, &r->index);
  r->list = tsn_arena_take(arena, attributes + 1, sizeof *r->list);
  r->group = tsn_arena_take(arena, rows, sizeof *r->group);
  r->decision = tsn_arena_take(arena, rows, sizeof *r->decision);
  r->count = tsn_arena_take(arena, rows + 1, sizeof *r->count);
  r->first = tsn_arena_take(arena, rows + 1, sizeof *r->first);
  r->pairs = tsn_arena_take(arena, rows, 2 * sizeof *r->pairs);
  r->flag = tsn_arena_take(arena, rows, sizeof *r->flag);
}

bool tsn_rs_agree(const tsanom_roughset_table *table, const uint32_t *list, size_t count,
                  bool wildcards, size_t x, size_t y) {
  const int32_t *a = table->values + x * table->stride;
  const int32_t *b = table->values + y * table->stride;
  for (size_t k = 0; k < count; k++) {
    int32_t u = a[list[k]], v = b[list[k]];
    bool wild =
        wildcards && (u == TSANOM_ROUGHSET_MISSING || v == TSANOM_ROUGHSET_MISSING);
    if (u != v && !wild) return false;
  }
  return true;
}

tsanom_status tsn_rs_relation_open(const tsn_rs_input *input, const uint64_t *subset,
                                   void *work, size_t work_bytes,
                                   tsn_workspace *workspace, tsn_rs_relation *relation) {
  if (subset && tsn_rs_beyond(subset, input->table.attributes)) return TSANOM_E_VALUE;
  tsn_arena measured = tsn_arena_measure();
  tsn_rs_relation_layout(&measured, input, relation);
  tsanom_status status =
      tsn_workspace_borrow(workspace, &measured, &input->exec, work, work_bytes);
  if (status == TSANOM_OK) tsn_rs_relation_layout(&workspace->arena, input, relation);
  return status;
}
