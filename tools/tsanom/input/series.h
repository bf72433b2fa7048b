/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers out of files: series and the columns of tables. */
#ifndef TSANOM_COMMAND_SERIES_H
#define TSANOM_COMMAND_SERIES_H

#include "rows.h"

enum { COLUMNS_MOST = 8 };

/* Columns of equal length; a series is one column. Zero it before use. */
typedef struct {
  size_t count;
  double *column[COLUMNS_MOST];
  size_t capacity;
  /* If given, checks the numbers of each row and returns what is wrong with one of
   * them, `*which` of those asked for, as number_parse() does. */
  const char *(*check)(void *user, const double *value, size_t *which);
  void *check_user;
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

/* Which field of a header has the name. */
int column_find(const row *header, const char *name, size_t *at, failure *why);

/* Takes the fields at[0], ... of a row, one for each column that is read; -1 with
 * `why` filled ends the reading. */
typedef int fields_handler(void *user, const row *r, const size_t *at, failure *why);

/* Hand over the column of the name row by row, in constant memory. With `name`
 * NULL each row is one field, a `thing` as messages call it. No rows at all are a
 * failure. */
int fields_read(const char *path, const char *name, const char *thing,
                fields_handler *handler, void *user, failure *why);

#endif
