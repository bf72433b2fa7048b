/* SPDX-License-Identifier: BSD-3-Clause */
/* Delays that will be periods if they continue: the last `length` events equal those m
 * before, but not yet the last N. Every candidate is verified by a comparison of events.
 * length = N - stride + 1, so that a candidate becomes a period or ends within stride - 1
 * events.
 *
 * Of the delays m <= length only the smallest is kept. All of them are multiples of one
 * candidate g, by Fine and Wilf (Proc. AMS 16 (1965) 109-114): if m < n both hold for the
 * last `length` events, the last length + m events have the periods m and n, and so
 * gcd(m, n). The multiple kg then holds for (k - 1) g events less than g, back from the
 * newest one, and ends with the same event as g. So the smallest becomes a period first.
 * Of the larger delays m <= N there are at most stride - 1, and all are kept. */
#ifndef TSN_DPD_CANDIDATES_H
#define TSN_DPD_CANDIDATES_H

#include "dpd/dpd_history.h"

typedef struct {
  uint64_t delay; /* 0: none */
  uint64_t due;   /* count of events at which d(delay) becomes 0 */
} tsn_candidate;

typedef struct {
  size_t window; /* N */
  size_t length;
  tsn_candidate near; /* the smallest delay, if it is at most `length` */
  tsn_candidate *far; /* the larger ones, in any order */
  size_t far_count;
} tsn_candidates;

/* Capacity for strides up to `stride`. */
void tsn_candidates_layout(tsn_arena *arena, size_t stride, tsn_candidates *candidates);

/* Start without a candidate. */
void tsn_candidates_clear(tsn_candidates *candidates, size_t window, size_t length);

static inline bool tsn_candidates_any(const tsn_candidates *candidates) {
  return (candidates->near.delay | candidates->far_count) != 0;
}

/* Add a delay of at most N, unless it is a candidate, a smaller one makes it superfluous,
 * or the last `length` events do not have it. */
void tsn_candidates_add(tsn_candidates *candidates, const tsn_history *history,
                        uint64_t delay);

/* Remove the candidates that the newest event ends. It may be repeated. */
void tsn_candidates_follow(tsn_candidates *candidates, const tsn_history *history);

/* Verify all candidates anew, after events that they were not compared with. */
void tsn_candidates_verify(tsn_candidates *candidates, const tsn_history *history);

/* The smallest m with d(m) = 0; 0: none. */
uint64_t tsn_candidates_period(const tsn_candidates *candidates, uint64_t count);

#endif
