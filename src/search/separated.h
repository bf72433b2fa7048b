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

/* Copy a set of the same `wanted`. */
void tsn_separated_copy(tsn_separated *to, const tsn_separated *from);

#endif
