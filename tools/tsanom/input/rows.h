/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of a text file, one at a time, in bounded memory.
 *
 * A row is one line, ended by LF or CRLF; the last may lack its end. Fields are
 * separated by tabs if the first row has one, else by semicolons if it has one, else by
 * commas; without any of these, by blanks if they separate numbers, or names above
 * as many numbers. Spaces around a field are dropped; a field in double quotes may hold
 * separators, and quotes written twice. A byte-order mark, blank lines, and lines that
 * start with '#' are passed over. The text must be UTF-8. */
#ifndef TSANOM_COMMAND_ROWS_H
#define TSANOM_COMMAND_ROWS_H

#include <stdint.h>

#include "failure.h"

enum {
  ROWS_LINE_BYTES = 16 << 20, /* a longer line is rejected */
  ROWS_FIELDS = 1 << 20       /* and so is one of more fields */
};

typedef struct {
  const char *file;         /* for messages */
  size_t line;              /* where the row is, counted from 1 */
  size_t count;             /* its fields, at least 1 */
  const char *const *field; /* valid until the handler returns */
  uint64_t bytes;           /* of the file up to the row's end */
  uint64_t total;           /* of the file; 0 where that is not known */
} row;

/* Takes a row; -1 with `why` filled ends the reading. */
typedef int row_handler(void *user, const row *r, failure *why);

/* Hand each row of the file to `handler`; "-" is the standard input. Returns 0, or -1 with
 * `why` filled. */
int rows_read_file(const char *path, row_handler *handler, void *user, failure *why);

/* The field at `at` as a number, or a message that names its line and column. */
int row_number(const row *r, size_t at, double *value, failure *why);

/* How messages call the file at `path`. */
const char *file_title(const char *path);

#endif
