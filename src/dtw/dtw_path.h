/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSN_DTW_PATH_H
#define TSN_DTW_PATH_H

#include "dtw/dtw_call.h"
#include "dtw/dtw_grid.h"

/* Measure what a pair of n and m samples needs. */
tsanom_status NAME(tsn_dtw_path_measure)(size_t n, size_t m, const tsn_dtw_call *call,
                                         tsn_arena *arena);

/* Arguments are good, and `arena` has the size measured. TSANOM_OK, _INFEASIBLE,
 * _CUTOFF, or _STOPPED; then `path` holds anything. */
tsanom_status NAME(tsn_dtw_path_run)(const real *x, size_t n, const real *y, size_t m,
                                     const tsn_dtw_call *call, tsn_arena arena,
                                     const tsn_dtw_watch *watch, size_t *path,
                                     size_t *length, real *distance);

#endif
