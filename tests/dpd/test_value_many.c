/* SPDX-License-Identifier: BSD-3-Clause */
/* Values pushed many at a time, windows that adapt, and predictions. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/dpd.h>

#include "support/check.h"
#include "support/random.h"
#include "values.h"

enum { SAMPLES = 3000, MOST = 160 };

/* Stretches of patterns with and without noise, of noise alone and of one value, each
 * long enough for a lock. */
static void fill(double *x, size_t count, uint64_t *seed) {
  size_t period = 1, left = 0;
  double noise = 0;
  int kind = 0;
  for (size_t i = 0; i < count; i++) {
    if (left-- == 0) {
      kind = (int)random_between(seed, 0, 3);
      period = random_between(seed, 2, 60);
      noise = random_unit(seed) * 4;
      left = random_between(seed, 50, 900);
    }
    double fresh = random_unit(seed) * 10;
    bool repeats = kind < 2 && i >= period;
    x[i] = kind == 2 ? fresh : kind == 3 ? 7 : repeats ? x[i - period] : fresh;
    if (kind == 1) x[i] += noise * (random_unit(seed) - 0.5);
  }
}

static void check_same(const tsanom_dpd_value *a, const tsanom_dpd_value *b) {
  static double d[2][MOST];
  size_t count[2];
  tsanom_dpd_value_distances(a, d[0], MOST, &count[0]);
  tsanom_dpd_value_distances(b, d[1], MOST, &count[1]);
  cr_assert(count[0] == count[1]);
  cr_assert(memcmp(d[0], d[1], count[0] * sizeof(double)) == 0);
  cr_assert(tsanom_dpd_value_window(a) == tsanom_dpd_value_window(b));
}

/* The same stream, a sample at a time at the base level and in pieces at another, with
 * rejected samples and changes of the window in between. */
static void compare_pieces(const tsanom_dpd_value_options *options, int32_t isa,
                           const double *x, uint64_t choice) {
  tsanom_dpd_value *single = make_value_detector(options, TSANOM_ISA_BASE);
  tsanom_dpd_value *many = make_value_detector(options, isa);
  static size_t period[SAMPLES];
  static int32_t start[SAMPLES];
  for (size_t from = 0; from < SAMPLES;) {
    size_t rest = SAMPLES - from, piece = random_between(&choice, 1, 300), done = 0;
    if (piece > rest) piece = rest;
    double held = x[from + piece / 2], taken[300];
    memcpy(taken, x + from, piece * sizeof *taken);
    bool rejected = random_bits(&choice) % 8 == 0;
    if (rejected) taken[piece / 2] = NAN;
    CHECK_STATUS(tsanom_dpd_value_push_many(many, taken, piece, period, start, &done),
                 rejected ? TSANOM_PARTIAL : TSANOM_OK);
    cr_assert(done == (rejected ? piece / 2 : piece) && x[from + piece / 2] == held);
    for (size_t i = 0; i < done; i++) {
      tsanom_dpd_report report;
      CHECK_STATUS(tsanom_dpd_value_push(single, x[from + i], &report), TSANOM_OK);
      cr_assert(report.period == period[i] && report.start == start[i],
                "at %zu: %zu, not %zu", from + i, period[i], report.period);
    }
    check_same(single, many);
    from += done;
    if (random_bits(&choice) % 16 == 0) {
      size_t window = random_between(&choice, 1, options->window);
      CHECK_STATUS(tsanom_dpd_value_resize(single, window), TSANOM_OK);
      CHECK_STATUS(tsanom_dpd_value_resize(many, window), TSANOM_OK);
    }
  }
  tsanom_dpd_report last[2];
  tsanom_dpd_value_push(single, 3, &last[0]);
  tsanom_dpd_value_push(many, 3, &last[1]);
  cr_assert(last[0].period == last[1].period && last[0].start == last[1].start);
  cr_assert(last[0].confidence == last[1].confidence);
  cr_assert(last[0].horizon == last[1].horizon && last[0].change == last[1].change);
  tsanom_dpd_value_destroy(single);
  tsanom_dpd_value_destroy(many);
}

Test(dpd_value_many, many_at_a_time_are_the_same_as_one_by_one) {
  uint64_t seed = 1;
  static double x[SAMPLES];
  for (int trial = 0; trial < 60; trial++) {
    fill(x, SAMPLES, &seed);
    tsanom_dpd_value_options options = value_options(random_between(&seed, 20, MOST), 0);
    options.max_period = random_between(&seed, 1, options.window);
    if (trial % 3) options.max_period = options.window;
    options.adapt = trial % 5 < 2;
    options.depth = trial % 7 == 0 ? 0.2 : 0.5;
    FOR_EACH_ISA (isa) {
      compare_pieces(&options, isa, x, seed);
    }
  }
}

static double pattern_at(size_t i, size_t period) {
  uint64_t seed = i % period + 1;
  return random_unit(&seed);
}

Test(dpd_value_many, the_window_shrinks_on_a_period_and_grows_back) {
  enum { WINDOW = 256, FIRST = 20, SECOND = 150 };
  tsanom_dpd_value_options options = value_options(WINDOW, 0);
  options.adapt = 1;
  tsanom_dpd_value *detector = make_value_detector(&options, TSANOM_ISA_AUTO);
  tsanom_dpd_report report;
  for (size_t i = 0; i < 4 * WINDOW; i++) {
    CHECK_STATUS(tsanom_dpd_value_push(detector, pattern_at(i, FIRST), &report),
                 TSANOM_OK);
    if (report.period == 0) cr_assert(tsanom_dpd_value_window(detector) == WINDOW);
  }
  cr_assert(report.period == FIRST && tsanom_dpd_value_window(detector) == 4 * FIRST);
  cr_assert(report.horizon >= 3 * WINDOW);

  size_t lost = 0, grown = 0, found = 0;
  for (size_t i = 0; i < 8 * WINDOW; i++) {
    tsanom_dpd_value_push(detector, pattern_at(i, SECOND), &report);
    size_t window = tsanom_dpd_value_window(detector);
    if (!lost && report.period == 0) lost = i;
    if (!grown && window == WINDOW) grown = i;
    if (!found && report.period == SECOND) found = i;
  }
  cr_assert(lost < 2 * 4 * FIRST, "%zu", lost);
  cr_assert(grown >= lost + 2 * WINDOW && grown < lost + 2 * WINDOW + 16, "%zu", grown);
  cr_assert(found >= grown && report.period == SECOND);
  cr_assert(tsanom_dpd_value_window(detector) == WINDOW, "4 periods are more than that");
  tsanom_dpd_value_destroy(detector);
}

/* Every eighth sample, if twice as many have had no period as the largest window has. */
Test(dpd_value_many, the_window_grows_back_after_exactly_two_windows) {
  enum { WINDOW = 64, PERIOD = 5, NOISE = 300 };
  uint64_t seed = 9;
  tsanom_dpd_value_options options = value_options(WINDOW, 0);
  options.adapt = 1;
  for (size_t samples = 400; samples < 408; samples++) {
    tsanom_dpd_value *detector = make_value_detector(&options, TSANOM_ISA_AUTO);
    tsanom_dpd_report report;
    size_t unlocked = 0, expected = 0;
    for (size_t count = 1; count <= samples + NOISE; count++) {
      bool is_noise = count > samples;
      double x = is_noise ? 10 * random_unit(&seed) : pattern_at(count, PERIOD);
      tsanom_dpd_value_push(detector, x, &report);
      if (count == samples) expected = tsanom_dpd_value_window(detector);
      if (report.period) unlocked = count;
      if (!is_noise) continue;
      if (count % 8 == 0 && count - unlocked >= 2 * WINDOW) expected = WINDOW;
      cr_assert(tsanom_dpd_value_window(detector) == expected, "%zu after %zu", count,
                unlocked);
    }
    cr_assert(expected == WINDOW);
    tsanom_dpd_value_destroy(detector);
  }
}

Test(dpd_value_many, a_window_adapts_to_no_less_than_32) {
  tsanom_dpd_value_options options = value_options(100, 0);
  options.adapt = 1;
  tsanom_dpd_value *detector = make_value_detector(&options, TSANOM_ISA_AUTO);
  for (size_t i = 0; i < 1000; i++) {
    tsanom_dpd_value_push(detector, pattern_at(i, 3), NULL);
  }
  cr_assert(tsanom_dpd_value_window(detector) == 32);
  tsanom_dpd_value_destroy(detector);
  cr_assert(tsanom_dpd_value_window(NULL) == 0);
}

/* From the definition: the newest sample is within 1 - depth of the mean of d of
 * the one a period before. */
static bool was_predicted(const tsanom_dpd_value *detector, const double *x,
                          size_t newest, size_t period, double depth) {
  double d[MOST], mean = 0;
  size_t count;
  tsanom_dpd_value_distances(detector, d, MOST, &count);
  for (size_t m = 0; m < count; m++) mean += d[m] / (double)count;
  double most = (1 - depth) * mean;
  return fabs(x[newest] - x[newest - period]) <= most;
}

Test(dpd_value_many, the_horizon_counts_the_predictions_that_held) {
  enum { WINDOW = 40, PERIOD = 9 };
  uint64_t seed = 2;
  double x[SAMPLES];
  tsanom_dpd_value_options options = value_options(WINDOW, 0);
  tsanom_dpd_value *detector = make_value_detector(&options, TSANOM_ISA_AUTO);
  uint64_t before = 0;
  size_t resets = 0;
  for (size_t i = 0; i < SAMPLES; i++) {
    x[i] = pattern_at(i, PERIOD) + 0.02 * random_unit(&seed);
    if (random_bits(&seed) % 50 == 0) x[i] += 2;
    tsanom_dpd_report report;
    tsanom_dpd_value_push(detector, x[i], &report);
    if (report.change == TSANOM_DPD_STEADY && report.period) {
      bool held = was_predicted(detector, x, i, report.period, options.depth);
      cr_assert(report.horizon == (held ? before + 1 : 0), "at %zu", i);
      resets += !held;
    } else {
      cr_assert(report.horizon <= WINDOW);
    }
    before = report.horizon;
  }
  cr_assert(resets > 50 && before > 0);
  tsanom_dpd_value_destroy(detector);
}

Test(dpd_value_many, at_the_lock_the_horizon_is_the_window) {
  tsanom_dpd_value_options options = value_options(50, 0);
  tsanom_dpd_value *detector = make_value_detector(&options, TSANOM_ISA_AUTO);
  tsanom_dpd_report report = {0};
  size_t i = 0;
  while (report.period == 0) {
    tsanom_dpd_value_push(detector, pattern_at(i++, 12), &report);
  }
  cr_assert(report.period == 12 && report.change == TSANOM_DPD_LOCKED);
  cr_assert(report.horizon == 50);
  tsanom_dpd_value_destroy(detector);
}
