/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of series of one length: one series a row. */
#ifndef TSANOM_COMMAND_SERIES_SET_H
#define TSANOM_COMMAND_SERIES_SET_H

#include <stddef.h>

#include "failure.h"

/* Zero it before use. */
typedef struct {
  size_t count, length;
  double *sample;  /* count rows of length */
  char **label;    /* of each series; NULL if read without labels */
  size_t capacity; /* series there is memory for */
} series_set;

void series_set_free(series_set *set);

/* Read a set from the file at `path` ("-": standard input). With `labelled` the
 * first field of each row is its label, as in the UCR archive. With a length
 * other than 0 in `set`, every series must have it; else the first sets it. */
int series_set_read(const char *path, int labelled, series_set *set, failure *why);

#endif
