/* SPDX-License-Identifier: BSD-3-Clause */
/* Distance of one pair of which nothing is left out. As in dtw_sweep_strips.h, each lane
 * sweeps a block of rows along the columns, `delay` columns behind the lane above. But a
 * lane that has passed the last column goes on with its block of the strip below at
 * once, while the lanes below it still finish the strip (the handover):
 *
 *   lane 3   0 0 0 0 0 0 1 1 1 1 1 1 2 ...      the digit is the strip
 *   lane 2     0 0 0 0 0 0 1 1 1 1 1 1 ...
 *   lane 1       0 0 0 0 0 0 1 1 1 1 1 ...
 *   lane 0         0 0 0 0 0 0 1 1 1 1 ...
 *            steps ->      ^---^ handover
 *
 * So lanes wait for each other only at the first and at the last strip. Columns are
 * padded before column 0, where samples are infinite; rows are padded after the last
 * one, whose cell is read before theirs reach it. */
#ifndef TSN_DTW_SWEEP_FULL_H
#define TSN_DTW_SWEEP_FULL_H

#include "dtw/dtw_wavefront.h"

typedef struct {
  real *x; /* of all strips, as the kernels want them */
  /* Columns in `delay` arrays, and where they meet: the last of them, as many as
   * lanes, before the first. */
  real *columns, *seam;
  size_t column_stride;
  real *boundary_block, *boundary; /* see tsn_dtw_boundary() */
  real *state;
} tsn_dtw_full;

/* Whether this sweep may suit the problem, or one of shorter series with the same
 * options. */
bool tsn_dtw_full_allows(const tsn_dtw_problem *problem,
                         const tsanom_dtw_options *options,
                         const tsn_dtw_kernels *kernels);

/* Whether this sweep computes the problem, and is the fastest on one thread. */
bool tsn_dtw_full_suits(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                        const tsn_dtw_kernels *kernels);

void tsn_dtw_full_layout(tsn_arena *arena, const tsn_dtw_problem *problem,
                         const tsn_dtw_kernels *kernels, tsn_dtw_full *c);

/* TSN_DTW_SWEPT or TSN_DTW_STOPPED. */
int tsn_dtw_full_run(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                     const tsn_dtw_kernels *kernels, const real *x, const real *y,
                     tsn_dtw_full *c, const tsn_dtw_watch *watch, real *distance);

#endif
