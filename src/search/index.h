/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSN_SEARCH_INDEX_H
#define TSN_SEARCH_INDEX_H

#include "search/segments.h"

struct tsanom_search_index {
  const double *series;
  size_t count, length;
  size_t stride;         /* of series */
  size_t row;            /* of the envelopes */
  double *lower, *upper; /* of each series */
  tsn_search_ends ends;
  tsn_search_cut cut;
  double *sums, *lower_sums, *upper_sums; /* of each segment, `count` of them */
  double largest;                         /* |sample| */
  double *zeros, *ones; /* moments under which a series is seen as it is */
  size_t radius;
  int32_t cost, z_normalize;
  void *block; /* from the allocator of _create, or NULL */
  void (*dealloc)(void *alloc_user, void *block);
  void *alloc_user;
};

static inline const double *tsn_search_series(const tsanom_search_index *index,
                                              size_t i) {
  return index->series + i * index->stride;
}

#endif
