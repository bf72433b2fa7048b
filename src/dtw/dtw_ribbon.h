/* SPDX-License-Identifier: BSD-3-Clause */
/* Distance of one pair in a narrow Sakoe-Chiba band, diagonal by diagonal. Where
 * the band is some vectors wide, this wastes less than strips of rows do. */
#ifndef TSN_DTW_RIBBON_H
#define TSN_DTW_RIBBON_H

#include "dtw/dtw_wave.h"

typedef struct {
  NAME(tsn_dtw_ribbon) ribbon;
  real *x, *y; /* of the paddings' first elements */
  real *walls;
} NAME(tsn_dtw_ribbon_pair);

/* Whether a problem is of the kind, and faster this way. */
bool NAME(tsn_dtw_ribbon_suits)(const tsn_dtw_problem *problem,
                                const tsanom_dtw_options *options,
                                const NAME(tsn_dtw_kernels) * kernels);

/* The largest radius that suits. */
size_t NAME(tsn_dtw_ribbon_widest)(const NAME(tsn_dtw_kernels) * kernels);

void NAME(tsn_dtw_ribbon_layout)(tsn_arena *arena, const tsn_dtw_problem *problem,
                                 const NAME(tsn_dtw_kernels) * k,
                                 NAME(tsn_dtw_ribbon_pair) * b);

/* The distance, INFINITY if it lies above the cut-off; or TSN_DTW_STOPPED, or
 * TSN_DTW_ABANDONED. */
int NAME(tsn_dtw_ribbon_run)(const tsn_dtw_problem *problem,
                             const tsanom_dtw_options *options,
                             const NAME(tsn_dtw_kernels) * k, const real *x,
                             const real *y, NAME(tsn_dtw_ribbon_pair) * b,
                             const tsn_dtw_watch *watch, real *distance);

#endif
