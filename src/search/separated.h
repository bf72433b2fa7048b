/* SPDX-License-Identifier: BSD-3-Clause */
/* The nearest so far: series of an index, or windows of a stream that exclude each other,
 * with a threshold for those to come.
 *
 * Matches are chosen greedily: the nearest window, then the nearest whose start differs
 * by more than e from every chosen start. The k smallest distances known so far do not
 * bound the last match, since a window found later may exclude two of them:
 *
 *     start    ----a----n----b----      a and b are more than e apart, n excludes both
 *
 * But a match excludes at most one of several windows whose starts differ by more than 2e
 * from each other. If `wanted` such windows have distances up to d, each of the `wanted`
 * greedy choices finds at least one of them left, so its distance is at most d. */
#ifndef TSN_SEARCH_SEPARATED_H
#define TSN_SEARCH_SEPARATED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"

/* Those known so far, of equal distances the lower id; the arrays are the caller's. The
 * first is the farthest. */
typedef struct {
  size_t *id; /* `wanted` series, or starts of windows */
  double *distance;
  size_t count, wanted;
  size_t gap;    /* 2e: starts differ by more */
  size_t *table; /* `places` elements, 0 at the start; NULL: nothing excludes another */
  size_t places;
} tsn_separated;

/* Take memory for a set whose starts differ by more than twice the exclusion; 0: nothing
 * excludes another. Its table is not yet cleared. */
void tsn_separated_layout(tsn_arena *arena, size_t wanted, size_t exclusion,
                          tsn_separated *set);

/* Whether a distance may lower the threshold: most are too large, which a call for each
 * would take 5 % of a search in an index to find. */
static inline bool tsn_separated_admits(const tsn_separated *set, double distance) {
  return set->count < set->wanted || distance <= set->distance[0];
}

/* Add an id if that may lower the threshold. */
void tsn_separated_insert(tsn_separated *set, size_t id, double distance);

/* An upper bound of the distances of all matches; INFINITY: not yet known. */
double tsn_separated_threshold(const tsn_separated *set);

/* Sort a set without a table, the nearest first; nothing can be added then. */
void tsn_separated_sort(tsn_separated *set);

/* Copy a set of the same `wanted`. */
void tsn_separated_copy(tsn_separated *to, const tsn_separated *from);

#endif
