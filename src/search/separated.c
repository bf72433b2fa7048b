/* SPDX-License-Identifier: BSD-3-Clause */
/* Invariant: starts in the set differ by more than `gap` from each other. The set is kept
 * greedily and need not be the best one; any such set gives a valid threshold. Unsorted,
 * O(count) each: matches are few. */
#include "search/separated.h"

#include <math.h>
#include <string.h>

static size_t farthest(const tsn_separated *set) {
  size_t worst = 0;
  for (size_t i = 1; i < set->count; i++) {
    if (set->distance[i] > set->distance[worst]) worst = i;
  }
  return worst;
}

/* A window near one of the set replaces it if nearer to the query; near none it is added,
 * or replaces the farthest. So the threshold never rises. */
void tsn_separated_insert(tsn_separated *set, size_t start, double distance) {
  size_t near = 0, at = set->count;
  for (size_t i = 0; i < set->count; i++) {
    size_t other = set->start[i], apart = start > other ? start - other : other - start;
    if (apart <= set->gap) near++, at = i;
  }
  /* Replacing two windows by one could raise the threshold. */
  if (near > 1) return;
  if (near == 0 && set->count == set->wanted) at = farthest(set);
  if (at < set->count && distance >= set->distance[at]) return;
  if (at == set->count) set->count++;
  set->start[at] = start;
  set->distance[at] = distance;
}

double tsn_separated_threshold(const tsn_separated *set) {
  return set->count < set->wanted ? INFINITY : set->distance[farthest(set)];
}

void tsn_zeros_add(tsn_zeros *zeros, size_t start, size_t exclusion) {
  if (zeros->count > 0 && start - zeros->last <= exclusion) return;
  zeros->count++;
  zeros->last = start;
}

void tsn_separated_copy(tsn_separated *to, const tsn_separated *from) {
  to->count = from->count;
  memcpy(to->start, from->start, from->count * sizeof *to->start);
  memcpy(to->distance, from->distance, from->count * sizeof *to->distance);
}
