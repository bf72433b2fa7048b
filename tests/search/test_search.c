/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbors in an index beside brute force: the same distances to the last bit, ties by
 * index, for samples of any size, all instruction sets and several threads. Normalization
 * beside its definition in long double. test_stream.c has streams. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/search.h>

#include "search/calls.h"
#include "search/naive.h"
#include "support/exec.h"
#include "support/flush.h"

Test(search, normalize_is_the_definition) {
  uint64_t seed = 1;
  for (int trial = 0; trial < CASES(2000); trial++) {
    enum { LONGEST = 100 };
    double x[LONGEST], z[LONGEST], first[LONGEST];
    size_t n = random_between(&seed, 1, LONGEST);
    fill(x, n, &seed);
    /* Differences, which are exact here. */
    long double mean = 0, variance = 0, first_sample = x[0];
    for (size_t i = 0; i < n; i++) mean += (x[i] - first_sample) / n;
    for (size_t i = 0; i < n; i++) {
      long double d = x[i] - first_sample - mean;
      variance += d * d / n;
    }
    long double deviation = sqrtl(variance);
    double tolerance = 8 * DBL_EPSILON * sqrt((double)n);
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1);
      CHECK_STATUS(tsanom_search_normalize(x, n, &exec, z), TSANOM_OK);
      if (isa == TSANOM_ISA_BASE) memcpy(first, z, sizeof z);
      cr_assert(memcmp(z, first, n * sizeof *z) == 0);
      for (size_t i = 0; i < n; i++) {
        double expected =
            deviation > 0 ? (double)((x[i] - first_sample - mean) / deviation) : 0;
        cr_assert(fabs(z[i] - expected) <= tolerance * (1 + fabs(expected)),
                  "%.17g not %.17g of %zu", z[i], expected, n);
      }
    }
  }
}

/* Bitwise, so that a copy of a query that is shifted and scaled is at distance 0. */
Test(search_nearest, normalization_removes_exact_shifts_and_units) {
  uint64_t seed = 21;
  enum { LONGEST = 130 };
  double x[LONGEST], y[LONGEST], first[LONGEST], z[LONGEST];
  for (int trial = 0; trial < CASES(2000); trial++) {
    size_t n = random_between(&seed, 1, LONGEST);
    double shift = ldexp(1, (int)random_between(&seed, 0, 52));
    double unit = ldexp(1, (int)random_between(&seed, 0, 1400) - 1000);
    for (size_t i = 0; i < n; i++) {
      x[i] = (double)random_between(&seed, 0, 9);
      y[i] = (x[i] + shift) * unit;
    }
    CHECK_STATUS(tsanom_search_normalize(x, n, NULL, first), TSANOM_OK);
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1);
      CHECK_STATUS(tsanom_search_normalize(y, n, &exec, z), TSANOM_OK);
      cr_assert(memcmp(z, first, n * sizeof *z) == 0, "shift %g, unit %g", shift, unit);
    }
  }
}

Test(search, nearest_equals_brute_force) {
  uint64_t seed = 2;
  enum { LONGEST = 70, MOST = 90, QUERIES = 4 };
  static double series[MOST * (LONGEST + 3)], queries[QUERIES * (LONGEST + 3)];
  for (int trial = 0; trial < CASES(300); trial++) {
    size_t n = random_between(&seed, 1, LONGEST), ld = n + random_bits(&seed) % 3;
    size_t count = random_between(&seed, 1, MOST),
           k = random_between(&seed, 1, trial % 10 == 0 ? count : (count + 9) / 10);
    for (size_t i = 0; i < count; i++) fill(series + i * ld, n, &seed);
    for (size_t i = 0; i < QUERIES; i++) fill(queries + i * ld, n, &seed);
    /* Duplicates, so that ties must break by index. */
    if (count > 2) memcpy(series + ld, series + 2 * ld, n * sizeof *series);
    if (trial % 3 == 0) memcpy(queries, series, n * sizeof *series);
    tsanom_search_options options =
        options_of(random_bits(&seed) % 4 ? random_between(&seed, 0, n / 4) : SIZE_MAX,
                   (int32_t)(random_bits(&seed) % 2), (int32_t)(random_bits(&seed) % 2));
    options.borrow = !options.z_normalize && random_bits(&seed) % 2;

    naive_match expected[QUERIES][MOST];
    for (size_t q = 0; q < QUERIES; q++) {
      naive_nearest(queries + q * ld, series, count, n, ld, &options, expected[q]);
    }

    tsanom_search_report first[QUERIES];
    FOR_EACH_ISA (isa) {
      for (int threads = 1; threads <= 3; threads++) {
        tsanom_exec exec = exec_at(isa, threads);
        tsanom_search_index *index = index_of(series, count, n, ld, &options, &exec);
        tsanom_series query_set = rows_of(queries, QUERIES, n, ld);
        size_t indices[QUERIES * MOST];
        double distances[QUERIES * MOST];
        tsanom_search_report reports[QUERIES];
        CHECK_STATUS(tsanom_search_nearest(index, &query_set, k, &exec, indices,
                                           distances, reports),
                     TSANOM_OK);
        for (size_t q = 0; q < QUERIES; q++) {
          for (size_t j = 0; j < k; j++) {
            cr_assert(distances[q * k + j] == expected[q][j].distance &&
                          indices[q * k + j] == expected[q][j].index,
                      "trial %d query %zu neighbor %zu: %zu at %.17g, not %zu at %.17g",
                      trial, q, j, indices[q * k + j], distances[q * k + j],
                      expected[q][j].index, expected[q][j].distance);
          }
          const tsanom_search_report *r = reports + q;
          cr_assert(r->candidates == count && r->found == k);
          cr_assert(r->means + r->kim + r->keogh + r->abandoned + r->computed == count);
          if (isa == TSANOM_ISA_BASE && threads == 1) first[q] = *r;
          cr_assert(memcmp(r, first + q, sizeof *r) == 0);
        }
        tsanom_search_index_destroy(index);
      }
    }
  }
}

/* Series so short that the pairs at both ends are most of a path, whose bound is then near
 * the distance: each of these pairs decides for some of them. */
Test(search, each_pair_of_the_ends_counts) {
  enum { SHORT = 8, COUNT = 40, SAMPLES = COUNT * SHORT };
  uint64_t seed = 31;
  for (int trial = 0; trial < CASES(6000); trial++) {
    double series[SAMPLES], query[SHORT], distance;
    naive_match expected[COUNT];
    size_t n = random_between(&seed, 2, SHORT), index, start;
    tsanom_search_options options =
        options_of(random_between(&seed, 1, n), (int32_t)(random_bits(&seed) % 2), 0);
    for (size_t i = 0; i < SAMPLES; i++) series[i] = (double)random_between(&seed, 0, 9);
    for (size_t i = 0; i < n; i++) query[i] = (double)random_between(&seed, 0, 9);
    naive_nearest(query, series, COUNT, n, n, &options, expected);
    tsanom_search_index *made = index_of(series, COUNT, n, n, &options, NULL);
    tsanom_series queries = rows_of(query, 1, n, n);
    CHECK_STATUS(tsanom_search_nearest(made, &queries, 1, NULL, &index, &distance, NULL),
                 TSANOM_OK);
    cr_assert(distance == expected[0].distance && index == expected[0].index);
    tsanom_search_index_destroy(made);
    size_t samples = COUNT * n;
    (void)naive_stream(query, n, series, samples, &options, &start,
                       &expected[0].distance);
    CHECK_STATUS(tsanom_search_stream(query, n, series, samples, &options, NULL, &index,
                                      &distance, NULL),
                 TSANOM_OK);
    cr_assert(distance == expected[0].distance && index == start);
  }
}

static double nearest_distance(const double *query, const double *series, size_t count,
                               size_t n, size_t radius, int32_t cost, size_t *index) {
  double least = INFINITY;
  for (size_t i = count; i-- > 0;) {
    double distance = naive_dtw(query, series + i * n, n, radius, cost);
    if (distance <= least) least = distance, *index = i;
  }
  return least;
}

/* Samples whose differences are of the size of their rounding, and samples whose sums
 * overflow. */
Test(search, nearest_among_samples_of_any_size_equals_brute_force) {
  uint64_t seed = 9;
  enum { LONGEST = 200, COUNT = 60 };
  static double series[COUNT * LONGEST];
  static const double levels[] = {0, 1e9, -1e15, 1e16, 1e300},
                      heights[] = {1, 1e-6, 4, 8, 1.7e308};
  for (int trial = 0; trial < CASES(200); trial++) {
    size_t n = random_between(&seed, 1, LONGEST), radius = random_between(&seed, 0, 8);
    double level = levels[trial % 5], height = heights[trial % 5], query[LONGEST];
    int32_t cost = trial % 5 == 4 ? TSANOM_COST_ABSOLUTE : trial / 5 % 2;
    for (size_t i = 0; i < COUNT * n; i++) {
      series[i] = level + height * (random_unit(&seed) - 0.5);
    }
    memcpy(query, series + 7 * n, n * sizeof *query);
    if (trial % 2) query[n / 2] = level + height / 2;
    if (trial % 3 == 2) {
      for (size_t i = 0; i < COUNT * n; i++) {
        series[i] = 1e9 + 0x1p-23 * (double)random_between(&seed, 0, 2);
      }
      for (size_t i = 0; i < n; i++) query[i] = 1e9;
    }
    tsanom_search_options options = options_of(radius, cost, 0);
    size_t expected = 0, found;
    double least = nearest_distance(query, series, COUNT, n, radius, cost, &expected);
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1);
      tsanom_search_index *index = index_of(series, COUNT, n, 0, &options, &exec);
      tsanom_series queries = rows_of(query, 1, n, 0);
      double distance;
      CHECK_STATUS(
          tsanom_search_nearest(index, &queries, 1, &exec, &found, &distance, NULL),
          TSANOM_OK);
      cr_assert(found == expected && distance == least,
                "trial %d: %zu at %.17g, not %zu at %.17g", trial, found, distance,
                expected, least);
      tsanom_search_index_destroy(index);
    }
  }
}

/* Copies of few series: after the neighbors are found at distance 0, later copies do not
 * take part, whatever the number of neighbors. */
Test(search, later_series_of_distance_zero_are_not_computed) {
  uint64_t seed = 7;
  enum { N = 32, COUNT = 3000, KINDS = 3 };
  static double series[COUNT * N], kinds[KINDS * N];
  for (size_t i = 0; i < KINDS * N; i++) kinds[i] = random_unit(&seed);
  for (size_t i = 0; i < COUNT; i++) {
    memcpy(series + i * N, kinds + random_between(&seed, 0, KINDS - 1) * N,
           N * sizeof *series);
  }
  static naive_match expected[COUNT];
  static size_t indices[COUNT];
  static double distances[COUNT];
  for (size_t k = 1; k <= COUNT; k = 5 * k + 3) {
    tsanom_search_options options = options_of(4, TSANOM_COST_ABSOLUTE, k % 2);
    tsanom_search_index *index = index_of(series, COUNT, N, N, &options, NULL);
    tsanom_series query = rows_of(kinds, 1, N, N);
    tsanom_search_report report;
    CHECK_STATUS(
        tsanom_search_nearest(index, &query, k, NULL, indices, distances, &report),
        TSANOM_OK);
    naive_nearest(kinds, series, COUNT, N, N, &options, expected);
    for (size_t j = 0; j < k; j++) {
      cr_assert(indices[j] == expected[j].index && distances[j] == expected[j].distance);
    }
    size_t removed = report.means + report.kim + report.keogh;
    cr_assert_eq(removed + report.abandoned + report.computed, COUNT);
    if (k < COUNT / 4) cr_assert(report.computed <= k + 16, "%zu", k);
    tsanom_search_index_destroy(index);
  }
}

Test(search, means_remove_most_series) {
  uint64_t seed = 10;
  enum { N = 128, COUNT = 1000 };
  static double series[COUNT * N];
  for (size_t i = 0; i < COUNT * N; i++) {
    series[i] = (i % N ? series[i - 1] : 0) + random_unit(&seed) - 0.5;
  }
  for (int32_t cost = 0; cost < 2; cost++) {
    tsanom_search_options options = options_of(6, cost, 1);
    tsanom_search_index *index = index_of(series, COUNT, N, 0, &options, NULL);
    tsanom_series query = rows_of(series + (ptrdiff_t)3 * N, 1, N, 0);
    tsanom_search_report report;
    size_t found;
    double distance;
    CHECK_STATUS(
        tsanom_search_nearest(index, &query, 1, NULL, &found, &distance, &report),
        TSANOM_OK);
    cr_assert(found == 3 && distance == 0);
    cr_assert(report.means > COUNT * 9 / 10, "%zu", (size_t)report.means);
    tsanom_search_index_destroy(index);
  }
}

/* Many batches, for many neighbors. */
Test(search, nearest_in_a_large_index_equals_brute_force) {
  uint64_t seed = 8;
  enum { N = 8, COUNT = 12000, K = 300, QUERIES = 3 };
  static double series[COUNT * N], queries[QUERIES * N];
  static naive_match expected[COUNT];
  static size_t indices[QUERIES * K];
  static double distances[QUERIES * K];
  for (size_t i = 0; i < COUNT * N; i++) series[i] = floor(random_unit(&seed) * 5);
  for (size_t i = 0; i < QUERIES * N; i++) queries[i] = floor(random_unit(&seed) * 5);
  tsanom_search_options options = options_of(SIZE_MAX, TSANOM_COST_ABSOLUTE, 0);
  tsanom_search_report reports[QUERIES];
  tsanom_search_index *index = index_of(series, COUNT, N, 0, &options, NULL);
  tsanom_series query_set = rows_of(queries, QUERIES, N, 0);
  CHECK_STATUS(
      tsanom_search_nearest(index, &query_set, K, NULL, indices, distances, reports),
      TSANOM_OK);
  for (size_t q = 0; q < QUERIES; q++) {
    for (size_t i = 0; i < COUNT; i++) {
      expected[i] = (naive_match){
          naive_dtw(queries + q * N, series + i * N, N, SIZE_MAX, options.cost), i};
    }
    qsort(expected, COUNT, sizeof(naive_match), naive_by_distance);
    for (size_t j = 0; j < K; j++) {
      cr_assert(distances[q * K + j] == expected[j].distance &&
                indices[q * K + j] == expected[j].index);
    }
    cr_assert(reports[q].computed + reports[q].abandoned > 4096 + K, "%zu",
              (size_t)(reports[q].computed + reports[q].abandoned));
  }
  tsanom_search_index_destroy(index);
}

/* Finite samples whose distance is not. */
Test(search, distances_that_overflow_are_those_of_no_series) {
  enum { COUNT = 12, N = 8 };
  double x[COUNT * N], query[N] = {0}, distances[COUNT];
  size_t indices[COUNT];
  for (size_t i = 0; i < COUNT * N; i++) x[i] = 1e200;
  for (size_t k = 0; k < N; k++) x[5 * N + k] = 1;
  tsanom_search_options options = options_of(2, TSANOM_COST_SQUARED, 0);
  tsanom_search_index *index = index_of(x, COUNT, N, N, &options, NULL);
  tsanom_search_report report;
  tsanom_series queries = rows_of(query, 1, N, 0);
  CHECK_STATUS(
      tsanom_search_nearest(index, &queries, COUNT, NULL, indices, distances, &report),
      TSANOM_OK);
  cr_assert(report.found == 1 && indices[0] == 5 && distances[0] == N);
  for (size_t i = 1; i < COUNT; i++) {
    cr_assert(isinf(distances[i]) && indices[i] == TSANOM_NONE);
  }
  tsanom_search_index_destroy(index);
}

Test(search, series_at_pointers_are_searched_like_rows) {
  enum { N = 5, COUNT = 6 };
  double data[COUNT][N];
  const double *pointers[COUNT];
  size_t lengths[COUNT], order[2][COUNT];
  double distances[2][COUNT];
  uint64_t seed = 11;
  for (size_t i = 0; i < COUNT; i++) {
    fill(data[i], N, &seed);
    pointers[i] = data[COUNT - 1 - i];
    lengths[i] = N;
  }
  tsanom_search_options options = options_of(1, TSANOM_COST_SQUARED, 0);
  for (int k = 0; k < 4; k++) {
    options.borrow = k % 2;
    tsanom_series series = rows_of(NULL, COUNT, N, 0), query = rows_of(data[0], 1, N, 0);
    series.pointers = pointers;
    if (k > 1) series.lengths = lengths;
    tsanom_search_index *index, *rows = index_of(data[0], COUNT, N, 0, &options, NULL);
    CHECK_STATUS(tsanom_search_index_create(&series, &options, NULL, &index), TSANOM_OK);
    CHECK_STATUS(
        tsanom_search_nearest(index, &query, COUNT, NULL, order[0], distances[0], NULL),
        TSANOM_OK);
    CHECK_STATUS(
        tsanom_search_nearest(rows, &query, COUNT, NULL, order[1], distances[1], NULL),
        TSANOM_OK);
    cr_assert_arr_eq(distances[0], distances[1], sizeof distances[0]);
    cr_assert(order[0][0] == COUNT - 1 - order[1][0]);
    tsanom_search_index_destroy(index);
    tsanom_search_index_destroy(rows);
  }
}

/* Also if the caller flushes denormal numbers to zero. */
Test(search, results_do_not_depend_on_the_floating_point_environment) {
  enum { N = 20, COUNT = 30 };
  double series[COUNT * N], distances[2][4], normalized[2][N];
  size_t found[2][4];
  uint64_t seed = 12;
  for (size_t i = 0; i < COUNT * N; i++) series[i] = 1e-310 * random_unit(&seed);
  tsanom_search_options options = options_of(2, TSANOM_COST_ABSOLUTE, 0);
  tsanom_series query = rows_of(series + N / 2, 1, N, 0);
  WITH_AND_WITHOUT_DENORMALS(k) {
    tsanom_search_index *index = index_of(series, COUNT, N, 0, &options, NULL);
    CHECK_STATUS(
        tsanom_search_nearest(index, &query, 2, NULL, found[k], distances[k], NULL),
        TSANOM_OK);
    tsanom_search_index_destroy(index);
    options.neighbors = 2;
    CHECK_STATUS(tsanom_search_stream(series, N, series, COUNT * N, &options, NULL,
                                      found[k] + 2, distances[k] + 2, NULL),
                 TSANOM_OK);
    options.neighbors = 1;
    CHECK_STATUS(tsanom_search_normalize(series, N, NULL, normalized[k]), TSANOM_OK);
  }
  cr_assert_arr_eq(found[0], found[1], sizeof found[0]);
  cr_assert(memcmp(distances[0], distances[1], sizeof distances[0]) == 0);
  cr_assert(memcmp(normalized[0], normalized[1], sizeof normalized[0]) == 0);
}
