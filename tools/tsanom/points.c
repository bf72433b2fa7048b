/* SPDX-License-Identifier: BSD-3-Clause */
#include "points.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "rows.h"

void points_free(points *p) {
  free(p->value);
  free(p->line);
  memset(p, 0, sizeof *p);
}

static int grow(points *p) {
  if (p->count < p->room) return 0;
  size_t room = p->room ? 2 * p->room : 256;
  if (room > SIZE_MAX / sizeof(double) / p->dimensions) return -1;
  double *value = realloc(p->value, room * p->dimensions * sizeof *value);
  if (!value) return -1;
  p->value = value;
  size_t *line = realloc(p->line, room * sizeof *line);
  if (!line) return -1;
  p->line = line;
  p->room = room;
  return 0;
}

static int is_header(const row *r) {
  double ignored;
  for (size_t i = 0; i < r->count; i++) {
    if (!number_parse(r->field[i], &ignored)) return 0;
  }
  return 1;
}

static int take_row(void *user, const row *r, failure *why) {
  points *p = user;
  if (p->dimensions == 0) {
    p->dimensions = r->count;
    if (is_header(r)) return 0;
  }
  if (r->count != p->dimensions) {
    return fail(why, "%s:%zu: %zu fields where the first row has %zu", r->file, r->line,
                r->count, p->dimensions);
  }
  if (grow(p)) return fail(why, "%s:%zu: out of memory", r->file, r->line);
  double *value = p->value + p->count * p->dimensions;
  for (size_t i = 0; i < r->count; i++) {
    const char *wrong = number_parse(r->field[i], value + i);
    char shown[QUOTED_BYTES];
    if (wrong) {
      return fail(why, "%s:%zu: column %zu: %s %s", r->file, r->line, i + 1,
                  quoted(shown, r->field[i]), wrong);
    }
  }
  p->line[p->count++] = r->line;
  return 0;
}

int points_read(const char *path, points *p, failure *why) {
  if (rows_read_file(path, take_row, p, why)) return -1;
  if (p->count > 0) return 0;
  return fail(why, "%s: holds no points: at least one row of numbers is expected",
              file_title(path));
}
