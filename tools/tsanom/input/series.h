/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers out of files: series, the columns of tables, and points. */
#ifndef TSANOM_COMMAND_SERIES_H
#define TSANOM_COMMAND_SERIES_H

#include "rows.h"

enum { COLUMNS_MOST = 8 };

/* Columns of equal length; a series is one column. Zero it before use. */
typedef struct {
  size_t count;
  double *column[COLUMNS_MOST];
  size_t capacity;
} columns;

void columns_free(columns *c);

/* Read a series from the file at `path` ("-": standard input). With `name`
 * NULL the file holds one number a line; else it has a header, and the series
 * is the column of that name. Returns 0, or -1 with `why` filled; no numbers at
 * all are a failure. */
int series_read(const char *path, const char *name, columns *c, failure *why);

/* Read the columns of the `names`, in that order, from a file with a header. NULL: one
 * number a line. */
int columns_read(const char *path, const char *const *names, size_t count, columns *c,
                 failure *why);

/* Takes the fields at[0], ... of a row, one for each column that is read; -1 with
 * `why` filled ends the reading. */
typedef int fields_handler(void *user, const row *r, const size_t *at, failure *why);

/* Hand over the column of the name row by row, in constant memory. With `name`
 * NULL each row is one field, a `thing` as messages call it. No rows at all are a
 * failure. */
int fields_read(const char *path, const char *name, const char *thing,
                fields_handler *handler, void *user, failure *why);

/* ---- points: one a row, coordinates in columns */

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
