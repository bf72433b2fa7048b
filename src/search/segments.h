/* SPDX-License-Identifier: BSD-3-Clause */
/* LB_Keogh from sums over segments of samples, after Y. Zhu and D. Shasha (SIGMOD 2003,
 * 181-192): since the cost is convex, a segment of L samples costs at least L times the
 * cost of its mean against the mean of the envelope.
 *
 *     samples   |front| segment | segment | ... | segment | rest |back|
 *     bound       Kim    mean      mean            mean      none  Kim
 *
 * For a segment S of L samples, with c', l', u' the means over S,
 *
 *   sum_S d(c_i - clip(c_i, l_i, u_i)) >= L d(c' - clip(c', l', u'))
 *
 * by Jensen, since the distance of c from [l, u] is convex in (c, l, u). Sums replace the
 * means; both sides are scaled by L. A series of any length has at most 16 segments, so
 * that the bound is O(1); L is a power of 2, so that sums are pairwise.
 *
 * The samples at the ends are left to LB_KimFL. Its bands of pairs share no row or column
 * with the samples in between (C. W. Tan et al., SDM 2019, 522-530), so that the two
 * bounds can be added. */
#ifndef TSN_SEARCH_SEGMENTS_H
#define TSN_SEARCH_SEGMENTS_H

#include "search/search_internal.h"

enum { TSN_SEARCH_SEGMENTS = 16 };

/* Segments of a series: `count` of `length` samples, a power of 2, from `first`. */
typedef struct {
  size_t first, count, length;
} tsn_search_cut;

/* The cut of a series of n samples: the shortest segments of which there are at most 16.
 * A few samples before the end belong to none, which only loosens the bound. */
static inline tsn_search_cut tsn_search_cut_of(size_t n) {
  size_t first = tsn_search_front(n), middle = n - first - tsn_search_back(n);
  size_t length = 1;
  while (middle / length > TSN_SEARCH_SEGMENTS) length *= 2;
  return (tsn_search_cut){first, middle / length, length};
}

/* Sums of a query and of its envelope, widened by their rounding error. */
typedef struct {
  double low[TSN_SEARCH_SEGMENTS], high[TSN_SEARCH_SEGMENTS];
  double lowest[TSN_SEARCH_SEGMENTS], highest[TSN_SEARCH_SEGMENTS];
  size_t count; /* 0 where sums might overflow */
} tsn_search_query_sums;

/* Sums of the segments of a query and of its envelope. `largest`: bound of |sample| of
 * query and index; `work` holds half a series. */
void tsn_search_sum_query(const tsn_search_kernels *kernels, const double *query,
                          const double *lower, const double *upper, size_t n,
                          double largest, double *work, tsn_search_query_sums *sums);

#endif
