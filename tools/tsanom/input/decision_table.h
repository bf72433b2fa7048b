/* SPDX-License-Identifier: BSD-3-Clause */
/* Decision tables out of CSV files. */
#ifndef TSANOM_COMMAND_DECISION_TABLE_H
#define TSANOM_COMMAND_DECISION_TABLE_H

#include <tsanom/roughset.h>

#include "failure.h"
#include "reserve.h"

/* The values of a column: codes are numbers of words, or, of a column that was cut
 * into intervals, counts of the cuts at or below. */
typedef struct {
  char *name;
  word_list values;
  double *cut; /* NULL: not cut */
  size_t cuts;
} value_list;

typedef struct {
  const char *file; /* for messages */
  size_t rows, capacity;
  size_t attributes;
  value_list *attribute;
  value_list decision;
  int32_t *values;    /* rows times attributes */
  int32_t *decisions; /* of each row */
} decision_table;

/* Read the file at `path` ("-": standard input). The columns but that of the
 * decision and those ignored are the attributes; an empty field or "?" is a
 * missing value. Returns 0, or -1 with `why` filled. Zero `t` before. */
int decision_table_read(const char *path, const char *decision, char *const *ignored,
                        size_t ignored_count, decision_table *t, failure *why);

void decision_table_free(decision_table *t);

/* Cut every attribute whose values are all numbers into intervals, by a method
 * TSANOM_ROUGHSET_EQUAL_WIDTH ... Returns 0, or -1 with `why` filled. */
int decision_table_cut(decision_table *t, int32_t method, size_t bins,
                       const tsanom_exec *exec, failure *why);

/* The library's view. */
tsanom_roughset_table decision_table_view(const decision_table *t);

#endif
