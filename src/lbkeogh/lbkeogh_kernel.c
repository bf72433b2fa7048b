/* SPDX-License-Identifier: BSD-3-Clause */
#include "lbkeogh/lbkeogh_kernel.h"

#include <math.h>

static inline double smaller(double a, double b) {
  return a < b ? a : b;
}

static inline double larger(double a, double b) {
  return a > b ? a : b;
}

static inline double clipped(double c, double lower, double upper) {
  return smaller(larger(c, lower), upper);
}

static inline double absolute_cost(double d) {
  return fabs(d);
}

static inline double squared_cost(double d) {
  return d * d;
}

typedef double cost_function(double d);

static inline double bound(const double *c, const double *lower, const double *upper,
                           size_t n, cost_function *cost) {
  double lane[TSN_LBKEOGH_LANES] = {0};
  size_t i = 0;
  for (; i + TSN_LBKEOGH_LANES <= n; i += TSN_LBKEOGH_LANES) {
#pragma omp simd
    for (size_t k = 0; k < TSN_LBKEOGH_LANES; k++) {
      lane[k] += cost(c[i + k] - clipped(c[i + k], lower[i + k], upper[i + k]));
    }
  }
  for (size_t k = 0; i + k < n; k++) {
    lane[k] += cost(c[i + k] - clipped(c[i + k], lower[i + k], upper[i + k]));
  }
  for (size_t half = TSN_LBKEOGH_LANES / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; k++) lane[k] += lane[k + half];
  }
  return lane[0];
}

static double bound_absolute(const double *c, const double *lower, const double *upper,
                             size_t n) {
  return bound(c, lower, upper, n, absolute_cost);
}

static double bound_squared(const double *c, const double *lower, const double *upper,
                            size_t n) {
  return bound(c, lower, upper, n, squared_cost);
}

static void clip(const double *restrict c, const double *restrict lower,
                 const double *restrict upper, size_t n, double *restrict h) {
#pragma omp simd
  for (size_t i = 0; i < n; i++) h[i] = clipped(c[i], lower[i], upper[i]);
}

const tsn_lbkeogh_kernels TSN_LEVEL(tsn_lbkeogh_kernels) = {
    .bound_absolute = bound_absolute,
    .bound_squared = bound_squared,
    .clip = clip,
};
