/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances of a tile. A sum within a point's row would be split into one partial sum for
 * each lane of a register; with one point in each lane, all levels add in the same order,
 * and no sum across lanes is needed. One point at a time, the row `bench_growth_balanced`
 * takes 2.5 to 2.9 times as long (Zen 5, v4). */
#include "spmd/spmd_kernel.h"

#include "core/vector.h"

/* The 8 lanes of a row of coordinates, or of 8 points, are in one or more registers of the
 * level, each in the source: compilers keep wider vectors on the stack. */
enum { WIDTH = TSN_VECTOR_BYTES / sizeof(double), PARTS = TSN_SPMD_LANES / WIDTH };

#define INLINE static inline __attribute__((always_inline))

/* Lane k of all parts. */
#define LANE(v, k) (v)[(k) / WIDTH][(k) % WIDTH]

INLINE tsn_f64 load(const double *from) {
  return *(const tsn_f64_at *)from;
}

/* The squared difference of a coordinate. */
INLINE tsn_f64 square(const double *column, double of_point) {
  tsn_f64 difference = load(column) - of_point;
  return difference * difference;
}

/* The coordinates d and d + 4 of the points of a register. */
INLINE tsn_f64 pair(const double *columns, const double *point, size_t d) {
  return square(columns + d * TSN_SPMD_LANES, point[d]) +
         square(columns + (d + 4) * TSN_SPMD_LANES, point[d + 4]);
}

static inline double greater(double a, double b) {
  return a > b ? a : b;
}

static double farthest(const double *tile, const double *point, size_t stride) {
  tsn_f64 most[PARTS] = {{0}};
  for (size_t v = 0; v < TSN_SPMD_TILE / TSN_SPMD_LANES; v++) {
    const double *columns = tile + v * stride * TSN_SPMD_LANES;
    tsn_f64 sum[PARTS] = {{0}};
    for (size_t d = 0; d < stride; d += 8) {
      TSN_UNROLL
      for (size_t k = 0; k < PARTS; k++) {
        const double *own = columns + k * WIDTH;
        sum[k] += (pair(own, point, d) + pair(own, point, d + 1)) +
                  (pair(own, point, d + 2) + pair(own, point, d + 3));
      }
    }
    TSN_UNROLL
    for (size_t k = 0; k < PARTS; k++) most[k] = tsn_max_f64(most[k], sum[k]);
  }
  double result = 0;
  TSN_UNROLL
  for (size_t l = 0; l < TSN_SPMD_LANES; l++) result = greater(LANE(most, l), result);
  return result;
}

static unsigned near(const double *leaf, size_t count, const double *point, size_t width,
                     double limit) {
  enum { REGISTERS = TSN_SPMD_LEAF / WIDTH };
  tsn_f64 sum[REGISTERS] = {{0}};
  for (size_t d = 0; d < width; d++) {
    TSN_UNROLL
    for (size_t k = 0; k < REGISTERS; k++) {
      sum[k] += square(leaf + d * count + k * WIDTH, point[d]);
    }
  }
  unsigned bits = 0;
  TSN_UNROLL
  for (size_t k = 0; k < REGISTERS; k++) {
    bits |= tsn_lanes_at_most(sum[k], limit - (tsn_f64){0}) << k * WIDTH;
  }
  return bits & ((1U << count) - 1);
}

const tsn_spmd_kernels TSN_LEVEL(tsn_spmd_kernels) = {.farthest = farthest, .near = near};
