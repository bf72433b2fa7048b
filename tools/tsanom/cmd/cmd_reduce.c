/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom reduce: reducts of a decision table.
 *
 *   --all, --paper     from the discernibility elements, which must fit the memory
 *   --minimum          exact, on the table itself; may end early with bounds
 *   --greedy           one reduct, which may not be a smallest one
 *
 * Reducts are sorted before they are printed, so that the output does not depend on the
 * order in which they were found. Rules are those of the first. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "json_value.h"
#include "number.h"
#include "reserve.h"
#include "rows.h"

/* ---- the table: equal texts of a column become equal codes
 *
 *   color,size,class           attribute color:  red 0, blue 1
 *   red,1.5,yes         ──▶    0 0 | 0
 *   blue,2,no                  1 1 | 1
 *   red,?,yes                  0 missing | 0
 *
 * The code of a text is its number in the order of first occurrence, which is all that rough
 * sets use. decision_table_cut() replaces the codes of columns of numbers by those of
 * intervals. */

/* The values of a column: codes are numbers of words, or, of a column that was cut
 * into intervals, counts of the cuts at or below. */
typedef struct {
  char *name;
  word_list values;
  double *cut; /* NULL: not cut */
  size_t cuts;
} value_list;

typedef struct {
  const char *file; /* for messages */
  size_t rows, capacity;
  size_t attributes;
  value_list *attribute;
  value_list decision;
  int32_t *values;    /* rows times attributes */
  int32_t *decisions; /* of each row */
} decision_table;

/* Roles of the columns of the file that are no attributes. */
enum { IGNORED = -1, DECISION = -2 };

typedef struct {
  decision_table *table;
  const char *decision;
  char *const *ignored;
  size_t ignored_count;
  /* Of each column: the number of an attribute, IGNORED, or DECISION. NULL before the
   * header. */
  int64_t *role;
  size_t columns;
} reading;

/* ---- the header */

static int is_ignored(const reading *r, const char *name) {
  for (size_t k = 0; k < r->ignored_count; k++) {
    if (strcmp(r->ignored[k], name) == 0) return 1;
  }
  return 0;
}

/* Columns are known by their names, so each must have one of its own. */
static int check_name(const row *r, size_t column, failure *why) {
  char shown[QUOTED_BYTES];
  if (!*r->field[column]) {
    return fail(why, "%s:%zu: column %zu has no name: a header is expected", r->file,
                r->line, column + 1);
  }
  for (size_t k = 0; k < column; k++) {
    if (strcmp(r->field[k], r->field[column]) == 0) {
      return fail(why, "%s:%zu: columns %zu and %zu are both called %s", r->file, r->line,
                  k + 1, column + 1, quoted(shown, r->field[column]));
    }
  }
  return 0;
}

/* Names that were asked for must be columns. */
static int check_wanted(const row *r, const char *option, const char *name,
                        failure *why) {
  char shown[QUOTED_BYTES], first[QUOTED_BYTES], last[QUOTED_BYTES];
  for (size_t k = 0; k < r->count; k++) {
    if (strcmp(r->field[k], name) == 0) return 0;
  }
  return fail(why, "%s:%zu: %s: there is no column %s; the header has %s to %s", r->file,
              r->line, option, quoted(shown, name), quoted(first, r->field[0]),
              quoted(last, r->field[r->count - 1]));
}

/* Decide about the role of each column. */
static int take_header(reading *g, const row *r, failure *why) {
  decision_table *t = g->table;
  if (check_wanted(r, "--decision", g->decision, why)) return -1;
  for (size_t k = 0; k < g->ignored_count; k++) {
    if (check_wanted(r, "--ignore", g->ignored[k], why)) return -1;
  }
  g->role = allocate(r->count, sizeof *g->role);
  t->attribute = allocate(r->count, sizeof *t->attribute);
  g->columns = r->count;
  for (size_t k = 0; k < r->count; k++) {
    if (check_name(r, k, why)) return -1;
    value_list *v = &t->decision;
    if (strcmp(r->field[k], g->decision) == 0) {
      g->role[k] = DECISION;
    } else if (is_ignored(g, r->field[k])) {
      g->role[k] = IGNORED;
      continue;
    } else {
      g->role[k] = (int64_t)t->attributes;
      v = &t->attribute[t->attributes++];
    }
    v->name = make_text("%s", r->field[k]);
  }
  if (t->attributes == 0) {
    return fail(why, "%s:%zu: there is no column beside the decision", r->file, r->line);
  }
  return 0;
}

/* ---- rows */

/* Values and decisions grow together; one capacity is kept for both. */
static void reserve_row(decision_table *t) {
  size_t decisions = t->capacity, needed = t->rows + 1;
  reserve(&t->decisions, &decisions, needed, sizeof *t->decisions);
  reserve(&t->values, &t->capacity, needed, t->attributes * sizeof *t->values);
}

/* An empty field and "?" are missing values; a decision must not be missing. */
static int take_cell(reading *g, const row *r, size_t column, failure *why) {
  decision_table *t = g->table;
  const char *text = r->field[column];
  int missing = *text == '\0' || strcmp(text, "?") == 0;
  if (g->role[column] == IGNORED) return 0;
  if (g->role[column] == DECISION) {
    if (missing) {
      return fail(why,
                  "%s:%zu: column %zu (%s): the decision is missing: a value is expected",
                  r->file, r->line, column + 1, t->decision.name);
    }
    t->decisions[t->rows] = (int32_t)words_number(&t->decision.values, text);
    return 0;
  }
  size_t attribute = (size_t)g->role[column];
  t->values[t->rows * t->attributes + attribute] =
      missing ? TSANOM_ROUGHSET_MISSING
              : (int32_t)words_number(&t->attribute[attribute].values, text);
  return 0;
}

static int take_row(void *user, const row *r, failure *why) {
  reading *g = user;
  if (!g->role) return take_header(g, r, why);
  if (r->count != g->columns) {
    return fail(why, "%s:%zu: %zu fields where the header has %zu", r->file, r->line,
                r->count, g->columns);
  }
  reserve_row(g->table);
  for (size_t k = 0; k < r->count; k++) {
    if (take_cell(g, r, k, why)) return -1;
  }
  g->table->rows++;
  return 0;
}

/* Read the file at `path` ("-": standard input). The columns but that of the
 * decision and those ignored are the attributes; an empty field or "?" is a
 * missing value. Returns 0, or -1 with `why` filled. Zero `t` before. */
static int decision_table_read(const char *path, const char *decision,
                               char *const *ignored, size_t ignored_count,
                               decision_table *t, failure *why) {
  reading g = {.table = t,
               .decision = decision,
               .ignored = ignored,
               .ignored_count = ignored_count};
  t->file = file_title(path);
  int failed = rows_read_file(path, take_row, &g, why);
  if (!failed && t->rows == 0) {
    failed = fail(why, "%s: there are no rows: a header and rows of values are expected",
                  t->file);
  }
  free(g.role);
  return failed;
}

static void free_values(value_list *v) {
  words_free(&v->values);
  free(v->cut);
  free(v->name);
}

static void decision_table_free(decision_table *t) {
  for (size_t k = 0; k < t->attributes; k++) free_values(&t->attribute[k]);
  free_values(&t->decision);
  free(t->attribute);
  free(t->values);
  free(t->decisions);
}

static tsanom_roughset_table decision_table_view(const decision_table *t) {
  tsanom_roughset_table view = {.struct_size = sizeof view};
  view.rows = t->rows;
  view.attributes = t->attributes;
  view.values = t->values;
  view.decision = t->decisions;
  return view;
}

/* ---- cuts */

/* The numbers of a column's values; 0 if one of them is no number. */
static int parse_values(const value_list *v, double *number) {
  for (size_t k = 0; k < v->values.count; k++) {
    if (number_parse(v->values.text[k], &number[k])) return 0;
  }
  return v->values.count > 0;
}

/* Samples and decisions of the rows that have the attribute; returns how many. */
static size_t known_samples(const decision_table *t, size_t attribute,
                            const double *number, double *sample, int32_t *decision) {
  size_t known = 0;
  for (size_t k = 0; k < t->rows; k++) {
    int32_t code = t->values[k * t->attributes + attribute];
    if (code == TSANOM_ROUGHSET_MISSING) continue;
    sample[known] = number[code];
    decision[known++] = t->decisions[k];
  }
  return known;
}

/* Cuts are computed from the rows that have a value, and then applied to all; NaN stands
 * for a missing one. */
static tsanom_status cut_attribute(decision_table *t, size_t attribute, int32_t method,
                                   size_t bins, const tsanom_exec *exec, double *number,
                                   double *sample, int32_t *decision) {
  value_list *v = &t->attribute[attribute];
  size_t known = known_samples(t, attribute, number, sample, decision);
  size_t most = method == TSANOM_ROUGHSET_EQUAL_WIDTH ? bins : known;
  v->cut = allocate(most + 1, sizeof *v->cut);
  tsanom_status status = tsanom_roughset_cuts(sample, decision, known, method, bins, exec,
                                              v->cut, most, &v->cuts);
  if (status < 0) return status;
  for (size_t k = 0; k < t->rows; k++) {
    int32_t code = t->values[k * t->attributes + attribute];
    sample[k] = code == TSANOM_ROUGHSET_MISSING ? NAN : number[code];
  }
  return tsanom_roughset_code(sample, t->rows, v->cut, v->cuts, t->values + attribute,
                              t->attributes);
}

/* Cut every attribute whose values are all numbers into intervals, by a method
 * TSANOM_ROUGHSET_EQUAL_WIDTH ... A column with one value that is no number keeps its
 * codes. */
static int decision_table_cut(decision_table *t, int32_t method, size_t bins,
                              const tsanom_exec *exec, failure *why) {
  double *number = allocate(t->rows, sizeof *number);
  double *sample = allocate(t->rows, sizeof *sample);
  int32_t *decision = allocate(t->rows, sizeof *decision);
  tsanom_status status = TSANOM_OK;
  for (size_t a = 0; a < t->attributes && status >= 0; a++) {
    if (!parse_values(&t->attribute[a], number)) continue;
    status = cut_attribute(t, a, method, bins, exec, number, sample, decision);
  }
  free(number);
  free(sample);
  free(decision);
  return status < 0 ? fail_status(why, t->file, status) : 0;
}

/* What was found of a table. Sets of attributes are bit sets, bit a of word a / 64; in
 * print, codes become the texts of the file again, or intervals where a column was cut. */
typedef struct {
  const char *kind;  /* which reducts these are: "all" ... */
  uint64_t *core;    /* bitsets of `words` words */
  uint64_t *reducts; /* in order of size, then of their first attributes */
  size_t *sizes;
  size_t words, count, capacity;
  size_t limit;                  /* reducts kept at most */
  int complete;                  /* no reduct of the kind is left out */
  tsanom_roughset_bounds bounds; /* of the smallest size; upper 0: not asked for */
  size_t *inconsistent;          /* pairs of rows */
  size_t inconsistent_count, inconsistent_all;
  size_t positive;
  double dependency;
  double *significance;
  tsanom_roughset_rule *rules; /* of the first reduct, most support first */
  size_t rule_count;
} reduction;

static void reduction_free(reduction *found) {
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
    printf("%s is %s", v->name, v->values.text[code]);
  } else if (v->cuts == 0) {
    printf("%s is anything", v->name);
  } else if (code == 0) {
    printf("%s is below %s", v->name, number_exact(v->cut[0]).text);
  } else if ((size_t)code == v->cuts) {
    printf("%s is at least %s", v->name, number_exact(v->cut[code - 1]).text);
  } else {
    printf("%s is from %s to below %s", v->name, number_exact(v->cut[code - 1]).text,
           number_exact(v->cut[code]).text);
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
         t->decision.name, t->decision.values.text[rule->decision], rule->support,
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
  printf("reducts       %s%zu%s %s\n", found->complete ? "" : "the first ", found->count,
         found->complete ? "," : " of", found->kind);
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

/* Print a table for people, with at most `rules` rules. */
static void print_reduction(const decision_table *t, const reduction *found,
                            size_t rules) {
  print_answer(t, found);
  printf("table         %s: %zu rows, %zu attributes\n", t->file, t->rows, t->attributes);
  printf("decision      %s: %zu value%s\n", t->decision.name, t->decision.values.count,
         t->decision.values.count == 1 ? "" : "s");
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
  if (!v->cut) return json_name(v->values.text[code]);
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
                         json_name(t->decision.values.text[rule->decision]), "support",
                         (json_int_t)rule->support, "matching",
                         (json_int_t)rule->matching, "confidence",
                         json_finite((double)rule->support / (double)rule->matching)));
  }
  return rules;
}

static json_t *reduction_json(const decision_table *t, const reduction *found) {
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

enum { ALL = 1, MINIMUM, PAPER, GREEDY };
enum { PAIRS_KEPT = 1 << 16 };

typedef struct {
  shared_options shared;
  tsanom_roughset_options roughset;
  const char *decision;
  char **ignored;
  size_t ignored_count;
  int kind; /* ALL, ... */
  int32_t method;
  int cut;
  size_t bins, limit, rules;
} request;

static void take_ignored(struct argp_state *state, char *text, void *request_) {
  request *r = request_;
  (void)state;
  r->ignored[r->ignored_count++] = text;
}

static void check_end(struct argp_state *state, void *request_) {
  request *r = request_;
  if (!r->decision) argp_error(state, "--decision COLUMN is expected");
  if (r->bins > 0 && !r->cut) argp_error(state, "--bins needs --cut");
  if (r->bins == 0 && r->method != TSANOM_ROUGHSET_ENTROPY) r->bins = 4;
}

/* ---- reducts */

/* A visitor of the library; nonzero ends the enumeration at the limit. */
static int32_t keep_reduct(void *user, const uint64_t *set, size_t size) {
  reduction *f = user;
  if (f->count == f->limit) {
    f->complete = 0;
    return 1;
  }
  size_t sizes = f->capacity, needed = f->count + 1;
  reserve(&f->sizes, &sizes, needed, sizeof *f->sizes);
  reserve(&f->reducts, &f->capacity, needed, f->words * sizeof *f->reducts);
  memcpy(f->reducts + f->count * f->words, set, f->words * sizeof *set);
  f->sizes[f->count++] = size;
  return 0;
}

/* The elements of a table; sets *count. NULL with a status if there are none. Their
 * number is not known before, so the array grows to what the last attempt would have
 * needed. */
static uint64_t *find_elements(const request *r, const tsanom_roughset_table *view,
                               size_t words, size_t *count, tsanom_status *status) {
  tsanom_roughset_options o = r->roughset;
  o.absorb = r->kind == ALL;
  size_t capacity = 1 << 12;
  for (;;) {
    uint64_t *elements = allocate(capacity, words * sizeof *elements);
    *status =
        tsanom_roughset_elements(view, &o, &r->shared.exec, elements, capacity, count);
    if (*status != TSANOM_PARTIAL) {
      if (*status < 0) free(elements);
      return *status < 0 ? NULL : elements;
    }
    free(elements);
    capacity = *count;
  }
}

static tsanom_status from_elements(const request *r, const tsanom_roughset_table *view,
                                   reduction *f) {
  size_t count = 0;
  tsanom_status status;
  uint64_t *elements = find_elements(r, view, f->words, &count, &status);
  if (!elements) return status;
  const tsanom_roughset_visitor visitor = {keep_reduct, f};
  status = r->kind == ALL
               ? tsanom_roughset_reducts(elements, count, view->attributes, NULL,
                                         &r->shared.exec, &visitor, NULL)
               : tsanom_roughset_paper_choice(elements, count, view->attributes,
                                              &r->shared.exec, &visitor, NULL);
  free(elements);
  return status;
}

static tsanom_status find_reducts(const request *r, const tsanom_roughset_table *view,
                                  reduction *f) {
  tsanom_status status;
  uint64_t *set = allocate(f->words, sizeof *set);
  f->limit = r->limit;
  f->complete = 1;
  if (r->kind == GREEDY) {
    f->kind = "greedy";
    size_t size;
    status = tsanom_roughset_greedy(view, &r->roughset, &r->shared.exec, set, &size);
    if (status == TSANOM_OK) keep_reduct(f, set, size);
  } else if (r->kind == MINIMUM) {
    f->kind = "of the least size";
    const tsanom_roughset_visitor visitor = {keep_reduct, f};
    status = tsanom_roughset_minimum(view, &r->roughset, &r->shared.exec, &visitor,
                                     &f->bounds, set, NULL);
    if (status > 0) f->complete = 0;
    if (status >= 0 && f->count == 0) keep_reduct(f, set, f->bounds.upper);
  } else {
    f->kind = r->kind == ALL ? "all" : "the paper's choice";
    status = from_elements(r, view, f);
  }
  free(set);
  return status;
}

/* Smaller ones first; of one size, that with the first attribute where they
 * differ. */
static int compare_reducts(const void *left, const void *right, void *words) {
  const uint64_t *a = left, *b = right;
  size_t x = 0, y = 0, count = *(const size_t *)words;
  for (size_t w = 0; w < count; w++) {
    x += (size_t)__builtin_popcountll(a[w]);
    y += (size_t)__builtin_popcountll(b[w]);
  }
  if (x != y) return x < y ? -1 : 1;
  for (size_t w = 0; w < count; w++) {
    uint64_t differing = a[w] ^ b[w];
    if (differing) return a[w] & (differing & -differing) ? -1 : 1;
  }
  return 0;
}

static void sort_reducts(reduction *f) {
  if (f->count > 0) {
    qsort_r(f->reducts, f->count, f->words * sizeof *f->reducts, compare_reducts,
            &f->words);
  }
  for (size_t k = 0; k < f->count; k++) {
    f->sizes[k] = 0;
    for (size_t w = 0; w < f->words; w++) {
      f->sizes[k] += (size_t)__builtin_popcountll(f->reducts[k * f->words + w]);
    }
  }
}

static int compare_rules(const void *a, const void *b) {
  const tsanom_roughset_rule *x = a, *y = b;
  if (x->support != y->support) return x->support > y->support ? -1 : 1;
  return x->row < y->row ? -1 : x->row > y->row;
}

/* ---- the rest */

static tsanom_status describe(const request *r, const tsanom_roughset_table *view,
                              reduction *f) {
  tsanom_roughset_options by_rows =
      r->roughset; /* functions of rows use only `missing` */
  by_rows.reading = TSANOM_ROUGHSET_ORDINARY;
  const tsanom_roughset_options *o = &by_rows;
  const tsanom_exec *exec = &r->shared.exec;
  f->core = allocate(f->words, sizeof *f->core);
  f->inconsistent = allocate(PAIRS_KEPT, 2 * sizeof *f->inconsistent);
  f->significance = allocate(view->attributes, sizeof *f->significance);
  f->rules = allocate(view->rows, sizeof *f->rules);
  tsanom_status status = tsanom_roughset_core(view, &r->roughset, exec, f->core);
  if (status < 0) return status;
  status = tsanom_roughset_inconsistent(view, o, exec, f->inconsistent, PAIRS_KEPT,
                                        &f->inconsistent_all);
  if (status < 0) return status;
  f->inconsistent_count =
      f->inconsistent_all < PAIRS_KEPT ? f->inconsistent_all : PAIRS_KEPT;
  status =
      tsanom_roughset_dependency(view, NULL, o, exec, NULL, &f->positive, &f->dependency);
  if (status < 0) return status;
  return tsanom_roughset_significance(view, NULL, o, exec, f->significance);
}

static tsanom_status find_rules(const request *r, const tsanom_roughset_table *view,
                                reduction *f) {
  if (f->count == 0) return TSANOM_OK;
  tsanom_status status = tsanom_roughset_rules(view, f->reducts, &r->shared.exec,
                                               f->rules, view->rows, &f->rule_count);
  if (status >= 0) {
    qsort(f->rules, f->rule_count, sizeof *f->rules, compare_rules);
  }
  return status;
}

static int reduce(const request *r, decision_table *t, reduction *f, failure *why) {
  if (decision_table_read(r->shared.argument[0], r->decision, r->ignored,
                          r->ignored_count, t, why)) {
    return -1;
  }
  if (r->cut && decision_table_cut(t, r->method, r->bins, &r->shared.exec, why)) {
    return -1;
  }
  tsanom_roughset_table view = decision_table_view(t);
  f->words = (view.attributes + 63) / 64;
  tsanom_status status = describe(r, &view, f);
  if (status >= 0) status = find_reducts(r, &view, f);
  if (status == TSANOM_E_WORKSPACE) {
    return fail(why,
                "%s: the table has too many discernibility elements to hold them all; "
                "--minimum and --greedy do without%s",
                t->file,
                r->roughset.missing == TSANOM_ROUGHSET_WILDCARD
                    ? ", but with --missing wildcard"
                    : "");
  }
  if (status >= 0) {
    sort_reducts(f);
    status = find_rules(r, &view, f);
  }
  return status < 0 ? fail_status(why, t->file, status) : 0;
}

static const option_row options[] = {
    {"decision", 'd', "COLUMN", "Column that the others must explain", TEXT(decision)},
    {"all", 0, NULL, "Find all reducts (default)", FLAG(kind), .value = ALL, .group = 1},
    {"minimum", 0, NULL, "Find all reducts of the smallest size", FLAG(kind),
     .value = MINIMUM, .group = 1},
    {"paper", 0, NULL,
     "Find the minimum reducts that occur most often in the disjunctive normal form "
     "(step 3 of the paper)",
     FLAG(kind), .value = PAPER, .group = 1},
    {"greedy", 0, NULL, "Find one reduct quickly, which may not be the smallest",
     FLAG(kind), .value = GREEDY, .group = 1},
    {"limit", 0, "N", "Find at most N reducts (default: 10000)", COUNT(limit, 1, 0),
     .group = 1},
    {"ignore", 0, "COLUMN", "Leave this column out, such as the name of a row",
     CALL(take_ignored), .group = 2},
    {"reading", 0, "ordinary|positive|generalized",
     "Meaning of rows that differ only in the decision (default: ordinary)",
     WORD(roughset.reading), .group = 2},
    {"missing", 0, "value|wildcard",
     "An empty field or ? is a value of its own (default), or equals every value",
     WORD(roughset.missing), .group = 2},
    {"cut", 0, "width|frequency|entropy",
     "Cut columns of numbers into intervals of equal width, of equal frequency, or where "
     "the decision changes (default: each number is a value)",
     WORD(method), GIVEN(cut), .group = 2},
    {"bins", 0, "N", "Intervals of a cut column (default: 4; for entropy: no limit)",
     COUNT(bins, 1, INT32_MAX), .group = 2},
    {"rules", 0, "N", "Print at most N rules (default: 20)", COUNT(rules, 0, 0),
     .group = 3},
};

static const syntax command_line = {
    ROWS(options),
    .arguments = "FILE",
    .help =
        "Reducts of a decision table: the smallest sets of columns that discern the "
        "values of the decision as all columns do.\v"
        "FILE is a CSV file with a header; \"-\" is standard input. Rows are numbered "
        "from 0.",
    .expected = "one table is",
    .least = 1,
    .most = 1,
    .no_plot = 1,
    .check = check_end,
};

int command_reduce(int argc, char **argv) {
  request r = {.kind = ALL, .limit = 10000, .rules = 20};
  tsanom_roughset_options_init(&r.roughset, sizeof r.roughset);
  r.ignored = allocate((size_t)argc, sizeof *r.ignored);
  parse_command(&command_line, argc, argv, &r);
  decision_table t = {0};
  reduction found = {0};
  failure why;
  int status;
  if (reduce(&r, &t, &found, &why)) {
    status = report_failure(&why);
  } else if (r.shared.json) {
    status = print_json(reduction_json(&t, &found));
  } else {
    print_reduction(&t, &found, r.rules);
    status = EXIT_DONE;
  }
  reduction_free(&found);
  decision_table_free(&t);
  free(r.ignored);
  return status;
}
