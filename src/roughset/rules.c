/* SPDX-License-Identifier: BSD-3-Clause */
/* Decision rules of a set of attributes: "if the attributes have the values of this row,
 * the decision is d". Each pair of a group by the attributes and a decision in it is one:
 *
 *     support  = rows of the group with the decision
 *     matching = rows of the group              support / matching: certainty of the rule
 *
 * Three groupings, expected O(rows * attributes), and no comparison of rules: a rule is
 * numbered by the first row that it describes. */
#include <string.h>
#include <tsanom/roughset.h>

#include "roughset/relation.h"

/* The rules: pairs of a group and a decision. The sizes of groups are counted before
 * r->decision is overwritten by the numbers of the rules. */
static size_t find_rules(const tsn_rs_input *input, tsn_rs_relation *r, size_t count,
                         tsanom_roughset_rule *rules, size_t capacity) {
  const tsanom_roughset_table *t = &input->table;
  tsn_rs_projection condition = {.values = t->values,
                                 .stride = t->ld,
                                 .list = r->list,
                                 .count = count,
                                 .rows = t->rows};
  tsn_rs_projection decision = {
      .values = t->decision, .stride = 1, .count = 1, .rows = t->rows};
  tsn_rs_projection pair = {.values = r->pairs, .stride = 2, .count = 2, .rows = t->rows};
  size_t groups = tsn_rs_group(&condition, &r->index, r->group);
  memset(r->count, 0, groups * sizeof *r->count);
  for (size_t x = 0; x < t->rows; x++) r->count[r->group[x]]++;
  tsn_rs_group(&decision, &r->index, r->decision);
  for (size_t x = 0; x < t->rows; x++) {
    r->pairs[2 * x] = (int32_t)r->group[x];
    r->pairs[2 * x + 1] = (int32_t)r->decision[x];
  }
  size_t found = tsn_rs_group(&pair, &r->index, r->decision);
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
  tsn_rs_relation_call call;
  tsanom_roughset_rule *rules;
  size_t capacity, *count;
} rules_call;

static tsanom_status check(void *context) {
  const rules_call *c = context;
  const tsanom_exec *exec = &c->call.input.exec;
  tsanom_status status = tsn_rs_relation_check(context);
  if (status < 0 || (status = tsn_require(exec, c->count, "count")) < 0) return status;
  if (c->capacity == 0) return TSANOM_OK;
  return tsn_require_array(exec, c->rules, c->capacity, "rules");
}

static tsanom_status body(void *context) {
  rules_call *c = context;
  const tsn_rs_input *input = &c->call.input;
  tsn_rs_relation *r = &c->call.relation;
  size_t listed = tsn_rs_list(c->call.subset, input->table.attributes, r->list);
  *c->count = find_rules(input, r, listed, c->rules, c->capacity);
  return *c->count > c->capacity ? TSANOM_PARTIAL : TSANOM_OK;
}

tsanom_status tsanom_roughset_rules(const tsanom_roughset_table *table,
                                    const uint64_t *subset, const tsanom_exec *exec,
                                    tsanom_roughset_rule *rules, size_t capacity,
                                    size_t *count) {
  rules_call c = {
      .call = {.subset = subset}, .rules = rules, .capacity = capacity, .count = count};
  tsanom_status status = tsn_rs_read(&c.call.input, 0, table, NULL, exec);
  return status < 0 ? status : tsn_rs_relation_run(check, body, &c);
}
