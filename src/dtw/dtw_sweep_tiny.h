/* SPDX-License-Identifier: BSD-3-Clause */
/* Distance of one pair of a few samples, cell by cell, without vectors and without a
 * workspace: at these lengths the other sweeps take longer to prepare than to run. */
#ifndef TSN_DTW_SWEEP_TINY_H
#define TSN_DTW_SWEEP_TINY_H

#include "dtw/dtw_precision.h"
#include "dtw/dtw_problem.h"

/* Samples of the longest series. */
enum { TSN_DTW_TINY_LONGEST = 40 };

/* Whether this sweep computes the problem, and is the fastest. If so, it also is for
 * shorter series with the same options. */
bool tsn_dtw_tiny_suits(const tsn_dtw_problem *problem,
                        const tsanom_dtw_options *options);

/* The distance of a problem that has a path; it may be above the cut-off. */
real tsn_dtw_tiny_run(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                      const real *x, const real *y);

#endif
