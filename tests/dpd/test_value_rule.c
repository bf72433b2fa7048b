/* SPDX-License-Identifier: BSD-3-Clause */
/* The period after each sample, beside the rule of tsanom_dpd_value as it is documented,
 * on samples whose sums are exact. */
#include <math.h>
#include <tsanom/dpd.h>

#include "support/check.h"
#include "support/random.h"
#include "values.h"

enum { SAMPLES = 2500, MOST = 130 };

typedef struct {
  const double *x;
  size_t window, most;
  double depth, mean;
  size_t period, constant;
  size_t lags;        /* delays whose window is complete */
  double d[MOST + 1]; /* N d(m) */
} naive_detector;

static void naive_distances(naive_detector *naive, size_t newest) {
  size_t complete = newest + 1 > naive->window ? newest + 1 - naive->window : 0;
  naive->lags = complete < naive->most ? complete : naive->most;
  for (size_t m = 1; m <= naive->lags; m++) {
    const double *x = naive->x + newest;
    naive->d[m] = 0;
    for (size_t i = 0; i < naive->window; i++) {
      naive->d[m] += fabs(*(x - i) - *(x - i - m));
    }
  }
}

static size_t naive_valley(const naive_detector *naive, double threshold) {
  size_t m = 1, lowest = 0;
  while (m <= naive->lags && naive->d[m] <= threshold) m++;
  while (m <= naive->lags && naive->d[m] > threshold) m++;
  for (; m <= naive->lags && naive->d[m] <= threshold; m++) {
    if (!lowest || naive->d[m] < naive->d[lowest]) lowest = m;
  }
  bool open = m > naive->lags && naive->lags < naive->most;
  return open ? 0 : lowest;
}

static size_t naive_period(const naive_detector *naive) {
  double least = INFINITY;
  for (size_t m = 1; m <= naive->lags; m++) least = fmin(least, naive->d[m]);
  if (naive->constant >= naive->window + naive->most) return 1;
  if (least > (1 - naive->depth) * naive->mean) return 0;
  double threshold = 0.75 * least + 0.25 * naive->mean;
  bool known = naive->period && naive->period <= naive->lags;
  if (known && naive->d[naive->period] <= threshold) return naive->period;
  return naive_valley(naive, threshold);
}

static void naive_push(naive_detector *naive, size_t newest) {
  const double *x = naive->x + newest;
  naive->constant = newest && x[0] == *(x - 1) ? naive->constant + 1 : 1;
  naive_distances(naive, newest);
  bool all = newest + 1 > naive->window + naive->most;
  if (!all || naive->most < 64 || (newest + 1) % 8 == 0) {
    double total = 0;
    for (size_t m = 1; m <= naive->lags; m++) total += naive->d[m];
    naive->mean = naive->lags ? total / (double)naive->lags : 0;
  }
  naive->period = naive_period(naive);
}

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
    size_t window = random_between(&seed, 40, MOST);
    size_t most = random_between(&seed, window / 2, window);
    tsanom_dpd_value_options options = value_options(window, most, 0);
    options.depth = 0.1 + 0.8 * random_unit(&seed);
    naive_detector naive = {
        .x = x, .window = window, .most = most, .depth = options.depth};
    for (size_t i = 0; i < SAMPLES; i++) {
      naive_push(&naive, i);
      period[i] = naive.period;
      found += naive.period > 0;
      double rest = naive.period ? naive.d[naive.period] / naive.mean : 1;
      confidence[i] = naive.period && naive.mean <= 0 ? 1 : fmax(0, 1 - rest);
    }
    FOR_EACH_ISA (isa) {
      options.scale = 0;
      check_stream(x, &options, isa, period, confidence);
      options.scale = 8;
      check_stream(x, &options, isa, period, confidence);
    }
  }
  cr_assert(found > 4000 && found < 36000, "%zu", found);
}
