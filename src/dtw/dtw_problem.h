/* SPDX-License-Identifier: BSD-3-Clause */
/* A problem of two series as every file of the room sees it: the caller's
 * options, checked and resolved for the lengths at hand. */
#ifndef TSN_DTW_PROBLEM_H
#define TSN_DTW_PROBLEM_H

#include <stdbool.h>
#include <tsanom/dtw.h>

typedef struct {
  size_t n, m;                       /* rows are samples of x, columns of y */
  size_t radius;                     /* <= max(n, m) */
  size_t open_begin_x, open_begin_y; /* < n, < m */
  size_t open_end_x, open_end_y;     /* < n, < m */
  int32_t window;                    /* TSANOM_DTW_SAKOE_CHIBA or _SLOPE */
} tsn_dtw_problem;

/* The caller's options (NULL: the defaults), checked, with stride filled in. */
tsanom_status tsn_dtw_options_read(tsanom_dtw_options *own,
                                   const tsanom_dtw_options *caller);

/* Resolve options for two lengths >= 1. TSANOM_E_OVERFLOW if the arithmetic of
 * the window does not fit. */
tsanom_status tsn_dtw_problem_init(tsn_dtw_problem *problem, size_t n, size_t m,
                                   const tsanom_dtw_options *options);

/* Columns of row i in a window along the slope. */
void tsn_dtw_slope_row(const tsn_dtw_problem *problem, size_t i, size_t *first,
                       size_t *last);

/* Columns that the window admits in row i < n: [*first, *last], none if
 * *first > *last. Neither ever falls from row to row. */
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

/* Whether any path fits the window and the open ends. */
bool tsn_dtw_path_exists(const tsn_dtw_problem *problem);

#endif
