/* SPDX-License-Identifier: BSD-3-Clause */
/* An index: everything about the series that does not depend on a query, in the layout in
 * which the bounds of many candidates are computed together. Arrays by candidate are
 * contiguous, so that one vector holds 8 candidates:
 *
 *   by candidate, pass 1 and 2       ends.front[k][i], ends.back[k][i]
 *                                    sums[s*count + i], lower_sums, upper_sums
 *   by sample, what these leave      series, lower, upper: a row for each candidate
 *
 * The first kind is 6 + 48 elements a series whatever its length; only candidates that it
 * does not remove touch the second. An index is never modified after its construction, so
 * threads may share it. */
#ifndef TSN_SEARCH_INDEX_H
#define TSN_SEARCH_INDEX_H

#include "core/series.h"
#include "search/segments.h"

/* The object; all pointers but borrowed samples are into its own block. */
struct tsanom_search_index {
  tsn_object owner;
  tsanom_series series; /* copies, or the caller's samples */
  size_t count, length;
  size_t row;            /* elements from one envelope to the next */
  double *lower, *upper; /* envelope of each series */
  tsn_search_ends ends;
  tsn_search_cut cut;
  double *sums, *lower_sums, *upper_sums; /* of each segment, `count` of them */
  double largest;                         /* |sample| */
  double *zeros, *ones; /* mean 0 and deviation 1: series are already normalized */
  size_t radius;
  int32_t cost, z_normalize;
};

#endif
