/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of whole series, beside naive references and known truths. */
#include <stdlib.h>
#include <string.h>
#include <tsanom/change.h>

#include "change/change.h"
#include "change/critical.h"
#include "change/unusual.h"
#include "support/check.h"
#include "support/faults.h"
#include "support/workspace.h"

enum { LONGEST = 1000, POINTS = 32 };

static size_t find(const double *x, size_t n, tsanom_change_point *points) {
  size_t count = 77;
  CHECK_STATUS(tsanom_change_find(x, n, NULL, NULL, points, POINTS, &count), TSANOM_OK);
  return count;
}

/* The gain by its definition: the sum of squares without a change less that with one. */
static double naive_gain(const double *e, size_t n, size_t k) {
  double all = 0, left = 0, right = 0, sum = 0;
  for (size_t i = 0; i < n; i++) all += e[i] / (double)n;
  for (size_t i = 0; i < k; i++) left += e[i] / (double)k;
  for (size_t i = k; i < n; i++) right += e[i] / (double)(n - k);
  for (size_t i = 0; i < n; i++) {
    double level = i < k ? left : right;
    sum += (e[i] - all) * (e[i] - all) - (e[i] - level) * (e[i] - level);
  }
  return sum;
}

Test(change_find, the_scan_finds_the_largest_gain_at_every_level) {
  uint64_t seed = 1;
  double e[200], sum[201] = {0};
  for (int trial = 0; trial < 2000; trial++) {
    size_t n = random_between(&seed, 2, 200), side = random_between(&seed, 1, n / 2);
    for (size_t i = 0; i < n; i++) {
      e[i] = random_unit(&seed) - 0.5;
      sum[i + 1] = sum[i] + e[i];
    }
    double largest = 0, first = 0;
    for (size_t k = side; k <= n - side; k++)
      largest = fmax(largest, naive_gain(e, n, k));
    FOR_EACH_ISA (isa) {
      double gain = tsn_change_kernels_at(isa)->scan(sum, n, side);
      cr_assert(fabs(gain - largest) <= 1e-11 * (1 + largest), "%g, not %g", gain,
                largest);
      if (isa == TSANOM_ISA_BASE) first = gain;
      cr_assert(gain == first);
    }
  }
}

/* A change by six deviations is found where it is, with its size. */
Test(change_find, large_steps_are_found_where_they_are) {
  uint64_t seed = 2;
  double x[LONGEST];
  tsanom_change_point points[POINTS];
  for (int trial = 0; trial < 300; trial++) {
    size_t n = random_between(&seed, 60, LONGEST), at = random_between(&seed, 15, n - 15);
    change_kind kind = {.scatter = 0.05, .step = trial % 2 ? 0.3 : -0.3, .at = at};
    change_series(&seed, &kind, x, n);
    size_t count = find(x, n, points);
    cr_assert(count >= 1 && count <= 2, "%zu of %zu: %zu", at, n, count);
    const tsanom_change_point *p = points;
    if (count == 2 && fabs(points[1].size) > fabs(p->size)) p++;
    cr_assert(llabs((long long)p->at - (long long)at) <= 2, "%zu of %zu: %zu", at, n,
              (size_t)p->at);
    cr_assert(p->low <= p->at && p->at <= p->high && p->high - p->low < 10);
    cr_assert(fabs(p->size - kind.step) < 0.07 && p->significance < 0.001);
    cr_assert(p->size_low < p->size && p->size < p->size_high);
    cr_assert(fabs(p->after - p->before - p->size) < 1e-12 && p->reserved == 0);
    cr_assert(fabs(p->before - 1) < 0.06);
  }
}

Test(change_find, the_results_are_the_same_bits_at_every_level) {
  uint64_t seed = 3;
  double x[LONGEST];
  for (int trial = 0; trial < 100; trial++) {
    tsanom_change_point first[POINTS], points[POINTS];
    size_t n = random_between(&seed, 30, LONGEST), expected = 0, count;
    change_kind kind = {.phi = 0.3, .scatter = 0.05, .step = 0.2, .at = n / 3};
    change_series(&seed, &kind, x, n);
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1 + isa % 2);
      cr_assert(tsanom_change_find(x, n, NULL, &exec, points, POINTS, &count) >= 0);
      if (isa == TSANOM_ISA_BASE) {
        expected = count;
        memcpy(first, points, sizeof first);
      }
      cr_assert(count == expected && memcmp(first, points, count * sizeof *points) == 0);
    }
  }
}

/* Steps up, down and up again, and a stretch of 15 samples. */
Test(change_find, several_changes_are_found) {
  uint64_t seed = 4;
  double x[600];
  tsanom_change_point points[POINTS];
  static const size_t at[] = {100, 115, 250, 400, 500};
  static const double level[] = {0, 0.5, 0, 0.3, 0.1, 0.4};
  for (int trial = 0; trial < 50; trial++) {
    change_kind kind = {.phi = 0.2, .scatter = 0.04};
    change_series(&seed, &kind, x, 600);
    for (size_t i = 0; i < 600; i++) {
      size_t k = 0;
      while (k < 5 && i >= at[k]) k++;
      x[i] += level[k];
    }
    size_t count = find(x, 600, points);
    cr_assert(count >= 5 && count <= 6, "%zu", count);
    for (size_t k = 0; k < 5; k++) {
      bool found = false;
      for (size_t j = 0; j < count; j++) {
        found = found || (points[j].low <= at[k] + 1 && at[k] <= points[j].high + 1);
      }
      cr_assert(found, "the change at %zu is missing", at[k]);
    }
  }
}

Test(change_find, outliers_and_short_stretches_are_no_changes) {
  uint64_t seed = 5;
  double x[400];
  size_t alarms = 0;
  tsanom_change_point points[POINTS];
  for (int trial = 0; trial < 200; trial++) {
    change_kind kind = {.scatter = 0.05};
    change_series(&seed, &kind, x, 400);
    for (size_t i = 40; i < 400; i += 40) {
      for (size_t k = 0; k < 5; k++) x[i + k] += 10;
    }
    alarms += find(x, 400, points) > 0;
  }
  cr_assert(alarms <= 8, "%zu", alarms);
}

/* Noise that is not normal has no changes, and a step in it is found. */
Test(change_find, what_a_distribution_looks_like_is_no_change) {
  enum { TRIALS = 200 };
  uint64_t seed = 12;
  double x[LONGEST];
  tsanom_change_point points[POINTS];
  for (int k = 0; k < CHANGE_UNUSUAL; k++) {
    change_kind kind = change_unusual[k];
    size_t alarms = 0, found = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
      size_t n = random_between(&seed, 40, LONGEST);
      kind.step = 0;
      size_t count = 0; /* 0, too, where the status is TSANOM_INFEASIBLE */
      change_series(&seed, &kind, x, n);
      (void)tsanom_change_find(x, n, NULL, NULL, points, POINTS, &count);
      alarms += count > 0;
      kind.step = 2 * kind.scatter * (1 + kind.apart);
      kind.at = n / 2;
      change_series(&seed, &kind, x, n);
      (void)tsanom_change_find(x, n, NULL, NULL, points, POINTS, &count);
      found += count > 0;
    }
    cr_assert(alarms <= TRIALS / 25, "%s: %zu", kind.name, alarms);
    cr_assert(found > TRIALS * 2 / 3, "%s: %zu", kind.name, found);
  }
}

/* By its definition. */
static double naive_deviance(const double *e, size_t n, size_t k, double a, double b) {
  double product = 1, none = 1, share = (double)k / (double)n;
  for (size_t i = 0; i < n; i++) {
    double after = 1 / (1 + exp(-a - b * e[i]));
    product *= i < k ? 1 - after : after;
    none *= i < k ? share : 1 - share;
  }
  return 2 * log(product / none);
}

/* No larger than with the best coefficients, here of a grid, and hardly smaller. */
Test(change_find, the_deviance_is_that_of_logistic_regression) {
  uint64_t seed = 13;
  double e[40], scratch[40];
  for (int trial = 0; trial < 100; trial++) {
    size_t n = random_between(&seed, 20, 40), k = random_between(&seed, 8, n - 8);
    double step = 0.7 * random_unit(&seed), best = -INFINITY;
    for (size_t i = 0; i < n; i++) e[i] = random_unit(&seed) + (i < k ? 0 : step);
    double deviance =
        tsn_change_deviance(e, scratch, n, k); /* e is limited and centered */
    for (double a = -8; a <= 8; a += 0.25) {
      for (double b = -24; b <= 24; b += 0.5) {
        best = fmax(best, naive_deviance(e, n, k, a, b));
      }
    }
    cr_assert(deviance < best + 0.2 && deviance > 0.95 * best - 0.6, "%g, not %g",
              deviance, best);
  }
}

/* Stretches of 7 to 9 samples, with some that are nearer to the level before. */
Test(change_find, changes_keep_their_distance) {
  uint64_t seed = 6;
  double x[150];
  size_t changes = 0;
  tsanom_change_point points[POINTS];
  for (int trial = 0; trial < 3000; trial++) {
    for (size_t i = 0; i < 150; i++) x[i] = 4 * random_unit(&seed);
    size_t first = random_between(&seed, 30, 69);
    size_t end = first + random_between(&seed, 7, 9);
    for (size_t i = first; i < end; i++) x[i] += 18 + 12 * random_unit(&seed);
    for (size_t i = 1; i < 4; i++) {
      if (random_between(&seed, 0, 1)) x[first + i] = 9 * random_unit(&seed);
    }
    size_t count = 0;
    tsanom_change_find(x, 150, NULL, NULL, points, POINTS, &count);
    changes += count;
    for (size_t j = 1; j < count; j++) {
      cr_assert(points[j].at >= points[j - 1].at + TSN_CHANGE_SIDE);
    }
  }
  cr_assert(changes > 1000, "%zu", changes);
}

Test(change_find, exact_steps_and_constant_series) {
  double x[100];
  tsanom_change_point points[POINTS];
  for (size_t i = 0; i < 100; i++) x[i] = 3;
  cr_assert(find(x, 100, points) == 0);
  for (size_t i = 0; i < 100; i++) x[i] = 0;
  cr_assert(find(x, 100, points) == 0);
  for (size_t i = 40; i < 100; i++) x[i] = 7;
  cr_assert(find(x, 100, points) == 1);
  cr_assert(points[0].at == 40 && points[0].low == 40 && points[0].high == 40);
  cr_assert(points[0].before == 0 && points[0].after == 7 && points[0].size == 7);
  cr_assert(points[0].significance < 1e-6);
}

/* Powers of two change no bit but the exponents. */
Test(change_find, units_do_not_matter) {
  uint64_t seed = 6;
  double x[300], y[300];
  tsanom_change_point points[POINTS], scaled[POINTS];
  static const int exponents[] = {-900, -3, 3, 900, 1022};
  change_kind kind = {.scatter = 0.05, .step = 0.1, .at = 120};
  change_series(&seed, &kind, x, 300);
  size_t count = find(x, 300, points);
  cr_assert(count >= 1);
  for (size_t k = 0; k < sizeof exponents / sizeof *exponents; k++) {
    for (size_t i = 0; i < 300; i++) y[i] = ldexp(x[i], exponents[k]);
    cr_assert(find(y, 300, scaled) == count);
    cr_assert(scaled[0].at == points[0].at && scaled[0].high == points[0].high);
    cr_assert(scaled[0].size == ldexp(points[0].size, exponents[k]));
    cr_assert(scaled[0].significance == points[0].significance);
  }
}

Test(change_find, too_few_samples_are_reported) {
  uint64_t seed = 7;
  double x[400];
  size_t count = 77, few = 0;
  tsanom_change_point points[POINTS];
  change_kind kind = {.scatter = 1};
  change_series(&seed, &kind, x, 30);
  for (size_t n = 1; n < 30; n++) {
    CHECK_STATUS(tsanom_change_find(x, n, NULL, NULL, points, POINTS, &count),
                 TSANOM_INFEASIBLE);
    cr_assert(count == 0);
  }
  kind.phi = 0.9;
  for (int trial = 0; trial < 100; trial++) {
    change_series(&seed, &kind, x, 400);
    few += tsanom_change_find(x, 400, NULL, NULL, points, POINTS, &count) ==
           TSANOM_INFEASIBLE;
  }
  cr_assert(few > 80, "%zu", few);
}

/* Iterations that take longer from the middle of a short run on. */
Test(change_find, few_correlated_samples_show_a_large_step) {
  enum { N = 80, TRIALS = 400 };
  uint64_t seed = 11;
  double x[N];
  size_t count = 0;
  tsanom_change_point points[POINTS];
  for (double phi = 0.5; phi < 0.95; phi += 0.1) {
    change_kind kind = {.scatter = 1, .phi = phi};
    size_t alarms = 0, few = 0, found = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
      kind.step = 0;
      change_series(&seed, &kind, x, N);
      few += tsanom_change_find(x, N, NULL, NULL, points, POINTS, &count) ==
             TSANOM_INFEASIBLE;
      alarms += count > 0;
      kind.step = 12;
      kind.at = 20 + (size_t)(random_unit(&seed) * 40);
      change_series(&seed, &kind, x, N);
      (void)tsanom_change_find(x, N, NULL, NULL, points, POINTS, &count);
      found += count > 0;
    }
    cr_assert(alarms <= TRIALS / 50, "%g: %zu", phi, alarms);
    cr_assert(few > TRIALS / 4 && found > TRIALS * 2 / 3, "%g: %zu %zu", phi, few, found);
  }
}

/* The table: larger gains are less likely, and the two functions are inverse. */
Test(change_find, critical_gains_and_significances_agree) {
  for (size_t n = 30; n < 100000; n = n * 3 / 2) {
    for (double phi = 0; phi < 0.5; phi += 0.1) {
      double last = 0;
      for (double level = 0.05; level >= 0.001; level /= 1.3) {
        double gain = tsn_change_critical(n, phi, level);
        cr_assert(gain >= last && gain > 5, "%zu %g %g: %g", n, phi, level, gain);
        double back = tsn_change_significance(n, phi, gain);
        cr_assert(gain == last || fabs(back / level - 1) < 1e-9, "%g, not %g", back,
                  level);
        last = gain;
      }
      cr_assert(tsn_change_significance(n, phi, 0) <= 1);
      cr_assert(tsn_change_significance(n, phi, 1000) < 1e-6);
    }
  }
}

Test(change_find, the_level_of_the_options_counts) {
  uint64_t seed = 8;
  double x[400];
  size_t found[2] = {0}, count;
  tsanom_change_options options;
  tsanom_change_options_init(&options, sizeof options);
  for (int trial = 0; trial < 200; trial++) {
    tsanom_change_point points[POINTS];
    change_kind kind = {.scatter = 0.05, .step = 0.025, .at = 200};
    change_series(&seed, &kind, x, 400);
    for (int k = 0; k < 2; k++) {
      options.level = k ? 0.001 : 0.05;
      tsanom_change_find(x, 400, &options, NULL, points, POINTS, &count);
      found[k] += count > 0;
      for (size_t i = 0; i < count; i++) {
        cr_assert(points[i].significance <= options.level * (1 + 1e-9));
      }
    }
  }
  cr_assert(found[0] > found[1] + 10 && found[1] > 10, "%zu, %zu", found[0], found[1]);
}

Test(change_find, rejections_name_the_argument) {
  double x[100] = {0};
  size_t count = 77;
  tsanom_change_point points[POINTS];
  test_report report;
  test_report_init(&report);
  tsanom_exec *exec = &report.exec;
  tsanom_change_options options;
  tsanom_change_options_init(&options, sizeof options);
  x[57] = NAN;
  CHECK_STATUS(tsanom_change_find(x, 100, NULL, exec, points, POINTS, &count),
               TSANOM_E_NONFINITE);
  cr_assert_str_eq(report.fault.text, "x[57] is NaN; finite samples are expected");
  CHECK_FAULT(report, "x", 57, TSANOM_NONE);
  CHECK_STATUS(tsanom_change_find(x, 0, NULL, exec, points, POINTS, &count),
               TSANOM_E_COUNT);
  CHECK_FAULT(report, "n", TSANOM_NONE, TSANOM_NONE);
  CHECK_STATUS(tsanom_change_find(x, SIZE_MAX, NULL, exec, points, POINTS, &count),
               TSANOM_E_OVERFLOW);
  CHECK_FAULT(report, "n", TSANOM_NONE, TSANOM_NONE);
  static const double levels[] = {0.0009, 0.051, NAN};
  for (int i = 0; i < 3; i++) {
    options.level = levels[i];
    CHECK_STATUS(tsanom_change_find(x, 50, &options, exec, points, POINTS, &count),
                 TSANOM_E_OPTION);
    cr_assert(strstr(report.fault.text, "; 0.001 to 0.05 is expected"));
    CHECK_FAULT(report, "options.level", TSANOM_NONE, TSANOM_NONE);
  }
  options.level = 0.01;
  options.reference = 201;
  CHECK_STATUS(tsanom_change_find(x, 50, &options, exec, points, POINTS, &count),
               TSANOM_E_OPTION);
  cr_assert_str_eq(report.fault.text,
                   "options.reference is 201; the function does not use it, and 200 is "
                   "expected");
  CHECK_FAULT(report, "options.reference", TSANOM_NONE, TSANOM_NONE);
  options.reference = 200;
  options.paired = 1;
  CHECK_STATUS(tsanom_change_find(x, 50, &options, exec, points, POINTS, &count),
               TSANOM_E_OPTION);
  CHECK_FAULT(report, "options.paired", TSANOM_NONE, TSANOM_NONE);
  cr_assert(count == 77);
}

Test(change_find, what_exceeds_the_capacity_is_counted) {
  double x[200];
  size_t count = 0;
  tsanom_change_point point, all[POINTS];
  for (size_t i = 0; i < 200; i++) x[i] = (double)(i / 50);
  cr_assert(find(x, 200, all) == 3);
  CHECK_STATUS(tsanom_change_find(x, 200, NULL, NULL, NULL, 0, &count), TSANOM_PARTIAL);
  cr_assert(count == 3);
  CHECK_STATUS(tsanom_change_find(x, 200, NULL, NULL, &point, 1, &count), TSANOM_PARTIAL);
  cr_assert(count == 3 && memcmp(&point, all, sizeof point) == 0);
}

typedef struct {
  tsanom_change_point points[POINTS];
  size_t count;
} found_points;

static double samples[400];
static size_t sample_count;

static tsanom_status find_in(const tsanom_exec *exec, void *result) {
  found_points *r = result;
  if (!r) return tsanom_change_find(NULL, sample_count, NULL, exec, NULL, POINTS, NULL);
  return tsanom_change_find(samples, sample_count, NULL, exec, r->points, POINTS,
                            &r->count);
}

Test(change_find, the_workspace_is_exact_and_known_without_samples) {
  static const workspace_case workspace = {"find", find_in, sizeof(found_points)};
  uint64_t seed = 9;
  size_t last = 0;
  for (size_t i = 0; i < 400; i++) samples[i] = random_unit(&seed) + (double)(i / 150);
  for (sample_count = 1; sample_count < 400; sample_count++) {
    size_t bytes = 0;
    tsanom_exec ask = ask_exec(NULL, &bytes);
    CHECK_STATUS(find_in(&ask, NULL), TSANOM_E_WORKSPACE);
    cr_assert(bytes >= last);
    last = bytes;
    check_workspaces(&workspace, 1);
  }
}
