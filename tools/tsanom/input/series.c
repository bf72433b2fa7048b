/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns of numbers, or of texts, from rows. A selection finds the wanted columns in
 * the header and checks that every row has as many fields; handlers take the fields.
 * Numbers are kept; texts are handed on, so that a stream of events needs no memory for
 * itself. And points, of which each row is one: their lines and columns are kept, so that an
 * error that the analysis finds later can name the place in the file. */
#include "series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "reserve.h"

typedef struct {
  const char *const *names; /* NULL: no header, one field a line */
  const char *thing;        /* what a field is, for messages */
  size_t wanted;            /* columns to read */
  size_t at[COLUMNS_MOST];  /* where the header has them */
  size_t fields;            /* of the header; 0 before it was met */
  size_t rows;              /* handed over so far */
  fields_handler *handler;
  void *user;
} selection;

/* Where columns_read() is: the columns, and which they are. */
typedef struct {
  columns *c;
  const selection *s;
} number_reader;

void columns_free(columns *c) {
  for (size_t k = 0; k < COLUMNS_MOST; k++) free(c->column[k]);
  memset(c, 0, sizeof *c);
}

/* "'time', 'thread', 'beat'": the header for a message, cut when long. */
static void list_fields(const row *r, char *list, size_t bytes) {
  size_t used = 0;
  list[0] = '\0';
  for (size_t i = 0; i < r->count; i++) {
    char shown[QUOTED_BYTES];
    const char *field = quoted(shown, r->field[i]);
    if (used + strlen(field) + sizeof ", ..." >= bytes) {
      memcpy(list + used, "...", sizeof "...");
      return;
    }
    used += (size_t)snprintf(list + used, bytes - used, "%s%s", field,
                             i + 1 < r->count ? ", " : "");
  }
}

/* Which field of a header has the name. */
static int column_find(const row *r, const char *name, size_t *at, failure *why) {
  size_t found = r->count;
  for (size_t i = 0; i < r->count; i++) {
    if (strcmp(r->field[i], name) != 0) continue;
    if (found != r->count) {
      return fail(why, "%s:%zu: columns %zu and %zu are both called \"%s\"", r->file,
                  r->line, found + 1, i + 1, name);
    }
    found = i;
  }
  if (found == r->count) {
    char list[1024];
    list_fields(r, list, sizeof list);
    return fail(why, "%s:%zu: no column is called \"%s\": the header has %s", r->file,
                r->line, name, list);
  }
  *at = found;
  return 0;
}

static int take_header(selection *s, const row *r, failure *why) {
  for (size_t k = 0; k < s->wanted; k++) {
    if (column_find(r, s->names[k], &s->at[k], why)) return -1;
  }
  s->fields = r->count;
  return 0;
}

/* All columns have one capacity. */
static void grow(columns *c, size_t wanted) {
  size_t capacity = c->capacity;
  for (size_t k = 0; k < wanted; k++) {
    capacity = c->capacity;
    reserve(&c->column[k], &capacity, c->count + 1, sizeof *c->column[k]);
  }
  c->capacity = capacity;
}

/* The message names line, column and the text that was found. */
static int reject_field(const selection *s, size_t k, const row *r, const char *wrong,
                        failure *why) {
  char shown[QUOTED_BYTES];
  quoted(shown, r->field[s->at[k]]);
  if (!s->names)
    return fail(why, "%s:%zu: column 1: %s %s", r->file, r->line, shown, wrong);
  return fail(why, "%s:%zu: column %zu (%s): %s %s", r->file, r->line, s->at[k] + 1,
              s->names[k], shown, wrong);
}

/* The first row is the header where columns have names; without names there is one field
 * a line. */
static int take_row(void *user, const row *r, failure *why) {
  selection *s = user;
  if (s->names && !s->fields) return take_header(s, r, why);
  if (!s->names && r->count != 1) {
    return fail(why,
                "%s:%zu: %zu fields where one %s is expected: for a table with a "
                "header, name the column with --column",
                r->file, r->line, r->count, s->thing);
  }
  if (s->names && r->count != s->fields) {
    return fail(why, "%s:%zu: %zu fields where the header has %zu", r->file, r->line,
                r->count, s->fields);
  }
  s->rows++;
  return s->handler(s->user, r, s->at, why);
}

static int take_numbers(void *user, const row *r, const size_t *at, failure *why) {
  const number_reader *reader = user;
  const selection *s = reader->s;
  columns *c = reader->c;
  grow(c, s->wanted);
  for (size_t k = 0; k < s->wanted; k++) {
    const char *wrong = number_parse(r->field[at[k]], &c->column[k][c->count]);
    if (wrong) return reject_field(s, k, r, wrong, why);
  }
  c->count++;
  return 0;
}

/* An empty input is a failure: no analysis has a result for it. */
static int read_selection(selection *s, const char *path, failure *why) {
  if (rows_read_file(path, take_row, s, why)) return -1;
  if (s->names && !s->fields)
    return fail(why, "%s: is empty: a header line is expected", file_title(path));
  if (s->rows) return 0;
  return fail(why, "%s: holds no %ss: at least one is expected", file_title(path),
              s->thing);
}

int columns_read(const char *path, const char *const *names, size_t count, columns *c,
                 failure *why) {
  number_reader reader = {.c = c};
  selection s = {.names = names,
                 .thing = "number",
                 .wanted = names ? count : 1,
                 .handler = take_numbers,
                 .user = &reader};
  reader.s = &s;
  return read_selection(&s, path, why);
}

int series_read(const char *path, const char *name, columns *c, failure *why) {
  return columns_read(path, name ? &name : NULL, 1, c, why);
}

int fields_read(const char *path, const char *name, const char *thing,
                fields_handler *handler, void *user, failure *why) {
  selection s = {.names = name ? &name : NULL,
                 .thing = thing,
                 .wanted = 1,
                 .handler = handler,
                 .user = user};
  return read_selection(&s, path, why);
}

/* ---- points */

typedef struct {
  points *p;
  const char *names;
} point_reader;

void points_free(points *p) {
  free(p->value);
  free(p->line);
  free(p->at);
  memset(p, 0, sizeof *p);
}

static int is_header(const row *r) {
  double ignored;
  for (size_t i = 0; i < r->count; i++) {
    if (!number_parse(r->field[i], &ignored)) return 0;
  }
  return 1;
}

/* Where the coordinates are: all fields, or the columns of the names. */
static int find_coordinates(points *p, const char *names, const row *r, failure *why) {
  p->fields = r->count;
  p->at = allocate(names ? strlen(names) + 1 : r->count, sizeof *p->at);
  for (size_t i = 0; !names && i < r->count; i++) p->at[p->dimensions++] = i;
  for (const char *next = names; next;) {
    size_t bytes = strcspn(next, ",");
    char *name = make_text("%.*s", (int)bytes, next);
    int failed = column_find(r, name, &p->at[p->dimensions++], why);
    free(name);
    if (failed) return -1;
    next = next[bytes] ? next + bytes + 1 : NULL;
  }
  return 0;
}

/* The first row determines the columns: with names it is a header; without, it is one if
 * none of its fields is a number. */
static int take_point(void *user, const row *r, failure *why) {
  const point_reader *from = user;
  points *p = from->p;
  if (!p->fields) {
    if (find_coordinates(p, from->names, r, why)) return -1;
    if (from->names || is_header(r)) return 0;
  }
  if (r->count != p->fields) {
    return fail(why, "%s:%zu: %zu fields where the first row has %zu", r->file, r->line,
                r->count, p->fields);
  }
  size_t lines = p->capacity, needed = p->count + 1;
  reserve(&p->line, &lines, needed, sizeof *p->line);
  reserve(&p->value, &p->capacity, needed, p->dimensions * sizeof *p->value);
  double *value = p->value + p->count * p->dimensions;
  for (size_t i = 0; i < p->dimensions; i++) {
    if (row_number(r, p->at[i], value + i, why)) return -1;
  }
  p->line[p->count++] = r->line;
  return 0;
}

int points_read(const char *path, const char *names, points *p, failure *why) {
  point_reader from = {p, names};
  if (rows_read_file(path, take_point, &from, why)) return -1;
  if (p->count > 0) return 0;
  return fail(why, "%s: holds no points: at least one row of numbers is expected",
              file_title(path));
}
