/* SPDX-License-Identifier: BSD-3-Clause */
/* Anti-diagonal sweep of the DTW recurrence: the cells of one diagonal depend
 * only on the two before it, so that they are independent SIMD lanes. */
#include "dtw/dtw_kernel.h"

#include <math.h>

static inline double absolute_cost(double a, double b) {
  return fabs(a - b);
}

static inline double squared_cost(double a, double b) {
  return (a - b) * (a - b);
}

static inline double smaller(double a, double b) {
  return a < b ? a : b;
}

/* Rows of diagonal d inside both the matrix and |2i-d| <= radius. */
static inline void diagonal_rows(const tsn_dtw_problem *p, size_t d, size_t *first,
                                 size_t *last) {
  size_t low = d >= p->m ? d - p->m + 1 : 0;
  size_t high = d < p->n ? d : p->n - 1;
  size_t band_low = d > p->radius ? (d - p->radius + 1) / 2 : 0;
  size_t band_high = (d + p->radius) / 2;
  *first = low > band_low ? low : band_low;
  *last = high < band_high ? high : band_high;
}

typedef double cost_function(double a, double b);

static inline void sweep(const tsn_dtw_problem *p, size_t first, size_t last,
                         cost_function *cost) {
  for (size_t d = first; d < last; d++) {
    size_t low, high;
    diagonal_rows(p, d, &low, &high);
    double *restrict current = p->diagonal[d % 3];
    const double *restrict previous = p->diagonal[(d + 2) % 3];
    const double *restrict before = p->diagonal[(d + 1) % 3];
    const double *restrict x = p->x;
    const double *restrict y = p->y_reversed + (p->m - 1) - d;
#pragma omp simd
    for (size_t i = low; i <= high; i++) {
      double best = smaller(before[i], smaller(previous[i], previous[i + 1]));
      current[i + 1] = cost(x[i], y[i]) + best;
    }
    current[low] = INFINITY;
    current[high + 2] = INFINITY;
    if (d == 0) current[1] = cost(x[0], y[0]);
  }
}

static void sweep_absolute(const tsn_dtw_problem *problem, size_t first, size_t last) {
  sweep(problem, first, last, absolute_cost);
}

static void sweep_squared(const tsn_dtw_problem *problem, size_t first, size_t last) {
  sweep(problem, first, last, squared_cost);
}

const tsn_dtw_kernels TSN_LEVEL(tsn_dtw_kernels) = {
    .sweep_absolute = sweep_absolute,
    .sweep_squared = sweep_squared,
};
