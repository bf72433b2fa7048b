/* SPDX-License-Identifier: BSD-3-Clause */
/* The windows that bound the matches of a stream: more than 2e apart, whatever comes. */
#include "search/separated.h"

#include <math.h>

#include "support/check.h"
#include "support/random.h"

enum { WANTED = 4 };

static void check_apart(const tsn_separated *set) {
  cr_assert(set->count <= set->wanted);
  for (size_t i = 0; i < set->count; i++) {
    for (size_t j = 0; j < i; j++) {
      size_t a = set->start[i], b = set->start[j];
      cr_assert((a > b ? a - b : b - a) > set->gap, "%zu and %zu", a, b);
    }
  }
}

Test(search_separated, windows_stay_apart_and_the_threshold_falls) {
  uint64_t seed = 1;
  for (int trial = 0; trial < 2000; trial++) {
    size_t start[WANTED];
    double distance[WANTED], before = INFINITY;
    tsn_separated set = {.start = start,
                         .distance = distance,
                         .wanted = random_between(&seed, 1, WANTED),
                         .gap = random_between(&seed, 0, 20)};
    for (int i = 0; i < 60; i++) {
      tsn_separated_insert(&set, random_between(&seed, 0, 1000), random_unit(&seed));
      check_apart(&set);
      cr_assert(tsn_separated_threshold(&set) <= before);
      before = tsn_separated_threshold(&set);
    }
    cr_assert(set.count == set.wanted);
  }
}
