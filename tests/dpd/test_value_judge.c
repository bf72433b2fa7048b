/* SPDX-License-Identifier: BSD-3-Clause */
/* The period of a stream by depth and significance, beside the definition: the rule by
 * depth, and tsanom_dpd_find() of the newest samples at the documented times. */
#include <math.h>
#include <tsanom/dpd.h>

#include "dpd/naive.h"
#include "support/ask.h"
#include "support/check.h"
#include "support/random.h"
#include "values.h"

enum { SAMPLES = 3000 };

/* The definition of the judgments. */
typedef struct {
  size_t most, max_period, due, before, period;
  double significance, dip;
} naive_judge;

static void naive_judged(naive_judge *judge, const double *x, size_t count) {
  static double newest_first[SAMPLES];
  if (count < judge->due) return;
  size_t n = count < judge->most ? count : judge->most;
  judge->due = count + (n + 1) / 2;
  n -= n % 2;
  for (size_t i = 0; i < n; i++) newest_first[i] = x[count - 1 - i];
  tsanom_dpd_find_options options;
  tsanom_dpd_found found;
  tsanom_dpd_find_options_init(&options, sizeof options);
  found = (tsanom_dpd_found){.struct_size = sizeof found};
  options.significance = judge->significance / 32;
  options.max_period = judge->max_period;
  CHECK_STATUS(tsanom_dpd_find(newest_first, n, &options, NULL, &found), TSANOM_OK);
  judge->period = found.period == judge->before ? found.period : 0;
  judge->before = found.period;
  judge->dip = fmin(fmax(found.dip, 0), 1);
}

/* Patterns in noise, which change; multiples of 1/8. */
static void fill(double *x, double noise, uint64_t *seed) {
  size_t period = 1, left = 0;
  for (size_t i = 0; i < SAMPLES; i++) {
    static double pattern[40];
    if (left-- == 0) {
      period = random_between(seed, 2, 40);
      for (size_t k = 0; k < period; k++) pattern[k] = 8 * random_unit(seed);
      left = random_between(seed, 400, 1000);
    }
    x[i] = pattern[i % period] + noise * (random_unit(seed) - 0.5);
    x[i] = floor(8 * x[i]) / 8;
  }
}

static void check_stream(const double *x, const tsanom_dpd_value_options *options,
                         size_t *by_depth, size_t *by_significance) {
  naive_value naive = {.x = x,
                       .window = options->window,
                       .most = options->max_period,
                       .depth = options->depth};
  naive_judge judge = {.most = options->window + options->max_period,
                       .max_period = options->max_period,
                       .due = 128,
                       .significance = options->significance};
  tsanom_dpd_value *detector = make_value_detector(options, TSANOM_ISA_AUTO);
  for (size_t i = 0; i < SAMPLES; i++) {
    tsanom_dpd_report report;
    CHECK_STATUS(tsanom_dpd_value_push(detector, x[i], &report), TSANOM_OK);
    size_t before = naive.period;
    naive_push(&naive, i);
    bool is_new = naive.period && naive.period != before &&
                  naive.constant < options->window + options->max_period;
    if (is_new && !naive_certain(&naive, i, options->significance)) naive.period = 0;
    if (options->window < 4 * options->max_period) naive.period = 0;
    *by_depth += naive.period > 0;
    if (!naive.period) {
      naive_judged(&judge, x, i + 1);
      naive.period = judge.period;
      *by_significance += naive.period > 0;
    }
    cr_assert(report.period == naive.period, "at %zu: %zu, not %zu", i, report.period,
              naive.period);
    bool judged = report.period && report.period == judge.period;
    cr_assert(!judged || report.confidence >= judge.dip);
  }
  tsanom_dpd_value_destroy(detector);
}

Test(dpd_value_judge, every_period_is_that_of_the_definition) {
  static double x[SAMPLES];
  uint64_t seed = 1;
  size_t by_depth = 0, by_significance = 0, without_depth = 0, none = 0;
  for (int trial = 0; trial < 12; trial++) {
    fill(x, trial % 4 * 4, &seed);
    tsanom_dpd_value_options options = value_options(120, 30);
    options.significance = 0.02;
    check_stream(x, &options, &by_depth, &by_significance);
    options.max_period = 31;
    check_stream(x, &options, &none, &without_depth);
  }
  cr_assert(by_depth > 3000 && by_significance > 3000 && without_depth > 6000,
            "%zu, %zu, %zu", by_depth, by_significance, without_depth);
}

/* Trains of 2 to 6 pulses at equal distances, between pauses. */
static void fill_trains(double *x, uint64_t *seed) {
  size_t next = 0, distance = 0, left = 0;
  for (size_t i = 0; i < SAMPLES; i++) {
    x[i] = i == next;
    if (i != next) continue;
    bool pause = left == 0;
    if (pause) {
      left = random_between(seed, 2, 6);
      distance = random_between(seed, 40, 120);
    }
    next += pause ? random_between(seed, 1, 400) : distance;
    left--;
  }
}

Test(dpd_value_judge, a_doubtful_valley_is_looked_at_from_time_to_time) {
  static double x[SAMPLES];
  uint64_t seed = 6;
  size_t by_depth = 0, by_significance = 0;
  for (int trial = 0; trial < 8; trial++) {
    fill_trains(x, &seed);
    tsanom_dpd_value_options options = value_options(512, 128);
    options.significance = 0.02;
    check_stream(x, &options, &by_depth, &by_significance);
  }
  cr_assert(by_depth > 1000, "%zu", by_depth);
}

static size_t last_period(const double *x, size_t n) {
  size_t period[SAMPLES], done;
  tsanom_dpd_value *detector = make_value_detector(NULL, TSANOM_ISA_AUTO);
  CHECK_STATUS(tsanom_dpd_value_push_many(detector, x, n, period, NULL, &done),
               TSANOM_OK);
  tsanom_dpd_value_destroy(detector);
  return period[n - 1];
}

/* Walks and correlated noise have deep minima when the window is not much longer than
 * the delays. */
Test(dpd_value_judge, the_defaults_find_periods_in_noise_and_none_in_walks) {
  static double x[SAMPLES];
  uint64_t seed = 2;
  int right = 0, wrong = 0;
  for (int trial = 0; trial < 20; trial++) {
    for (size_t i = 0; i < SAMPLES; i++) {
      double noise = 0;
      for (int k = 0; k < 12; k++) noise += random_unit(&seed) - 0.5;
      x[i] = sin(2 * M_PI * (double)i / 44) * sqrt(2) + noise;
    }
    right += last_period(x, 1500) == 44;
    double walk = 0;
    for (size_t i = 0; i < SAMPLES; i++) x[i] = walk += random_unit(&seed) - 0.5;
    wrong += last_period(x, 1500) != 0;
  }
  cr_assert(right >= 18 && wrong == 0, "%d, %d", right, wrong);
}

Test(dpd_value_judge, a_period_is_found_before_the_window_is_complete) {
  static double x[SAMPLES];
  uint64_t seed = 3;
  for (size_t i = 0; i < SAMPLES; i++) {
    x[i] = (double)(i % 10) + random_unit(&seed) * 4;
  }
  cr_assert(last_period(x, 191) == 0 && last_period(x, 192) == 10);
}

/* The first sample at which the default options report an exact period p, from 0; `limit`
 * if it is none of the samples before. */
static size_t first_report(size_t window, size_t p, size_t limit) {
  static double x[SAMPLES], pattern[SAMPLES];
  static size_t period[SAMPLES];
  uint64_t seed = 4;
  tsanom_dpd_value_options options;
  tsanom_dpd_value_options_init(&options, sizeof options);
  options.window = window;
  for (size_t k = 0; k < p; k++) pattern[k] = (double)k + random_unit(&seed);
  for (size_t i = 0; i < limit; i++) x[i] = pattern[i % p];
  size_t first = 0, done;
  tsanom_dpd_value *detector = make_value_detector(&options, TSANOM_ISA_AUTO);
  CHECK_STATUS(tsanom_dpd_value_push_many(detector, x, limit, period, NULL, &done),
               TSANOM_OK);
  tsanom_dpd_value_destroy(detector);
  while (first < limit && period[first] != p) first++;
  return first;
}

/* An exact period of up to a quarter of the window is found by depth when the window is
 * complete; by significance after 160 samples or more, in short windows never. */
Test(dpd_value_judge, the_defaults_find_an_exact_period_by_depth_in_every_window) {
  for (size_t window = 4; window <= 300; window++) {
    size_t longest = (window + 3) / 4;
    for (size_t which = 0; which < 3; which++) {
      size_t p = which == 0 ? longest : which == 1 ? (longest + 1) / 2 : 3;
      if (p > longest) continue;
      size_t limit = window + p + 2;
      cr_assert(first_report(window, p, limit) < limit, "window %zu: no period %zu",
                window, p);
    }
  }
}

/* Random samples: pulses, of this share, or noise that alternates. */
static double random_pulses(uint64_t *seed, double share, double *state) {
  (void)state;
  return random_unit(seed) < share;
}

static double alternating(uint64_t *seed, double factor, double *state) {
  return *state = factor * *state + random_normal(seed);
}

Test(dpd_value_judge, pulses_and_alternating_noise_have_no_period) {
  static const struct {
    double (*next)(uint64_t *seed, double parameter, double *state);
    double parameter;
  } noise[] = {{random_pulses, .005}, {random_pulses, .01}, {random_pulses, .02},
               {random_pulses, .05},  {alternating, -.8},   {alternating, .8}};
  enum { STREAMS = 100 };
  uint64_t seed = 5;
  for (size_t k = 0; k < sizeof noise / sizeof *noise; k++) {
    int wrong = 0;
    for (int stream = 0; stream < STREAMS; stream++) {
      static double x[SAMPLES];
      static size_t period[SAMPLES];
      double state = 0;
      size_t done;
      bool found = false;
      for (size_t i = 0; i < SAMPLES; i++) {
        x[i] = noise[k].next(&seed, noise[k].parameter, &state);
      }
      tsanom_dpd_value *detector = make_value_detector(NULL, TSANOM_ISA_AUTO);
      CHECK_STATUS(tsanom_dpd_value_push_many(detector, x, SAMPLES, period, NULL, &done),
                   TSANOM_OK);
      tsanom_dpd_value_destroy(detector);
      for (size_t i = 0; i < SAMPLES; i++) found = found || period[i] > 1;
      wrong += found;
    }
    cr_expect(wrong <= 4, "noise %zu: %d", k, wrong);
  }
}

Test(dpd_value_judge, the_literal_rule_needs_no_memory_for_judgments) {
  tsanom_dpd_value_options options = value_options(400, 0);
  size_t bytes = 0, literal = 0;
  tsanom_exec ask = ask_exec(NULL, &bytes), ask_literal = ask_exec(NULL, &literal);
  const double wrong[] = {-1, NAN};
  for (int i = 0; i < 2; i++) {
    options.significance = wrong[i];
    CHECK_STATUS(tsanom_dpd_value_create(&options, &ask, NULL), TSANOM_E_OPTION);
  }
  options.significance = 0.5;
  CHECK_STATUS(tsanom_dpd_value_create(&options, &ask, NULL), TSANOM_E_WORKSPACE);
  options.max_period = 100;
  options.significance = 0;
  CHECK_STATUS(tsanom_dpd_value_create(&options, &ask_literal, NULL), TSANOM_E_WORKSPACE);
  cr_assert(literal < bytes);
}
