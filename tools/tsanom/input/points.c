/* SPDX-License-Identifier: BSD-3-Clause */
/* Points, one a row. The first row determines the columns: with names it is a header;
 * without, it is one if none of its fields is a number. Lines and columns are kept, so
 * that an error that the analysis finds later can name the place in the file. */
#include "points.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "reserve.h"
#include "rows.h"
#include "series.h"

typedef struct {
  points *p;
  const char *names;
} reader;

void points_free(points *p) {
  free(p->value);
  free(p->line);
  free(p->at);
  memset(p, 0, sizeof *p);
}

static int grow(points *p) {
  size_t lines = p->capacity, needed = p->count + 1;
  if (reserve(&p->line, &lines, needed, sizeof *p->line)) return -1;
  return reserve(&p->value, &p->capacity, needed, p->dimensions * sizeof *p->value);
}

static int is_header(const row *r) {
  double ignored;
  for (size_t i = 0; i < r->count; i++) {
    if (!number_parse(r->field[i], &ignored)) return 0;
  }
  return 1;
}

static int take_all(points *p, const row *r, failure *why) {
  p->at = malloc(r->count * sizeof *p->at);
  if (!p->at) return fail(why, "%s:%zu: out of memory", r->file, r->line);
  for (size_t i = 0; i < r->count; i++) p->at[i] = i;
  p->dimensions = r->count;
  return 0;
}

static int take_named(points *p, const char *names, const row *r, failure *why) {
  size_t length = strlen(names);
  char *name = malloc(length + 1);
  p->at = malloc((length + 1) * sizeof *p->at);
  if (!name || !p->at) {
    free(name);
    return fail(why, "%s:%zu: out of memory", r->file, r->line);
  }
  int status = 0;
  for (const char *next = names; !status && next;) {
    size_t bytes = strcspn(next, ",");
    memcpy(name, next, bytes);
    name[bytes] = '\0';
    status = column_find(r, name, &p->at[p->dimensions++], why);
    next = next[bytes] ? next + bytes + 1 : NULL;
  }
  free(name);
  return status;
}

/* Find from the first row where the coordinates are; *header: it contains nothing else.
 */
static int take_first(const reader *from, const row *r, int *header, failure *why) {
  points *p = from->p;
  p->fields = r->count;
  *header = from->names || is_header(r);
  return from->names ? take_named(p, from->names, r, why) : take_all(p, r, why);
}

static int take_row(void *user, const row *r, failure *why) {
  const reader *from = user;
  points *p = from->p;
  int header = 0;
  if (!p->fields && take_first(from, r, &header, why)) return -1;
  if (header) return 0;
  if (r->count != p->fields) {
    return fail(why, "%s:%zu: %zu fields where the first row has %zu", r->file, r->line,
                r->count, p->fields);
  }
  if (grow(p)) return fail(why, "%s:%zu: out of memory", r->file, r->line);
  double *value = p->value + p->count * p->dimensions;
  for (size_t i = 0; i < p->dimensions; i++) {
    if (row_number(r, p->at[i], value + i, why)) return -1;
  }
  p->line[p->count++] = r->line;
  return 0;
}

int points_read(const char *path, const char *names, points *p, failure *why) {
  reader from = {p, names};
  if (rows_read_file(path, take_row, &from, why)) return -1;
  if (p->count > 0) return 0;
  return fail(why, "%s: holds no points: at least one row of numbers is expected",
              file_title(path));
}
