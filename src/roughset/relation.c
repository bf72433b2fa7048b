/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of rows: dependency and significance, inconsistent pairs, rules, and the
 * discernibility matrix. All but the last group rows by a set of attributes B. The
 * indiscernibility relation
 *
 *     x IND_B y  iff  a(x) = a(y) for all a in B
 *
 * is held as the number of the class of each row, O(rows) memory, never as pairs. The
 * functions differ only in what they do with the groups, so that the check of table and
 * subset and the workspace are here once. The index has two attributes to spare, for
 * grouping by (group, decision). */
#include <string.h>
#include <tsanom/roughset.h>

#include "core/exec.h"
#include "core/size.h"
#include "roughset/table.h"

/* Buffers; each function says in its own comments what it uses `count`, `first` and
 * `flag` for. */
typedef struct {
  tsn_rs_index index;
  uint32_t *list;          /* the attributes of the set */
  uint32_t *group;         /* of each row */
  uint32_t *decision;      /* of each row, numbered by first appearance */
  uint32_t *count, *first; /* of each group: rows, and another number */
  int32_t *pairs;          /* group and decision, as a table of two columns */
  uint8_t *flag;           /* of each row or group */
} relation;

/* A call whose buffers are one relation: the first member of its context. */
typedef struct {
  tsn_rs_input input;
  const uint64_t *subset; /* NULL: all attributes */
  /* An output of `capacity` entries, which is required unless that is 0; `counted`: so is
   * the place for the number of entries found. */
  const char *output_name;
  const void *output;
  size_t capacity, *count;
  bool counted;
  relation relation;
} relation_call;

/* With wildcards: whether x and y agree on the attributes listed; a missing value agrees
 * with every other. That is reflexive and symmetric, but not transitive: it cannot be
 * hashed, and callers compare all pairs. */
static bool agree(const tsanom_roughset_table *table, const uint32_t *list, size_t count,
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

static void relation_layout(tsn_arena *arena, void *context) {
  relation_call *call = context;
  relation *r = &call->relation;
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

/* Check table, subset and outputs of such a call, with `context` beginning with a
 * relation_call; a subset with a bit beyond the attributes is TSANOM_E_INDEX. */
static tsanom_status relation_check(void *context) {
  const relation_call *call = context;
  const tsanom_exec *exec = &call->input.exec;
  size_t attributes = call->input.table.attributes;
  tsanom_status status = tsn_rs_check_table(&call->input);
  if (status < 0) return status;
  size_t bit = call->subset ? tsn_rs_first_beyond(call->subset, attributes) : TSANOM_NONE;
  if (bit != TSANOM_NONE) {
    return tsn_reject_is(exec, TSANOM_E_INDEX, "subset", bit,
                         "1; 0 is expected beyond the %zu attributes", attributes);
  }
  if (call->counted && (status = tsn_require(exec, call->count, "count")) < 0) {
    return status;
  }
  return call->capacity > 0
             ? tsn_require_array(exec, call->output, call->capacity, call->output_name)
             : TSANOM_OK;
}

/* Run the body of such a call, whose input was read. */
static tsanom_status relation_run(tsn_body *body, void *context) {
  const relation_call *call = context;
  return tsn_workspace_run(&call->input.exec, relation_layout, relation_check, body,
                           context);
}

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

/* Set relation->flag for the rows of the positive region of the attributes listed and
 * count them. Each row is compared with the first of its group: one that differs in its
 * decision makes the group mixed. */
static tsanom_status positive_by_groups(const tsn_rs_input *input, relation *r,
                                        size_t count, size_t *size) {
  const tsanom_roughset_table *t = &input->table;
  tsn_rs_projection p = tsn_rs_rows(input, NULL);
  if (count < t->attributes) p.list = r->list;
  p.count = count;
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
static tsanom_status positive_by_pairs(const tsn_rs_input *input, relation *r,
                                       size_t count, size_t *size) {
  const tsanom_roughset_table *t = &input->table;
  memset(r->flag, 1, t->rows);
  for (size_t x = 0; x < t->rows; x++) {
    if (tsn_exec_stop(&input->exec, x, t->rows)) return TSANOM_STOPPED;
    for (size_t y = x + 1; y < t->rows; y++) {
      if (t->decision[x] == t->decision[y] || (!r->flag[x] && !r->flag[y])) continue;
      if (agree(t, r->list, count, x, y)) r->flag[x] = r->flag[y] = 0;
    }
  }
  *size = 0;
  for (size_t x = 0; x < t->rows; x++) *size += r->flag[x];
  return TSANOM_OK;
}

static tsanom_status positive_region(const tsn_rs_input *input, relation *r, size_t count,
                                     size_t *size) {
  return input->options.missing == TSANOM_ROUGHSET_WILDCARD
             ? positive_by_pairs(input, r, count, size)
             : positive_by_groups(input, r, count, size);
}

typedef struct {
  relation_call call;
  int32_t *positive;
  size_t *size;
  double *gamma;
} dependency_call;

static tsanom_status find_dependency(void *context) {
  dependency_call *c = context;
  const tsn_rs_input *input = &c->call.input;
  relation *r = &c->call.relation;
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
  return relation_run(find_dependency, &c);
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
  relation_call call;
  double *significance;
} significance_call;

static tsanom_status find_significance(void *context) {
  significance_call *c = context;
  const tsn_rs_input *input = &c->call.input;
  relation *r = &c->call.relation;
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
  significance_call c = {
      .call = {.subset = subset, .output_name = "significance", .output = significance},
      .significance = significance};
  tsanom_status status = tsn_rs_read(&c.call.input, TSN_RS_MISSING, table, options, exec);
  if (status < 0) return status;
  c.call.capacity = c.call.input.table.attributes;
  return relation_run(find_significance, &c);
}

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

/* The pairs of a group and a decision, numbered by first appearance into r->decision;
 * returns their number. */
static size_t group_decisions(const tsn_rs_input *input, relation *r) {
  size_t rows = input->table.rows;
  tsn_rs_projection pair = {.values = r->pairs, .stride = 2, .count = 2, .rows = rows};
  for (size_t x = 0; x < rows; x++) {
    r->pairs[2 * x] = (int32_t)r->group[x];
    r->pairs[2 * x + 1] = input->table.decision[x];
  }
  return tsn_rs_group(&pair, &r->index, r->decision);
}

/* All pairs of a group, less those of one decision: each row adds the rows before it. */
static uint64_t count_pairs(const tsn_rs_input *input, relation *r, size_t groups) {
  size_t rows = input->table.rows, kinds = group_decisions(input, r);
  uint64_t pairs = 0;
  memset(r->count, 0, groups * sizeof *r->count);
  for (size_t x = 0; x < rows; x++) pairs += r->count[r->group[x]]++;
  memset(r->count, 0, kinds * sizeof *r->count);
  for (size_t x = 0; x < rows; x++) pairs -= r->count[r->decision[x]]++;
  return pairs;
}

/* Chain the rows of each group in order: r->first[x] is the next row of x's group
 * after x, or UINT32_MAX, and r->count[x] the next one with another decision. */
static void chain_rows(const tsn_rs_input *input, relation *r, size_t groups) {
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
static tsanom_status list_by_groups(const tsn_rs_input *input, relation *r,
                                    pair_list *list) {
  const tsanom_roughset_table *t = &input->table;
  const tsn_rs_watch watch = {&input->exec, 0, t->rows};
  tsn_rs_projection p = tsn_rs_rows(input, &watch);
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

static tsanom_status list_by_pairs(const tsn_rs_input *input, relation *r,
                                   pair_list *list) {
  const tsanom_roughset_table *t = &input->table;
  tsn_rs_list(NULL, t->attributes, r->list);
  for (size_t x = 0; x < t->rows; x++) {
    if (tsn_exec_stop(&input->exec, x, t->rows)) return TSANOM_STOPPED;
    for (size_t y = x + 1; y < t->rows; y++) {
      if (t->decision[x] != t->decision[y] && agree(t, r->list, t->attributes, x, y)) {
        add_pair(list, x, y);
      }
    }
  }
  return TSANOM_OK;
}

typedef struct {
  relation_call call;
  pair_list list;
} inconsistent_call;

static tsanom_status list_pairs(void *context) {
  inconsistent_call *c = context;
  const tsn_rs_input *input = &c->call.input;
  tsanom_status status = input->options.missing == TSANOM_ROUGHSET_WILDCARD
                             ? list_by_pairs(input, &c->call.relation, &c->list)
                             : list_by_groups(input, &c->call.relation, &c->list);
  *c->call.count = c->list.count;
  bool is_cut = status == TSANOM_OK && c->list.count > c->list.capacity;
  return is_cut ? TSANOM_PARTIAL : status;
}

tsanom_status tsanom_roughset_inconsistent(const tsanom_roughset_table *table,
                                           const tsanom_roughset_options *options,
                                           const tsanom_exec *exec, size_t *pairs,
                                           size_t capacity, size_t *count) {
  inconsistent_call c = {.call = {.output_name = "pairs",
                                  .output = pairs,
                                  .capacity = tsn_product(capacity, 2),
                                  .count = count,
                                  .counted = true},
                         .list = {.pairs = pairs, .capacity = capacity}};
  tsanom_status status = tsn_rs_read(&c.call.input, TSN_RS_MISSING, table, options, exec);
  return status < 0 ? status : relation_run(list_pairs, &c);
}

/* Decision rules of a set of attributes: "if the attributes have the values of this row,
 * the decision is d". Each pair of a group by the attributes and a decision in it is one:
 *
 *     support  = rows of the group with the decision
 *     matching = rows of the group              support / matching: certainty of the rule
 *
 * Two groupings, expected O(rows * attributes), and no comparison of rules: a rule is
 * numbered by the first row that it describes. */

/* The rules: pairs of a group and a decision. */
static size_t find_rules(const tsn_rs_input *input, relation *r, size_t count,
                         tsanom_roughset_rule *rules, size_t capacity) {
  const tsanom_roughset_table *t = &input->table;
  tsn_rs_projection condition = tsn_rs_rows(input, NULL);
  condition.list = r->list;
  condition.count = count;
  size_t groups = tsn_rs_group(&condition, &r->index, r->group);
  memset(r->count, 0, groups * sizeof *r->count);
  for (size_t x = 0; x < t->rows; x++) r->count[r->group[x]]++;
  size_t found = group_decisions(input, r);
  for (size_t k = 0; k < found && k < capacity; k++) {
    size_t row = r->index.first[k];
    rules[k] = (tsanom_roughset_rule){
        .row = row, .matching = r->count[r->group[row]], .decision = t->decision[row]};
  }
  for (size_t x = 0; x < t->rows; x++) {
    if (r->decision[x] < capacity) rules[r->decision[x]].support++;
  }
  return found;
}

typedef struct {
  relation_call call;
  tsanom_roughset_rule *rules;
} rules_call;

static tsanom_status write_rules(void *context) {
  rules_call *c = context;
  const tsn_rs_input *input = &c->call.input;
  relation *r = &c->call.relation;
  size_t listed = tsn_rs_list(c->call.subset, input->table.attributes, r->list);
  size_t found = find_rules(input, r, listed, c->rules, c->call.capacity);
  *c->call.count = found;
  return found > c->call.capacity ? TSANOM_PARTIAL : TSANOM_OK;
}

tsanom_status tsanom_roughset_rules(const tsanom_roughset_table *table,
                                    const uint64_t *subset, const tsanom_exec *exec,
                                    tsanom_roughset_rule *rules, size_t capacity,
                                    size_t *count) {
  rules_call c = {.call = {.subset = subset,
                           .output_name = "rules",
                           .output = rules,
                           .capacity = capacity,
                           .count = count,
                           .counted = true},
                  .rules = rules};
  tsanom_status status = tsn_rs_read(&c.call.input, 0, table, NULL, exec);
  return status < 0 ? status : relation_run(write_rules, &c);
}

/* The discernibility matrix row by row, by the definition (A. Skowron and C. Rauszer,
 * 1992): for each pair of rows x < y the set of attributes in which they differ, and
 *
 *     kind   0   same decision: an empty set
 *            1   must be discerned: the set
 *           -1   inconsistent: different decisions, but no attribute discerns them
 *
 * O(rows^2 * attributes), for small tables that a reader wants to see, as figure 5 of the
 * SPMD paper. The other functions never form it: elements.c works with classes, the
 * core and dependency by hashing. */

/* Write the element of two rows, if `set` is not NULL; whether it is not empty. */
static bool write_element(const tsn_rs_input *input, size_t x, size_t y, uint64_t *set) {
  const tsanom_roughset_table *t = &input->table;
  const int32_t *a = t->values + x * t->ld, *b = t->values + y * t->ld;
  bool any = false, wildcards = input->options.missing == TSANOM_ROUGHSET_WILDCARD;
  for (size_t k = 0; k < t->attributes; k++) {
    bool wild =
        wildcards && (a[k] == TSANOM_ROUGHSET_MISSING || b[k] == TSANOM_ROUGHSET_MISSING);
    if (a[k] == b[k] || wild) continue;
    any = true;
    if (set) tsn_rs_add(set, k);
  }
  return any;
}

/* Pairs in the order (0,1) (0,2) ... (1,2) ...: the upper triangle, row by row. */
static tsanom_status fill_matrix(const tsn_rs_input *input, uint64_t *elements,
                                 int32_t *kind) {
  const tsanom_roughset_table *t = &input->table;
  size_t words = tsn_rs_words(t->attributes), pair = 0;
  for (size_t x = 0; x < t->rows; x++) {
    if (tsn_exec_stop(&input->exec, x, t->rows)) return TSANOM_STOPPED;
    for (size_t y = x + 1; y < t->rows; y++, pair++) {
      uint64_t *set = elements ? elements + pair * words : NULL;
      if (set) memset(set, 0, words * sizeof *set);
      kind[pair] = 0;
      if (t->decision[x] == t->decision[y]) continue;
      kind[pair] = write_element(input, x, y, set) ? 1 : -1;
    }
  }
  return TSANOM_OK;
}

tsanom_status tsanom_roughset_matrix(const tsanom_roughset_table *table,
                                     const tsanom_roughset_options *options,
                                     const tsanom_exec *exec, uint64_t *elements,
                                     int32_t *kind) {
  tsn_rs_input input;
  tsanom_status status = tsn_rs_read(&input, TSN_RS_MISSING, table, options, exec);
  if (status < 0 || (status = tsn_rs_check_table(&input)) < 0) return status;
  size_t rows = input.table.rows, pairs = rows * (rows - 1) / 2;
  if ((status = tsn_require_array(&input.exec, kind, pairs, "kind")) < 0) return status;
  size_t element = elements ? tsn_rs_words(input.table.attributes) * sizeof *elements : 1;
  if (!tsn_array_fits(pairs, tsn_larger(element, sizeof *kind))) {
    return tsn_reject_is(&input.exec, TSANOM_E_OVERFLOW, "table.rows", TSANOM_NONE,
                         "%zu; their %zu pairs do not fit the address space", rows,
                         pairs);
  }
  return fill_matrix(&input, elements, kind);
}
