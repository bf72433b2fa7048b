/* SPDX-License-Identifier: BSD-3-Clause */
/* Tails of distributions beside finite series, which exist for whole numbers. */
#include <criterion/criterion.h>
#include <math.h>

#include "core/chance.h"
#include "support/random.h"

static const long double pi = 3.14159265358979323846264338L;

/* P(T > t), by the finite series of M. Abramowitz and I. A. Stegun, Handbook of
 * Mathematical Functions, 26.7.3 and 26.7.4. */
static long double student_tail(long double t, int freedom) {
  long double angle = atanl(t / sqrtl(freedom)), square = cosl(angle) * cosl(angle);
  long double sum = 0, term = freedom % 2 ? cosl(angle) : 1;
  for (int k = freedom % 2 ? 3 : 2; k <= freedom; k += 2) {
    sum += term;
    term *= square * (k - 1) / k;
  }
  long double central =
      freedom % 2 ? 2 / pi * (angle + sinl(angle) * sum) : sinl(angle) * sum;
  return (1 - central) / 2;
}

/* P(X > x) of a gamma variate of a whole shape: fewer than `shape` events of a Poisson
 * process in x. */
static long double gamma_tail(int shape, long double x) {
  long double term = expl(-x), sum = term;
  for (int k = 1; k < shape; k++) sum += term *= x / k;
  return sum;
}

static void check_close(double found, long double expected, double most) {
  cr_assert(fabsl(found - expected) <= most * fabsl(expected), "%.17g, not %.17Lg", found,
            expected);
}

Test(chance, student_is_its_finite_series) {
  uint64_t seed = 1;
  for (int trial = 0; trial < 20000; trial++) {
    int freedom = (int)random_between(&seed, 1, 200);
    double t = exp(10 * random_unit(&seed) - 7);
    long double expected = student_tail(t, freedom);
    /* The series subtracts from 1, so that its own tail has few digits below 1e-8. */
    if (expected < 1e-8L) continue;
    check_close(tsn_student_tail(t, freedom), expected, 1e-9);
    check_close(tsn_student_tail(-t, freedom), 1 - expected, 1e-9);
    check_close(tsn_student_quantile((double)expected, freedom), t, 1e-5);
  }
  cr_assert(tsn_student_tail(0, 3) == 0.5 && tsn_student_quantile(0.5, 3) == 0);
}

/* Of one degree of freedom, the tail of a Cauchy variate is 1/(pi t) far out. */
Test(chance, student_has_digits_far_out) {
  for (double t = 1e3; t < 1e100; t *= 1e7) {
    check_close(tsn_student_tail(t, 1), 1 / (pi * t), 1e-6);
  }
  check_close(tsn_student_quantile(1e-30, 1), 1 / (pi * 1e-30L), 1e-9);
}

Test(chance, gamma_is_its_finite_series) {
  uint64_t seed = 2;
  for (int trial = 0; trial < 20000; trial++) {
    int shape = (int)random_between(&seed, 1, 60);
    double x = 200 * random_unit(&seed) * random_unit(&seed);
    long double expected = gamma_tail(shape, x);
    check_close(tsn_gamma_tail(shape, x), expected, 1e-9);
  }
  cr_assert(tsn_gamma_tail(3, 0) == 1 && tsn_gamma_tail(3, -1) == 1);
}
