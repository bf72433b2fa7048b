/* SPDX-License-Identifier: BSD-3-Clause */
/* Selection beside sorting: random, equal, sorted and periodic values. */
#include <stdlib.h>
#include <string.h>

#include "core/sort.h"
#include "support/check.h"
#include "support/random.h"

enum { MOST = 300 };

static void fill(double *values, size_t count, uint64_t *seed) {
  size_t shape = random_between(seed, 0, 3), distinct = random_between(seed, 1, MOST);
  for (size_t i = 0; i < count; i++) {
    values[i] = shape == 0   ? random_unit(seed)
                : shape == 1 ? (double)random_between(seed, 0, 2)
                : shape == 2 ? (double)(i % distinct)
                             : -(double)i;
  }
}

Test(sort, selects_what_sorting_puts_there) {
  uint64_t seed = 1;
  double values[MOST], sorted[MOST];
  for (int trial = 0; trial < 20000; trial++) {
    size_t count = random_between(&seed, 1, MOST), k;
    fill(values, count, &seed);
    memcpy(sorted, values, sizeof sorted);
    tsn_sort(sorted, count);
    k = random_between(&seed, 0, count - 1);
    tsn_select(values, count, k);
    cr_assert(values[k] == sorted[k], "trial %d", trial);
    for (size_t i = 0; i < count; i++) {
      cr_assert(i < k ? values[i] <= values[k] : values[i] >= values[k]);
    }
    tsn_sort(values, count);
    cr_assert_arr_eq(values, sorted, count * sizeof *values);
  }
}

/* Pivots of many values are those of a sample. */
Test(sort, selects_among_many) {
  enum { MANY = 150000, TRIALS = 24 };
  uint64_t seed = 5;
  double *values = malloc(2 * MANY * sizeof *values), *sorted = values + MANY;
  cr_assert(values);
  for (size_t trial = 0; trial < TRIALS; trial++) {
    size_t count = random_between(&seed, MANY / 2, MANY);
    fill(values, count, &seed);
    memcpy(sorted, values, count * sizeof *values);
    tsn_sort(sorted, count);
    size_t k = trial == 0   ? 0
               : trial == 1 ? count - 1
                            : random_between(&seed, 0, count - 1);
    if (trial % 4 == 3) k = count / 2;
    tsn_select(values, count, k);
    cr_assert(values[k] == sorted[k], "trial %zu", trial);
    for (size_t i = 0; i < count; i++) {
      if (i < k ? values[i] > values[k] : values[i] < values[k]) cr_assert(0, "%zu", i);
    }
    tsn_sort(values, count);
    cr_assert_arr_eq(values, sorted, count * sizeof *values);
  }
  free(values);
}

/* As many values are at most the median as at least it. */
Test(sort, the_median_is_in_the_middle) {
  uint64_t seed = 3;
  double values[MOST];
  for (int trial = 0; trial < 2000; trial++) {
    size_t count = random_between(&seed, 1, MOST), below = 0, above = 0;
    fill(values, count, &seed);
    double median = tsn_median(values, count);
    for (size_t i = 0; i < count; i++) {
      below += values[i] <= median;
      above += values[i] >= median;
    }
    cr_assert(2 * below >= count && 2 * above >= count, "trial %d", trial);
    cr_assert(count % 2 == 0 || median == values[count / 2]);
  }
  cr_assert(tsn_median(values, 0) == 0);
  cr_assert(tsn_median((double[]){4, 1, 2, 9}, 4) == 3);
}

/* Each pivot is the second smallest of what is left, so that the rounds run out. at[i] is
 * the value that is in place i by then. */
Test(sort, selects_after_bad_pivots) {
  double values[MOST], next = 0;
  size_t at[MOST], low = 0;
  for (size_t i = 0; i < MOST; i++) at[i] = i;
  for (; MOST - low > 2; low += 2, next += 2) {
    size_t middle = low + (MOST - 1 - low) / 2, swapped = at[low + 1];
    values[at[low]] = next;
    values[at[middle]] = next + 1;
    at[low + 1] = at[middle];
    at[middle] = swapped;
  }
  for (; low < MOST; low++) values[at[low]] = next++;
  tsn_select(values, MOST, MOST - 1);
  cr_assert(values[MOST - 1] == MOST - 1);
}
