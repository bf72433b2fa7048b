/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of products of a series with itself at many delays.
 *
 * A tile of delays passes over a block of samples together, one accumulator per delay:
 *
 *     e[t..t+7]            loaded once per step
 *   * e[t-m..t-m+7]        loaded once per delay
 *   + sum[m]               8 lanes at every level, so that the levels agree bitwise
 *
 * A step loads one vector per product, and a processor loads at most two per cycle, which
 * bounds the rate; multiplication and addition fit beside the loads.
 *
 * Steps without a product are left out, at the first samples, which have no partner m
 * before them, and after the last one:
 *
 *     t      0        8        16       24        n
 *     m = 1  |.xxxxxxx|xxxxxxxx|xxxxxxxx|xxxx....|
 *     m = 9           |.xxxxxxx|xxxxxxxx|xxxx....|
 *
 * This is half of a series as long as the delays, and nearly all of a block that holds a
 * short one. A lane that adds the product with a zero keeps its bits, so that the sums
 * are those of whole blocks. */
#include "dpd/dpd_products_kernel.h"

#include <string.h>

#include "core/vector.h"

enum {
  LANES = 8,
  WIDTH = TSN_VECTOR_BYTES / sizeof(double),
  VECTORS = LANES / WIDTH, /* of a step */
  /* Delays of a tile: their accumulators must fit the registers of the level. */
  TILE = VECTORS == 1   ? TSN_PRODUCTS_TILE
         : VECTORS == 2 ? TSN_PRODUCTS_TILE / 2
                        : TSN_PRODUCTS_TILE / 4
};

/* The 8 lanes of a delay, in as many vectors as the level needs. */
typedef struct {
  tsn_f64 part[VECTORS];
} lanes;

static double sum_of_lanes(const lanes *v) {
  double lane[LANES];
  memcpy(lane, v, sizeof lane);
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
         ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* Add the products of samples begin ... end-1 of a block for a tile of delays from m on. */
static inline void add_block(const double *block, size_t begin, size_t end, size_t m,
                             double *products) {
  lanes sum[TILE] = {0};
  for (size_t t = begin; t < end; t += LANES) {
    TSN_UNROLL
    for (size_t v = 0; v < VECTORS; v++) {
      tsn_f64 now = *(const tsn_f64_at *)(block + t + v * WIDTH);
      TSN_UNROLL
      for (size_t k = 0; k < TILE; k++) {
        sum[k].part[v] += now * *(const tsn_f64_at *)(block + t + v * WIDTH - m - k);
      }
    }
  }
  TSN_UNROLL
  for (size_t k = 0; k < TILE; k++) products[k] += sum_of_lanes(&sum[k]);
}

static void products(const double *e, size_t n, size_t first, size_t count,
                     double *products) {
  for (size_t i = 0; i < count; i++) products[i] = 0;
  for (size_t t = 0; t < n; t += TSN_PRODUCTS_BLOCK) {
    size_t end = n - t < TSN_PRODUCTS_BLOCK ? n - t : TSN_PRODUCTS_BLOCK;
    for (size_t i = 0; i < count; i += TILE) {
      size_t m = first + i, begin = m > t ? (m - t) / LANES * LANES : 0;
      if (begin < end) add_block(e + t, begin, end, m, products + i);
    }
  }
}

const tsn_dpd_products_kernels TSN_LEVEL(tsn_dpd_products_kernels) = {
    .products = products,
};
