/* SPDX-License-Identifier: BSD-3-Clause */
/* The problem of one pair: the caller's options resolved for two lengths.
 *
 * Row i of the matrix D is sample i of x, column j is sample j of y. The window admits
 * in row i the columns [first(i), last(i)]; neither end falls from row to row:
 *
 *          j ->
 *      i   # # . . . .        radius 1, Sakoe-Chiba
 *      |   # # # . . .        first(i) = max(0, i-r)
 *      v   . # # # . .        last(i)  = min(m-1, i+r)
 *          . . # # # .
 *
 * For lengths that differ by more than r it admits no path. A slope window follows the
 * diagonal of the rectangle instead: with rise = m-1 and run = n-1 it admits
 *
 *   |i*rise - j*run| <= r * min(rise, run)
 *
 * that is r samples of the longer series to both sides; if n = m, the same window.
 *
 * Open ends: a path may begin in rows i <= open_begin_x of column 0 or in columns
 * j <= open_begin_y of row 0, and end likewise; samples left out there cost nothing.
 *
 * H. Sakoe and S. Chiba, IEEE Trans. ASSP 26 (1978) 43-49. */
#ifndef TSN_DTW_PROBLEM_H
#define TSN_DTW_PROBLEM_H

#include <stdbool.h>
#include <tsanom/dtw.h>

/* Every radius and open end is reduced to the matrix, so that with lengths of real
 * arrays sums of two fields cannot overflow. */
typedef struct {
  size_t n, m;                       /* rows, columns */
  size_t stride_x, stride_y;         /* elements from one sample to the next */
  size_t radius;                     /* < max(n, m) */
  size_t open_begin_x, open_begin_y; /* < n, < m */
  size_t open_end_x, open_end_y;     /* < n, < m */
  int32_t window;                    /* TSANOM_DTW_SAKOE_CHIBA or _SLOPE */
} tsn_dtw_problem;

/* Resolve checked options for two lengths >= 1; both strides are the options'.
 * TSANOM_E_OVERFLOW if the arithmetic of the window does not fit. */
tsanom_status tsn_dtw_problem_init(tsn_dtw_problem *problem, size_t n, size_t m,
                                   const tsanom_dtw_options *options);

/* Columns of row i in a window along the slope. */
void tsn_dtw_slope_row(const tsn_dtw_problem *problem, size_t i, size_t *first,
                       size_t *last);

/* Columns that the window admits in row i < n: [*first, *last], none if
 * *first > *last. */
static inline void tsn_dtw_window_row(const tsn_dtw_problem *problem, size_t i,
                                      size_t *first, size_t *last) {
  if (problem->window != TSANOM_DTW_SAKOE_CHIBA) {
    tsn_dtw_slope_row(problem, i, first, last);
    return;
  }
  size_t end = i + problem->radius;
  *first = i > problem->radius ? i - problem->radius : 0;
  *last = end < problem->m - 1 ? end : problem->m - 1;
}

/* Whether all paths begin at (0,0) and end at (n-1,m-1). */
static inline bool tsn_dtw_problem_is_closed(const tsn_dtw_problem *p) {
  return (p->open_begin_x | p->open_begin_y | p->open_end_x | p->open_end_y) == 0;
}

/* Whether any path fits the window and the open ends. */
bool tsn_dtw_path_exists(const tsn_dtw_problem *problem);

#endif
