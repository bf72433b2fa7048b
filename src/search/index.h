/* SPDX-License-Identifier: BSD-3-Clause */
/* An index: the series as they are compared, and the sums of their segments.
 *
 * LB_Keogh from sums over segments of samples, after Y. Zhu and D. Shasha (SIGMOD 2003,
 * 181-192): since the cost is convex, a segment of L samples costs at least L times the
 * cost of its mean against the mean of the envelope.
 *
 *     samples   | segment | segment | ... | segment | rest |
 *     bound       mean      mean            mean      none
 *
 * For a segment S of L samples, with c', l', u' the means over S,
 *
 *   sum_S d(c_i - clip(c_i, l_i, u_i)) >= L d(c' - clip(c', l', u'))
 *
 * by Jensen, since the distance of c from [l, u] is convex in (c, l, u). Sums replace the
 * means; both sides are scaled by L. A series of any length has at most 16 segments, so
 * that the bound is O(1); L is a power of 2, so that sums are pairwise. Without it the
 * row `nearest` takes 2.1 (base) to 3.1 (v3) times as long (Zen 5).
 *
 * Sums of a segment are contiguous by series, so that one vector holds 8 series: segment
 * s of series i is sums[s * count + i]. An index is never modified after its
 * construction, so threads may share it. */
#ifndef TSN_SEARCH_INDEX_H
#define TSN_SEARCH_INDEX_H

#include "core/series.h"
#include "search/search_internal.h"

enum { TSN_SEARCH_SEGMENTS = 16 };

/* Segments of a series: `count` of `length` samples, a power of 2. */
typedef struct {
  size_t count, length;
} tsn_search_cut;

/* The object; all pointers but borrowed samples are into its own block. */
struct tsanom_search_index {
  tsn_object owner;
  tsanom_series series; /* copies, or the caller's samples */
  size_t count, length;
  tsn_search_cut cut;
  double *sums;   /* of each segment, `count` of them */
  double largest; /* |sample| */
  size_t radius;
  int32_t cost, z_normalize;
};

#endif
