/* SPDX-License-Identifier: BSD-3-Clause */
/* The medoid beside the sums of all distances. An average by what must hold: the sum that
 * is reported is the sum of its distances and never rises, and one iteration gives a mean
 * or median worked out by hand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/dtw.h>

#include "series.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/faults.h"
#include "support/polls.h"
#include "support/random.h"

enum { COUNT = 9, LENGTH = 50 };

typedef struct {
  double samples[COUNT][LENGTH];
  const double *series[COUNT];
  size_t lengths[COUNT];
} family;

static tsanom_series set_of(const family *f) {
  return series_of(f->series, f->lengths, COUNT);
}

/* One shape, shifted and noisy. */
static void draw(family *f, uint64_t *seed) {
  for (size_t k = 0; k < COUNT; k++) {
    double shift = 4 * random_unit(seed);
    f->lengths[k] = random_between(seed, LENGTH - 10, LENGTH);
    f->series[k] = f->samples[k];
    for (size_t i = 0; i < LENGTH; i++) {
      f->samples[k][i] = sin(((double)i + shift) / 5) + 0.1 * random_unit(seed);
    }
  }
}

static double sum_to(const family *f, const double *x, size_t n,
                     const tsanom_dtw_options *options) {
  double sum = 0, d;
  for (size_t k = 0; k < COUNT; k++) {
    CHECK_STATUS(
        tsanom_dtw_distance(x, n, f->series[k], f->lengths[k], options, NULL, &d),
        TSANOM_OK);
    sum += d;
  }
  return sum;
}

Test(dtw_barycenter, the_medoid_has_the_least_sum) {
  uint64_t seed = 1;
  for (int trial = 0; trial < 50; trial++) {
    family f;
    draw(&f, &seed);
    tsanom_series set = set_of(&f);
    double least = INFINITY, sum;
    size_t expected = 0, medoid = COUNT;
    for (size_t a = 0; a < COUNT; a++) {
      double own = sum_to(&f, f.series[a], f.lengths[a], NULL);
      if (own < least) least = own, expected = a;
    }
    CHECK_STATUS(tsanom_dtw_medoid(&set, NULL, NULL, &medoid, &sum), TSANOM_OK);
    cr_assert(medoid == expected && fabs(sum - least) <= 1e-12 * least);
  }
}

/* The first of equal series is the medoid; a sum that does not fall ends the averaging,
 * also if nothing else is tolerated. */
Test(dtw_barycenter, equal_series_are_their_own_average) {
  uint64_t seed = 5;
  family f;
  draw(&f, &seed);
  for (size_t k = 0; k < COUNT; k++) f.series[k] = f.samples[0], f.lengths[k] = LENGTH;
  tsanom_series set = set_of(&f);
  size_t medoid = COUNT;
  CHECK_STATUS(tsanom_dtw_medoid(&set, NULL, NULL, &medoid, NULL), TSANOM_OK);
  cr_assert(medoid == 0);
  double average[LENGTH], sum;
  memcpy(average, f.samples[0], sizeof average);
  tsanom_dtw_options options;
  tsanom_dtw_options_init(&options, sizeof options);
  options.cost = TSANOM_COST_ABSOLUTE;
  CHECK_STATUS(tsanom_dtw_barycenter(&set, LENGTH, 3, 0, &options, NULL, average, &sum),
               TSANOM_OK);
  cr_assert(sum == 0);
}

Test(dtw_barycenter, averaging_brings_the_sum_down_and_ends) {
  uint64_t seed = 2;
  for (int trial = 0; trial < 40; trial++) {
    family f;
    draw(&f, &seed);
    tsanom_dtw_options options;
    tsanom_dtw_options_init(&options, sizeof options);
    options.cost = trial % 2;
    tsanom_series set = set_of(&f);
    double average[LENGTH], before, after, last = INFINITY;
    for (size_t i = 0; i < LENGTH; i++) average[i] = f.samples[0][i];
    before = sum_to(&f, average, LENGTH, &options);
    for (int round = 0; round < 4; round++) {
      tsanom_status status =
          tsanom_dtw_barycenter(&set, LENGTH, 1, 0, &options, NULL, average, &after);
      cr_assert(status == TSANOM_OK || status == TSANOM_PARTIAL);
      cr_assert(after <= last * (1 + 1e-12) && after <= before * (1 + 1e-12));
      cr_assert(after == sum_to(&f, average, LENGTH, &options));
      last = after;
    }
    CHECK_STATUS(
        tsanom_dtw_barycenter(&set, LENGTH, 100, 1e-9, &options, NULL, average, &after),
        TSANOM_OK);
    cr_assert(after < before);
  }
}

Test(dtw_barycenter, one_iteration_is_the_mean_or_median_of_what_is_aligned) {
  double a[] = {0, 0, 4}, b[] = {2, 8}, c[] = {1, 6};
  const double *series[] = {a, b, c};
  size_t lengths[] = {3, 2, 2};
  tsanom_series set = series_of(series, lengths, 3);
  tsanom_dtw_options options;
  tsanom_dtw_options_init(&options, sizeof options);
  double mean[] = {0, 5}, median[] = {0, 5};
  options.cost = TSANOM_COST_SQUARED;
  tsanom_dtw_barycenter(&set, 2, 1, 0, &options, NULL, mean, NULL);
  cr_assert(mean[0] == 0.75 && mean[1] == 6); /* of 0 0 2 1 and of 4 8 6 */
  options.cost = TSANOM_COST_ABSOLUTE;
  tsanom_dtw_barycenter(&set, 2, 1, 0, &options, NULL, median, NULL);
  cr_assert(median[0] == 0 && median[1] == 6);
}

/* Of as many samples as rise, and fall again, the lower median is half of the largest: the same
 * shuffled. Their time is not quadratic. */
Test(dtw_barycenter, the_median_of_any_order, .timeout = 60) {
  enum { SAMPLES = 1000000 };
  uint64_t seed = 7;
  double *x = calloc(SAMPLES, sizeof *x);
  cr_assert(x);
  for (size_t i = 0; i < SAMPLES; i++)
    x[i] = (double)(i < SAMPLES / 2 ? i : SAMPLES - 1 - i);
  tsanom_dtw_options options;
  tsanom_dtw_options_init(&options, sizeof options);
  options.cost = TSANOM_COST_ABSOLUTE;
  for (int trial = 0; trial < 10; trial++) {
    size_t n = trial < 2 ? SAMPLES : 1 + random_between(&seed, 0, 40);
    tsanom_series set = {.struct_size = sizeof set, .count = 1, .data = x, .length = n};
    double average = 0, expected = 0;
    for (size_t i = 0; trial >= 2 && i < n; i++) {
      size_t below = 0, equal = 0;
      for (size_t j = 0; j < n; j++) below += x[j] < x[i], equal += x[j] == x[i];
      if (below <= (n - 1) / 2 && (n - 1) / 2 < below + equal) expected = x[i];
    }
    if (trial < 2) expected = (SAMPLES - 1) / 2 / 2;
    (void)tsanom_dtw_barycenter(&set, 1, 1, 0, &options, NULL, &average, NULL);
    cr_assert(average == expected, "%zu: %g, not %g", n, average, expected);
    for (size_t i = SAMPLES; i-- > 1;) {
      size_t j = random_between(&seed, 0, i);
      double moved = x[i];
      x[i] = x[j], x[j] = moved;
    }
  }
  free(x);
}

/* The sum of what is aligned overflows, the mean does not. */
Test(dtw_barycenter, equal_samples_of_any_magnitude_are_their_mean) {
  uint64_t seed = 8;
  tsanom_dtw_options options;
  tsanom_dtw_options_init(&options, sizeof options);
  options.cost = TSANOM_COST_SQUARED;
  for (int trial = 0; trial < 100; trial++) {
    double value = (random_unit(&seed) - 0.5) * 2 * 0x1.fffffffffffffp1023;
    double average[] = {value, value}, sum = -1;
    family f;
    for (size_t k = 0; k < COUNT; k++) {
      f.series[k] = f.samples[k];
      f.lengths[k] = random_between(&seed, 1, LENGTH);
      for (size_t i = 0; i < f.lengths[k]; i++) f.samples[k][i] = value;
    }
    tsanom_series set = series_of(f.series, f.lengths, random_between(&seed, 1, COUNT));
    CHECK_STATUS(tsanom_dtw_barycenter(&set, 2, 3, 0, &options, NULL, average, &sum),
                 TSANOM_OK);
    cr_assert(sum == 0 && average[0] == value && average[1] == value, "%g", value);
  }
}

/* Between series and inside of one; the start stays. */
Test(dtw_barycenter, no_poll_follows_that_which_asks_to_stop) {
  enum { LONG = 1500, SERIES = 3 };
  uint64_t seed = 9;
  double *x = calloc((SERIES + 1) * LONG, sizeof *x), *average = x + SERIES * LONG;
  cr_assert(x);
  for (size_t i = 0; i < SERIES * LONG; i++) x[i] = random_unit(&seed);
  tsanom_series set = {
      .struct_size = sizeof set, .count = SERIES, .data = x, .length = LONG};
  for (int32_t threads = 1; threads <= 2; threads++) {
    uint64_t at = 1;
    for (tsanom_status status = TSANOM_STOPPED; status == TSANOM_STOPPED; at++) {
      test_polls p = {.stop_at = at, .restarts = 1};
      tsanom_exec exec = exec_polled(test_poll, &p);
      exec.threads = threads;
      memcpy(average, x, LONG * sizeof *x);
      status = tsanom_dtw_barycenter(&set, LONG, 1, 0, NULL, &exec, average, NULL);
      cr_assert(status == TSANOM_STOPPED ? p.calls == at : p.calls < at);
      cr_assert(status != TSANOM_STOPPED || memcmp(average, x, LONG * sizeof *x) == 0);
    }
    if (threads == 1) cr_assert(at > 2 * SERIES + 2); /* also inside */
  }
  free(x);
}

Test(dtw_barycenter, threads_change_nothing) {
  uint64_t seed = 3;
  family f;
  draw(&f, &seed);
  tsanom_series set = set_of(&f);
  double sums[3], averages[3][LENGTH];
  for (int32_t threads = 1; threads <= 3; threads++) {
    tsanom_exec exec = exec_at(TSANOM_ISA_AUTO, threads);
    double *average = averages[threads - 1];
    for (size_t i = 0; i < LENGTH; i++) average[i] = f.samples[0][i];
    tsanom_status status = tsanom_dtw_barycenter(&set, LENGTH, 5, 0, NULL, &exec, average,
                                                 &sums[threads - 1]);
    cr_assert(status >= 0);
    cr_assert(sums[threads - 1] == sums[0]);
    for (size_t i = 0; i < LENGTH; i++) cr_assert(average[i] == averages[0][i]);
  }
}

/* Gaps between the samples of the series and of the average are not read or written. */
Test(dtw_barycenter, samples_may_be_apart) {
  uint64_t seed = 4;
  family f;
  draw(&f, &seed);
  enum { STRIDE = 3 };
  double apart[COUNT][STRIDE * LENGTH], average[LENGTH], wide[STRIDE * LENGTH], sum, same;
  const double *pointers[COUNT];
  for (size_t k = 0; k < COUNT; k++) {
    pointers[k] = apart[k];
    for (size_t i = 0; i < STRIDE * LENGTH; i++) {
      apart[k][i] = i % STRIDE ? NAN : f.samples[k][i / STRIDE];
    }
  }
  for (size_t i = 0; i < STRIDE * LENGTH; i++) {
    wide[i] = i % STRIDE ? -9 : f.samples[0][i / STRIDE];
  }
  memcpy(average, f.samples[0], sizeof average);
  tsanom_series dense = set_of(&f), set = series_of(pointers, f.lengths, COUNT);
  set.stride = STRIDE;
  cr_assert(tsanom_dtw_barycenter(&dense, LENGTH, 5, 0, NULL, NULL, average, &sum) >= 0);
  cr_assert(tsanom_dtw_barycenter(&set, LENGTH, 5, 0, NULL, NULL, wide, &same) >= 0);
  cr_assert(sum == same);
  for (size_t i = 0; i < STRIDE * LENGTH; i++) {
    cr_assert(wide[i] == (i % STRIDE ? -9 : average[i / STRIDE]));
  }
}

Test(dtw_barycenter, bad_arguments_are_rejected_and_no_output_is_modified) {
  double a[] = {0, 1}, bad[] = {0, NAN}, average[] = {7, 7}, broken_average[] = {NAN, 7};
  const double *series[] = {a, a}, *broken[] = {a, bad};
  size_t lengths[] = {2, 2}, medoid = 9;
  tsanom_series set = series_of(series, lengths, 2),
                wrong = series_of(broken, lengths, 2);
  tsanom_series none = series_of(series, lengths, 0);
  tsanom_fault fault;
  tsanom_exec exec = exec_reporting(&fault);
  CHECK_STATUS(tsanom_dtw_barycenter(&set, 2, 0, 0, NULL, &exec, average, NULL),
               TSANOM_E_OPTION);
  cr_assert_str_eq(fault.argument, "iterations");
  CHECK_STATUS(tsanom_dtw_barycenter(&set, 2, 1, -1, NULL, &exec, average, NULL),
               TSANOM_E_OPTION);
  cr_assert_str_eq(fault.argument, "tolerance");
  CHECK_STATUS(tsanom_dtw_barycenter(&set, 0, 1, 0, NULL, &exec, average, NULL),
               TSANOM_E_COUNT);
  cr_assert_str_eq(fault.argument, "length");
  CHECK_STATUS(tsanom_dtw_barycenter(&set, 2, 1, 0, NULL, &exec, broken_average, NULL),
               TSANOM_E_NONFINITE);
  cr_assert(strcmp(fault.argument, "barycenter") == 0 && fault.element == 0);
  CHECK_STATUS(tsanom_dtw_barycenter(&wrong, 2, 1, 0, NULL, &exec, average, NULL),
               TSANOM_E_NONFINITE);
  cr_assert(strcmp(fault.argument, "series") == 0 && fault.element == 1 &&
            fault.second == 1);
  CHECK_STATUS(tsanom_dtw_medoid(&wrong, NULL, &exec, &medoid, NULL), TSANOM_E_NONFINITE);
  cr_assert(strcmp(fault.argument, "series") == 0 && fault.element == 1 &&
            fault.second == 1);
  CHECK_STATUS(tsanom_dtw_medoid(&none, NULL, &exec, &medoid, NULL), TSANOM_E_COUNT);
  cr_assert_str_eq(fault.argument, "series.count");
  cr_assert(average[0] == 7 && average[1] == 7 && medoid == 9);
}
