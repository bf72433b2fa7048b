/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances of a tile. A sum within a point's row would be split into one partial sum for
 * each lane of a register; with one point in each lane, all levels add in the same order,
 * and no sum across lanes is needed. */
#include "spmd/spmd_kernel.h"

#include <stdint.h>
#include <string.h>

typedef double lanes __attribute__((vector_size(TSN_SPMD_LANES * sizeof(double))));
typedef int64_t mask __attribute__((vector_size(TSN_SPMD_LANES * sizeof(double))));

static inline lanes load(const double *from) {
  lanes v;
  memcpy(&v, from, sizeof v);
  return v;
}

/* The squared difference of a coordinate. */
static inline lanes square(const double *column, double of_point) {
  lanes difference = load(column) - of_point;
  return difference * difference;
}

static inline lanes larger(lanes a, lanes b) {
  mask first = a > b;
  return (lanes)(((mask)a & first) | ((mask)b & ~first));
}

static inline lanes smaller(lanes a, double most) {
  mask first = a < most;
  return (lanes)(((mask)a & first) | ((mask)(most - (lanes){0}) & ~first));
}

/* The coordinates d and d + 4 of 8 points. */
static inline lanes pair(const double *columns, const double *point, size_t d) {
  return square(columns + d * TSN_SPMD_LANES, point[d]) +
         square(columns + (d + 4) * TSN_SPMD_LANES, point[d + 4]);
}

static double farthest(const double *tile, const double *point, size_t stride) {
  lanes most = {0};
  for (size_t v = 0; v < TSN_SPMD_TILE / TSN_SPMD_LANES; v++) {
    const double *columns = tile + v * stride * TSN_SPMD_LANES;
    lanes sum = {0};
    for (size_t d = 0; d < stride; d += 8) {
      sum += (pair(columns, point, d) + pair(columns, point, d + 1)) +
             (pair(columns, point, d + 2) + pair(columns, point, d + 3));
    }
    most = larger(most, sum);
  }
  double result = 0;
  for (size_t l = 0; l < TSN_SPMD_LANES; l++) {
    result = most[l] > result ? most[l] : result;
  }
  return result;
}

static inline double greater(double a, double b) {
  return a > b ? a : b;
}

/* Whether the squares of all coordinates but `size` may sum to `limit`. Squares count as
 * `limit` at most: those that are not left out are no larger, and what is left out is no
 * more than `size` times the largest.
 * Lanes have the sums and maxima of each 8th coordinate; they are put together for every
 * 16, which takes as long as the differences of these. The rounding error of a sum is
 * below 1e-12 of it. */
static bool can_meet(const double *a, const double *b, size_t stride, double size,
                     double limit) {
  lanes sum = {0}, most = {0};
  for (size_t d = 0; d < stride; d += TSN_SPMD_LANES) {
    lanes difference = load(a + d) - load(b + d);
    lanes square = smaller(difference * difference, limit);
    sum += square;
    most = larger(square, most);
    if (d / TSN_SPMD_LANES % 2 == 0 && d + TSN_SPMD_LANES < stride) continue;
    double all =
        ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
    double largest =
        greater(greater(greater(most[0], most[4]), greater(most[1], most[5])),
                greater(greater(most[2], most[6]), greater(most[3], most[7])));
    if (all - size * largest > limit + 1e-12 * all) return false;
  }
  return true;
}

const tsn_spmd_kernels TSN_LEVEL(tsn_spmd_kernels) = {.farthest = farthest,
                                                      .can_meet = can_meet};
