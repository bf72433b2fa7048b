/* SPDX-License-Identifier: BSD-3-Clause */
/* Periods of values by depth alone. Distances are compared with equation 1, at every
 * instruction set and after millions of samples; periods with those of patterns and sines
 * in noise. test_value_rule.c and test_value_judge.c compare the period with its rules.
 */
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/dpd.h>

#include "support/check.h"
#include "support/faults.h"
#include "support/random.h"
#include "values.h"

enum { SAMPLES = 500, LONGEST = 64 };

/* Equation 1 with its window complete, straight from the definition. */
static double naive_distance(const double *x, size_t newest, size_t window, size_t m) {
  double sum = 0;
  for (size_t i = 0; i < window; i++) sum += fabs(x[newest - i] - x[newest - i - m]);
  return sum / (double)window;
}

/* A period with noise, or noise alone; multiples of 1/8. */
static void fill(double *x, size_t count, uint64_t *seed) {
  size_t period = random_between(seed, 1, 40);
  double noise = (double)random_between(seed, 0, 3);
  for (size_t i = 0; i < count; i++) {
    double fresh = floor(random_unit(seed) * 80) / 8;
    double jitter = floor(random_unit(seed) * noise) / 8;
    x[i] = noise == 3 || i < period ? fresh : x[i - period] + jitter - noise / 16;
    x[i] = floor(x[i] * 8) / 8;
  }
}

static void check_distances(const tsanom_dpd_value *detector, const double *x,
                            size_t newest, size_t window, size_t max_period,
                            double tolerance) {
  double distance[LONGEST];
  size_t count = 0;
  CHECK_STATUS(tsanom_dpd_value_distances(detector, distance, LONGEST, &count),
               TSANOM_OK);
  size_t complete = newest + 1 > window ? newest + 1 - window : 0;
  cr_assert(count == (complete < max_period ? complete : max_period));
  for (size_t m = 1; m <= count; m++) {
    double expected = naive_distance(x, newest, window, m);
    cr_assert(fabs(distance[m - 1] - expected) <= tolerance * (1 + expected),
              "d(%zu) at %zu: %.17g, not %.17g", m, newest, distance[m - 1], expected);
  }
}

Test(dpd_value, distances_are_those_of_the_definition) {
  uint64_t seed = 1;
  for (int trial = 0; trial < CASES(300); trial++) {
    double x[SAMPLES];
    fill(x, SAMPLES, &seed);
    size_t largest = random_between(&seed, 1, LONGEST), window = largest;
    size_t most = random_between(&seed, 1, largest), max_period = most;
    tsanom_dpd_value_options options = value_options(largest, most);
    FOR_EACH_ISA (isa) {
      uint64_t choice = seed;
      window = largest;
      max_period = most;
      tsanom_dpd_value *detector = make_value_detector(&options, isa);
      for (size_t i = 0; i < SAMPLES; i++) {
        CHECK_STATUS(tsanom_dpd_value_push(detector, x[i], NULL), TSANOM_OK);
        check_distances(detector, x, i, window, max_period, 1e-13);
        if (random_bits(&choice) % 100 == 0) {
          window = random_between(&choice, 1, largest);
          max_period = most < window ? most : window;
          CHECK_STATUS(tsanom_dpd_value_resize(detector, window), TSANOM_OK);
          CHECK_STATUS(tsanom_dpd_value_resize(detector, 0), TSANOM_E_OPTION);
        }
      }
      tsanom_dpd_value_destroy(detector);
    }
  }
}

Test(dpd_value, levels_agree_bit_for_bit) {
  uint64_t seed = 2;
  for (int trial = 0; trial < CASES(100); trial++) {
    double x[SAMPLES];
    for (size_t i = 0; i < SAMPLES; i++) {
      x[i] = sin((double)i * 0.31) + random_unit(&seed) * (trial % 5);
    }
    tsanom_dpd_value_options options = value_options(60, 50);
    FOR_EACH_ISA (isa) {
      tsanom_dpd_value *detector = make_value_detector(&options, isa);
      tsanom_dpd_value *again = make_value_detector(&options, TSANOM_ISA_BASE);
      for (size_t i = 0; i < SAMPLES; i++) {
        tsanom_dpd_report expected, report;
        double d[2][50];
        size_t count;
        tsanom_dpd_value_push(again, x[i], &expected);
        tsanom_dpd_value_push(detector, x[i], &report);
        cr_assert(memcmp(&expected, &report, sizeof report) == 0);
        tsanom_dpd_value_distances(again, d[0], 50, &count);
        tsanom_dpd_value_distances(detector, d[1], 50, &count);
        cr_assert(memcmp(d[0], d[1], count * sizeof(double)) == 0);
      }
      tsanom_dpd_value_destroy(detector);
      tsanom_dpd_value_destroy(again);
    }
  }
}

Test(dpd_value, the_period_is_the_fundamental) {
  uint64_t seed = 3;
  for (size_t period = 2; period <= 45; period++) {
    for (int kind = 0; kind < 4; kind++) {
      double x[SAMPLES], pattern[LONGEST];
      for (size_t i = 0; i < period; i++) pattern[i] = random_unit(&seed) * 10;
      for (size_t i = 0; i < SAMPLES; i++) {
        double phase = 2 * M_PI * (double)i / (double)period;
        x[i] = kind < 2 ? pattern[i % period] : 5 * sin(phase);
        if (kind % 2) x[i] += random_unit(&seed) - 0.5;
      }
      if (kind >= 2 && period < 5) continue; /* a sine of few samples has other zeros */
      tsanom_dpd_value_options options = value_options(100, 0);
      tsanom_dpd_value *detector = make_value_detector(&options, TSANOM_ISA_AUTO);
      tsanom_dpd_report report;
      for (size_t i = 0; i < SAMPLES; i++) tsanom_dpd_value_push(detector, x[i], &report);
      size_t error =
          report.period > period ? report.period - period : period - report.period;
      cr_assert(error <= (kind == 3 ? 1 + period / 20 : 0), "period %zu kind %d: %zu",
                period, kind, report.period);
      cr_assert(report.confidence > 0.5 && report.confidence <= 1);
      tsanom_dpd_value_destroy(detector);
    }
  }
}

Test(dpd_value, noise_has_no_period_and_a_constant_has_1) {
  uint64_t seed = 4;
  tsanom_dpd_value_options options = value_options(100, 0);
  tsanom_dpd_value *detector = make_value_detector(&options, TSANOM_ISA_AUTO);
  tsanom_dpd_report report;
  for (int i = 0; i < 20000; i++) {
    tsanom_dpd_value_push(detector, random_unit(&seed), &report);
    cr_assert(report.period == 0 && report.confidence == 0 && report.start == 0);
  }
  for (int i = 0; i < 200; i++) tsanom_dpd_value_push(detector, 0.1, &report);
  cr_assert(report.period == 1 && report.confidence == 1);
  cr_assert(report.change == TSANOM_DPD_LOCKED);
  tsanom_dpd_value_destroy(detector);
}

Test(dpd_value, rounding_does_not_pile_up) {
  enum { WINDOW = 16, PUSHES = 3000000 };
  uint64_t seed = 5;
  tsanom_dpd_value_options options = value_options(WINDOW, 0);
  tsanom_dpd_value *detector = make_value_detector(&options, TSANOM_ISA_AUTO);
  double last[2 * WINDOW + 1];
  for (size_t i = 0; i < PUSHES; i++) {
    double sample = random_unit(&seed) * 1e3;
    if (i + 2 * WINDOW + 1 >= PUSHES) last[i + 2 * WINDOW + 1 - PUSHES] = sample;
    tsanom_dpd_value_push(detector, sample, NULL);
  }
  double distance[WINDOW];
  size_t count;
  tsanom_dpd_value_distances(detector, distance, WINDOW, &count);
  for (size_t m = 1; m <= WINDOW; m++) {
    double expected = naive_distance(last, 2 * WINDOW, WINDOW, m);
    cr_assert(fabs(distance[m - 1] - expected) <= 1e-12 * expected);
  }
  tsanom_dpd_value_destroy(detector);
}

Test(dpd_value, prediction_continues_the_period) {
  tsanom_dpd_value_options options = value_options(20, 0);
  tsanom_dpd_value *detector = make_value_detector(&options, TSANOM_ISA_AUTO);
  double next[15] = {99};
  CHECK_STATUS(tsanom_dpd_value_predict(detector, next, 15), TSANOM_INFEASIBLE);
  cr_assert(next[0] == 99);
  const double pattern[] = {0, 5, 1, 9, 2, 7};
  for (size_t i = 0; i < 100; i++) {
    tsanom_dpd_value_push(detector, pattern[i % 6], NULL);
  }
  CHECK_STATUS(tsanom_dpd_value_predict(detector, next, 15), TSANOM_OK);
  for (size_t i = 0; i < 15; i++) cr_assert(next[i] == pattern[(100 + i) % 6]);
  tsanom_dpd_value_destroy(detector);
}

Test(dpd_value, a_rejected_sample_changes_nothing) {
  uint64_t seed = 6;
  tsanom_dpd_value_options options = value_options(30, 0);
  tsanom_dpd_value *plain = make_value_detector(&options, TSANOM_ISA_AUTO);
  tsanom_dpd_value *disturbed = make_value_detector(&options, TSANOM_ISA_AUTO);
  for (int i = 0; i < 300; i++) {
    double sample = sin(i * 0.7) + random_unit(&seed);
    tsanom_dpd_report a, b;
    CHECK_STATUS(tsanom_dpd_value_push(disturbed, NAN, NULL), TSANOM_E_NONFINITE);
    CHECK_STATUS(tsanom_dpd_value_push(disturbed, -INFINITY, NULL), TSANOM_E_NONFINITE);
    tsanom_dpd_value_push(plain, sample, &a);
    tsanom_dpd_value_push(disturbed, sample, &b);
    cr_assert(memcmp(&a, &b, sizeof a) == 0);
  }
  const double many[] = {1, 2, NAN, 3};
  size_t done = 0;
  CHECK_STATUS(tsanom_dpd_value_push_many(plain, many, 4, NULL, NULL, &done),
               TSANOM_PARTIAL);
  cr_assert(done == 2);
  CHECK_STATUS(tsanom_dpd_value_push_many(plain, many + 2, 2, NULL, NULL, &done),
               TSANOM_PARTIAL);
  cr_assert(done == 0);
  CHECK_STATUS(
      tsanom_dpd_value_push_many(plain, many, (size_t)1 << 61, NULL, NULL, &done),
      TSANOM_E_OVERFLOW);
  tsanom_dpd_value_destroy(plain);
  tsanom_dpd_value_destroy(disturbed);
}

Test(dpd_value, options_are_checked) {
  tsanom_dpd_value_options options[] = {
      value_options(0, 0), value_options((1 << 20) + 1, 0),
      value_options(5, 6), value_options(5, 0),
      value_options(5, 0), value_options(5, 0),
      value_options(5, 0), value_options(5, 0)};
  options[3].depth = 1;
  options[4].depth = NAN;
  options[5].adapt = 2;
  options[6].reserved0 = 1;
  options[7].significance = 0.51;
  static const char *const text[] = {
      "options.window is 0; 1 to 1048576 is expected",
      "options.window is 1048577; 1 to 1048576 is expected",
      "options.max_period is 6; 0 to 5 is expected",
      "options.depth is 1; more than 0 and less than 1 is expected",
      "options.depth is NaN; more than 0 and less than 1 is expected",
      "options.adapt is 2; 0 or 1 is expected",
      "options.reserved0 is 1; 0 is expected",
      "options.significance is 0.51; 0 to 0.5 is expected"};
  tsanom_fault fault;
  tsanom_exec exec = exec_reporting(&fault);
  for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
    tsanom_dpd_value *detector = NULL;
    CHECK_STATUS(tsanom_dpd_value_create(&options[i], &exec, &detector), TSANOM_E_OPTION);
    cr_assert_str_eq(fault.text, text[i]);
    cr_assert(detector == NULL);
  }
}

Test(dpd_value, rounding_mode_of_the_caller_does_not_matter) {
  enum { MANY = 3000 };
  static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  tsanom_dpd_value_options options = value_options(90, 80);
  for (int m = 0; m < 3; m++) {
    tsanom_dpd_value *nearest = make_value_detector(&options, TSANOM_ISA_AUTO);
    tsanom_dpd_value *other = make_value_detector(&options, TSANOM_ISA_AUTO);
    uint64_t seed = 11;
    for (int i = 0; i < MANY; i++) {
      double sample = sin(0.3 * i) + 0.2 * random_unit(&seed), d[2][80];
      tsanom_dpd_report a, b;
      size_t count = 0;
      tsanom_dpd_value_push(nearest, sample, &a);
      tsanom_dpd_value_distances(nearest, d[0], 80, &count);
      cr_assert(fesetround(modes[m]) == 0);
      tsanom_dpd_value_push(other, sample, &b);
      tsanom_dpd_value_distances(other, d[1], 80, &count);
      cr_assert(fegetround() == modes[m] && fesetround(FE_TONEAREST) == 0);
      /* NOLINTNEXTLINE: compares bits */
      cr_assert(memcmp(&a, &b, sizeof a) == 0);
      cr_assert(memcmp(d[0], d[1], count * sizeof(double)) == 0);
    }
    tsanom_dpd_value_destroy(nearest);
    tsanom_dpd_value_destroy(other);
  }
}
