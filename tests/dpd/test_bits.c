/* SPDX-License-Identifier: BSD-3-Clause */
/* The code lengths, against the functions of the C library and sums over all numbers. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "core/logarithm.h"
#include "dpd/dpd_bits.h"
#include "support/random.h"

enum { MOST = 1 << 20 };

static void check_near(double found, double expected, double x) {
  cr_assert(fabs(found - expected) <= 1e-12 * (1 + fabs(expected)), "%g: %.17g, %.17g", x,
            found, expected);
}

Test(dpd_bits, logarithms_are_those_of_the_library) {
  uint64_t seed = 3;
  for (int i = 0; i < 20000; i++) {
    double x = exp((double)random_between(&seed, 0, 4000) / 100 - 20);
    check_near(tsn_log2(x), log2(x), x);
    double y = (double)random_between(&seed, 1, 200000) / 2;
    check_near(tsn_log2_gamma(y), lgamma(y) / log(2), y);
  }
  check_near(tsn_log2(1), 0, 1);
  check_near(tsn_log2(0x1p-40), -40, 0x1p-40);
}

/* Of n choices the code of Krichevsky and Trofimov, choice by choice. */
Test(dpd_bits, choices_are_coded_by_their_frequencies) {
  for (uint64_t n = 1; n < 40; n++) {
    for (uint64_t k = 0; k <= n; k++) {
      double bits = 0;
      for (uint64_t i = 0; i < n; i++) {
        double same = i < k ? (double)i : (double)(i - k);
        bits -= log2((same + .5) / ((double)i + 1));
      }
      check_near(tsn_bits_choices(n, k), bits, (double)n);
    }
  }
}

static void *block; /* of the trips of a test */

static tsn_trips new_trips(size_t most) {
  tsn_trips trips;
  tsn_arena measured = tsn_arena_measure();
  size_t bytes = 0;
  tsn_trips_layout(&measured, most, &trips);
  cr_assert(tsn_arena_bytes(&measured, &bytes) == TSANOM_OK);
  tsn_arena arena = tsn_arena_in(block = malloc(bytes), bytes);
  tsn_trips_layout(&arena, most, &trips);
  tsn_trips_clear(&trips, most);
  return trips;
}

/* Numbers above 4096 are rounded to 12 bits, which changes nothing but the last digits. */
Test(dpd_bits, medians_and_shares_of_any_numbers) {
  uint64_t seed = 8;
  tsn_trips trips = new_trips(MOST);
  for (int trial = 0; trial < CASES(300); trial++) {
    uint32_t number[99];
    size_t n = (size_t)random_between(&seed, 1, 99);
    uint64_t most = random_between(&seed, 1, MOST);
    tsn_trips_start(&trips);
    for (size_t i = 0; i < n; i++) {
      number[i] = (uint32_t)random_between(&seed, 0, most);
      tsn_trips_add(&trips, number[i]);
    }
    double median = tsn_trips_median(&trips);
    size_t below = 0, above = 0;
    for (size_t i = 0; i < n; i++) {
      below += number[i] * (1 - 1. / 2048) <= median;
      above += number[i] >= median;
    }
    cr_assert(2 * below >= n && 2 * above >= n, "%d: %g", trial, median);
  }
  tsn_trips_start(&trips);
  for (uint32_t i = 0; i < 10; i++) tsn_trips_add(&trips, i < 7 ? 50000 : i);
  cr_assert(fabs(tsn_trips_usual(&trips) - .7) < 1e-12);
  free(block);
}

/* A constant, a growing and a uniform number of iterations are a loop, geometric ones are
 * not. */
Test(dpd_bits, loops_are_told_from_chance) {
  uint64_t seed = 9;
  tsn_trips trips = new_trips(MOST);
  int chance = 0;
  for (int trial = 0; trial < CASES(200); trial++) {
    for (int kind = 0; kind < 4; kind++) {
      tsn_trips_start(&trips);
      for (uint32_t i = 0; i < 60; i++) {
        uint32_t geometric = 1;
        while (random_between(&seed, 0, 9) != 0) geometric++;
        uint32_t uniform = (uint32_t)random_between(&seed, 8, 16);
        tsn_trips_add(&trips, kind == 0   ? 9
                              : kind == 1 ? 5 + i
                              : kind == 2 ? uniform
                                          : geometric);
      }
      bool is_loop = tsn_trips_regularity(&trips) > 0;
      cr_assert(kind == 3 || is_loop, "%d, kind %d", trial, kind);
      chance += is_loop && kind == 3;
    }
  }
  cr_assert(chance <= 6, "%d of 200", chance);
  free(block);
}
