/* SPDX-License-Identifier: BSD-3-Clause */
/* What runs are known to be, and how well verdicts agree with it. */
#ifndef TSANOM_COMMAND_LABELS_H
#define TSANOM_COMMAND_LABELS_H

#include <tsanom/hsa.h>

#include "failure.h"

enum { STATUSES = TSANOM_HSA_STATUSES };

/* Read the true status of each of `count` runs from a CSV file with the columns
 * run and status. A run is found by its path, or by the end of it after a slash.
 * Each run must be there. */
int labels_read(const char *path, char *const *run, size_t count, int32_t *status,
                failure *why);

/* Runs by their true status (row) and the status found (column). */
typedef struct {
  size_t runs[STATUSES][STATUSES];
} confusion;

/* Whether a run has the status, or one was found; or it is one of the three statuses of
 * the decision trees, which tables always have. */
int is_shown(const confusion *c, int32_t status);

/* F-score of a status: 2 TP / (2 TP + FP + FN); -1 if there is no such run and none
 * was found. */
double f_score(const confusion *c, int32_t status);

/* Mean F-score of the statuses that have one. */
double macro_f_score(const confusion *c);

#endif
