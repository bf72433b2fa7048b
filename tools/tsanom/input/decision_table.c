/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a table of texts as a decision table of integer codes.
 *
 *   color,size,class           attribute color:  red 0, blue 1
 *   red,1.5,yes         ──▶    0 0 | 0
 *   blue,2,no                  1 1 | 1
 *   red,?,yes                  0 missing | 0
 *
 * Each column has a list of its values; the code of a value is its number in the order
 * of first occurrence. So equality of texts becomes equality
 * of codes, which is all that rough sets use. decision_table_cut() replaces the codes of
 * columns of numbers by those of intervals. */
#include "decision_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "reserve.h"
#include "rows.h"

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

static int no_memory(failure *why, const row *r) {
  return fail(why, "%s:%zu: the table does not fit the memory", r->file, r->line);
}

/* The code of a text, a new one for a new text; -1 without memory. */
static int32_t code_of(value_list *v, const char *text) {
  size_t number;
  return words_number(&v->values, text, &number) ? -1 : (int32_t)number;
}

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
  g->role = calloc(r->count, sizeof *g->role);
  t->attribute = calloc(r->count, sizeof *t->attribute);
  if (!g->role || !t->attribute) return no_memory(why, r);
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
    if (!(v->name = strdup(r->field[k]))) return no_memory(why, r);
  }
  if (t->attributes == 0) {
    return fail(why, "%s:%zu: there is no column beside the decision", r->file, r->line);
  }
  return 0;
}

/* ---- rows */

/* Values and decisions grow together; one capacity is kept for both. */
static int reserve_row(decision_table *t) {
  size_t decisions = t->capacity, needed = t->rows + 1;
  if (reserve(&t->decisions, &decisions, needed, sizeof *t->decisions)) return -1;
  return reserve(&t->values, &t->capacity, needed, t->attributes * sizeof *t->values);
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
    t->decisions[t->rows] = code_of(&t->decision, text);
    return t->decisions[t->rows] < 0 ? no_memory(why, r) : 0;
  }
  size_t attribute = (size_t)g->role[column];
  int32_t code =
      missing ? TSANOM_ROUGHSET_MISSING : code_of(&t->attribute[attribute], text);
  if (!missing && code < 0) return no_memory(why, r);
  t->values[t->rows * t->attributes + attribute] = code;
  return 0;
}

static int take_row(void *user, const row *r, failure *why) {
  reading *g = user;
  if (!g->role) return take_header(g, r, why);
  if (r->count != g->columns) {
    return fail(why, "%s:%zu: %zu fields where the header has %zu", r->file, r->line,
                r->count, g->columns);
  }
  if (reserve_row(g->table)) return no_memory(why, r);
  for (size_t k = 0; k < r->count; k++) {
    if (take_cell(g, r, k, why)) return -1;
  }
  g->table->rows++;
  return 0;
}

int decision_table_read(const char *path, const char *decision, char *const *ignored,
                        size_t ignored_count, decision_table *t, failure *why) {
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

void decision_table_free(decision_table *t) {
  for (size_t k = 0; k < t->attributes; k++) free_values(&t->attribute[k]);
  free_values(&t->decision);
  free(t->attribute);
  free(t->values);
  free(t->decisions);
}

tsanom_roughset_table decision_table_view(const decision_table *t) {
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
  v->cut = malloc((most + 1) * sizeof *v->cut);
  if (!v->cut) return TSANOM_E_MEMORY;
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

/* A column with one value that is no number keeps its codes. */
int decision_table_cut(decision_table *t, int32_t method, size_t bins,
                       const tsanom_exec *exec, failure *why) {
  double *number = malloc(t->rows * sizeof *number);
  double *sample = malloc(t->rows * sizeof *sample);
  int32_t *decision = malloc(t->rows * sizeof *decision);
  tsanom_status status = number && sample && decision ? TSANOM_OK : TSANOM_E_MEMORY;
  for (size_t a = 0; a < t->attributes && status >= 0; a++) {
    if (!parse_values(&t->attribute[a], number)) continue;
    status = cut_attribute(t, a, method, bins, exec, number, sample, decision);
  }
  free(number);
  free(sample);
  free(decision);
  return status < 0 ? fail_status(why, t->file, status) : 0;
}
