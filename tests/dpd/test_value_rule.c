/* SPDX-License-Identifier: BSD-3-Clause */
/* The period after each sample, beside the rule of tsanom_dpd_value as it is documented,
 * on samples whose sums are exact. */
#include <math.h>
#include <tsanom/dpd.h>

#include "dpd/naive.h"
#include "support/check.h"
#include "support/random.h"
#include "values.h"

enum { SAMPLES = 2500, MOST = NAIVE_PERIODS };

/* Patterns with more or less noise, outliers and stretches of one value; multiples of
 * 1/8. */
static void fill(double *x, uint64_t *seed) {
  size_t period = 1, left = 0;
  double noise = 0;
  for (size_t i = 0; i < SAMPLES; i++) {
    if (left-- == 0) {
      period = random_between(seed, 1, MOST);
      noise = random_between(seed, 0, 2) ? 6 * random_unit(seed) * random_unit(seed) : 0;
      left = random_between(seed, 100, 800);
    }
    x[i] = i < period ? 10 * random_unit(seed) : x[i - period];
    x[i] += noise * (random_unit(seed) - 0.5);
    if (random_bits(seed) % 400 == 0) x[i] += 40;
    x[i] = floor(8 * x[i]) / 8;
  }
}

static void check_stream(const double *x, const tsanom_dpd_value_options *options,
                         int32_t isa, const size_t *period, const double *confidence) {
  tsanom_dpd_value *detector = make_value_detector(options, isa);
  for (size_t i = 0; i < SAMPLES; i++) {
    tsanom_dpd_report report;
    CHECK_STATUS(tsanom_dpd_value_push(detector, x[i], &report), TSANOM_OK);
    cr_assert(report.period == period[i], "at %zu: %zu, not %zu", i, report.period,
              period[i]);
    cr_assert(fabs(report.confidence - confidence[i]) <= 1e-15);
  }
  tsanom_dpd_value_destroy(detector);
}

Test(dpd_value_rule, every_period_is_that_of_the_rule) {
  uint64_t seed = 1;
  static double x[SAMPLES], confidence[SAMPLES];
  static size_t period[SAMPLES];
  size_t found = 0;
  for (int trial = 0; trial < 16; trial++) {
    fill(x, &seed);
    bool coarse = trial % 4 == 1; /* sums that equal a threshold */
    for (size_t i = 0; coarse && i < SAMPLES; i++) x[i] = x[i] > 5;
    size_t window = random_between(&seed, 40, MOST);
    size_t most = random_between(&seed, window / 2, window);
    if (trial % 4 == 2) window = 100, most = 64; /* the fewest that fall behind */
    tsanom_dpd_value_options options = value_options(window, most);
    options.depth = coarse ? 0.5 : 0.1 + 0.8 * random_unit(&seed);
    naive_value naive = {.x = x, .window = window, .most = most, .depth = options.depth};
    for (size_t i = 0; i < SAMPLES; i++) {
      naive_push(&naive, i);
      period[i] = naive.period;
      found += naive.period > 0;
      double rest = naive.period ? naive.d[naive.period] / naive.mean : 1;
      confidence[i] = naive.period && naive.mean <= 0 ? 1 : fmax(0, 1 - rest);
    }
    FOR_EACH_ISA (isa) {
      check_stream(x, &options, isa, period, confidence);
    }
  }
  cr_assert(found > 4000 && found < 36000, "%zu", found);
}

/* Among few delays, the least sum of a stream of two values often equals the limit. */
Test(dpd_value_rule, a_minimum_that_equals_the_limit_is_deep_enough) {
  enum { LENGTH = 200 };
  uint64_t seed = 3;
  double x[LENGTH];
  for (int trial = 0; trial < CASES(300); trial++) {
    size_t window = random_between(&seed, 4, 12), most = random_between(&seed, 2, 4);
    size_t period = random_between(&seed, 2, most);
    for (size_t i = 0; i < LENGTH; i++) {
      bool repeats = i >= period && random_bits(&seed) % 4;
      x[i] = repeats ? x[i - period] : (double)(random_bits(&seed) % 2);
    }
    tsanom_dpd_value_options options = value_options(window, most);
    options.depth = 0.5;
    naive_value naive = {.x = x, .window = window, .most = most, .depth = options.depth};
    tsanom_dpd_value *detector = make_value_detector(&options, TSANOM_ISA_AUTO);
    for (size_t i = 0; i < LENGTH; i++) {
      tsanom_dpd_report report;
      CHECK_STATUS(tsanom_dpd_value_push(detector, x[i], &report), TSANOM_OK);
      naive_push(&naive, i);
      cr_assert(report.period == naive.period, "trial %d at %zu: %zu, not %zu", trial, i,
                report.period, naive.period);
    }
    tsanom_dpd_value_destroy(detector);
  }
}

/* A pattern with one outlier, which delays the next lock until it has left all terms of
 * the period. A history much longer than the window moves while it is inside. */
Test(dpd_value_rule, an_outlier_is_known_until_it_has_left) {
  enum { PERIOD = 100, WINDOW = 128, LONGEST = 400, LENGTH = 1200 };
  uint64_t seed = 2;
  static double x[LENGTH];
  for (size_t at = 400; at < 600; at += 5) {
    for (size_t i = 0; i < LENGTH; i++) {
      x[i] = i < PERIOD ? floor(80 * random_unit(&seed)) / 8 : x[i - PERIOD];
    }
    x[at] += 500;
    tsanom_dpd_value_options options = value_options(LONGEST, 0);
    options.depth = 0.6;
    naive_value naive = {.x = x, .window = WINDOW, .most = WINDOW, .depth = 0.6};
    tsanom_dpd_value *detector = make_value_detector(&options, TSANOM_ISA_AUTO);
    CHECK_STATUS(tsanom_dpd_value_resize(detector, WINDOW), TSANOM_OK);
    for (size_t i = 0; i < at + 2 * WINDOW; i++) {
      tsanom_dpd_report report;
      tsanom_dpd_value_push(detector, x[i], &report);
      naive_push(&naive, i);
      cr_assert(report.period == naive.period, "outlier at %zu: %zu: %zu, not %zu", at, i,
                report.period, naive.period);
    }
    cr_assert(naive.period == PERIOD);
    tsanom_dpd_value_destroy(detector);
  }
}
