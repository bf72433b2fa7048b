/* SPDX-License-Identifier: BSD-3-Clause */
/* Positive region, dependency degree and significance. */
#include <string.h>
#include <tsanom/roughset.h>

#include "core/exec.h"
#include "roughset/relation.h"

/* Set relation->flag for the rows of the positive region of the attributes listed
 * and count them. */
static tsanom_status positive_by_groups(const tsn_rs_input *input, tsn_rs_relation *r,
                                        size_t count, size_t *size) {
  const tsanom_roughset_table *t = &input->table;
  tsn_rs_projection p = {.values = t->values,
                         .stride = t->stride,
                         .list = count == t->attributes ? NULL : r->list,
                         .count = count,
                         .rows = t->rows};
  size_t groups = tsn_rs_group(&p, &r->index, r->group);
  uint8_t *mixed = (uint8_t *)r->count;
  memset(mixed, 0, groups);
  for (size_t x = 0; x < t->rows; x++) {
    uint32_t g = r->group[x];
    mixed[g] |= t->decision[x] != t->decision[r->index.first[g]];
  }
  *size = 0;
  for (size_t x = 0; x < t->rows; x++) *size += r->flag[x] = !mixed[r->group[x]];
  return TSANOM_OK;
}

static tsanom_status positive_by_pairs(const tsn_rs_input *input, tsn_rs_relation *r,
                                       size_t count, size_t *size) {
  const tsanom_roughset_table *t = &input->table;
  memset(r->flag, 1, t->rows);
  for (size_t x = 0; x < t->rows; x++) {
    if (tsn_exec_stop(&input->exec, x, t->rows)) return TSANOM_STOPPED;
    for (size_t y = x + 1; y < t->rows; y++) {
      if (t->decision[x] == t->decision[y] || (!r->flag[x] && !r->flag[y])) continue;
      if (tsn_rs_agree(t, r->list, count, true, x, y)) r->flag[x] = r->flag[y] = 0;
    }
  }
  *size = 0;
  for (size_t x = 0; x < t->rows; x++) *size += r->flag[x];
  return TSANOM_OK;
}

static tsanom_status positive_region(const tsn_rs_input *input, tsn_rs_relation *r,
                                     size_t count, size_t *size) {
  return input->options.missing == TSANOM_ROUGHSET_WILDCARD
             ? positive_by_pairs(input, r, count, size)
             : positive_by_groups(input, r, count, size);
}

tsanom_status tsanom_roughset_dependency_workspace(size_t rows, size_t attributes,
                                                   const tsanom_roughset_options *options,
                                                   const tsanom_exec *exec,
                                                   size_t *bytes) {
  tsn_rs_input input;
  if (!bytes) return TSANOM_E_NULL;
  tsanom_status status = tsn_rs_read_sizes(&input, rows, attributes, options, exec);
  if (status < 0) return status;
  tsn_arena arena = tsn_arena_measure();
  tsn_rs_relation relation;
  tsn_rs_relation_layout(&arena, &input, &relation);
  return tsn_arena_bytes(&arena, bytes);
}

tsanom_status tsanom_roughset_dependency(const tsanom_roughset_table *table,
                                         const uint64_t *subset,
                                         const tsanom_roughset_options *options,
                                         const tsanom_exec *exec, void *work,
                                         size_t work_bytes, int32_t *positive,
                                         size_t *size, double *gamma) {
  tsn_rs_input input;
  tsn_workspace workspace;
  tsn_rs_relation relation;
  tsanom_status status = tsn_rs_read(&input, table, options, exec);
  if (status < 0) return status;
  status = tsn_rs_relation_open(&input, subset, work, work_bytes, &workspace, &relation);
  if (status < 0) return status;
  size_t rows = input.table.rows, region;
  size_t count = tsn_rs_list(subset, input.table.attributes, relation.list);
  status = tsn_exec_stop(&input.exec, 0, rows)
               ? TSANOM_STOPPED
               : positive_region(&input, &relation, count, &region);
  if (status == TSANOM_OK) {
    for (size_t x = 0; positive && x < rows; x++) positive[x] = relation.flag[x];
    if (size) *size = region;
    if (gamma) *gamma = (double)region / (double)rows;
  }
  tsn_workspace_close(&workspace);
  return status;
}

/* The attributes of the subset without `attribute`, or with it if it is not in. */
static size_t list_toggled(const uint64_t *subset, size_t attributes, size_t attribute,
                           uint32_t *list) {
  size_t count = 0;
  for (size_t a = 0; a < attributes; a++) {
    bool in = !subset || tsn_rs_has(subset, a);
    if (in != (a == attribute)) list[count++] = (uint32_t)a;
  }
  return count;
}

tsanom_status tsanom_roughset_significance(const tsanom_roughset_table *table,
                                           const uint64_t *subset,
                                           const tsanom_roughset_options *options,
                                           const tsanom_exec *exec, void *work,
                                           size_t work_bytes, double *significance) {
  tsn_rs_input input;
  tsn_workspace workspace;
  tsn_rs_relation relation;
  if (!significance) return TSANOM_E_NULL;
  tsanom_status status = tsn_rs_read(&input, table, options, exec);
  if (status < 0) return status;
  status = tsn_rs_relation_open(&input, subset, work, work_bytes, &workspace, &relation);
  if (status < 0) return status;
  size_t attributes = input.table.attributes, base = 0, region = 0;
  size_t count = tsn_rs_list(subset, attributes, relation.list);
  status = positive_region(&input, &relation, count, &base);
  for (size_t a = 0; a < attributes && status == TSANOM_OK; a++) {
    if (tsn_exec_stop(&input.exec, a, attributes)) {
      status = TSANOM_STOPPED;
      break;
    }
    count = list_toggled(subset, attributes, a, relation.list);
    status = positive_region(&input, &relation, count, &region);
    size_t change = region > base ? region - base : base - region;
    if (status == TSANOM_OK) {
      significance[a] = (double)change / (double)input.table.rows;
    }
  }
  tsn_workspace_close(&workspace);
  return status;
}
