/* SPDX-License-Identifier: BSD-3-Clause */
/* A threshold for the search of several matches that exclude each other.
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

#include <stddef.h>

/* Windows known so far; the arrays have `wanted` elements and are the caller's. */
typedef struct {
  size_t *start;
  double *distance;
  size_t count, wanted;
  size_t gap; /* 2e: starts differ by more */
} tsn_separated;

/* Add a window if that may lower the threshold. */
void tsn_separated_insert(tsn_separated *set, size_t start, double distance);

/* An upper bound of the distances of all matches; INFINITY: not yet known. */
double tsn_separated_threshold(const tsn_separated *set);

/* Windows of distance 0 are chosen from left to right, each more than e after the one
 * before. So as soon as `wanted` of them are found in this way, and all windows up to
 * here are known, no later window is a match. A search that begins further right finds at
 * most one fewer, since only one earlier match can exclude its first: hence the same
 * holds for the windows of one chunk alone. */
typedef struct {
  size_t count, last;
} tsn_zeros;

/* Count a window of distance 0; starts increase. */
void tsn_zeros_add(tsn_zeros *zeros, size_t start, size_t exclusion);

/* Copy a set of the same `wanted`. */
void tsn_separated_copy(tsn_separated *to, const tsn_separated *from);

#endif
