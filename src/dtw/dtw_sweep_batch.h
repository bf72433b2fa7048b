/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of the same two lengths side by side, one per lane. No lane needs anything of
 * another, so there is no shift and no delay; a column costs two loads and a store more
 * than in strips. Strips of `depth` rows follow each other over all columns:
 *
 *   vector of y_j       y of pair 0 | y of pair 1 | y of pair 2 | ...   (column j)
 *   vectors of x_i      depth of them, in registers during a strip
 *   boundary[j]         D(row above, j) of each pair, a vector a column
 *
 * All lanes have one window, so a limit of a row is a scalar. In a band of one radius
 * the ends of a strip are triangles: columns 0 ... depth-2 hold only the rows that have
 * begun. The kernel writes these columns out instead of masking them, which took 200
 * series of 500 with radius 50 from 0.108 ... 0.112 s to 0.104 s (Xeon, level v4).
 *
 * Where minima of integers are fast, the columns between the triangles are swept in the
 * slots of dtw_staggered.h: on an AMD Zen 5, 0.053 instead of 0.079 ns a cell.
 *
 * 200 series of 500, full window, double, level v4, Xeon: 0.096 ns a cell. One pair alone
 * needs n = 1000 for that rate: it takes 0.108 ns at n = 256 and 0.204 ns at n = 64. */
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

/* Buffers of one batch at a time, reused for the next; vectors are pairs by lane. */
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

/* Distances of all lanes, INFINITY above the cut-off, or where no path fits the window.
 * TSANOM_OK or _STOPPED; then `distances` hold anything. Every lane must have a pair:
 * the caller repeats one. The batch is abandoned when all lanes are above the cut-off. */
tsanom_status tsn_dtw_batch_run(const tsn_dtw_batch *pairs,
                                const tsn_dtw_settings *settings,
                                tsn_dtw_batch_buffers *b, const tsn_dtw_watch *watch,
                                real *distances);

#endif
