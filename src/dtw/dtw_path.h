/* SPDX-License-Identifier: BSD-3-Clause */
/* The warping path of one pair: the pairs (i,j) from the first to the last that the
 * minima of the recurrence have chosen. Time is proportional to the cells of the window,
 * and so is memory (2 bits a cell), or with TSANOM_DTW_PATH_LINEAR to n + m
 * (dtw_traceback.h). */
#ifndef TSN_DTW_PATH_H
#define TSN_DTW_PATH_H

#include "dtw/dtw_operand.h"
#include "dtw/dtw_traceback.h"

/* One pair, resolved, and its buffers. */
typedef struct {
  const real *x, *y;
  const tsn_dtw_settings *settings;
  tsn_dtw_problem problem;
  tsn_dtw_traceback traceback;
} tsn_dtw_path;

/* Resolve a pair of operands. TSANOM_OK or
 * TSANOM_E_OVERFLOW. */
tsanom_status tsn_dtw_path_init(tsn_dtw_path *path, const tsn_dtw_operand *x,
                                const tsn_dtw_operand *y,
                                const tsn_dtw_settings *settings);

/* A tsn_layout of a tsn_dtw_path. */
void tsn_dtw_path_layout(tsn_arena *arena, void *path);

/* The path is laid out; `path` has space for n + m - 1 pairs. TSANOM_OK and the path,
 * or, with *length 0, _INFEASIBLE or _CUTOFF; or _STOPPED; then `path` holds anything. */
tsanom_status tsn_dtw_path_run(tsn_dtw_path *p, const tsn_dtw_watch *watch, size_t *path,
                               size_t *length, real *distance);

#endif
