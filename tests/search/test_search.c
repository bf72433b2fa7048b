/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/dtw.h>
#include <tsanom/search.h>

#include "support/allocator.h"
#include "support/check.h"
#include "support/random.h"

static tsanom_search_options options_of(size_t radius, int32_t cost, int32_t normalize) {
  tsanom_search_options options;
  tsanom_search_options_init(&options, sizeof options);
  options.radius = radius;
  options.cost = cost;
  options.z_normalize = normalize;
  return options;
}

static double dtw(const double *x, const double *y, size_t n, size_t radius,
                  int32_t cost) {
  tsanom_dtw_options options;
  tsanom_dtw_options_init(&options, sizeof options);
  options.radius = radius;
  options.cost = cost;
  double distance = -1;
  CHECK_STATUS(tsanom_dtw_distance(x, n, y, n, &options, NULL, &distance),
               TSANOM_OK);
  return distance;
}

/* As it is, or normalised. */
static void prepare(const double *x, size_t n, int32_t normalize, double *out) {
  if (normalize) {
    CHECK_STATUS(tsanom_search_normalize(x, n, NULL, out), TSANOM_OK);
  } else {
    memcpy(out, x, n * sizeof *x);
  }
}

/* Noise, few values (ties), a walk, a walk with flat parts and jumps, on a
 * large offset now and then. */
static void fill(double *x, size_t n, uint64_t *seed) {
  uint64_t kind = random_bits(seed) % 4;
  double offset = random_bits(seed) % 8 == 0 ? 1e6 : 0, level = 0;
  int flat = 0;
  for (size_t i = 0; i < n; i++) {
    double u = random_unit(seed);
    if (kind == 0) {
      level = u;
    } else if (kind == 1) {
      level = floor(u * 3);
    } else {
      if (kind == 3 && u < 0.02) flat = !flat;
      if (kind == 3 && u > 0.995) level += 1e4 * (u - 0.9975);
      if (!flat) level += u - 0.5;
    }
    x[i] = level + offset;
  }
}

Test(search, normalize_is_the_definition) {
  uint64_t seed = 1;
  for (int trial = 0; trial < 2000; trial++) {
    enum { LONGEST = 100 };
    double x[LONGEST], z[LONGEST], first[LONGEST];
    size_t n = random_between(&seed, 1, LONGEST);
    fill(x, n, &seed);
    long double mean = 0, variance = 0;
    int constant = 1;
    for (size_t i = 0; i < n; i++) mean += x[i], constant = constant && x[i] == x[0];
    mean /= n;
    for (size_t i = 0; i < n; i++) variance += (x[i] - mean) * (x[i] - mean);
    long double deviation = sqrtl(variance / n);
    FOR_EACH_ISA (isa) {
      tsanom_exec exec;
      tsanom_exec_init(&exec, sizeof exec);
      exec.isa = isa;
      CHECK_STATUS(tsanom_search_normalize(x, n, &exec, z), TSANOM_OK);
      if (isa == TSANOM_ISA_BASE) memcpy(first, z, sizeof z);
      cr_assert(memcmp(z, first, n * sizeof *z) == 0);
      for (size_t i = 0; i < n; i++) {
        double expected = constant ? 0 : (double)((x[i] - mean) / deviation);
        cr_assert(fabs(z[i] - expected) <= 1e-7 * (1 + fabs(expected)), "%g not %g", z[i],
                  expected);
      }
    }
  }
}

typedef struct {
  double distance;
  size_t index;
} match;

static int by_distance(const void *a, const void *b) {
  const match *x = a, *y = b;
  if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

Test(search, nearest_equals_brute_force) {
  uint64_t seed = 2;
  enum { LONGEST = 70, MOST = 90, QUERIES = 4 };
  static double series[MOST * (LONGEST + 3)], queries[QUERIES * (LONGEST + 3)];
  for (int trial = 0; trial < 300; trial++) {
    size_t n = random_between(&seed, 1, LONGEST), stride = n + random_bits(&seed) % 3;
    size_t count = random_between(&seed, 1, MOST),
           k = random_between(&seed, 1, trial % 10 == 0 ? count : (count + 9) / 10);
    for (size_t i = 0; i < count; i++) fill(series + i * stride, n, &seed);
    for (size_t i = 0; i < QUERIES; i++) fill(queries + i * stride, n, &seed);
    /* Duplicates, so that ties must break by index. */
    if (count > 2) memcpy(series + stride, series + 2 * stride, n * sizeof *series);
    if (trial % 3 == 0) memcpy(queries, series, n * sizeof *series);
    tsanom_search_options options =
        options_of(random_bits(&seed) % 4 ? random_between(&seed, 0, n / 4) : SIZE_MAX,
                   (int32_t)(random_bits(&seed) % 2), (int32_t)(random_bits(&seed) % 2));
    options.borrow = !options.z_normalize && random_bits(&seed) % 2;

    match expected[QUERIES][MOST];
    for (size_t q = 0; q < QUERIES; q++) {
      double x[LONGEST], y[LONGEST];
      prepare(queries + q * stride, n, options.z_normalize, x);
      for (size_t i = 0; i < count; i++) {
        prepare(series + i * stride, n, options.z_normalize, y);
        expected[q][i] = (match){dtw(x, y, n, options.radius, options.cost), i};
      }
      qsort(expected[q], count, sizeof(match), by_distance);
    }

    tsanom_search_report first[QUERIES];
    FOR_EACH_ISA (isa) {
      for (int threads = 1; threads <= 3; threads++) {
        tsanom_exec exec;
        tsanom_exec_init(&exec, sizeof exec);
        exec.isa = isa;
        exec.threads = threads;
        tsanom_search_index *index;
        CHECK_STATUS(
            tsanom_search_index_create(series, count, n, stride, &options, &exec, &index),
            TSANOM_OK);
        size_t indices[QUERIES * MOST];
        double distances[QUERIES * MOST];
        tsanom_search_report reports[QUERIES];
        CHECK_STATUS(tsanom_search_nearest(index, queries, QUERIES, stride, k, &exec,
                                           NULL, 0, indices, distances, reports),
                     TSANOM_OK);
        for (size_t q = 0; q < QUERIES; q++) {
          for (size_t j = 0; j < k; j++) {
            cr_assert(distances[q * k + j] == expected[q][j].distance &&
                          indices[q * k + j] == expected[q][j].index,
                      "trial %d query %zu neighbour %zu: %zu at %.17g, not %zu at %.17g",
                      trial, q, j, indices[q * k + j], distances[q * k + j],
                      expected[q][j].index, expected[q][j].distance);
          }
          const tsanom_search_report *r = reports + q;
          cr_assert(r->candidates == count);
          cr_assert(r->means + r->keogh + r->keogh_reversed + r->abandoned +
                        r->computed ==
                    count);
          if (isa == TSANOM_ISA_BASE && threads == 1) first[q] = *r;
          cr_assert(memcmp(r, first + q, sizeof *r) == 0);
        }
        tsanom_search_index_destroy(index);
      }
    }
  }
}

static double nearest_distance(const double *query, const double *series, size_t count,
                               size_t n, size_t radius, int32_t cost, size_t *index) {
  double least = INFINITY;
  for (size_t i = count; i-- > 0;) {
    double distance = dtw(query, series + i * n, n, radius, cost);
    if (distance <= least) least = distance, *index = i;
  }
  return least;
}

/* Sums of samples whose differences are of the size of their rounding, and of
 * samples whose sums overflow. */
Test(search, nearest_among_samples_of_any_size_equals_brute_force) {
  uint64_t seed = 9;
  enum { LONGEST = 200, COUNT = 60 };
  static double series[COUNT * LONGEST];
  static const double levels[] = {0, 1e9, -1e15, 1e16, 1e300},
                      heights[] = {1, 1e-6, 4, 8, 1.7e308};
  for (int trial = 0; trial < 200; trial++) {
    size_t n = random_between(&seed, 1, LONGEST), radius = random_between(&seed, 0, 8);
    double level = levels[trial % 5], height = heights[trial % 5], query[LONGEST];
    int32_t cost = trial % 5 == 4 ? TSANOM_SEARCH_ABSOLUTE : trial / 5 % 2;
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
      tsanom_exec exec;
      tsanom_exec_init(&exec, sizeof exec);
      exec.isa = isa;
      tsanom_search_index *index;
      double distance;
      CHECK_STATUS(
          tsanom_search_index_create(series, COUNT, n, n, &options, &exec, &index),
          TSANOM_OK);
      CHECK_STATUS(tsanom_search_nearest(index, query, 1, n, 1, &exec, NULL, 0, &found,
                                         &distance, NULL),
                   TSANOM_OK);
      cr_assert(found == expected && distance == least,
                "trial %d: %zu at %.17g, not %zu at %.17g", trial, found, distance,
                expected, least);
      tsanom_search_index_destroy(index);
    }
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
    tsanom_search_index *index;
    tsanom_search_report report;
    size_t found;
    double distance;
    CHECK_STATUS(tsanom_search_index_create(series, COUNT, N, N, &options, NULL, &index),
                 TSANOM_OK);
    CHECK_STATUS(tsanom_search_nearest(index, series + 3 * N, 1, N, 1, NULL, NULL, 0,
                                       &found, &distance, &report),
                 TSANOM_OK);
    cr_assert(found == 3 && distance == 0);
    cr_assert(report.means > COUNT * 9 / 10, "%zu", (size_t)report.means);
    tsanom_search_index_destroy(index);
  }
}

/* More candidates pass the bounds than the search lets wait. */
Test(search, nearest_in_a_large_index_equals_brute_force) {
  uint64_t seed = 8;
  enum { N = 8, COUNT = 12000, K = 300, QUERIES = 3 };
  static double series[COUNT * N], queries[QUERIES * N];
  static match expected[COUNT];
  static size_t indices[QUERIES * K];
  static double distances[QUERIES * K];
  for (size_t i = 0; i < COUNT * N; i++) series[i] = floor(random_unit(&seed) * 5);
  for (size_t i = 0; i < QUERIES * N; i++) queries[i] = floor(random_unit(&seed) * 5);
  tsanom_search_options options = options_of(SIZE_MAX, TSANOM_SEARCH_ABSOLUTE, 0);
  tsanom_search_report reports[QUERIES];
  tsanom_search_index *index;
  CHECK_STATUS(tsanom_search_index_create(series, COUNT, N, N, &options, NULL, &index),
               TSANOM_OK);
  CHECK_STATUS(tsanom_search_nearest(index, queries, QUERIES, N, K, NULL, NULL, 0,
                                     indices, distances, reports),
               TSANOM_OK);
  for (size_t q = 0; q < QUERIES; q++) {
    for (size_t i = 0; i < COUNT; i++) {
      expected[i] =
          (match){dtw(queries + q * N, series + i * N, N, SIZE_MAX, options.cost), i};
    }
    qsort(expected, COUNT, sizeof(match), by_distance);
    for (size_t j = 0; j < K; j++) {
      cr_assert(distances[q * K + j] == expected[j].distance &&
                indices[q * K + j] == expected[j].index);
    }
    cr_assert(reports[q].computed + reports[q].abandoned > 4096 + K, "%zu",
              (size_t)(reports[q].computed + reports[q].abandoned));
  }
  tsanom_search_index_destroy(index);
}

/* The definition: all distances, then one choice after the other. */
static size_t naive_stream(const double *query, size_t n, const double *stream,
                           size_t samples, const tsanom_search_options *options,
                           size_t *starts, double *distances) {
  size_t windows = samples - n + 1, found = 0;
  size_t exclusion = options->exclusion == SIZE_MAX ? n / 2 : options->exclusion;
  double *all = malloc(windows * sizeof *all), *x = malloc(2 * n * sizeof *x), *y = x + n;
  prepare(query, n, options->z_normalize, x);
  for (size_t i = 0; i < windows; i++) {
    prepare(stream + i, n, options->z_normalize, y);
    all[i] = dtw(x, y, n, options->radius, options->cost);
  }
  while (found < options->neighbours) {
    size_t best = 0;
    for (size_t i = 1; i < windows; i++) {
      if (all[i] < all[best]) best = i;
    }
    if (isinf(all[best])) break;
    starts[found] = best;
    distances[found++] = all[best];
    for (size_t i = 0; i < windows; i++) {
      if ((i > best ? i - best : best - i) <= exclusion) all[i] = INFINITY;
    }
  }
  free(all);
  free(x);
  return found;
}

static void check_stream(const double *query, size_t n, const double *stream,
                         size_t samples, const tsanom_search_options *options) {
  enum { MOST = 16 };
  size_t expected_starts[MOST], starts[MOST], found;
  double expected[MOST], distances[MOST];
  tsanom_search_report report, first = {0};
  size_t expected_found =
      naive_stream(query, n, stream, samples, options, expected_starts, expected);
  FOR_EACH_ISA (isa) {
    for (int threads = 1; threads <= 3; threads++) {
      tsanom_exec exec;
      tsanom_exec_init(&exec, sizeof exec);
      exec.isa = isa;
      exec.threads = threads;
      CHECK_STATUS(tsanom_search_stream(query, n, stream, samples, options, &exec, NULL,
                                        0, starts, distances, &found, &report),
                   TSANOM_OK);
      cr_assert(found == expected_found, "%zu found, not %zu", found, expected_found);
      for (size_t i = 0; i < found; i++) {
        cr_assert(starts[i] == expected_starts[i] && distances[i] == expected[i],
                  "match %zu: %zu at %.17g, not %zu at %.17g (n %zu of %zu, radius %zu, "
                  "cost %d, normalize %d)",
                  i, starts[i], distances[i], expected_starts[i], expected[i], n, samples,
                  options->radius, options->cost, options->z_normalize);
      }
      cr_assert(report.candidates == samples - n + 1);
      cr_assert(report.kim + report.keogh + report.keogh_reversed + report.abandoned +
                    report.computed ==
                report.candidates);
      if (isa == TSANOM_ISA_BASE && threads == 1) first = report;
      cr_assert(memcmp(&report, &first, sizeof report) == 0);
    }
  }
}

Test(search, stream_equals_brute_force) {
  uint64_t seed = 3;
  enum { LONGEST = 400 };
  for (int trial = 0; trial < 300; trial++) {
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
    options.neighbours = random_between(&seed, 1, 8);
    if (random_bits(&seed) % 2) options.exclusion = random_between(&seed, 0, 2 * n);
    check_stream(query, n, stream, samples, &options);
  }
}

/* Many chunks, so that the threshold travels between them. */
Test(search, a_long_stream_equals_brute_force) {
  uint64_t seed = 4;
  enum { N = 40, SAMPLES = 30000 };
  static double stream[SAMPLES];
  double query[N];
  for (int trial = 0; trial < 4; trial++) {
    fill(stream, SAMPLES, &seed);
    fill(query, N, &seed);
    tsanom_search_options options = options_of(3, trial % 2, trial < 3);
    options.neighbours = trial == 1 ? 5 : 1;
    check_stream(query, N, stream, SAMPLES, &options);
  }
}

Test(search, most_windows_are_removed_by_bounds) {
  uint64_t seed = 5;
  enum { N = 128, SAMPLES = 50000 };
  static double stream[SAMPLES];
  double query[N], distance, level = 0;
  for (size_t i = 0; i < SAMPLES; i++) stream[i] = level += random_unit(&seed) - 0.5;
  memcpy(query, stream + 31415, sizeof query);
  tsanom_search_options options = options_of(6, TSANOM_SEARCH_SQUARED, 1);
  size_t start, found;
  tsanom_search_report report;
  CHECK_STATUS(tsanom_search_stream(query, N, stream, SAMPLES, &options, NULL, NULL, 0,
                                    &start, &distance, &found, &report),
               TSANOM_OK);
  cr_assert(found == 1 && start == 31415 && distance == 0);
  cr_assert(report.computed + report.abandoned < SAMPLES / 20);
  cr_assert(report.kim > 0 && report.keogh > 0 && report.keogh_reversed > 0);
}

static int32_t stop_after(void *user, uint64_t done, uint64_t total) {
  size_t *left = user;
  cr_assert(done <= total);
  return (*left)-- == 0;
}

Test(search, the_poll_stops_a_search) {
  enum { N = 8, SAMPLES = 20000 };
  static double stream[SAMPLES];
  uint64_t seed = 6;
  for (size_t i = 0; i < SAMPLES; i++) stream[i] = random_unit(&seed);
  for (size_t polls = 0; polls < 3; polls++) {
    size_t left = polls, start = 7, found = 7, index_of = 7;
    double distance = -1;
    tsanom_exec exec;
    tsanom_exec_init(&exec, sizeof exec);
    exec.poll = stop_after;
    exec.poll_user = &left;
    CHECK_STATUS(tsanom_search_stream(stream, N, stream, SAMPLES, NULL, &exec, NULL, 0,
                                      &start, &distance, &found, NULL),
                 TSANOM_STOPPED);
    cr_assert(start == 7 && found == 7 && distance == -1);
    tsanom_search_index *index = NULL;
    CHECK_STATUS(
        tsanom_search_index_create(stream, SAMPLES / N, N, N, NULL, NULL, &index),
        TSANOM_OK);
    left = 0;
    CHECK_STATUS(tsanom_search_nearest(index, stream, 1, N, 1, &exec, NULL, 0, &index_of,
                                       &distance, NULL),
                 TSANOM_STOPPED);
    cr_assert(index_of == 7 && distance == -1);
    tsanom_search_index_destroy(index);
    index = NULL;
    left = 0;
    CHECK_STATUS(
        tsanom_search_index_create(stream, SAMPLES / N, N, N, NULL, &exec, &index),
        TSANOM_STOPPED);
    cr_assert(index == NULL);
  }
}

Test(search, workspaces_of_the_size_asked_for_mean_no_allocation) {
  uint64_t seed = 7;
  enum { LONGEST = 60, MOST = 40 };
  static double series[MOST * LONGEST];
  for (int trial = 0; trial < 200; trial++) {
    size_t n = random_between(&seed, 1, LONGEST), count = random_between(&seed, 1, MOST),
           bytes = 0, indices[MOST], found, shift = (size_t)trial % 2;
    double distances[MOST];
    for (size_t i = 0; i < count; i++) fill(series + i * n, n, &seed);
    tsanom_search_options options =
        options_of(random_between(&seed, 0, n), 1, trial % 3 == 0);
    options.neighbours = random_between(&seed, 1, count);
    test_allocator allocator = {0};
    tsanom_exec exec = test_exec(&allocator);
    exec.threads = 1 + trial % 2;
    tsanom_search_index *index;
    CHECK_STATUS(tsanom_search_index_size(count, n, &options, &exec, &bytes), TSANOM_OK);
    unsigned char *memory = malloc(bytes + 1);
    CHECK_STATUS(tsanom_search_index_init(memory + shift, bytes - 1, series, count, n, n,
                                          &options, &exec, &index),
                 TSANOM_E_WORKSPACE);
    CHECK_STATUS(tsanom_search_index_init(memory + shift, bytes, series, count, n, n,
                                          &options, &exec, &index),
                 TSANOM_OK);
    CHECK_STATUS(
        tsanom_search_nearest_workspace(index, options.neighbours, &exec, &bytes),
        TSANOM_OK);
    unsigned char *work = malloc(bytes + 1);
    CHECK_STATUS(tsanom_search_nearest(index, series, 1, n, options.neighbours, &exec,
                                       work, bytes - 1, indices, distances, NULL),
                 TSANOM_E_WORKSPACE);
    CHECK_STATUS(tsanom_search_nearest(index, series, 1, n, options.neighbours, &exec,
                                       work + shift, bytes, indices, distances, NULL),
                 TSANOM_OK);
    free(work);
    CHECK_STATUS(tsanom_search_stream_workspace(n, count * n, &options, &exec, &bytes),
                 TSANOM_OK);
    work = malloc(bytes + 1);
    CHECK_STATUS(tsanom_search_stream(series, n, series, count * n, &options, &exec, work,
                                      bytes - 1, indices, distances, &found, NULL),
                 TSANOM_E_WORKSPACE);
    CHECK_STATUS(
        tsanom_search_stream(series, n, series, count * n, &options, &exec, work + shift,
                             bytes, indices, distances, &found, NULL),
        TSANOM_OK);
    free(work);
    free(memory);
    cr_assert(allocator.calls == 0);
  }
}

Test(search, a_failing_allocator_is_reported_and_nothing_leaks) {
  double series[] = {1, 2, 3, 4, 5, 6, 7, 9}, distance = -1;
  size_t at = 7, found = 7;
  tsanom_search_index *index = NULL;
  test_allocator allocator = {.fail_at = 1};
  tsanom_exec exec = test_exec(&allocator);
  CHECK_STATUS(tsanom_search_index_create(series, 4, 2, 2, NULL, &exec, &index),
               TSANOM_E_MEMORY);
  cr_assert(index == NULL);
  allocator.fail_at = 0;
  CHECK_STATUS(tsanom_search_index_create(series, 4, 2, 2, NULL, &exec, &index),
               TSANOM_OK);
  allocator.fail_at = allocator.calls + 1;
  CHECK_STATUS(
      tsanom_search_nearest(index, series, 1, 2, 1, &exec, NULL, 0, &at, &distance, NULL),
      TSANOM_E_MEMORY);
  allocator.fail_at = allocator.calls + 1;
  CHECK_STATUS(tsanom_search_stream(series, 2, series, 8, NULL, &exec, NULL, 0, &at,
                                    &distance, &found, NULL),
               TSANOM_E_MEMORY);
  cr_assert(at == 7 && found == 7 && distance == -1);
  allocator.fail_at = 0;
  CHECK_STATUS(tsanom_search_stream(series, 2, series, 8, NULL, &exec, NULL, 0, &at,
                                    &distance, &found, NULL),
               TSANOM_OK);
  CHECK_STATUS(
      tsanom_search_nearest(index, series, 1, 2, 1, &exec, NULL, 0, &at, &distance, NULL),
      TSANOM_OK);
  tsanom_search_index_destroy(index);
  tsanom_search_index_destroy(NULL);
  cr_assert(allocator.live == 0);
}

Test(search, bad_arguments_are_refused_and_leave_the_outputs) {
  double x[] = {1, 2, 3, 4}, nan[] = {1, 2, 3, NAN}, huge[] = {1, 2, 3, 1e200},
         distance = -1, out[4] = {-1};
  size_t at = 7, found = 7, bytes = 7;
  tsanom_search_index *index = NULL, *good;
  tsanom_search_options options = options_of(1, 0, 1), bad = options;
  CHECK_STATUS(tsanom_search_index_create(x, 2, 2, 2, &options, NULL, &good), TSANOM_OK);

  CHECK_STATUS(tsanom_search_normalize(NULL, 4, NULL, out), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_search_normalize(x, 0, NULL, out), TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_search_normalize(nan, 4, NULL, out), TSANOM_E_NONFINITE);
  CHECK_STATUS(tsanom_search_normalize(huge, 4, NULL, out), TSANOM_E_VALUE);

  bad.borrow = 1;
  CHECK_STATUS(tsanom_search_index_create(x, 2, 2, 2, &bad, NULL, &index),
               TSANOM_E_OPTION);
  int32_t *fields[] = {&bad.cost, &bad.z_normalize, &bad.borrow, &bad.reserved0};
  for (size_t k = 0; k < 4; k++) {
    bad = options;
    *fields[k] = 2;
    CHECK_STATUS(tsanom_search_index_create(x, 2, 2, 2, &bad, NULL, &index),
                 TSANOM_E_OPTION);
    CHECK_STATUS(tsanom_search_stream(x, 2, x, 4, &bad, NULL, NULL, 0, &at, &distance,
                                      &found, NULL),
                 TSANOM_E_OPTION);
  }
  bad = options;
  bad.neighbours = 0;
  CHECK_STATUS(
      tsanom_search_stream(x, 2, x, 4, &bad, NULL, NULL, 0, &at, &distance, &found, NULL),
      TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_search_index_create(NULL, 2, 2, 2, NULL, NULL, &index),
               TSANOM_E_NULL);
  CHECK_STATUS(tsanom_search_index_create(x, 0, 2, 2, NULL, NULL, &index),
               TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_search_index_create(x, 2, 2, 1, NULL, NULL, &index),
               TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_search_index_create(nan, 2, 2, 2, NULL, NULL, &index),
               TSANOM_E_NONFINITE);
  CHECK_STATUS(tsanom_search_index_create(huge, 2, 2, 2, &options, NULL, &index),
               TSANOM_E_VALUE);
  CHECK_STATUS(tsanom_search_index_size(SIZE_MAX / 2, 8, NULL, NULL, &bytes),
               TSANOM_E_OVERFLOW);
  CHECK_STATUS(tsanom_search_index_size(1, SIZE_MAX, NULL, NULL, &bytes),
               TSANOM_E_OVERFLOW);
  CHECK_STATUS(tsanom_search_stream_workspace(SIZE_MAX, SIZE_MAX, NULL, NULL, &bytes),
               TSANOM_E_OVERFLOW);

  CHECK_STATUS(
      tsanom_search_nearest(NULL, x, 1, 2, 1, NULL, NULL, 0, &at, &distance, NULL),
      TSANOM_E_NULL);
  CHECK_STATUS(
      tsanom_search_nearest(good, x, 1, 2, 3, NULL, NULL, 0, &at, &distance, NULL),
      TSANOM_E_COUNT);
  CHECK_STATUS(
      tsanom_search_nearest(good, x, 1, 1, 1, NULL, NULL, 0, &at, &distance, NULL),
      TSANOM_E_COUNT);
  CHECK_STATUS(
      tsanom_search_nearest(good, nan, 2, 2, 1, NULL, NULL, 0, &at, &distance, NULL),
      TSANOM_E_NONFINITE);
  CHECK_STATUS(
      tsanom_search_nearest(good, huge, 2, 2, 1, NULL, NULL, 0, &at, &distance, NULL),
      TSANOM_E_VALUE);
  CHECK_STATUS(
      tsanom_search_stream(x, 5, x, 4, NULL, NULL, NULL, 0, &at, &distance, &found, NULL),
      TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_search_stream(x, 2, nan, 4, NULL, NULL, NULL, 0, &at, &distance,
                                    &found, NULL),
               TSANOM_E_NONFINITE);
  CHECK_STATUS(tsanom_search_stream(x, 2, huge, 4, &options, NULL, NULL, 0, &at,
                                    &distance, &found, NULL),
               TSANOM_E_VALUE);
  CHECK_STATUS(
      tsanom_search_stream(x, 2, x, 4, NULL, NULL, NULL, 0, &at, NULL, &found, NULL),
      TSANOM_E_NULL);
  cr_assert(at == 7 && found == 7 && bytes == 7 && distance == -1 && out[0] == -1 &&
            index == NULL);
  tsanom_search_index_destroy(good);
}
