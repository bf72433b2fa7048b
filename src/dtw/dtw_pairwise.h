/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances of many pairs, cut into units of work that threads take in order. Pairs of
 * the same two lengths run side by side in batches (dtw_sweep_batch.c), the others one by
 * one (dtw_pair.h), each on one thread: with many pairs that needs less synchronization
 * than a wavefront for each. One interface serves three public functions:
 *
 *   one to many   xs has one series
 *   cross         distances[a*ld + b]
 *   condensed     xs = ys, pairs a < b row by row:  (0,1) (0,2) ... (1,2) (1,3) ...
 *
 * Calls, in this order: tsn_dtw_pairwise_init(), _layout(), _run(). */
#ifndef TSN_DTW_PAIRWISE_H
#define TSN_DTW_PAIRWISE_H

#include "dtw/dtw_pair.h"
#include "dtw/dtw_sweeps.h"

/* The pairs of xs and ys, numbered row by row, and the buffers. */
typedef struct {
  const tsn_dtw_settings *settings; /* options.dimensions is that of the sets */
  series_view xs, ys;               /* checked; the samples are not read by a layout */
  bool condensed;  /* xs and ys are one set, and only pairs a < b are computed */
  real *distances; /* of pair (a,b) at a*ld + b, unless condensed */
  size_t ld;
  size_t computed; /* out: leading pairs that are done */
  size_t *order;   /* columns by length */
  void *blocks;    /* one for each thread */
  size_t block_bytes;
  tsn_dtw_pair largest; /* a pair of the longest series, which sizes the blocks */
} tsn_dtw_pairwise;

/* Resolve the pairs. TSANOM_OK or TSANOM_E_OVERFLOW. */
tsanom_status tsn_dtw_pairwise_init(tsn_dtw_pairwise *m);

/* A tsn_layout of a tsn_dtw_pairwise. */
void tsn_dtw_pairwise_layout(tsn_arena *arena, void *pairs);

/* The pairs are laid out. TSANOM_OK, or _STOPPED; then only the distances of the leading
 * m->computed pairs are valid. A pair without a path is INFINITY, not an error. */
tsanom_status tsn_dtw_pairwise_run(tsn_dtw_pairwise *m);

#endif
