/* SPDX-License-Identifier: BSD-3-Clause */
/* An index: everything about the series that does not depend on a query, in the layout in
 * which the bounds of many candidates are computed together. Arrays by candidate are
 * contiguous, so that one vector holds 8 candidates. */
#ifndef TSN_SEARCH_INDEX_H
#define TSN_SEARCH_INDEX_H

#include "core/series.h"
#include "search/segments.h"

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
