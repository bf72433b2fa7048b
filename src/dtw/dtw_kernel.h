/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSN_DTW_KERNEL_H
#define TSN_DTW_KERNEL_H

#include <stddef.h>

#include "core/isa.h"

/* One problem, n <= m. The three diagonals are indexed by i + 1, i = -1 ... n,
 * hold infinity before the first sweep, and rotate: D(i,j) of diagonal
 * d = i + j lives in diagonal[d % 3]. */
typedef struct {
  const double *x;
  size_t n;
  const double *y_reversed;
  size_t m;
  size_t radius; /* |i-j| <= radius, radius >= m - n */
  double *diagonal[3];
} tsn_dtw_problem;

typedef struct {
  /* Fill the diagonals first <= d < last; the one before must be done. */
  void (*sweep_absolute)(const tsn_dtw_problem *problem, size_t first, size_t last);
  void (*sweep_squared)(const tsn_dtw_problem *problem, size_t first, size_t last);
} tsn_dtw_kernels;

TSN_KERNEL_TABLE(tsn_dtw_kernels);

#endif
