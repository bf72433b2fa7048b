/* SPDX-License-Identifier: BSD-3-Clause */
/* One pair of series, arguments checked and workspace carved by the caller. */
#ifndef TSN_DTW_PAIR_H
#define TSN_DTW_PAIR_H

#include "core/arena.h"
#include "dtw/dtw_problem.h"

typedef struct {
  double *row[2]; /* m + 1 each, or the whole matrix in row[0] */
} tsn_dtw_pair_buffers;

void tsn_dtw_pair_layout(tsn_arena *arena, size_t m, tsn_dtw_pair_buffers *buffers);

/* The distance: INFINITY above the cut-off or if no path exists. */
double tsn_dtw_pair_distance(const double *x, size_t n, const double *y, size_t m,
                             const tsanom_dtw_options *options,
                             const tsn_dtw_pair_buffers *buffers);

#endif
