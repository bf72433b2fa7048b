/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances of many pairs, cut into units of work that threads take in order. */
#ifndef TSN_DTW_MATRIX_H
#define TSN_DTW_MATRIX_H

#include "dtw/dtw_batch.h"
#include "dtw/dtw_single.h"

/* A set of series. */
typedef struct {
  const real *const *series;
  const size_t *lengths;
  size_t count;
  size_t longest; /* filled in by the check of the set */
  bool one_length;
} NAME(tsn_dtw_set);

/* The pairs of xs and ys, numbered row by row. */
typedef struct {
  NAME(tsn_dtw_set) xs, ys;
  bool condensed;             /* xs and ys are one set, and only pairs a < b are wanted */
  const double *const *tails; /* of the only row, by column; NULL: none */
  real *distances;
  size_t leading;
  size_t computed; /* out: leading pairs that are done */
} NAME(tsn_dtw_matrix);

/* Measure, for longest and count of each set. */
tsanom_status NAME(tsn_dtw_matrix_measure)(const NAME(tsn_dtw_matrix) * matrix,
                                           const tsn_dtw_call *call, tsn_arena *arena);

/* Fill in `longest` and `one_length`; TSANOM_E_NULL or _E_COUNT. */
tsanom_status NAME(tsn_dtw_set_check)(NAME(tsn_dtw_set) * set);

bool NAME(tsn_dtw_set_finite)(const NAME(tsn_dtw_set) * set,
                              const tsanom_dtw_options *options);

/* TSANOM_OK or _STOPPED. The arena has the size measured. */
tsanom_status NAME(tsn_dtw_matrix_run)(NAME(tsn_dtw_matrix) * matrix,
                                       const tsn_dtw_call *call, tsn_arena *arena);

#endif
