/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes of workspaces in each precision. A public query returns the larger of the two,
 * so that one size serves both. */
#ifndef TSN_DTW_BYTES_H
#define TSN_DTW_BYTES_H

#include "dtw/dtw_settings.h"

/* The sizes that a workspace depends on. A pair has one series on each side. */
typedef struct {
  size_t longest_x, count_x; /* of rows */
  size_t longest_y, count_y; /* of columns */
  bool condensed;            /* the two sets are one */
} tsn_dtw_shape;

/* TSANOM_OK or TSANOM_E_OVERFLOW; counts and lengths are at least 1. */
typedef tsanom_status tsn_dtw_bytes(const tsn_dtw_settings *settings,
                                    const tsn_dtw_shape *shape, size_t *bytes);

tsn_dtw_bytes tsn_dtw_distance_bytes, tsn_dtw_distance_bytes_f32;
tsn_dtw_bytes tsn_dtw_path_bytes, tsn_dtw_path_bytes_f32;
tsn_dtw_bytes tsn_dtw_pairwise_bytes, tsn_dtw_pairwise_bytes_f32;

#endif
