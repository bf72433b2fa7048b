/* SPDX-License-Identifier: BSD-3-Clause */
/* Indiscernible pairs of rows with different decisions. Without wildcards the rows are
 * grouped by all attributes, and only pairs within a group are listed.
 *
 * Pairs can be quadratic in number while a caller asks only for some, so the number and
 * the list are found separately: counting takes O(rows) from the sizes of groups,
 *
 *     pairs = sum over groups C(n_g, 2) - sum over (group, decision) C(n_gd, 2),
 *
 * and listing takes O(1) for each pair listed, by two links from each row:
 *
 *     row of one group    0    3    4    8    9
 *     decision            A    A    B    B    A
 *     next                3    4    8    9    -
 *     other               4    4    9    9    -     first later row of another decision
 *
 * Pairs come in the order (0,4) (0,8) (3,4) ...: that of rows, as from a double loop. */
#include <string.h>
#include <tsanom/roughset.h>

#include "core/exec.h"
#include "roughset/relation.h"

typedef struct {
  size_t *pairs;
  size_t capacity, count;
} pair_list;

static void add_pair(pair_list *list, size_t i, size_t j) {
  if (list->count < list->capacity) {
    list->pairs[2 * list->count] = i;
    list->pairs[2 * list->count + 1] = j;
  }
  list->count++;
}

/* All pairs of a group, less those of one decision: each row adds the rows before it. */
static uint64_t count_pairs(const tsn_rs_input *input, tsn_rs_relation *r,
                            size_t groups) {
  size_t rows = input->table.rows;
  tsn_rs_projection pair = {.values = r->pairs, .stride = 2, .count = 2, .rows = rows};
  uint64_t pairs = 0;
  memset(r->count, 0, groups * sizeof *r->count);
  for (size_t x = 0; x < rows; x++) {
    r->pairs[2 * x] = (int32_t)r->group[x];
    r->pairs[2 * x + 1] = input->table.decision[x];
    pairs += r->count[r->group[x]]++;
  }
  size_t kinds = tsn_rs_group(&pair, &r->index, r->decision);
  memset(r->count, 0, kinds * sizeof *r->count);
  for (size_t x = 0; x < rows; x++) pairs -= r->count[r->decision[x]]++;
  return pairs;
}

/* Chain the rows of each group in order: r->first[x] is the next row of x's group
 * after x, or UINT32_MAX, and r->count[x] the next one with another decision. */
static void chain_rows(const tsn_rs_input *input, tsn_rs_relation *r, size_t groups) {
  const int32_t *decision = input->table.decision;
  uint32_t *next = r->first, *other = r->count, *head = r->decision;
  memset(head, 0xFF, groups * sizeof *head);
  for (size_t x = input->table.rows; x-- > 0;) {
    uint32_t after = head[r->group[x]];
    next[x] = after;
    if (after == UINT32_MAX || decision[after] != decision[x]) {
      other[x] = after;
    } else {
      other[x] = other[after];
    }
    head[r->group[x]] = (uint32_t)x;
  }
}

/* From row x: step to the first row of another decision and list along `next`; at a row
 * of x's own decision, jump over it and its equals by `other`. */
static tsanom_status list_by_groups(const tsn_rs_input *input, tsn_rs_relation *r,
                                    pair_list *list) {
  const tsanom_roughset_table *t = &input->table;
  const tsn_rs_watch watch = {&input->exec, 0, t->rows};
  tsn_rs_projection p = {.values = t->values,
                         .stride = t->ld,
                         .count = t->attributes,
                         .rows = t->rows,
                         .watch = &watch};
  size_t groups = tsn_rs_group(&p, &r->index, r->group);
  if (groups == TSN_RS_STOPPED) return TSANOM_STOPPED;
  uint64_t total = count_pairs(input, r, groups);
  chain_rows(input, r, groups);
  for (size_t x = 0; x < t->rows && list->count < list->capacity; x++) {
    if (tsn_exec_stop(&input->exec, x, t->rows)) return TSANOM_STOPPED;
    uint32_t y = r->count[x];
    while (y != UINT32_MAX && list->count < list->capacity) {
      if (t->decision[y] == t->decision[x]) {
        y = r->count[y];
      } else {
        add_pair(list, x, y);
        y = r->first[y];
      }
    }
  }
  list->count = (size_t)total;
  return TSANOM_OK;
}

static tsanom_status list_by_pairs(const tsn_rs_input *input, tsn_rs_relation *r,
                                   pair_list *list) {
  const tsanom_roughset_table *t = &input->table;
  tsn_rs_list(NULL, t->attributes, r->list);
  for (size_t x = 0; x < t->rows; x++) {
    if (tsn_exec_stop(&input->exec, x, t->rows)) return TSANOM_STOPPED;
    for (size_t y = x + 1; y < t->rows; y++) {
      if (t->decision[x] != t->decision[y] &&
          tsn_rs_agree(t, r->list, t->attributes, x, y)) {
        add_pair(list, x, y);
      }
    }
  }
  return TSANOM_OK;
}

typedef struct {
  tsn_rs_relation_call call;
  pair_list list;
  size_t *count;
} inconsistent_call;

static tsanom_status check(void *context) {
  const inconsistent_call *c = context;
  const tsanom_exec *exec = &c->call.input.exec;
  tsanom_status status = tsn_rs_relation_check(context);
  if (status < 0 || (status = tsn_require(exec, c->count, "count")) < 0) return status;
  if (c->list.capacity == 0) return TSANOM_OK;
  return tsn_require_array(exec, c->list.pairs, 2 * c->list.capacity, "pairs");
}

static tsanom_status body(void *context) {
  inconsistent_call *c = context;
  const tsn_rs_input *input = &c->call.input;
  tsanom_status status = input->options.missing == TSANOM_ROUGHSET_WILDCARD
                             ? list_by_pairs(input, &c->call.relation, &c->list)
                             : list_by_groups(input, &c->call.relation, &c->list);
  *c->count = c->list.count;
  bool is_cut = status == TSANOM_OK && c->list.count > c->list.capacity;
  return is_cut ? TSANOM_PARTIAL : status;
}

tsanom_status tsanom_roughset_inconsistent(const tsanom_roughset_table *table,
                                           const tsanom_roughset_options *options,
                                           const tsanom_exec *exec, size_t *pairs,
                                           size_t capacity, size_t *count) {
  inconsistent_call c = {.list = {.pairs = pairs, .capacity = capacity}, .count = count};
  tsanom_status status = tsn_rs_read(&c.call.input, TSN_RS_MISSING, table, options, exec);
  return status < 0 ? status : tsn_rs_relation_run(check, body, &c);
}
