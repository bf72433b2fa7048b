/* SPDX-License-Identifier: BSD-3-Clause */
/* A processor that executes out of order overlaps the rows by itself: the longest chain
 * of dependent cells is n + m, not n m. Four rows at a time keep the cells between them
 * in registers: 50 instead of 63 ns for a call with n = 8 on an AMD Zen 5. */
#include "dtw/dtw_sweep_tiny.h"

#include <math.h>

#include "core/size.h"

enum { LONGEST = TSN_DTW_TINY_LONGEST, MOST_CELLS = 256, ROWS = 4 };

bool tsn_dtw_tiny_suits(const tsn_dtw_problem *p, const tsanom_dtw_options *o) {
  if (p->n > LONGEST || p->m > LONGEST) return false;
  size_t width = tsn_smaller(2 * p->radius + 1, p->m);
  return p->n * width <= MOST_CELLS && tsn_dtw_problem_is_closed(p) &&
         o->dimensions == 1 && o->penalty == 0 && !o->tails;
}

static inline real least(real a, real b) {
  return a < b ? a : b;
}

static inline __attribute__((always_inline)) real cost_of(real x, real y, bool squared) {
  real difference = x - y;
  return squared ? difference * difference : (real)fabs((double)difference);
}

/* Row i. above[j + 1] is the cell of column j in the row above, and then in this row;
 * what the window leaves out is infinite. */
static inline __attribute__((always_inline)) void sweep_row(const tsn_dtw_problem *p,
                                                            size_t i, const real *x,
                                                            const real *y, bool squared,
                                                            real *above) {
  real left = INFINITY, sample = x[i * p->stride_x];
  size_t first, last;
  tsn_dtw_window_row(p, i, &first, &last);
  real diagonal = above[first];
  above[first] = INFINITY;
  for (size_t j = first; j <= last; j++) {
    real up = above[j + 1];
    left =
        cost_of(sample, y[j * p->stride_y], squared) + least(least(diagonal, up), left);
    diagonal = up;
    above[j + 1] = left;
  }
}

/* ROWS rows without a window: only the last of them waits for a cell in memory. */
static inline __attribute__((always_inline)) void sweep_rows(const tsn_dtw_problem *p,
                                                             size_t i, const real *x,
                                                             const real *y, bool squared,
                                                             real *above) {
  real left[ROWS], sample[ROWS], diagonal = above[0];
  for (int r = 0; r < ROWS; r++) {
    left[r] = INFINITY;
    sample[r] = x[(i + (size_t)r) * p->stride_x];
  }
  above[0] = INFINITY;
  for (size_t j = 0; j < p->m; j++) {
    real up = above[j + 1], corner = diagonal;
    diagonal = up;
    for (int r = 0; r < ROWS; r++) {
      real old = left[r];
      left[r] =
          cost_of(sample[r], y[j * p->stride_y], squared) + least(least(corner, up), old);
      corner = old;
      up = left[r];
    }
    above[j + 1] = up;
  }
}

static inline __attribute__((always_inline)) real sweep(const tsn_dtw_problem *p,
                                                        const real *x, const real *y,
                                                        bool squared) {
  real above[LONGEST + 1];
  size_t i = 0;
  above[0] = 0;
  for (size_t j = 1; j <= LONGEST; j++) above[j] = INFINITY;
  if (p->radius + 1 == tsn_larger(p->n, p->m)) {
    for (; i + ROWS <= p->n; i += ROWS) sweep_rows(p, i, x, y, squared, above);
  }
  for (; i < p->n; i++) sweep_row(p, i, x, y, squared, above);
  return above[p->m];
}

real tsn_dtw_tiny_run(const tsn_dtw_problem *p, const tsanom_dtw_options *o,
                      const real *x, const real *y) {
  return o->cost == TSANOM_COST_SQUARED ? sweep(p, x, y, true) : sweep(p, x, y, false);
}
