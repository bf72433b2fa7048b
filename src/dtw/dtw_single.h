/* SPDX-License-Identifier: BSD-3-Clause */
/* The distance of one pair by whichever sweep is fastest. */
#ifndef TSN_DTW_SINGLE_H
#define TSN_DTW_SINGLE_H

#include "dtw/dtw_call.h"

/* Measure what any pair of up to n and m samples needs. */
tsanom_status NAME(tsn_dtw_single_measure)(size_t n, size_t m, const tsn_dtw_call *call,
                                           tsn_arena *arena);

/* Arguments are good, and `arena` has the size measured. TSANOM_OK, _INFEASIBLE,
 * _CUTOFF, or _STOPPED. */
tsanom_status NAME(tsn_dtw_single_run)(const real *x, size_t n, const real *y, size_t m,
                                       const tsn_dtw_call *call, tsn_arena arena,
                                       const tsn_dtw_watch *watch, real *distance);

#endif
