/* SPDX-License-Identifier: BSD-3-Clause */
/* A threshold for the search of several matches that exclude each other.
 *
 * The matches are chosen greedily: the nearest window, then the nearest whose
 * start differs by more than e from every start taken. Distances known so far
 * do not bound the last of them, since a window found later may take the place
 * of two. But of windows whose starts differ by more than 2e from each other,
 * one match excludes at most one: while `wanted` of them have distances up to
 * d, each of the `wanted` greedy choices finds one of them left, and takes no
 * worse. */
#ifndef TSN_SEARCH_SEPARATED_H
#define TSN_SEARCH_SEPARATED_H

#include <stddef.h>

typedef struct {
  size_t *start;
  double *distance;
  size_t count, wanted;
  size_t gap; /* 2e: starts differ by more */
} tsn_separated;

/* Take in a window if that may lower the threshold. */
void tsn_separated_insert(tsn_separated *set, size_t start, double distance);

/* No window above it is among the matches; INFINITY as long as that is open. */
double tsn_separated_threshold(const tsn_separated *set);

/* Make `to`, of the same `wanted`, equal. */
void tsn_separated_copy(tsn_separated *to, const tsn_separated *from);

#endif
