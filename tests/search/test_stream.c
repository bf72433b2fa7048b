/* SPDX-License-Identifier: BSD-3-Clause */
/* The search of a stream against its definition. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/search.h>

#include "search/calls.h"
#include "search/naive.h"
#include "support/exec.h"

static void check_stream(const double *query, size_t n, const double *stream,
                         size_t samples, const tsanom_search_options *options) {
  enum { MOST = 16 };
  size_t expected_starts[MOST], starts[MOST];
  double expected[MOST], distances[MOST];
  tsanom_search_report report, first = {0};
  size_t expected_found =
      naive_stream(query, n, stream, samples, options, expected_starts, expected);
  FOR_EACH_ISA (isa) {
    for (int threads = 1; threads <= 3; threads++) {
      tsanom_exec exec = exec_at(isa, threads);
      CHECK_STATUS(tsanom_search_stream(query, n, stream, samples, options, &exec, starts,
                                        distances, &report),
                   TSANOM_OK);
      size_t found = report.found;
      cr_assert(found == expected_found, "%zu found, not %zu", found, expected_found);
      for (size_t i = 0; i < found; i++) {
        cr_assert(starts[i] == expected_starts[i] && distances[i] == expected[i],
                  "match %zu: %zu at %.17g, not %zu at %.17g (n %zu of %zu, radius %zu, "
                  "cost %d, normalize %d)",
                  i, starts[i], distances[i], expected_starts[i], expected[i], n, samples,
                  options->radius, options->cost, options->z_normalize);
      }
      for (size_t i = found; i < options->neighbors; i++) {
        cr_assert(starts[i] == TSANOM_NONE && distances[i] == INFINITY);
      }
      cr_assert(report.candidates == samples - n + 1);
      cr_assert(report.kim + report.keogh_reversed + report.abandoned + report.computed ==
                report.candidates);
      if (isa == TSANOM_ISA_BASE && threads == 1) first = report;
      cr_assert(memcmp(&report, &first, sizeof report) == 0);
    }
  }
}

Test(search_stream, stream_equals_brute_force) {
  uint64_t seed = 3;
  enum { LONGEST = 400 };
  for (int trial = 0; trial < CASES(300); trial++) {
    double stream[LONGEST], query[LONGEST];
    size_t samples = random_between(&seed, 1, LONGEST),
           n = random_between(&seed, 1, samples < 60 ? samples : 60);
    fill(stream, samples, &seed);
    fill(query, n, &seed);
    if (trial % 4 == 0) {
      memcpy(query, stream + random_between(&seed, 0, samples - n), n * sizeof *query);
    }
    tsanom_search_options options =
        options_of(random_bits(&seed) % 4 ? random_between(&seed, 0, n / 4) : SIZE_MAX,
                   (int32_t)(random_bits(&seed) % 2), (int32_t)(random_bits(&seed) % 2));
    options.neighbors = random_between(&seed, 1, 8);
    if (random_bits(&seed) % 2) options.exclusion = random_between(&seed, 0, 2 * n);
    check_stream(query, n, stream, samples, &options);
  }
}

/* Many chunks, so that the threshold passes between them. */
Test(search_stream, a_long_stream_equals_brute_force) {
  uint64_t seed = 4;
  enum { N = 40, SAMPLES = 30000 };
  static double stream[SAMPLES];
  double query[N];
  for (int trial = 0; trial < 4; trial++) {
    fill(stream, SAMPLES, &seed);
    fill(query, N, &seed);
    tsanom_search_options options = options_of(3, trial % 2, trial < 3);
    options.neighbors = trial == 1 ? 5 : 1;
    check_stream(query, N, stream, SAMPLES, &options);
  }
}

/* Beside large samples the sums of a moving window have no correct digits of the small
 * ones, and beside very large ones no bound has; also where squares of the small ones
 * underflow. */
Test(search_stream, windows_after_a_spike_have_their_own_moments) {
  uint64_t seed = 6;
  enum { N = 24, SAMPLES = 600 };
  for (int trial = 0; trial < 50; trial++) {
    double stream[SAMPLES], query[N];
    for (size_t i = 0; i < SAMPLES; i++) stream[i] = 1e-3 * random_unit(&seed);
    for (size_t i = 0; i < 5; i++) {
      stream[random_between(&seed, 0, 200)] = trial % 3 ? 1e6 : 1e17;
    }
    size_t from = random_between(&seed, 250, SAMPLES - N);
    for (size_t i = 0; i < N; i++) {
      query[i] = stream[from + i] + 1e-4 * random_unit(&seed);
    }
    double unit = ldexp(1, trial % 5 == 1 ? -480 : 0);
    for (size_t i = 0; i < SAMPLES; i++) stream[i] *= unit;
    for (size_t i = 0; i < N; i++) query[i] *= unit;
    tsanom_search_options options = options_of(3, trial % 2, 1);
    options.neighbors = 5;
    check_stream(query, N, stream, SAMPLES, &options);
  }
}

/* Copies of the query: as soon as the first of them are known to be all matches, the rest
 * of the stream is not searched. */
Test(search_stream, the_search_ends_after_matches_of_distance_zero) {
  uint64_t seed = 6;
  enum { N = 24, SAMPLES = 9000 };
  static double stream[SAMPLES];
  for (int trial = 0; trial < 12; trial++) {
    size_t period = trial % 3 == 0 ? 1 : random_between(&seed, 2, 400);
    for (size_t i = 0; i < SAMPLES; i++) {
      stream[i] = i < period ? random_unit(&seed) : stream[i - period];
    }
    /* Sometimes the copies begin late. */
    size_t late = trial % 4 == 3 ? 5000 : 0;
    for (size_t i = 0; i < late; i++) stream[i] = 2 + random_unit(&seed);
    tsanom_search_options options = options_of(3, trial % 2, trial % 5 == 4);
    options.neighbors = trial % 2 ? random_between(&seed, 2, 5) : 1;
    options.exclusion = random_between(&seed, 0, 2 * N);
    const double *query = stream + 5000;
    check_stream(query, N, stream, SAMPLES, &options);
    size_t starts[5];
    double distances[5];
    tsanom_search_report report;
    CHECK_STATUS(tsanom_search_stream(query, N, stream, SAMPLES, &options, NULL, starts,
                                      distances, &report),
                 TSANOM_OK);
    cr_assert(period > 1 || late || report.computed <= 5 * (2 * N + 1) + 16, "%llu",
              (unsigned long long)report.computed);
  }
}

Test(search_stream, most_windows_are_removed_by_bounds) {
  uint64_t seed = 5;
  enum { N = 128, SAMPLES = 50000 };
  static double stream[SAMPLES];
  double query[N], distance, level = 0;
  for (size_t i = 0; i < SAMPLES; i++) stream[i] = level += random_unit(&seed) - 0.5;
  memcpy(query, stream + 31415, sizeof query);
  tsanom_search_options options = options_of(6, TSANOM_COST_SQUARED, 1);
  size_t start;
  tsanom_search_report report;
  CHECK_STATUS(tsanom_search_stream(query, N, stream, SAMPLES, &options, NULL, &start,
                                    &distance, &report),
               TSANOM_OK);
  cr_assert(report.found == 1 && start == 31415 && distance == 0);
  cr_assert(report.computed + report.abandoned < SAMPLES / 20);
  cr_assert(report.kim > 0 && report.keogh_reversed > 0);
}
