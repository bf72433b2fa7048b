/* SPDX-License-Identifier: BSD-3-Clause */
/* The exact length of a period that is known approximately. */
#ifndef TSN_DPD_FOLD_H
#define TSN_DPD_FOLD_H

#include <stddef.h>

/* The p of [low, high] whose fold explains most of x: ties go to the smallest. `sums` has
 * n + 1 elements, `bins` has `high`. 2 <= low <= high < n / 2. O(n (high - low + 1)). */
size_t tsn_dpd_fold(const double *x, size_t n, size_t low, size_t high, double *sums,
                    double *bins);

#endif
