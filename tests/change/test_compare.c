/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparisons of runs, beside permutations by recursion, published values and bets by
 * their definition. */
#include <stdlib.h>
#include <tsanom/change.h>

#include "change/series.h"
#include "support/check.h"
#include "support/faults.h"

static tsanom_change_comparison compare(const double *a, size_t a_count, const double *b,
                                        size_t b_count, double level, int32_t paired,
                                        int32_t sequential) {
  tsanom_change_comparison c = {.struct_size = sizeof c};
  tsanom_change_options options;
  tsanom_change_options_init(&options, sizeof options);
  options.level = level;
  options.paired = paired;
  options.sequential = sequential;
  CHECK_STATUS(tsanom_change_compare(a, a_count, b, b_count, &options, NULL, &c),
               TSANOM_OK);
  return c;
}

/* Numbers of permutations, and of those with a difference of means >= and <= the measured
 * one, where b is `shift` less. */
typedef struct {
  const double *a, *b;
  size_t m, n;
  double shift, measured, total, above, below;
} naive;

static double run(const naive *p, size_t i) {
  return i < p->m ? p->a[i] : p->b[i - p->m] - p->shift;
}

static void permute(naive *p, size_t i, size_t chosen, double sum_a, double sum_b) {
  if (chosen > p->m || i - chosen > p->n) return;
  if (i == p->m + p->n) {
    double difference = sum_b / (double)p->n - sum_a / (double)p->m;
    p->total++;
    p->above += difference >= p->measured - 1e-9;
    p->below += difference <= p->measured + 1e-9;
    return;
  }
  permute(p, i + 1, chosen + 1, sum_a + run(p, i), sum_b);
  permute(p, i + 1, chosen, sum_a, sum_b + run(p, i));
}

static void exchange(naive *p, size_t i, double sum) {
  if (i == p->m) {
    double difference = sum / (double)p->m;
    p->total++;
    p->above += difference >= p->measured - 1e-9;
    p->below += difference <= p->measured + 1e-9;
    return;
  }
  double d = p->b[i] - p->shift - p->a[i];
  exchange(p, i + 1, sum + d);
  exchange(p, i + 1, sum - d);
}

/* The significance of two one-sided tests, of b less `shift`. */
static double naive_significance(const double *a, size_t m, const double *b, size_t n,
                                 double shift, int32_t paired) {
  naive p = {.a = a, .b = b, .m = m, .n = n, .shift = shift};
  for (size_t i = 0; i < m; i++) p.measured -= a[i] / (double)m;
  for (size_t i = 0; i < n; i++) p.measured += (b[i] - shift) / (double)n;
  if (paired) {
    exchange(&p, 0, 0);
  } else {
    permute(&p, 0, 0, 0, 0);
  }
  double least = p.above < p.below ? p.above : p.below;
  return fmin(1, 2 * least / p.total);
}

/* The interval contains the shifts that are not rejected at 5 %. */
static void check_permutations(const double *a, size_t m, const double *b, size_t n,
                               int32_t paired) {
  tsanom_change_comparison c = compare(a, m, b, n, 0.01, paired, 0);
  double expected = naive_significance(a, m, b, n, 0, paired);
  cr_assert(fabs(c.significance - expected) < 1e-9, "%zu + %zu: %g, not %g", m, n,
            c.significance, expected);
  double ends[] = {c.low, c.high};
  for (int k = 0; k < 2; k++) {
    if (isinf(ends[k])) {
      double far = k ? 1e3 : -1e3;
      cr_assert(naive_significance(a, m, b, n, far, paired) > 0.05);
      continue;
    }
    double out = k ? 1e-6 : -1e-6;
    cr_assert(naive_significance(a, m, b, n, ends[k] + out, paired) <= 0.05 + 1e-12);
    cr_assert(naive_significance(a, m, b, n, ends[k] - out, paired) > 0.05 - 1e-12);
  }
}

Test(change_compare, small_sets_are_permuted) {
  uint64_t seed = 1;
  double a[16], b[16];
  for (int trial = 0; trial < 300; trial++) {
    size_t m = random_between(&seed, 1, 6), n = random_between(&seed, 1, 6);
    for (size_t i = 0; i < m; i++) a[i] = change_normal(&seed);
    for (size_t i = 0; i < n; i++) b[i] = change_normal(&seed) + trial % 3;
    check_permutations(a, m, b, n, 0);
    for (size_t i = 0; i < 8; i++) {
      a[i] = change_normal(&seed);
      b[i] = a[i] + change_normal(&seed) + trial % 3;
    }
    check_permutations(a, 1 + (size_t)trial % 8, b, 1 + (size_t)trial % 8, 1);
  }
  for (size_t i = 0; i < 16; i++) {
    a[i] = change_normal(&seed);
    b[i] = change_normal(&seed) + 1;
  }
  check_permutations(a, 8, b, 8, 0);
  check_permutations(a, 12, b, 4, 0);
  double many[60];
  for (size_t i = 0; i < 60; i++) many[i] = change_normal(&seed);
  for (size_t n = 15; n <= 60; n += 9) {
    check_permutations(a, 1, many, n, 0);
    check_permutations(many, n, b, 2, 0);
  }
  check_permutations(a, 14, b, 14, 1);
}

/* Equal numbers are equal, and equal sets do not differ: the means of as many equal numbers
 * are rounded otherwise. */
Test(change_compare, ties_count_on_both_sides) {
  uint64_t seed = 5;
  double a[] = {0.1, 0.2, 0.3, 0.1, 0.2}, b[] = {0.3, 0.2, 0.1, 0.2, 0.1};
  tsanom_change_comparison c = compare(a, 5, b, 5, 0.01, 0, 0);
  cr_assert(c.significance == 1 && fabs(c.difference) < 1e-15);
  for (int paired = 0; paired < 2; paired++) {
    for (size_t n = 1; n < 40; n++) {
      double x[40], y[40], same = n % 2 ? 3 : change_normal(&seed);
      for (size_t i = 0; i < 40; i++) x[i] = y[i] = same;
      size_t m = paired ? n : random_between(&seed, 1, 40);
      c = compare(x, n, y, m, 0.01, paired, 0);
      cr_assert(c.significance == 1 && c.difference == 0 && c.low <= 0 && c.high >= 0,
                "%zu + %zu: %g", n, m, c.significance);
    }
  }
  /* Nor does one equal pair show that they are the same. */
  c = compare(a, 1, a, 1, 0.01, 1, 1);
  cr_assert(c.significance == 1 && c.low == -INFINITY && c.high == INFINITY);
  c = compare(a, 5, a, 5, 0.01, 1, 1);
  cr_assert(c.significance == 1 && c.low == -INFINITY && c.high == INFINITY);
  double x[20], y[20];
  for (int step = 0; step < 2; step++) {
    for (int i = 0; i < 20; i++) y[i] = step + (x[i] = i);
    c = compare(x, 20, y, 20, 0.01, 1, 1);
    cr_assert(fabs(c.low - step) < 1e-6 && fabs(c.high - step) < 1e-6);
  }
}

/* One program, of which few runs are compared with many: at a level of 0.05, fewer than 0.08
 * of the comparisons differ. */
Test(change_compare, few_runs_beside_many_do_not_differ) {
  static const size_t sets[][2] = {{1, 16}, {1, 90}, {2, 15}, {2, 80}, {3, 50}, {5, 40}};
  enum { ROUNDS = 1000 };
  uint64_t seed = 6;
  double a[90], b[90];
  for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
    size_t differ = 0;
    for (int round = 0; round < ROUNDS; round++) {
      for (size_t i = 0; i < 90; i++) {
        a[i] = change_normal(&seed);
        b[i] = change_normal(&seed);
      }
      differ += compare(a, sets[k][0], b, sets[k][1], 0.05, 0, 0).significance <= 0.05;
    }
    cr_assert(differ < 80, "%zu + %zu: %zu of %d", sets[k][0], sets[k][1], differ,
              ROUNDS);
  }
}

/* Five runs each: the smallest significance is 2 / 252. */
Test(change_compare, too_few_runs_detect_nothing) {
  double a[16] = {1, 2, 3, 4, 5, 6, 7, 8}, b[16] = {11, 12, 13, 14, 15, 16, 17, 18};
  tsanom_change_comparison c = compare(a, 4, b, 4, 0.01, 0, 0);
  cr_assert(isinf(c.detectable) && c.significance > 0.01 && isfinite(c.low));
  c = compare(a, 3, b, 3, 0.01, 0, 0);
  cr_assert(isinf(c.low) && isinf(c.high) && c.low < 0);
  c = compare(a, 5, b, 5, 0.01, 0, 0);
  cr_assert(isfinite(c.detectable) && fabs(c.significance - 2.0 / 252) < 1e-12);
  for (int i = 0; i < 8; i++) b[i] = 10 + a[i] + i % 3;
  c = compare(a, 7, b, 7, 0.01, 1, 0);
  cr_assert(isinf(c.detectable) && c.significance > 0.01);
  c = compare(a, 8, b, 8, 0.01, 1, 0);
  cr_assert(isfinite(c.detectable) && fabs(c.significance - 2.0 / 256) < 1e-12);
  c = compare(a, 1, b, 1, 0.01, 0, 0);
  cr_assert(c.significance == 1 && isinf(c.detectable));
}

/* Welch's test and that of pairs; the expected values are those of SciPy 1.10. */
Test(change_compare, large_sets_have_students_t) {
  double a[20], b[20];
  for (int i = 0; i < 20; i++) {
    a[i] = 10 + i % 5;
    b[i] = 11 + i % 4 + 0.1 * i;
  }
  tsanom_change_comparison c = compare(a, 20, b, 20, 0.01, 0, 0);
  cr_assert(fabs(c.a - 12) < 1e-12 && fabs(c.b - 13.45) < 1e-12);
  cr_assert(fabs(c.difference - 1.45) < 1e-12);
  cr_assert(fabs(c.significance - 0.002568787476343257) < 1e-11);
  cr_assert(fabs(c.high - 1.45 - 0.909256891455307) < 1e-9);
  cr_assert(fabs(1.45 - c.low - 0.909256891455307) < 1e-9);
  c = compare(a, 20, b, 20, 0.01, 1, 0);
  cr_assert(fabs(c.significance - 0.002927612746063644) < 1e-11);
  cr_assert(fabs(c.high - 1.45 - 0.8896162188189332) < 1e-9);
}

/* The capital of each player by its definition; significance is the best ever reached. */
static double naive_capital(const double *a, const double *b, size_t n, double shift,
                            double sign) {
  static const double bets[] = {0.25, 0.5, 1, 2, 4};
  double most = 1;
  for (size_t end = 1; end <= n; end++) {
    double mean = 0;
    for (int k = 0; k < 5; k++) {
      double capital = 1;
      for (size_t i = 0; i < end; i++) {
        double squares = 0, d = b[i] - a[i] - shift;
        for (size_t j = 0; j <= i; j++) squares += pow(b[j] - a[j] - shift, 2);
        double root = sqrt(squares / (double)(i + 1));
        capital *= 1 + tanh(root > 0 ? sign * bets[k] * d / root : 0);
      }
      mean += capital / 5;
    }
    most = fmax(most, mean);
  }
  return most;
}

Test(change_compare, sequential_comparisons_are_bets) {
  uint64_t seed = 2;
  double a[30], b[30];
  for (int trial = 0; trial < 100; trial++) {
    size_t n = random_between(&seed, 1, 30);
    for (size_t i = 0; i < n; i++) {
      a[i] = change_normal(&seed);
      b[i] = a[i] + change_normal(&seed) + trial % 3 - 1;
    }
    tsanom_change_comparison c = compare(a, n, b, n, 0.01, 1, 1);
    double up = naive_capital(a, b, n, 0, 1), down = naive_capital(a, b, n, 0, -1);
    double expected = fmin(1, 2 / fmax(up, down));
    cr_assert(fabs(c.significance / expected - 1) < 1e-9, "%g, not %g", c.significance,
              expected);
    if (isfinite(c.low)) {
      cr_assert(naive_capital(a, b, n, c.low - 1e-6, 1) >= 40 - 1e-3);
      cr_assert(c.low < c.difference && c.difference < c.high);
    }
    if (isfinite(c.high)) {
      cr_assert(naive_capital(a, b, n, c.high + 1e-6, -1) >= 40 - 1e-3);
    }
    cr_assert(isinf(c.detectable) == (n < 9), "%zu", n);
  }
}

/* Pairs of which each is larger than all before it give the most capital. */
Test(change_compare, nine_pairs_are_the_fewest_of_a_sequential_comparison) {
  const double a[9] = {0};
  double b[9];
  for (int i = 0; i < 9; i++) b[i] = pow(1000, i);
  for (size_t n = 1; n <= 9; n++) {
    tsanom_change_comparison c = compare(a, n, b, n, 0.01, 1, 1);
    cr_assert((c.significance <= 0.01) == (n == 9) && isfinite(c.detectable) == (n == 9),
              "%zu: %g", n, c.significance);
  }
}

/* An exchange of the two programs changes signs only. */
Test(change_compare, the_comparison_is_symmetric) {
  uint64_t seed = 3;
  double a[30], b[30];
  for (int trial = 0; trial < 200; trial++) {
    size_t n = random_between(&seed, 1, 30);
    int32_t paired = trial % 3 > 0, sequential = trial % 3 > 1;
    for (size_t i = 0; i < n; i++) {
      a[i] = change_normal(&seed);
      b[i] = change_normal(&seed) + 1;
    }
    tsanom_change_comparison c = compare(a, n, b, n, 0.01, paired, sequential);
    tsanom_change_comparison d = compare(b, n, a, n, 0.01, paired, sequential);
    cr_assert(c.difference == -d.difference && c.a == d.b);
    cr_assert(fabs(c.significance - d.significance) < 1e-12);
    cr_assert(c.low == -d.high || fabs(c.low + d.high) < 1e-9, "%g %g", c.low, d.high);
    cr_assert(c.detectable == d.detectable || fabs(c.detectable - d.detectable) < 1e-12);
  }
}

Test(change_compare, large_and_small_numbers_have_finite_answers) {
  uint64_t seed = 4;
  double a[20], b[20];
  static const int exponents[] = {-1000, 0, 1000};
  double significance = 0;
  for (int k = 0; k < 9; k++) {
    seed = 4;
    for (int i = 0; i < 20; i++) {
      a[i] = ldexp(change_normal(&seed), exponents[k % 3]);
      b[i] = ldexp(change_normal(&seed) + 1, exponents[k % 3]);
    }
    tsanom_change_comparison c =
        compare(a, k < 3 ? 5 : 20, b, k < 3 ? 5 : 20, 0.01, k >= 3, k >= 6);
    if (k % 3 == 0) significance = c.significance;
    cr_assert(c.significance == significance && isfinite(c.low) && isfinite(c.high));
  }
}

Test(change_compare, rejections_name_the_argument) {
  double a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, b[8] = {1, 2, 3, 4, 5, 6, NAN, 8};
  test_report report;
  test_report_init(&report);
  tsanom_exec *exec = &report.exec;
  tsanom_change_comparison c = {.struct_size = sizeof c, .a = 77};
  tsanom_change_options options;
  tsanom_change_options_init(&options, sizeof options);
  CHECK_STATUS(tsanom_change_compare(a, 8, b, 8, NULL, exec, &c), TSANOM_E_NONFINITE);
  CHECK_FAULT(report, "b", 6, TSANOM_NONE);
  CHECK_STATUS(tsanom_change_compare(a, 0, b, 6, NULL, exec, &c), TSANOM_E_COUNT);
  CHECK_FAULT(report, "a_count", TSANOM_NONE, TSANOM_NONE);
  options.paired = 1;
  CHECK_STATUS(tsanom_change_compare(a, 5, b, 6, &options, exec, &c), TSANOM_E_COUNT);
  CHECK_FAULT(report, "b_count", TSANOM_NONE, TSANOM_NONE);
  options.paired = 0;
  options.sequential = 1;
  CHECK_STATUS(tsanom_change_compare(a, 5, b, 5, &options, exec, &c), TSANOM_E_OPTION);
  CHECK_FAULT(report, "options.sequential", TSANOM_NONE, TSANOM_NONE);
  cr_assert(c.a == 77);
}
