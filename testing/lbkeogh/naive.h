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

/* A bound may exceed the distance by the rounding of both sums only. */
static inline int at_most(double bound, double distance, size_t n) {
  return bound <= distance * (1 + 4 * (double)n * DBL_EPSILON);
}

static inline int nearly(double a, double b) {
  return fabs(a - b) <= 1e-12 * (fabs(a) + fabs(b));
}

#endif
