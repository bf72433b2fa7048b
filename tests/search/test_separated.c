/* SPDX-License-Identifier: BSD-3-Clause */
/* The windows that bound the matches of a stream: more than 2e apart, whatever comes. */
#include "search/separated.h"

#include <math.h>
#include <string.h>

#include "support/check.h"
#include "support/random.h"

enum { WANTED = 20, IDS = 1000 };

/* The same by linear search. */
static void naive_insert(tsn_separated *set, size_t id, double distance) {
  size_t near = 0, at = set->count, farthest = 0;
  for (size_t i = 0; i < set->count; i++) {
    size_t other = set->id[i];
    if ((id > other ? id - other : other - id) <= set->gap) near++, at = i;
    if (set->distance[i] > set->distance[farthest]) farthest = i;
  }
  if (near > 1) return;
  if (near == 0 && set->count == set->wanted) at = farthest;
  if (at < set->count && distance >= set->distance[at]) return;
  if (at == set->count) set->count++;
  set->id[at] = id;
  set->distance[at] = distance;
}

static double sum(const tsn_separated *set) {
  double total = 0;
  for (size_t i = 0; i < set->count; i++) {
    total += set->distance[i] * (double)(1 + set->id[i] % 64);
  }
  return total;
}

/* Multiples of 2^-30, so that sums are exact. */
static double distance_of(uint64_t *seed) {
  return ldexp((double)(random_bits(seed) >> 34), -30);
}

Test(search_separated, the_set_is_that_of_a_linear_search) {
  uint64_t seed = 1;
  for (int trial = 0; trial < CASES(3000); trial++) {
    unsigned char block[4096];
    tsn_arena arena = tsn_arena_in(block, sizeof block);
    size_t wanted = random_between(&seed, 1, WANTED);
    size_t exclusion = trial % 50 ? random_between(&seed, 1, 30) : SIZE_MAX;
    tsn_separated set, copy, naive;
    tsn_separated_layout(&arena, wanted, exclusion, &set);
    tsn_separated_layout(&arena, wanted, exclusion, &copy);
    tsn_separated_layout(&arena, wanted, exclusion, &naive);
    cr_assert(set.gap == (trial % 50 ? 2 * exclusion : SIZE_MAX));
    cr_assert(set.places >= 2 * wanted && set.places <= 4 * WANTED);
    memset(set.table, 0, set.places * sizeof *set.table);
    for (int i = 0; i < 120; i++) {
      size_t next = random_between(&seed, 0, IDS);
      double at = distance_of(&seed);
      tsn_separated_insert(i < 60 ? &set : &copy, next, at);
      naive_insert(&naive, next, at);
      const tsn_separated *now = i < 60 ? &set : &copy;
      double before = tsn_separated_threshold(now);
      cr_assert(now->count == naive.count && sum(now) == sum(&naive));
      for (size_t k = 0; k < now->count && now->count == wanted; k++) {
        cr_assert(now->distance[k] <= before);
      }
      if (i == 59) tsn_separated_copy(&copy, &set);
    }
  }
}

Test(search_separated, without_a_table_they_are_the_nearest_in_order) {
  uint64_t seed = 2;
  for (int trial = 0; trial < CASES(1000); trial++) {
    size_t id[WANTED];
    double distance[WANTED], all[IDS];
    size_t wanted = random_between(&seed, 1, WANTED),
           count = random_between(&seed, 0, 60);
    tsn_separated set = {.id = id, .distance = distance, .wanted = wanted};
    for (size_t i = 0; i < count; i++) {
      all[i] = (double)random_between(&seed, 0, 9);
      tsn_separated_insert(&set, i, all[i]);
    }
    tsn_separated_sort(&set);
    cr_assert(set.count == (count < wanted ? count : wanted));
    bool taken[IDS] = {false};
    for (size_t k = 0; k < set.count; k++) {
      size_t best = SIZE_MAX;
      for (size_t i = 0; i < count; i++) {
        if (!taken[i] && (best == SIZE_MAX || all[i] < all[best])) best = i;
      }
      taken[best] = true;
      cr_assert(id[k] == best && distance[k] == all[best]);
    }
  }
}
