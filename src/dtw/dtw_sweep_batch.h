/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of the same two lengths side by side, one per lane. No lane needs anything of
 * another, so there is no shift and no delay; a column costs two loads and a store more
 * than in strips. Strips of `depth` rows follow each other over all columns. */
#ifndef TSN_DTW_SWEEP_BATCH_H
#define TSN_DTW_SWEEP_BATCH_H

#include "dtw/dtw_operand.h"
#include "dtw/dtw_problem.h"

enum {
  /* Longer series are swept one pair at a time: the row between two strips, a vector per
   * column, would leave the second-level cache. */
  TSN_DTW_BATCH_LONGEST = 8192,
  TSN_DTW_BATCH_LANES = 16 /* no level has more */
};

typedef struct {
  real *x, *y, *boundary, *state, *after;
  tick *first, *last;
} tsn_dtw_batch_buffers;

/* For series of up to n and m samples, within TSN_DTW_BATCH_LONGEST. */
void tsn_dtw_batch_layout(tsn_arena *arena, size_t n, size_t m,
                          const tsn_dtw_settings *settings,
                          tsn_dtw_batch_buffers *buffers);

/* One pair a lane. */
typedef struct {
  size_t n, m;
  size_t stride_x, stride_y;
  const real *x[TSN_DTW_BATCH_LANES], *y[TSN_DTW_BATCH_LANES];
  const double *tail[TSN_DTW_BATCH_LANES]; /* NULL: none */
} tsn_dtw_batch;

/* Distances of all lanes, INFINITY above the cut-off. TSANOM_OK or _STOPPED. */
tsanom_status tsn_dtw_batch_run(const tsn_dtw_batch *pairs,
                                const tsn_dtw_settings *settings,
                                tsn_dtw_batch_buffers *b, const tsn_dtw_watch *watch,
                                real *distances);

#endif
