/* SPDX-License-Identifier: BSD-3-Clause */
/* What tsanom reduce found of a table, and how it is printed. */
#ifndef TSANOM_COMMAND_REDUCTION_H
#define TSANOM_COMMAND_REDUCTION_H

#include <jansson.h>

#include "decision_table.h"

typedef struct {
  const char *kind;  /* which reducts these are: "all" ... */
  uint64_t *core;    /* bitsets of `words` words */
  uint64_t *reducts; /* in order of size, then of their first attributes */
  size_t *sizes;
  size_t words, count, capacity;
  size_t limit; /* reducts kept at most */
  int out_of_memory;
  int complete;                  /* no reduct of the kind is left out */
  tsanom_roughset_bounds bounds; /* of the smallest size; upper 0: not asked for */
  size_t *inconsistent;          /* pairs of rows */
  size_t inconsistent_count, inconsistent_all;
  size_t positive;
  double dependency;
  double *significance;
  tsanom_roughset_rule *rules; /* of the first reduct, most support first */
  size_t rule_count;
} reduction;

void reduction_free(reduction *found);

/* Print a table for people, with at most `rules` rules. */
void print_reduction(const decision_table *t, const reduction *found, size_t rules);

json_t *reduction_json(const decision_table *t, const reduction *found);

#endif
