/* SPDX-License-Identifier: BSD-3-Clause */
/* Points: one a row, coordinates in columns. */
#ifndef TSANOM_COMMAND_POINTS_H
#define TSANOM_COMMAND_POINTS_H

#include <stddef.h>

#include "failure.h"

/* Zero it before use. */
typedef struct {
  size_t count, dimensions;
  double *value; /* count rows */
  size_t *line;  /* of the file, of each row */
  size_t room;   /* points there is memory for */
} points;

void points_free(points *p);

/* Read points from the file at `path` ("-": standard input). A first row in which
 * no field is a number is a header. Returns 0, or -1 with `why` filled; no points
 * at all are a failure. */
int points_read(const char *path, points *p, failure *why);

#endif
