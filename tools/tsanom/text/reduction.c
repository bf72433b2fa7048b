/* SPDX-License-Identifier: BSD-3-Clause */
/* Reducts of a decision table, as text and as JSON. Codes become the texts of the file
 * again, or intervals where a column was cut; sets of attributes are bit sets, bit a of
 * word a / 64. */
#include "reduction.h"

#include <stdio.h>
#include <stdlib.h>

#include "json_value.h"

void reduction_free(reduction *found) {
  free(found->core);
  free(found->reducts);
  free(found->sizes);
  free(found->inconsistent);
  free(found->significance);
  free(found->rules);
}

static int has(const uint64_t *set, size_t attribute) {
  return (int)(set[attribute / 64] >> (attribute % 64) & 1);
}

/* ---- for people */

/* "colour is red", "time is from 2 to 5". */
static void print_condition(const value_list *v, int32_t code) {
  if (code == TSANOM_ROUGHSET_MISSING) {
    printf("%s is missing", v->name);
  } else if (!v->cut) {
    printf("%s is %s", v->name, v->text[code]);
  } else if (v->cuts == 0) {
    printf("%s is anything", v->name);
  } else if (code == 0) {
    printf("%s is below %.6g", v->name, v->cut[0]);
  } else if ((size_t)code == v->cuts) {
    printf("%s is at least %.6g", v->name, v->cut[code - 1]);
  } else {
    printf("%s is from %.6g to below %.6g", v->name, v->cut[code - 1], v->cut[code]);
  }
}

static void print_rule(const decision_table *t, const uint64_t *reduct,
                       const tsanom_roughset_rule *rule) {
  const char *joint = "  If ";
  int conditions = 0;
  for (size_t a = 0; a < t->attributes; a++) {
    if (!has(reduct, a)) continue;
    fputs(joint, stdout);
    print_condition(&t->attribute[a], t->values[rule->row * t->attributes + a]);
    joint = " and ";
    conditions++;
  }
  printf("%s %s is %s (%zu of %zu row%s, %.3g %%).\n", conditions ? ", then" : "  Always",
         t->decision.name, t->decision.text[rule->decision], rule->support,
         rule->matching, rule->matching == 1 ? "" : "s",
         100 * (double)rule->support / (double)rule->matching);
}

static void print_set(const decision_table *t, const uint64_t *set) {
  const char *joint = "";
  for (size_t a = 0; a < t->attributes; a++) {
    if (!has(set, a)) continue;
    printf("%s%s", joint, t->attribute[a].name);
    joint = ", ";
  }
  puts(*joint ? "" : "(none)");
}

static void print_inconsistent(const reduction *found) {
  enum { SHOWN = 10 };
  if (found->inconsistent_all == 0) {
    puts("consistent    yes");
    return;
  }
  printf("consistent    no: %zu pair%s of rows that differ in the decision alone:",
         found->inconsistent_all, found->inconsistent_all == 1 ? "" : "s");
  for (size_t k = 0; k < found->inconsistent_count && k < SHOWN; k++) {
    printf(" (%zu, %zu)", found->inconsistent[2 * k], found->inconsistent[2 * k + 1]);
  }
  puts(found->inconsistent_all > SHOWN ? " ..." : "");
}

static void print_reducts(const decision_table *t, const reduction *found) {
  printf("reducts       %s%zu, %s\n", found->complete ? "" : "the first ", found->count,
         found->kind);
  if (found->bounds.upper > 0 && found->bounds.lower < found->bounds.upper) {
    printf("              not proven: the smallest has %zu to %zu attributes\n",
           found->bounds.lower, found->bounds.upper);
  }
  for (size_t k = 0; k < found->count; k++) {
    printf("  %zu: ", found->sizes[k]);
    print_set(t, found->reducts + k * found->words);
  }
}

/* "play is explained by outlook, windy: ..." */
static void print_answer(const decision_table *t, const reduction *found) {
  if (!found->count) {
    printf("No set of attributes explains %s.\n", t->decision.name);
    return;
  }
  printf("%s is explained %s%zu of %zu attributes: ", t->decision.name,
         found->inconsistent_all ? "as far as the table allows by " : "by ",
         found->sizes[0], t->attributes);
  print_set(t, found->reducts);
}

void print_reduction(const decision_table *t, const reduction *found, size_t rules) {
  print_answer(t, found);
  printf("table         %s: %zu rows, %zu attributes\n", t->file, t->rows, t->attributes);
  printf("decision      %s: %zu value%s\n", t->decision.name, t->decision.count,
         t->decision.count == 1 ? "" : "s");
  print_inconsistent(found);
  printf("dependency    %.6g: the attributes determine the decision of %zu of %zu rows\n",
         found->dependency, found->positive, t->rows);
  printf("core          ");
  print_set(t, found->core);
  print_reducts(t, found);
  printf("\n%-24s significance\n", "attribute");
  for (size_t a = 0; a < t->attributes; a++) {
    printf("%-24s %.6g\n", t->attribute[a].name, found->significance[a]);
  }
  if (found->count == 0) return;
  printf("\nRules of ");
  print_set(t, found->reducts);
  for (size_t k = 0; k < found->rule_count && k < rules; k++) {
    print_rule(t, found->reducts, &found->rules[k]);
  }
  if (found->rule_count > rules) {
    printf("  ... and %zu more; --rules N shows more.\n", found->rule_count - rules);
  }
}

/* ---- JSON */

static json_t *set_json(const decision_table *t, const uint64_t *set) {
  json_t *names = json_array();
  for (size_t a = 0; a < t->attributes; a++) {
    if (has(set, a)) json_array_append_new(names, json_name(t->attribute[a].name));
  }
  return names;
}

/* A value as text, an interval as [low, high) with null for an end that is open,
 * a missing value as null. */
static json_t *value_json(const value_list *v, int32_t code) {
  if (code == TSANOM_ROUGHSET_MISSING) return json_null();
  if (!v->cut) return json_name(v->text[code]);
  json_t *low = code > 0 ? json_finite(v->cut[code - 1]) : json_null();
  json_t *high = (size_t)code < v->cuts ? json_finite(v->cut[code]) : json_null();
  return json_pack("[oo]", low, high);
}

static json_t *rules_json(const decision_table *t, const reduction *found) {
  json_t *rules = json_array();
  for (size_t k = 0; k < found->rule_count && found->count > 0; k++) {
    const tsanom_roughset_rule *rule = &found->rules[k];
    json_t *condition = json_object();
    for (size_t a = 0; a < t->attributes; a++) {
      if (!has(found->reducts, a)) continue;
      json_object_set_new(
          condition, t->attribute[a].name,
          value_json(&t->attribute[a], t->values[rule->row * t->attributes + a]));
    }
    json_array_append_new(
        rules, json_pack("{sososIsIso}", "if", condition, "then",
                         json_name(t->decision.text[rule->decision]), "support",
                         (json_int_t)rule->support, "matching",
                         (json_int_t)rule->matching, "confidence",
                         json_finite((double)rule->support / (double)rule->matching)));
  }
  return rules;
}

json_t *reduction_json(const decision_table *t, const reduction *found) {
  json_t *reducts = json_array(), *pairs = json_array(), *significance = json_object();
  for (size_t k = 0; k < found->count; k++) {
    json_array_append_new(reducts, set_json(t, found->reducts + k * found->words));
  }
  for (size_t k = 0; k < found->inconsistent_count; k++) {
    json_array_append_new(pairs, json_pack("[II]", (json_int_t)found->inconsistent[2 * k],
                                           (json_int_t)found->inconsistent[2 * k + 1]));
  }
  for (size_t a = 0; a < t->attributes; a++) {
    json_object_set_new(significance, t->attribute[a].name,
                        json_finite(found->significance[a]));
  }
  json_t *result = json_pack(
      "{sosososssbsosIso}", "core", set_json(t, found->core), "reducts", reducts,
      "dependency", json_finite(found->dependency), "kind", found->kind, "complete",
      found->complete, "inconsistent", pairs, "inconsistent_pairs",
      (json_int_t)found->inconsistent_all, "significance", significance);
  if (found->bounds.upper > 0) {
    json_object_set_new(result, "bounds",
                        json_pack("[II]", (json_int_t)found->bounds.lower,
                                  (json_int_t)found->bounds.upper));
  }
  json_object_set_new(result, "rules", rules_json(t, found));
  return result;
}
