/* SPDX-License-Identifier: BSD-3-Clause */
/* The definitions of the envelope and of the bounds, sample by sample. */
#ifndef TSANOM_TEST_NAIVE_LBKEOGH_H
#define TSANOM_TEST_NAIVE_LBKEOGH_H

#include <float.h>
#include <math.h>
#include <tsanom/lbkeogh.h>

/* The definition, one window at a time; the samples that position i of
 * another series meets, 0 <= i < count. */
static inline void naive_envelope(const double *x, size_t n, size_t radius, size_t count,
                                  double *lower, double *upper) {
  for (size_t i = 0; i < count; i++) {
    lower[i] = INFINITY, upper[i] = -INFINITY;
    for (size_t j = 0; j < n; j++) {
      if ((i > j ? i - j : j - i) > radius) continue;
      lower[i] = fmin(lower[i], x[j]);
      upper[i] = fmax(upper[i], x[j]);
    }
  }
}

static inline double term(double c, double lower, double upper, int32_t cost) {
  double d = c > upper ? c - upper : c < lower ? lower - c : 0;
  return cost == TSANOM_COST_SQUARED ? d * d : d;
}

static inline double naive_bound(const double *c, const double *lower,
                                 const double *upper, size_t n, int32_t cost) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += term(c[i], lower[i], upper[i], cost);
  return sum;
}

/* LB_Enhanced: the middle by the envelope, and from each end the cheapest pair of each
 * of at most n / 2 bands. */
static inline double naive_enhanced(const double *c, const double *q, const double *lower,
                                    const double *upper, size_t n,
                                    const tsanom_lbkeogh_options *options) {
  size_t bands = options->bands < n / 2 ? options->bands : n / 2;
  double sum =
      naive_bound(c + bands, lower + bands, upper + bands, n - 2 * bands, options->cost);
  for (size_t k = 0; k < bands; k++) {
    double front = INFINITY, back = INFINITY;
    for (size_t j = 0; j <= k; j++) {
      if (k - j > options->radius) continue;
      size_t end = n - 1 - k, other = n - 1 - j;
      front = fmin(front, term(c[k], q[j], q[j], options->cost));
      front = fmin(front, term(c[j], q[k], q[k], options->cost));
      back = fmin(back, term(c[end], q[other], q[other], options->cost));
      back = fmin(back, term(c[other], q[end], q[end], options->cost));
    }
    sum += front + back;
  }
  return sum;
}

/* A bound may exceed the distance by the rounding of both sums only. */
static inline int at_most(double bound, double distance, size_t n) {
  return bound <= distance * (1 + 4 * (double)n * DBL_EPSILON);
}

static inline int nearly(double a, double b) {
  return fabs(a - b) <= 1e-12 * (fabs(a) + fabs(b));
}

#endif
