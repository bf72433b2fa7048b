/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <tsanom/dtw.h>

#include "series.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/polls.h"
#include "support/random.h"

enum { LONGEST = 40 };

/* The definition: the whole matrix, cell by cell. */
static double naive_dtw(const double *x, size_t n, const double *y, size_t m,
                        size_t radius, int32_t cost) {
  double d[LONGEST + 1][LONGEST + 1];
  for (size_t i = 0; i <= n; i++) {
    for (size_t j = 0; j <= m; j++) d[i][j] = INFINITY;
  }
  d[0][0] = 0;
  for (size_t i = 1; i <= n; i++) {
    for (size_t j = 1; j <= m; j++) {
      size_t distance = i > j ? i - j : j - i;
      if (distance > radius) continue;
      double difference = x[i - 1] - y[j - 1];
      double c = cost == TSANOM_COST_SQUARED ? difference * difference : fabs(difference);
      d[i][j] = c + fmin(d[i - 1][j - 1], fmin(d[i - 1][j], d[i][j - 1]));
    }
  }
  return d[n][m];
}

/* Values from a coarse grid now and then, so that ties are common. */
static void fill(double *x, size_t n, uint64_t *seed) {
  uint64_t kind = random_bits(seed) % 3;
  for (size_t i = 0; i < n; i++) {
    double u = random_unit(seed);
    x[i] = kind == 0 ? u * 10 - 5 : kind == 1 ? floor(u * 4) : 1;
  }
}

Test(dtw, equals_the_definition_at_every_level) {
  uint64_t seed = 1;
  for (int trial = 0; trial < CASES(20000); trial++) {
    double x[LONGEST], y[LONGEST];
    size_t n = random_between(&seed, 1, LONGEST), m = random_between(&seed, 1, LONGEST);
    fill(x, n, &seed);
    fill(y, m, &seed);
    tsanom_dtw_options options;
    tsanom_dtw_options_init(&options, sizeof options);
    options.cost = (int32_t)(random_bits(&seed) % 2);
    if (random_bits(&seed) % 2) options.radius = random_between(&seed, 0, LONGEST);
    double expected = naive_dtw(x, n, y, m, options.radius, options.cost);
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1);
      double distance;
      tsanom_status status = tsanom_dtw_distance(x, n, y, m, &options, &exec, &distance);
      CHECK_STATUS(status, isinf(expected) ? TSANOM_INFEASIBLE : TSANOM_OK);
      cr_assert(distance == expected, "trial %d isa %d: %.17g, not %.17g", trial, isa,
                distance, expected);
    }
  }
}

Test(dtw, a_failing_allocator_is_reported_and_nothing_leaks) {
  double x[] = {1, 2, 3}, y[] = {1, 3}, distance = -1;
  test_allocator allocator = {.fail_at = 1};
  tsanom_exec exec = test_exec(&allocator);
  tsanom_status status = tsanom_dtw_distance(x, 3, y, 2, NULL, &exec, &distance);
  CHECK_STATUS(status, TSANOM_E_MEMORY);
  cr_assert(distance == -1);
  allocator.fail_at = 0;
  status = tsanom_dtw_distance(x, 3, y, 2, NULL, &exec, &distance);
  CHECK_STATUS(status, TSANOM_OK);
  cr_assert(allocator.live == 0);
}

Test(dtw, the_poll_stops_the_run) {
  double x[] = {1, 2}, distance = -1;
  test_polls p = {.stop_at = 1};
  tsanom_exec exec = exec_polled(test_poll, &p);
  CHECK_STATUS(tsanom_dtw_distance(x, 2, x, 2, NULL, &exec, &distance), TSANOM_STOPPED);
  cr_assert(distance == -1);
}

/* In the first strip already, and in the last. */
Test(dtw, the_poll_stops_a_large_pair) {
  enum { LONG = 300000 };
  double *y = calloc(LONG, sizeof *y);
  for (size_t n = 40; n < 100; n += 40) {
    double x[100] = {1}, distance = -1;
    test_polls p = {.stop_at = 2};
    tsanom_exec exec = exec_polled(test_poll, &p);
    CHECK_STATUS(tsanom_dtw_distance(x, n, y, LONG, NULL, &exec, &distance),
                 TSANOM_STOPPED);
    cr_assert(distance == -1 && p.calls == 2);
  }
  free(y);
}

/* A poll for about every 2^20 cells. Of a matrix that is stopped inside a pair, only the
 * pairs before are counted. */
Test(dtw, large_pairs_are_polled_and_counted_when_they_are_done) {
  enum { LONG = 4000, STOPS = 40 };
  double *x = malloc(3 * LONG * sizeof *x);
  uint64_t seed = 8;
  for (size_t i = 0; i < 3 * LONG; i++) x[i] = random_unit(&seed);
  const double *series[] = {x, x + LONG, x + 2 * LONG};
  size_t lengths[] = {LONG, LONG - 1, LONG - 2};
  tsanom_series set = series_of(series, lengths, 3);
  double whole[3], distance[3];
  test_polls p = {0};
  tsanom_exec exec = exec_polled(test_poll, &p);
  CHECK_STATUS(tsanom_dtw_condensed(&set, NULL, &exec, whole, NULL), TSANOM_OK);
  cr_assert(p.calls >= 20);
  for (uint64_t stop = 1; stop <= STOPS; stop++) {
    size_t computed = 3;
    for (int k = 0; k < 3; k++) distance[k] = -1;
    p = (test_polls){.stop_at = stop};
    if (tsanom_dtw_condensed(&set, NULL, &exec, distance, &computed) == TSANOM_OK) break;
    for (size_t k = 0; k < computed; k++) {
      cr_assert(distance[k] == whole[k], "stop %d pair %zu", (int)stop, k);
    }
  }
  free(x);
}

Test(dtw, a_matrix_holds_the_distances_of_its_pairs) {
  double a[] = {1, 2, 4}, b[] = {1, 3, 3, 4}, c[] = {0, 2};
  const double *series[] = {a, b, c};
  size_t lengths[] = {3, 4, 2}, computed = 0, number = 0;
  tsanom_series set = series_of(series, lengths, 3);
  double condensed[3], cross[9], row[3];
  CHECK_STATUS(tsanom_dtw_condensed(&set, NULL, NULL, condensed, &computed), TSANOM_OK);
  cr_assert(computed == 3);
  CHECK_STATUS(tsanom_dtw_cross(&set, &set, NULL, NULL, cross, 3, NULL), TSANOM_OK);
  for (size_t i = 0; i < 3; i++) {
    CHECK_STATUS(
        tsanom_dtw_one_to_many(series[i], lengths[i], &set, NULL, NULL, row, NULL),
        TSANOM_OK);
    for (size_t j = 0; j < 3; j++) {
      double expected = naive_dtw(series[i], lengths[i], series[j], lengths[j], SIZE_MAX,
                                  TSANOM_COST_ABSOLUTE);
      cr_assert(row[j] == expected && cross[3 * i + j] == expected);
      if (i < j) cr_assert(condensed[number++] == expected);
    }
  }
}

/* Windows of one long series are rows that overlap. */
Test(dtw, a_set_may_be_the_rows_of_a_matrix) {
  enum { ROWS = 30, LENGTH = 20 };
  double samples[ROWS + LENGTH], row[ROWS];
  uint64_t seed = 3;
  fill(samples, ROWS + LENGTH, &seed);
  tsanom_series set = {.struct_size = sizeof set};
  set.data = samples;
  set.count = ROWS;
  set.length = LENGTH;
  set.ld = 1;
  CHECK_STATUS(tsanom_dtw_one_to_many(samples, LENGTH, &set, NULL, NULL, row, NULL),
               TSANOM_OK);
  for (size_t k = 0; k < ROWS; k++) {
    cr_assert(row[k] == naive_dtw(samples, LENGTH, samples + k, LENGTH, SIZE_MAX,
                                  TSANOM_COST_ABSOLUTE));
  }
}

Test(dtw, the_path_is_that_of_the_definition) {
  double x[] = {0, 1, 5}, y[] = {0, 0, 1, 5};
  size_t path[12], length = 0;
  double distance = -1;
  const size_t expected[] = {0, 0, 0, 1, 1, 2, 2, 3};
  CHECK_STATUS(tsanom_dtw_path(x, 3, y, 4, NULL, NULL, path, &length, &distance),
               TSANOM_OK);
  cr_assert(length == 4 && distance == 0);
  for (int k = 0; k < 8; k++) cr_assert(path[k] == expected[k]);
}
