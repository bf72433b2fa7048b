/* SPDX-License-Identifier: BSD-3-Clause */
/* Distance of one pair by staggered sweeps (dtw_staggered.h), without a window or in a
 * Sakoe-Chiba band that is too wide for dtw_sweep_band.h. Strips follow each other
 * without a pause, as in dtw_sweep_full.h: a lane whose block has passed its last column
 * goes on with its block of the strip below. Steps of a strip, `period` in all:
 *
 *   0          last switch    handover                       period
 *   |  lanes go over  |  rows begin  |         inner           |  handover below
 *
 * In a band the block of lane b, whose rows begin a column after each other, begins
 * depth + delay steps after that of lane b-1. Between the last cell of a row in one strip
 * and its first in the next there is a gap in which its cost is infinite:
 *
 *   row u of block b      old strip | gap ...... | new strip
 *   step - u - pitch b          shift        shift + gap       pitch = depth + delay
 *
 * so that windows cost one maximum in the steps of a handover and nothing elsewhere. All
 * strips have the same steps; strip t is t * rows columns to the right. Samples of y are
 * infinite outside of the matrix, hence no window is cut off at its edges.
 *
 * Several threads sweep the strips in turns, each in tiles behind that above
 * (dtw_progress.h), as in dtw_wavefront.h:
 *
 *   thread 0   strip 0 ========== strip 2 ========== ...
 *   thread 1     strip 1 ========== strip 3 ==========
 *
 * They pass one row of each strip to each other. Tiles of some hundred steps hide that:
 * n = 50 000, radius 5000 takes 0.0488 ns a cell on one thread and 0.0261 on two; two
 * separate calls at once come to 0.0252.
 *
 * Nanoseconds a cell, double precision, one thread of an AMD Zen 5, level v4:
 *
 *                          strips   dtw_sweep_full.h   this
 *   n = 2000                  -           0.075         0.051
 *   n = 2000, radius 200    0.100           -           0.071
 *
 * By strips a penalty takes 2.3 times as long, two components 1.7 times, a cut-off that
 * never applies 1.45 times (n = 1000, AMD EPYC Zen 4).
 *
 * The matrix is O(n m) cells, the memory O(n + m). */
#ifndef TSN_DTW_SWEEP_CHAIN_H
#define TSN_DTW_SWEEP_CHAIN_H

#include "dtw/dtw_sweep_full.h"

/* Buffers of one sweep; all are parts of one arena. */
typedef struct {
  real *x;                 /* of all strips, as the kernels want them */
  real *columns;           /* in `delay` arrays, as in dtw_kernel.h */
  size_t column_stride;    /* elements from array to array */
  size_t dimension_stride; /* elements from dimension to dimension */
  real *boundary, *walls;
  real *costs; /* of each thread; NULL: one dimension and no penalty */
  real *state; /* of each thread */
  uint16_t *below;
  _Atomic size_t *progress; /* of each strip; NULL: one thread */
} tsn_dtw_chain;

/* Whether this sweep may suit the problem, or one of shorter series with the same
 * options. */
bool tsn_dtw_chain_allows(const tsanom_dtw_options *options,
                          const tsn_dtw_kernels *kernels);

/* Whether this sweep computes the problem, and is the fastest on one thread. */
bool tsn_dtw_chain_suits(const tsn_dtw_problem *problem,
                         const tsanom_dtw_options *options,
                         const tsn_dtw_kernels *kernels);

/* Take the buffers of `c`; sizes only grow with both lengths. */
void tsn_dtw_chain_layout(tsn_arena *arena, const tsn_dtw_problem *problem,
                          const tsanom_dtw_options *options,
                          const tsn_dtw_kernels *kernels, int threads, tsn_dtw_chain *c);

/* On up to `threads` threads, at most those of the layout; with a cut-off one. TSN_DTW_SWEPT,
 * and the distance; or TSN_DTW_STOPPED or _ABANDONED, and *distance is unchanged. */
int tsn_dtw_chain_run(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                      const tsn_dtw_kernels *kernels, const real *x, const real *y,
                      tsn_dtw_chain *c, int threads, const tsn_dtw_watch *watch,
                      real *distance);

#endif
