/* SPDX-License-Identifier: BSD-3-Clause */
/* The online detector: splits, changes in turn, capacity, rejections. */
#include <string.h>
#include <tsanom/change.h>

#include "change/unusual.h"
#include "support/check.h"
#include "support/workspace.h"

enum { LONGEST = 3000, POINTS = 32 };

static tsanom_change_detector *detector_of(double level, size_t reference) {
  tsanom_change_detector *detector = NULL;
  tsanom_change_options options;
  tsanom_change_options_init(&options, sizeof options);
  options.level = level;
  options.reference = reference;
  CHECK_STATUS(tsanom_change_create(&options, NULL, &detector), TSANOM_OK);
  return detector;
}

/* Pieces of random lengths and capacities give the same points as one call. */
Test(change_push, every_split_gives_the_same_bits) {
  uint64_t seed = 1;
  double x[LONGEST];
  for (int trial = 0; trial < 200; trial++) {
    tsanom_change_point whole[POINTS], points[POINTS];
    change_kind kind = {.phi = 0.4, .scatter = 0.05, .outliers = 1};
    change_series(&seed, &kind, x, LONGEST);
    for (size_t i = 0; i < LONGEST; i++) x[i] += 0.3 * (double)(i / 700);
    size_t expected, taken, count = 0;
    tsanom_change_detector *one = detector_of(0.01, 100), *two = detector_of(0.01, 100);
    CHECK_STATUS(tsanom_change_push(one, x, LONGEST, whole, POINTS, &expected, &taken),
                 TSANOM_OK);
    cr_assert(taken == LONGEST && expected >= 4, "%zu", expected);
    for (size_t i = 0; i < LONGEST;) {
      size_t n = random_between(&seed, 0, LONGEST - i < 90 ? LONGEST - i : 90), found;
      size_t capacity = random_between(&seed, 0, 1);
      tsanom_status status =
          tsanom_change_push(two, x + i, n, points + count, capacity, &found, &taken);
      cr_assert(status == TSANOM_OK ? taken == n : status == TSANOM_PARTIAL);
      count += found;
      i += taken;
    }
    size_t found;
    CHECK_STATUS(tsanom_change_push(two, NULL, 0, points + count, 1, &found, &taken),
                 TSANOM_OK);
    count += found;
    cr_assert(count == expected && memcmp(whole, points, count * sizeof *points) == 0);
    tsanom_change_destroy(one);
    tsanom_change_destroy(two);
  }
}

/* A few hundred samples of such noise look as if their level changed. */
Test(change_push, strongly_correlated_noise_is_no_change) {
  uint64_t seed = 3;
  double x[4200];
  size_t alarms = 0, count, taken;
  tsanom_change_point point;
  change_kind kind = {.phi = 0.9, .scatter = 0.05};
  for (int trial = 0; trial < 400; trial++) {
    change_series(&seed, &kind, x, 4200);
    tsanom_change_detector *detector = detector_of(0.01, 200);
    tsanom_change_push(detector, x, 4200, &point, 1, &count, &taken);
    alarms += count;
    tsanom_change_destroy(detector);
  }
  cr_assert(alarms <= 7, "%zu", alarms);
}

Test(change_push, what_a_distribution_looks_like_is_no_change) {
  enum { TRIALS = 100 };
  uint64_t seed = 4;
  double x[4200];
  tsanom_change_point point;
  for (int k = 0; k < CHANGE_UNUSUAL; k++) {
    size_t alarms = 0, count, taken;
    for (int trial = 0; trial < TRIALS; trial++) {
      change_series(&seed, &change_unusual[k], x, 4200);
      tsanom_change_detector *detector = detector_of(0.01, 200);
      tsanom_change_push(detector, x, 4200, &point, 1, &count, &taken);
      alarms += count;
      tsanom_change_destroy(detector);
    }
    cr_assert(alarms <= TRIALS / 16, "%s: %zu", change_unusual[k].name, alarms);
  }
}

Test(change_push, changes_are_found_soon_and_where_they_are) {
  uint64_t seed = 2;
  double x[1200];
  for (int trial = 0; trial < 100; trial++) {
    tsanom_change_point points[POINTS];
    size_t count, taken, first = random_between(&seed, 201, 500);
    double step = trial % 2 ? 0.2 : -0.2;
    change_kind kind = {.scatter = 0.05, .step = step, .at = first};
    change_series(&seed, &kind, x, 1200);
    for (size_t i = 900; i < 1200; i++) x[i] -= step;
    tsanom_change_detector *detector = detector_of(0.001, 200);
    CHECK_STATUS(
        tsanom_change_push(detector, x, first + 15, points, POINTS, &count, &taken),
        TSANOM_OK);
    cr_assert(count == 1, "%zu", count);
    cr_assert(points[0].low <= first + 1 && first <= points[0].high + 1);
    cr_assert(points[0].low <= points[0].at && points[0].at <= points[0].high);
    cr_assert(fabs(points[0].size - step) < 0.12 && fabs(points[0].before - 1) < 0.03);
    cr_assert(points[0].significance > 0 && points[0].significance <= 0.001);
    CHECK_STATUS(tsanom_change_push(detector, x + first + 15, 1200 - first - 15, points,
                                    POINTS, &count, &taken),
                 TSANOM_OK);
    cr_assert(count == 1 && points[0].low <= 901 && 899 <= points[0].high);
    cr_assert(fabs(points[0].size + step) < 0.12);
    tsanom_change_destroy(detector);
  }
}

/* The reference ends with the first sample that can be a change. */
Test(change_push, constant_samples_and_exact_steps) {
  double x[120];
  tsanom_change_point point;
  size_t count, taken;
  for (size_t i = 0; i < 120; i++) x[i] = i < 50 ? 4 : 5;
  tsanom_change_detector *detector = detector_of(0.01, 50);
  tsanom_change_push(detector, x, 50, &point, 1, &count, &taken);
  cr_assert(count == 0);
  tsanom_change_push(detector, x + 50, 70, &point, 1, &count, &taken);
  cr_assert(count == 1 && point.at == 50 && point.low == 50);
  cr_assert(point.before == 4 && point.after == 5 && point.size == 1);
  tsanom_change_destroy(detector);
  detector = detector_of(0.01, 50);
  for (size_t i = 0; i < 120; i++) x[i] = 4;
  tsanom_change_push(detector, x, 120, &point, 1, &count, &taken);
  cr_assert(count == 0);
  tsanom_change_destroy(detector);
}

Test(change_push, extreme_samples_have_finite_answers) {
  static const double levels[] = {1.7e308, -1.7e308, 4.9e-324, 0};
  double x[100];
  for (int k = 0; k < 16; k++) {
    tsanom_change_point points[POINTS];
    size_t count, taken;
    for (size_t i = 0; i < 100; i++) x[i] = levels[i < 60 ? k % 4 : k / 4];
    tsanom_change_detector *detector = detector_of(0.01, 50);
    CHECK_STATUS(tsanom_change_push(detector, x, 100, points, POINTS, &count, &taken),
                 TSANOM_OK);
    cr_assert(count == (levels[k % 4] != levels[k / 4] && (k % 4 < 2 || k / 4 < 2)));
    if (count) cr_assert(points[0].at == 60 && isfinite(points[0].after));
    tsanom_change_destroy(detector);
  }
}

Test(change_push, rejections_take_nothing_in) {
  double x[60] = {0};
  size_t count = 77, taken = 77;
  tsanom_change_point points[POINTS];
  tsanom_change_detector *detector = detector_of(0.01, 50), *none = NULL;
  x[7] = INFINITY;
  CHECK_STATUS(tsanom_change_push(detector, x, 60, points, POINTS, &count, &taken),
               TSANOM_E_NONFINITE);
  cr_assert(count == 77 && taken == 77);
  tsanom_change_options options;
  tsanom_change_options_init(&options, sizeof options);
  static const size_t references[] = {49, 10001, SIZE_MAX};
  for (int i = 0; i < 3; i++) {
    options.reference = references[i];
    CHECK_STATUS(tsanom_change_create(&options, NULL, &none), TSANOM_E_OPTION);
  }
  options.reference = 50;
  options.paired = 1;
  CHECK_STATUS(tsanom_change_create(&options, NULL, &none), TSANOM_E_OPTION);
  cr_assert(none == NULL);
  tsanom_change_destroy(detector);
  tsanom_change_destroy(NULL);
}

static tsanom_status create(const tsanom_exec *exec, bool inputs, void **object) {
  (void)inputs;
  return tsanom_change_create(NULL, exec, (tsanom_change_detector **)object);
}

static void destroy(void *object) {
  tsanom_change_destroy(object);
}

Test(change_push, a_detector_is_one_block) {
  test_allocator allocator = {0};
  tsanom_exec exec = test_exec(&allocator);
  tsanom_change_detector *detector = NULL;
  double x[500];
  size_t count, taken;
  tsanom_change_point points[POINTS];
  for (size_t i = 0; i < 500; i++) x[i] = (double)(i * i % 7) + (i < 300 ? 0 : 100);
  CHECK_STATUS(tsanom_change_create(NULL, &exec, &detector), TSANOM_OK);
  tsanom_change_push(detector, x, 500, points, POINTS, &count, &taken);
  cr_assert(count == 1 && allocator.calls == 1);
  tsanom_change_destroy(detector);
  cr_assert(allocator.live == 0);
  check_object(create, destroy);
}
