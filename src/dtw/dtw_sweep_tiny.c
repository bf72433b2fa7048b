/* SPDX-License-Identifier: BSD-3-Clause */
/* A processor that executes out of order overlaps the rows by itself: the longest chain
 * of dependent cells is n + m, not n m. */
#include "dtw/dtw_sweep_tiny.h"

#include <math.h>

#include "core/size.h"

enum { LONGEST = TSN_DTW_TINY_LONGEST, MOST_CELLS = 196 };

bool tsn_dtw_tiny_suits(const tsn_dtw_problem *p, const tsanom_dtw_options *o) {
  if (p->n > LONGEST || p->m > LONGEST) return false;
  size_t width = tsn_smaller(2 * p->radius + 1, p->m);
  return p->n * width <= MOST_CELLS && tsn_dtw_problem_is_closed(p) &&
         o->dimensions == 1 && o->penalty == 0 && !o->tails;
}

static inline real least(real a, real b) {
  return a < b ? a : b;
}

/* above[j + 1] is the cell of column j in the row above, and then in this row; what the
 * window leaves out is infinite. */
static inline __attribute__((always_inline)) real sweep(const tsn_dtw_problem *p,
                                                        const real *x, const real *y,
                                                        bool squared) {
  real above[LONGEST + 1];
  above[0] = 0;
  for (size_t j = 1; j <= LONGEST; j++) above[j] = INFINITY;
  for (size_t i = 0; i < p->n; i++) {
    real left = INFINITY, sample = x[i * p->stride_x];
    size_t first, last;
    tsn_dtw_window_row(p, i, &first, &last);
    real diagonal = above[first];
    above[first] = INFINITY;
    for (size_t j = first; j <= last; j++) {
      real difference = sample - y[j * p->stride_y], up = above[j + 1];
      real cost = squared ? difference * difference : (real)fabs((double)difference);
      left = cost + least(least(diagonal, up), left);
      diagonal = up;
      above[j + 1] = left;
    }
  }
  return above[p->m];
}

real tsn_dtw_tiny_run(const tsn_dtw_problem *p, const tsanom_dtw_options *o,
                      const real *x, const real *y) {
  return o->cost == TSANOM_COST_SQUARED ? sweep(p, x, y, true) : sweep(p, x, y, false);
}
