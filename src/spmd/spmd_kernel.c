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

const tsn_spmd_kernels TSN_LEVEL(tsn_spmd_kernels) = {.farthest = farthest};
