/* SPDX-License-Identifier: BSD-3-Clause */
/* Periods of whole series: against the definition of the score, and against known periods
 * in noise. */
#include <float.h>
#include <math.h>
#include <string.h>
#include <tsanom/dpd.h>

#include "dpd/naive.h"
#include "support/check.h"
#include "support/faults.h"
#include "support/polls.h"
#include "support/random.h"

static double normal(uint64_t *seed) {
  double u = 1 - random_unit(seed), v = random_unit(seed);
  return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static tsanom_dpd_found prepared(void) {
  tsanom_dpd_found found = {.struct_size = sizeof found};
  return found;
}

static tsanom_dpd_found find(const double *x, size_t n) {
  tsanom_dpd_found found = prepared();
  CHECK_STATUS(tsanom_dpd_find(x, n, NULL, NULL, &found), TSANOM_OK);
  return found;
}

static void naive_without_slow(const double *x, size_t n, double *rest) {
  static long double y[NAIVE_SAMPLES];
  naive_subtract(x, n, y);
  for (size_t t = 0; t < n; t++) rest[t] = (double)y[t];
}

Test(find, the_score_is_that_of_the_definition) {
  static double x[NAIVE_SAMPLES];
  uint64_t seed = 1;
  int varying = 0, folded = 0;
  for (int trial = 0; trial < CASES(300); trial++) {
    size_t n = random_between(&seed, 8, 400), period = random_between(&seed, 2, 60);
    double noise = random_unit(&seed) * 2, drift = trial % 3 == 0 ? 1 : 0, walk = 0;
    for (size_t i = 0; i < n; i++) {
      walk += drift * normal(&seed);
      x[i] = sin(2 * M_PI * (double)(i % period) / (double)period) + walk +
             noise * normal(&seed);
      if (trial % 4 == 1) x[i] = exp(x[i]); /* skewed */
    }
    tsanom_dpd_found found = find(x, n);
    cr_assert(found.max_period == n / 4);
    if (!found.candidate) continue;
    static long double e[NAIVE_SAMPLES];
    naive_whiten(x, n, e);
    naive_choice naive = naive_choose(e, n);
    size_t best = naive.candidate;
    double score = (double)naive.score, chance = (double)naive.probability;
    cr_assert(fabs(found.score - score) <= 1e-6 * (1 + score),
              "trial %d: %.17g, expected %.17g", trial, found.score, score);
    bool varies = chance <= .01 && found.lines > .01;
    cr_assert(varies || found.candidate == best, "trial %d: %zu, expected %zu", trial,
              found.candidate, best);
    cr_assert(fabs(found.probability - chance) <= 1e-4 * chance + 1e-300,
              "trial %d: %g, expected %g", trial, found.probability, chance);
    varying += varies;
    cr_assert((found.period > 0) == (chance <= .01 && !varies));
    if (!found.period) continue;
    double lines = (double)naive_lines(e, n, found.period);
    cr_assert(fabs(found.lines - lines) <= 1e-4 * lines + 1e-300,
              "trial %d: %g, expected %g", trial, found.lines, lines);
    folded++;
    size_t margin = 1 + best / 32, p = best > margin + 2 ? best - margin : 2;
    if (found.period > best + margin) continue; /* the fundamental */
    static double rest[NAIVE_SAMPLES];
    naive_without_slow(x, n, rest);
    for (; p <= best + margin && p <= n / 4; p++) {
      cr_assert(
          naive_explained(rest, n, found.period) >= naive_explained(rest, n, p) - 1e-9L,
          "trial %d: %zu, not %zu", trial, found.period, p);
    }
  }
  cr_assert((varying > 3 || ONE_CASE_IN > 1) && folded > CASES(60), "%d, %d", varying,
            folded);
}

/* Sine, sawtooth, pulse, and random pattern, each of mean 0 and variance 1. */
static void make_shape(double *shape, size_t period, int kind, uint64_t *seed) {
  double mean = 0, square = 0;
  for (size_t t = 0; t < period; t++) {
    double phase = (double)t / (double)period;
    shape[t] = kind == 0   ? sin(2 * M_PI * phase)
               : kind == 1 ? phase
               : kind == 2 ? t == 0
                           : normal(seed);
    mean += shape[t] / (double)period;
  }
  for (size_t t = 0; t < period; t++) square += (shape[t] - mean) * (shape[t] - mean);
  double sd = sqrt(square / (double)period);
  for (size_t t = 0; t < period; t++) shape[t] = (shape[t] - mean) / sd;
}

Test(find, periods_in_noise_of_up_to_twice_the_signal) {
  static const double noises[] = {0, .25, .5, 1, 2};
  static const size_t periods[] = {7, 37, 61};
  static double x[2000], shape[61];
  uint64_t seed = 2;
  for (size_t i = 0; i < sizeof noises / sizeof *noises; i++) {
    int right = 0, all = 0;
    for (int repeat = 0; repeat < 5; repeat++) {
      for (size_t k = 0; k < sizeof periods / sizeof *periods; k++) {
        for (int kind = 0; kind < 4; kind++) {
          make_shape(shape, periods[k], kind, &seed);
          for (size_t t = 0; t < 2000; t++) {
            x[t] = shape[t % periods[k]] + noises[i] * normal(&seed);
          }
          right += find(x, 2000).period == periods[k];
          all++;
        }
      }
    }
    cr_assert(right == all, "noise %g: %d of %d", noises[i], right, all);
  }
}

/* Whitening, which takes differences, leaves nothing of such waves; the means of some
 * samples show them. */
Test(find, long_waves_in_noise) {
  static double x[2000];
  uint64_t seed = 7;
  for (size_t period = 100; period <= 400; period += 50) {
    int right = 0;
    for (int trial = 0; trial < 20; trial++) {
      for (size_t t = 0; t < 2000; t++) {
        x[t] = sin(2 * M_PI * (double)t / (double)period) + .35 * normal(&seed);
      }
      size_t found = find(x, 2000).period;
      right += 100 * found >= 97 * period && 100 * found <= 103 * period;
    }
    cr_assert(right >= 19, "period %zu: %d of 20", period, right);
    for (size_t t = 0; t < 2000; t++) x[t] = sin(2 * M_PI * (double)t / (double)period);
    cr_assert(find(x, 2000).period == period, "without noise it is exact");
  }
}

/* Outliers, of one part in `each`, and Student's distribution of 2 degrees of freedom. */
Test(find, heavy_tails_have_no_period) {
  static const size_t each[] = {100, 20, 0};
  static double x[2000];
  uint64_t seed = 9;
  for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
    int wrong = 0;
    for (int trial = 0; trial < 100; trial++) {
      for (size_t t = 0; t < 2000; t++) {
        x[t] = normal(&seed);
        if (each[k] == 0) x[t] /= sqrt(-log1p(-random_unit(&seed)));
        if (each[k] && random_between(&seed, 1, each[k]) == 1) {
          x[t] += 50 * normal(&seed);
        }
      }
      wrong += find(x, 2000).period > 0;
    }
    cr_expect(wrong <= 3, "%zu: %d", each[k], wrong);
  }
}

/* Three parts of 20 samples of which one differs in two samples. */
Test(find, parts_that_differ_little_are_not_the_period) {
  static double x[2000];
  double part[20];
  uint64_t seed = 8;
  for (int trial = 0; trial < 20; trial++) {
    for (int i = 0; i < 20; i++) part[i] = normal(&seed);
    for (size_t t = 0; t < 2000; t++) {
      double changed = t % 60 == 7 || t % 60 == 13 ? 2.5 : 0;
      x[t] = part[t % 20] + changed + (double)(trial % 2) * .3 * normal(&seed);
    }
    cr_assert(find(x, 2000).period == 60, "trial %d: %zu", trial, find(x, 2000).period);
    for (size_t t = 0; t < 2000; t++) x[t] = part[t % 20] + .3 * normal(&seed);
    cr_assert(find(x, 2000).period == 20);
  }
}

/* Numbers of active processors as in the paper's figures 3 and 4: six levels in 44
 * samples, each boundary moved by up to 2, each value by up to 1. */
static void make_processors(double *x, size_t n, uint64_t *seed) {
  static const double level[] = {16, 2, 12, 1, 16, 4};
  static const size_t end[] = {8, 15, 22, 30, 37, 44};
  for (size_t begin = 0; begin < n; begin += 44) {
    size_t t = 0;
    for (int k = 0; k < 6; k++) {
      size_t stop = k == 5 ? 44 : end[k] + random_between(seed, 0, 4) - 2;
      for (; t < stop; t++) {
        if (begin + t >= n) return;
        x[begin + t] = level[k] + (double)random_between(seed, 0, 2) - 1;
      }
    }
  }
}

Test(find, active_processors_repeat_every_44_samples) {
  static double x[2000];
  static const size_t lengths[] = {400, 1000, 2000};
  uint64_t seed = 3;
  for (size_t i = 0; i < 3; i++) {
    int right = 0;
    for (int trial = 0; trial < 100; trial++) {
      make_processors(x, lengths[i], &seed);
      right += find(x, lengths[i]).period == 44;
    }
    cr_assert(right >= 95, "%zu samples: %d of 100", lengths[i], right);
  }
}

typedef enum { WHITE, WALK, CORRELATED, PULSES, CAUCHY, RAMP, KINDS } kind_of_noise;

static void make_noise(double *x, size_t n, kind_of_noise kind, uint64_t *seed) {
  double state = 0;
  memset(x, 0, n * sizeof *x);
  for (size_t t = 0; t < n; t++) {
    double w = normal(seed);
    state = kind == WALK ? state + w : .9 * state + w;
    if (kind == WHITE) x[t] = w;
    if (kind == WALK || kind == CORRELATED) x[t] = state;
    if (kind == CAUCHY) x[t] = w / normal(seed);
    if (kind == RAMP) x[t] = (double)t * .01 + w;
    if (kind == PULSES && random_between(seed, 0, 19) == 0) x[t] = 1;
  }
}

Test(find, noise_has_no_period) {
  static double x[1000];
  uint64_t seed = 4;
  for (int kind = 0; kind < KINDS; kind++) {
    int wrong = 0, trials = 500;
    for (int trial = 0; trial < trials; trial++) {
      make_noise(x, 500, (kind_of_noise)kind, &seed);
      wrong += find(x, 500).period != 0;
    }
    cr_assert(wrong * 100 <= trials, "kind %d: %d of %d", kind, wrong, trials);
  }
}

Test(find, degenerate_series) {
  double x[100];
  for (int i = 0; i < 100; i++) x[i] = 5;
  cr_assert(find(x, 100).period == 1);
  x[99] = 6;
  cr_assert(find(x, 100).period == 0);
  for (int i = 0; i < 100; i++) x[i] = i;
  cr_assert(find(x, 100).period == 0, "a ramp");
  for (int i = 0; i < 100; i++) x[i] = i % 2;
  cr_assert(find(x, 100).period == 2);
  for (int i = 0; i < 100; i++) x[i] = i % 2 ? DBL_MAX : -DBL_MAX;
  cr_assert(find(x, 100).period == 2, "no overflow");
  for (int i = 0; i < 100; i++) x[i] = i % 5 ? 5e-324 : 0;
  cr_assert(find(x, 100).period == 5, "subnormal values");
}

Test(find, levels_and_threads_agree_bitwise) {
  static double x[NAIVE_SAMPLES];
  uint64_t seed = 5;
  for (int trial = 0; trial < 20; trial++) {
    size_t n = random_between(&seed, 8, NAIVE_SAMPLES);
    for (size_t i = 0; i < n; i++) {
      x[i] = normal(&seed) + (trial % 2 ? (double)(i % 23)
                                        : 3 * sin(2 * M_PI * 7 * (double)i / (double)n));
    }
    tsanom_dpd_found first = find(x, n);
    FOR_EACH_ISA (isa) {
      for (int32_t threads = 1; threads <= 3; threads++) {
        tsanom_exec exec = exec_at(isa, threads);
        tsanom_dpd_found found = prepared();
        CHECK_STATUS(tsanom_dpd_find(x, n, NULL, &exec, &found), TSANOM_OK);
        cr_assert(memcmp(&found, &first, sizeof found) == 0);
      }
    }
  }
}

Test(find, rejections_name_their_argument) {
  double x[16] = {0, 1, 2, 3, 4, 5, 6, NAN, 8, INFINITY};
  tsanom_fault fault;
  tsanom_exec exec = exec_reporting(&fault);
  tsanom_dpd_found found = prepared(), untouched = found;
  CHECK_STATUS(tsanom_dpd_find(x, 16, NULL, &exec, &found), TSANOM_E_NONFINITE);
  cr_assert_str_eq(fault.text, "samples[7] is NaN; finite samples are expected");
  CHECK_STATUS(tsanom_dpd_find(x, 7, NULL, &exec, &found), TSANOM_E_COUNT);
  cr_assert_str_eq(fault.text, "n is 7; at least 8 is expected");
  CHECK_STATUS(tsanom_dpd_find(x, SIZE_MAX / 8, NULL, &exec, &found), TSANOM_E_OVERFLOW);

  tsanom_dpd_find_options options;
  CHECK_STATUS(tsanom_dpd_find_options_init(&options, sizeof options), TSANOM_OK);
  options.significance = 0;
  CHECK_STATUS(tsanom_dpd_find(x, 7, &options, &exec, &found), TSANOM_E_OPTION);
  cr_assert_str_eq(fault.text,
                   "options.significance is 0; more than 0 and at most 0.5 is expected");
  options.significance = .01;
  options.max_period = SIZE_MAX;
  CHECK_STATUS(tsanom_dpd_find(x, 7, &options, &exec, &found), TSANOM_E_OPTION);
  cr_assert_str_eq(fault.argument, "options.max_period");
  test_polls p = {.stop_at = 1};
  exec.poll = test_poll;
  exec.poll_user = &p;
  CHECK_STATUS(tsanom_dpd_find(x, 7 + 1, NULL, &exec, &found), TSANOM_E_NONFINITE);
  x[7] = 7;
  CHECK_STATUS(tsanom_dpd_find(x, 8, NULL, &exec, &found), TSANOM_STOPPED);
  cr_assert(memcmp(&found, &untouched, sizeof found) == 0);
}

Test(find, a_smaller_limit_tests_fewer_periods) {
  static double x[400];
  uint64_t seed = 6;
  for (int i = 0; i < 400; i++) x[i] = (i % 30 == 0) + .1 * normal(&seed);
  tsanom_dpd_find_options options;
  tsanom_dpd_find_options_init(&options, sizeof options);
  options.max_period = 29;
  tsanom_dpd_found found = prepared();
  CHECK_STATUS(tsanom_dpd_find(x, 400, &options, NULL, &found), TSANOM_OK);
  cr_assert(found.max_period == 29 && found.period == 0);
  options.max_period = 30;
  CHECK_STATUS(tsanom_dpd_find(x, 400, &options, NULL, &found), TSANOM_OK);
  cr_assert(found.max_period == 30 && found.period == 30);
  for (int i = 0; i < 400; i++) x[i] = sin(2 * M_PI * i / 25) + .5 * normal(&seed);
  options.max_period = 24;
  CHECK_STATUS(tsanom_dpd_find(x, 400, &options, NULL, &found), TSANOM_OK);
  cr_assert(found.candidate > 0 && found.period == 0, "24 only resembles the period");
}

/* What the former whitening, by differences of neighbors, missed or doubled: 0 of 25
 * with a line of 10 deviations. */
Test(find, smooth_trends_hide_no_period) {
  static double x[2000];
  static const struct {
    size_t n, period;
  } series[] = {{2000, 63}, {2000, 100}, {400, 25}, {200, 17}};
  uint64_t seed = 11;
  for (size_t i = 0; i < sizeof series / sizeof *series; i++) {
    size_t n = series[i].n, p = series[i].period;
    for (int trend = 0; trend < 10; trend++) {
      int right = 0;
      for (int trial = 0; trial < 25; trial++) {
        for (size_t t = 0; t < n; t++) {
          double u = (double)t / (double)n;
          double slow[] = {0,
                           3 * u,
                           10 * u,
                           30 * u,
                           100 * u,
                           30 * u * u,
                           30 * exp(3 * u - 3),
                           30 * sin(M_PI * u),
                           30 * sin(8.2 * u + 1),
                           -30 * u};
          x[t] = M_SQRT2 * sin(2 * M_PI * (double)t / (double)p) + slow[trend] +
                 .5 * normal(&seed);
        }
        size_t found = find(x, n).period;
        right += 50 * found >= 49 * p && 50 * found <= 51 * p;
      }
      cr_assert(right == 25, "n %zu, trend %d: %d of 25", n, trend, right);
    }
  }
}

/* After a lost sample the phase differs by one: the multiples of the period are as deep
 * as before, but far ones are no longer exact. */
Test(find, lost_samples_double_no_period) {
  static double x[500], shape[37];
  uint64_t seed = 12;
  int right = 0, all = 0;
  for (int kind = 0; kind < 4; kind++) {
    for (int trial = 0; trial < 15; trial++, all++) {
      size_t period = trial % 2 ? 20 : 37, lost = random_between(&seed, 1, 499);
      make_shape(shape, period, kind, &seed);
      for (size_t t = 0; t < 500; t++) {
        x[t] = shape[(t + (t >= lost)) % period] + .5 * normal(&seed);
      }
      right += find(x, 500).period == period;
    }
  }
  cr_assert(right == all, "%d of %d", right, all);
}

/* A cycle whose length varies is not a period, but is reported with its variation. */
Test(find, a_cycle_of_varying_length_is_a_candidate) {
  static double x[600];
  uint64_t seed = 13;
  int candidates = 0, estimated = 0, trials = 60;
  for (int trial = 0; trial < trials; trial++) {
    double phase = 0, length = 11;
    for (int t = 0; t < 600; t++) {
      x[t] = sin(2 * M_PI * phase) + .2 * normal(&seed);
      phase += 1 / length;
      if (phase < 1) continue;
      phase -= 1;
      length = 11 * (1 + .1 * normal(&seed));
      if (length < 4) length = 4;
    }
    tsanom_dpd_found found = find(x, 600);
    bool is_candidate = found.period == 0 && found.probability <= .01 &&
                        found.lines > .01 && found.candidate >= 10 &&
                        found.candidate <= 12;
    candidates += is_candidate;
    estimated += is_candidate && found.variation > .05 && found.variation < .2;
  }
  cr_assert(candidates >= 30 && 10 * estimated >= 8 * candidates, "%d, %d", candidates,
            estimated);
  for (int t = 0; t < 600; t++) x[t] = sin(2 * M_PI * t / 11) + .2 * normal(&seed);
  tsanom_dpd_found found = find(x, 600);
  cr_assert(found.period == 11 && found.variation < .01);
}
