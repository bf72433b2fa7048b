/* SPDX-License-Identifier: BSD-3-Clause */
/* Distance of one pair without a window: strips of all columns in one sweep, each
 * lane going over from strip to strip, so that the lanes wait for each other only at
 * the beginning and at the end of the matrix.
 *
 * Columns are padded before column 0, where samples are infinite; rows after the last
 * one, whose cells are read before those below come to matter. */
#ifndef TSN_DTW_CHAIN_H
#define TSN_DTW_CHAIN_H

#include "dtw/dtw_wave.h"

typedef struct {
  real *x; /* of all strips, as the kernels want them */
  /* Columns in `delay` arrays, and where they meet: the last of them, as many as
   * lanes, before the first. */
  real *columns, *seam;
  size_t column_stride;
  real *boundary, *state;
} NAME(tsn_dtw_chain);

/* Whether a problem is of the kind. */
bool NAME(tsn_dtw_chain_suits)(const tsn_dtw_problem *problem,
                               const tsanom_dtw_options *options,
                               const NAME(tsn_dtw_kernels) * kernels);

void NAME(tsn_dtw_chain_layout)(tsn_arena *arena, const tsn_dtw_problem *problem,
                                const NAME(tsn_dtw_kernels) * kernels,
                                NAME(tsn_dtw_chain) * chain);

/* TSN_DTW_SWEPT or TSN_DTW_STOPPED. */
int NAME(tsn_dtw_chain_run)(const tsn_dtw_problem *problem,
                            const tsanom_dtw_options *options,
                            const NAME(tsn_dtw_kernels) * kernels, const real *x,
                            const real *y, NAME(tsn_dtw_chain) * chain,
                            const tsn_dtw_watch *watch, real *distance);

#endif
