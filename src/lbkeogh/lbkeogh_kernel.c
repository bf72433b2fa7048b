/* SPDX-License-Identifier: BSD-3-Clause */
/* LB_Keogh, sum of d(c_i - min(max(c_i, l_i), u_i)). A textbook form has two branches per
 * sample, above u_i or below l_i; clipping has none, so that the loop is five vector
 * operations and three loads per vector. 32 lanes of partial sums at every level fix the
 * order of the additions, hence the bits, and are four vectors of level v4 in flight. */
#include "lbkeogh/lbkeogh_kernel.h"

#include <math.h>
#include <stdint.h>

static inline double smaller(double a, double b) {
  return a < b ? a : b;
}

static inline double larger(double a, double b) {
  return a > b ? a : b;
}

/* max before min, as documented: for lower <= upper the order does not matter. */
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

static inline double term(double c, double lower, double upper, cost_function *cost) {
  return cost(c - clipped(c, lower, upper));
}

/* The sum of the lanes by halves, in which it does not matter at which of them
 * one begins to count. Loops of constant length stay in registers. */
static inline double sum_of(double *lane) {
#pragma omp simd
  for (size_t k = 0; k < 16; k++) lane[k] += lane[k + 16];
#pragma omp simd
  for (size_t k = 0; k < 8; k++) lane[k] += lane[k + 8];
#pragma omp simd
  for (size_t k = 0; k < 4; k++) lane[k] += lane[k + 4];
  return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

/* Sample i belongs to lane (i - head) mod TSN_LBKEOGH_LANES, so that after the
 * first `head` samples vectors of c are whole cache lines: those across two cost
 * half as much again (row `bound` of 1024 samples: 1.4 times, Zen 5, v4). Short series
 * have no head, since the vectors of lanes wait until it is stored: at n = 64 that takes
 * 13 ns, and the rest 11 (level v4). */
static inline double bound(const double *c, const double *lower, const double *upper,
                           size_t n, cost_function *cost) {
  enum { LINE = 64 / sizeof *c, SHORT = 512 };
  double lane[TSN_LBKEOGH_LANES] = {0};
  size_t head = n < SHORT ? 0 : (LINE - (uintptr_t)c / sizeof *c % LINE) % LINE;
  size_t i = 0;
  for (; i < head; i++) {
    lane[TSN_LBKEOGH_LANES - head + i] = term(c[i], lower[i], upper[i], cost);
  }
  for (; i + TSN_LBKEOGH_LANES <= n; i += TSN_LBKEOGH_LANES) {
#pragma omp simd
    for (size_t k = 0; k < TSN_LBKEOGH_LANES; k++) {
      lane[k] += term(c[i + k], lower[i + k], upper[i + k], cost);
    }
  }
  if (i < n) {
    double last[TSN_LBKEOGH_LANES] = {0};
    for (size_t k = 0; i + k < n; k++) {
      last[k] = term(c[i + k], lower[i + k], upper[i + k], cost);
    }
#pragma omp simd
    for (size_t k = 0; k < TSN_LBKEOGH_LANES; k++) lane[k] += last[k];
  }
  return sum_of(lane);
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
