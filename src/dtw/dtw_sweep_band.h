/* SPDX-License-Identifier: BSD-3-Clause */
/* Distance of one pair in a narrow Sakoe-Chiba band, diagonal by diagonal. Cells of one
 * diagonal i+j do not depend on each other, so the band's diagonals are the vectors:
 *
 *      j ->                       lane of the even diagonals: k, i-j = 2k - radius
 *   i  o e . . .                  of the odd ones:            k, i-j = 2k + 1 - radius
 *   |  e o e . .
 *   v  . e o e .                  D(even) needs the odd one before and itself,
 *      . . e o e                  D(odd) the even one before and itself
 *
 * A diagonal is split by parity: from (i,j) the steps to (i-1,j) and (i,j-1) change i-j
 * by one, the step to (i-1,j-1) does not. In lanes:
 *
 *   even lane k:   diagonal even k,   above odd k-1,   left odd k
 *   odd lane k:    diagonal odd k,    above even k,    left even k+1
 *
 * Two diagonals are the whole state; no row begins or ends. Each vector of cells costs a
 * shift more than in strips (six operations for five), which in turn compute the
 * triangles at the ends of each strip. */
#ifndef TSN_DTW_SWEEP_BAND_H
#define TSN_DTW_SWEEP_BAND_H

#include "dtw/dtw_wavefront.h"

typedef struct {
  tsn_dtw_band band;
  /* First elements of the paddings: (vectors + 1) * lanes infinite samples on each side
   * of a series, which diagonals reach beyond both ends. y is stored in reverse. */
  real *x, *y;
  real *state; /* both diagonals and the walls */
} tsn_dtw_band_buffers;

/* Whether the options allow this sweep, given a closed band that is narrow enough.
 * Samples of several dimensions would need a padding and a load for each. */
static inline bool tsn_dtw_band_allows(const tsanom_dtw_options *options) {
  return options->dimensions == 1;
}

/* Whether this sweep computes the problem, and faster than strips do: up to 16 vectors
 * per diagonal, 8 if the band is the whole matrix. */
bool tsn_dtw_band_suits(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                        const tsn_dtw_kernels *kernels);

/* Whether it suits the problem and all problems of shorter series with these options. */
bool tsn_dtw_band_suits_shorter(const tsn_dtw_problem *problem,
                                const tsanom_dtw_options *options,
                                const tsn_dtw_kernels *kernels);

/* Take the buffers of `b`; they grow with both lengths and the radius. */
void tsn_dtw_band_layout(tsn_arena *arena, const tsn_dtw_problem *problem,
                         const tsn_dtw_kernels *k, tsn_dtw_band_buffers *b);

/* The distance, INFINITY if it lies above the cut-off; or TSN_DTW_STOPPED, or
 * TSN_DTW_ABANDONED. */
int tsn_dtw_band_run(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                     const tsn_dtw_kernels *k, const real *x, const real *y,
                     tsn_dtw_band_buffers *b, const tsn_dtw_watch *watch, real *distance);

#endif
