/* SPDX-License-Identifier: BSD-3-Clause */
/* Points: one a row, coordinates in columns. */
#ifndef TSANOM_COMMAND_POINTS_H
#define TSANOM_COMMAND_POINTS_H

#include <stddef.h>

#include "failure.h"

/* Zero it before use. */
typedef struct {
  size_t count, dimensions;
  double *value;   /* count rows */
  size_t *line;    /* of the file, of each row */
  size_t *at;      /* which field of a row each coordinate is */
  size_t fields;   /* of a row */
  size_t capacity; /* points there is memory for */
} points;

void points_free(points *p);

/* Read points from the file at `path` ("-": standard input). With `names` NULL every
 * field is a coordinate, and a first row in which no field is a number is a header;
 * else the first row is a header, and the coordinates are the columns of the names,
 * which commas separate. Returns 0, or -1 with `why` filled; no points at all are a
 * failure. */
int points_read(const char *path, const char *names, points *p, failure *why);

#endif
