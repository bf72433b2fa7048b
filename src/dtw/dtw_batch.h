/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of equal lengths side by side in the lanes. */
#ifndef TSN_DTW_BATCH_H
#define TSN_DTW_BATCH_H

#include "dtw/dtw_call.h"

enum {
  /* Longer series are swept one pair at a time: a batch would leave the cache. */
  TSN_DTW_BATCH_LONGEST = 8192,
  TSN_DTW_BATCH_LANES = 16 /* no level has more */
};

typedef struct {
  NAME(tsn_dtw_strip) strip;
  real *x, *y, *boundary, *state, *after;
  tick *first, *last;
} NAME(tsn_dtw_batch_buffers);

/* For series of up to n and m samples, within TSN_DTW_BATCH_LONGEST. */
void NAME(tsn_dtw_batch_layout)(tsn_arena *arena, size_t n, size_t m,
                                const tsn_dtw_call *call,
                                NAME(tsn_dtw_batch_buffers) * buffers);

/* One pair a lane. */
typedef struct {
  size_t n, m;
  const real *x[TSN_DTW_BATCH_LANES], *y[TSN_DTW_BATCH_LANES];
  const double *tail[TSN_DTW_BATCH_LANES]; /* NULL: none */
} NAME(tsn_dtw_batch);

/* Distances of all lanes, INFINITY above the cut-off. TSANOM_OK or _STOPPED. */
tsanom_status NAME(tsn_dtw_batch_run)(const NAME(tsn_dtw_batch) * pairs,
                                      const tsn_dtw_call *call,
                                      NAME(tsn_dtw_batch_buffers) * b,
                                      const tsn_dtw_watch *watch, real *distances);

#endif
