/* SPDX-License-Identifier: BSD-3-Clause */
/* Positive region, dependency degree and significance. A row is in the positive region
 * of B if all rows that B does not discern from it have its decision: rows are grouped by
 * B, and the groups of one decision count.
 *
 *     POS_B   = rows whose group by B has one decision
 *     gamma_B = |POS_B| / n                                  the dependency on B
 *     significance of a = |gamma_B - gamma_B'|,  B' = B without a, or with it if not in B
 *
 * Expected O(rows * |B|) each (table.c); the significance of all m attributes is m such
 * groupings. Counts are integers until the last division, so that equal regions have
 * equal results. (Z. Pawlak, Rough Sets, 1991.) */
#include <string.h>
#include <tsanom/roughset.h>

#include "core/exec.h"
#include "roughset/relation.h"

/* Set relation->flag for the rows of the positive region of the attributes listed and
 * count them. Each row is compared with the first of its group: one that differs in its
 * decision makes the group mixed. */
static tsanom_status positive_by_groups(const tsn_rs_input *input, tsn_rs_relation *r,
                                        size_t count, size_t *size) {
  const tsanom_roughset_table *t = &input->table;
  tsn_rs_projection p = {.values = t->values,
                         .stride = t->ld,
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

/* The same with wildcards, O(rows^2 * attributes): a pair of rows of different decisions
 * that agree are both out. Pairs that are both out already are skipped. */
static tsanom_status positive_by_pairs(const tsn_rs_input *input, tsn_rs_relation *r,
                                       size_t count, size_t *size) {
  const tsanom_roughset_table *t = &input->table;
  memset(r->flag, 1, t->rows);
  for (size_t x = 0; x < t->rows; x++) {
    if (tsn_exec_stop(&input->exec, x, t->rows)) return TSANOM_STOPPED;
    for (size_t y = x + 1; y < t->rows; y++) {
      if (t->decision[x] == t->decision[y] || (!r->flag[x] && !r->flag[y])) continue;
      if (tsn_rs_agree(t, r->list, count, x, y)) r->flag[x] = r->flag[y] = 0;
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

typedef struct {
  tsn_rs_relation_call call;
  int32_t *positive;
  size_t *size;
  double *gamma;
} dependency_call;

static tsanom_status find_dependency(void *context) {
  dependency_call *c = context;
  const tsn_rs_input *input = &c->call.input;
  tsn_rs_relation *r = &c->call.relation;
  size_t rows = input->table.rows, region = 0;
  size_t count = tsn_rs_list(c->call.subset, input->table.attributes, r->list);
  if (tsn_exec_stop(&input->exec, 0, rows)) return TSANOM_STOPPED;
  tsanom_status status = positive_region(input, r, count, &region);
  if (status != TSANOM_OK) return status;
  for (size_t x = 0; c->positive && x < rows; x++) c->positive[x] = r->flag[x];
  if (c->size) *c->size = region;
  if (c->gamma) *c->gamma = (double)region / (double)rows;
  return TSANOM_OK;
}

tsanom_status tsanom_roughset_dependency(const tsanom_roughset_table *table,
                                         const uint64_t *subset,
                                         const tsanom_roughset_options *options,
                                         const tsanom_exec *exec, int32_t *positive,
                                         size_t *size, double *gamma) {
  dependency_call c = {
      .call = {.subset = subset}, .positive = positive, .size = size, .gamma = gamma};
  tsanom_status status = tsn_rs_read(&c.call.input, TSN_RS_MISSING, table, options, exec);
  if (status < 0) return status;
  return tsn_rs_relation_run(tsn_rs_relation_check, find_dependency, &c);
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

typedef struct {
  tsn_rs_relation_call call;
  double *significance;
} significance_call;

static tsanom_status check_significance(void *context) {
  const significance_call *c = context;
  const tsn_rs_input *input = &c->call.input;
  tsanom_status status = tsn_rs_relation_check(context);
  if (status < 0) return status;
  return tsn_require_array(&input->exec, c->significance, input->table.attributes,
                           "significance");
}

static tsanom_status find_significance(void *context) {
  significance_call *c = context;
  const tsn_rs_input *input = &c->call.input;
  tsn_rs_relation *r = &c->call.relation;
  const uint64_t *subset = c->call.subset;
  size_t attributes = input->table.attributes, base = 0, region = 0;
  size_t count = tsn_rs_list(subset, attributes, r->list);
  tsanom_status status = positive_region(input, r, count, &base);
  for (size_t a = 0; a < attributes && status == TSANOM_OK; a++) {
    if (tsn_exec_stop(&input->exec, a, attributes)) return TSANOM_STOPPED;
    count = list_toggled(subset, attributes, a, r->list);
    status = positive_region(input, r, count, &region);
    size_t change = region > base ? region - base : base - region;
    if (status == TSANOM_OK) {
      c->significance[a] = (double)change / (double)input->table.rows;
    }
  }
  return status;
}

tsanom_status tsanom_roughset_significance(const tsanom_roughset_table *table,
                                           const uint64_t *subset,
                                           const tsanom_roughset_options *options,
                                           const tsanom_exec *exec,
                                           double *significance) {
  significance_call c = {.call = {.subset = subset}, .significance = significance};
  tsanom_status status = tsn_rs_read(&c.call.input, TSN_RS_MISSING, table, options, exec);
  if (status < 0) return status;
  return tsn_rs_relation_run(check_significance, find_significance, &c);
}
