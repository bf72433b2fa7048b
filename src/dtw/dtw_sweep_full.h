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
 * So lanes wait for each other only at the first and at the last strip. By strips they
 * wait at each: 28 steps of every strip at level v4, a tenth of the time at n = 256.
 * Nanoseconds a cell, double precision, level v4, one thread of a Xeon with AVX-512:
 *
 *   n = 64    0.345 by a band      0.204 by this sweep
 *   n = 256   0.132 by strips      0.108
 *
 * At n = 1000 the difference is 2 % in double and 6 % in single precision.
 *
 * Columns are padded before column 0, where samples are infinite, so that their number
 * is a multiple of `delay` and every strip takes over at the same place of a turn.
 * Rows are padded after the last one, whose cell is read before theirs reach it; a
 * strip above row 0, as in dtw_sweep_strips.h, would need windows.
 *
 * The matrix is O(n*m) cells, the memory O(n + m). */
#ifndef TSN_DTW_SWEEP_FULL_H
#define TSN_DTW_SWEEP_FULL_H

#include "dtw/dtw_wavefront.h"

/* Buffers of one sweep; all are parts of one arena. */
typedef struct {
  real *x; /* of all strips, as the kernels want them */
  /* Columns in `delay` arrays, and where they meet: the last LANES elements of each,
   * followed by its first ones. In a handover lanes that are still above read the
   * former and lanes that are below the latter, by the same load. */
  real *columns, *seam;
  size_t column_stride;            /* elements from array to array of `columns` */
  real *boundary_block, *boundary; /* see tsn_dtw_boundary() */
  real *state;
} tsn_dtw_full;

/* Whether this sweep may suit the problem, or one of shorter series with the same
 * options. A layout for the longest of several series asks this, and a run
 * tsn_dtw_full_suits(): what suits a shorter pair must have been laid out. */
bool tsn_dtw_full_allows(const tsn_dtw_problem *problem,
                         const tsanom_dtw_options *options,
                         const tsn_dtw_kernels *kernels);

/* Whether this sweep computes the problem, and is the fastest on one thread. It leaves
 * no cell out, so windows, open ends and cut-offs are excluded. */
bool tsn_dtw_full_suits(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                        const tsn_dtw_kernels *kernels);

/* Take the buffers of `c`; sizes only grow with both lengths. */
void tsn_dtw_full_layout(tsn_arena *arena, const tsn_dtw_problem *problem,
                         const tsn_dtw_kernels *kernels, tsn_dtw_full *c);

/* TSN_DTW_SWEPT, and the distance; or TSN_DTW_STOPPED, and *distance is unchanged. */
int tsn_dtw_full_run(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                     const tsn_dtw_kernels *kernels, const real *x, const real *y,
                     tsn_dtw_full *c, const tsn_dtw_watch *watch, real *distance);

/* Samples of x in the order of the kernels, strip by strip, top block in the last lane.
 * Rows after the last one get any finite sample: nothing reads their cells. */
void tsn_dtw_place_rows(const real *x, size_t n, size_t stride, size_t lanes,
                        size_t depth, real *to);

/* Inner steps begin ... end-1; whether to go on. `steps` counts those since the last
 * poll. */
bool tsn_dtw_sweep_polled(tsn_dtw_sweep *inner, const tsn_dtw_strip *at, size_t begin,
                          size_t end, const tsn_dtw_watch *watch, size_t *steps);

#endif
