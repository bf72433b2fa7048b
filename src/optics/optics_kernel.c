/* SPDX-License-Identifier: BSD-3-Clause */
#include "optics/optics_kernel.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef double lanes __attribute__((vector_size(TSN_OPTICS_LANES * sizeof(double))));
typedef int64_t mask __attribute__((vector_size(TSN_OPTICS_LANES * sizeof(double))));

static inline lanes load(const double *from) {
  lanes v;
  memcpy(&v, from, sizeof v);
  return v;
}

static inline lanes magnitude(lanes v) {
  return (lanes)((mask)v & INT64_MAX);
}

static inline lanes smaller(lanes a, lanes b) {
  mask first = a < b;
  return (lanes)(((mask)a & first) | ((mask)b & ~first));
}

static inline lanes larger(lanes a, lanes b) {
  mask first = a > b;
  return (lanes)(((mask)a & first) | ((mask)b & ~first));
}

/* One more coordinate in each of the metrics. */
#define EUCLIDEAN(sum, difference) ((sum) + (difference) * (difference))
#define MANHATTAN(sum, difference) ((sum) + magnitude(difference))
#define CHEBYSHEV(sum, difference) larger(sum, magnitude(difference))

#define ROW(name, ADD)                                                         \
  static void name(const double *blocks, size_t count, size_t dimensions,      \
                   const double *query, double *distance) {                    \
    for (size_t b = 0; b < count; b++) {                                       \
      lanes sum = {0};                                                         \
      for (size_t c = 0; c < dimensions; c++) {                                \
        lanes difference =                                                     \
            load(blocks + (b * dimensions + c) * TSN_OPTICS_LANES) - query[c]; \
        sum = ADD(sum, difference);                                            \
      }                                                                        \
      memcpy(distance + b * TSN_OPTICS_LANES, &sum, sizeof sum);               \
    }                                                                          \
  }

ROW(row_euclidean, EUCLIDEAN)
ROW(row_manhattan, MANHATTAN)
ROW(row_chebyshev, CHEBYSHEV)

static void root(double *values, size_t count) {
#pragma omp simd
  for (size_t i = 0; i < count; i++) values[i] = sqrt(values[i]);
}

static double minimum(const double *values, size_t count) {
  double least = values[0];
  size_t i = 0;
  if (count >= TSN_OPTICS_LANES) {
    lanes best = load(values);
    for (; i + TSN_OPTICS_LANES <= count; i += TSN_OPTICS_LANES) {
      best = smaller(load(values + i), best);
    }
    for (int k = 0; k < TSN_OPTICS_LANES; k++) least = best[k] < least ? best[k] : least;
  }
  for (; i < count; i++) least = values[i] < least ? values[i] : least;
  return least;
}

const tsn_optics_kernels TSN_LEVEL(tsn_optics_kernels) = {
    .row = {row_euclidean, row_manhattan, row_chebyshev},
    .root = root,
    .minimum = minimum,
};
