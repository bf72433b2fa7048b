/* SPDX-License-Identifier: BSD-3-Clause */
/* Two sets of runs, compared number by number. */
#ifndef TSANOM_COMMAND_COMPARE_H
#define TSANOM_COMMAND_COMPARE_H

#include <jansson.h>
#include <tsanom/change.h>

#include "run_labels.h"
#include "run_numbers.h"

/* Runs of both sets; those of the second follow the first. Zero it before use. */
typedef struct {
  run_numbers *run;
  size_t a, b; /* runs of each set */
} run_sets;

/* One number of all runs; a and b are geometric means. */
typedef struct {
  const char *name;
  int32_t kind;
  int changed; /* 1: the sets differ with significance */
  double a, b;
  double ratio, low, high; /* b / a, and its interval of 95 % */
  double significance;
  double detectable; /* smallest ratio above 1 that these runs can show; infinity: none */
} compared;

/* Zero it before use. */
typedef struct {
  compared *row; /* first the one that decides, then those that explain most of it */
  size_t rows;
  size_t a, b;
  int paired;
  int sequential;
  run_labels labels; /* none where commands were executed */
} comparison;

extern const double compare_level;

/* Compare the numbers that all runs have. The first number of the first run decides. The
 * runs must live as long as the comparison. */
int compare_sets(const run_sets *sets, const tsanom_change_options *options,
                 comparison *c, failure *why);
void comparison_free(comparison *c);

/* Whether the second set takes longer by more than `threshold`, 0.05 for 5 %. */
int comparison_is_slower(const comparison *c, double threshold);

void comparison_print(const comparison *c);
json_t *comparison_to_json(const comparison *c, double threshold);

/* Ratios with their intervals. */
int comparison_draw(const comparison *c, const char *path, failure *why);

#endif
