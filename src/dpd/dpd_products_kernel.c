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
 * bounds the rate; multiplication and addition fit beside the loads. */
#include "dpd/dpd_products_kernel.h"

#include <string.h>

#include "core/vector.h"

enum {
  LANES = 8,
  WIDTH = TSN_VECTOR_BYTES / sizeof(double),
  VECTORS = LANES / WIDTH, /* of a step */
  /* Delays of a tile: their accumulators must fit the registers of the level. */
  TILE = VECTORS == 1   ? 8
         : VECTORS == 2 ? 4
                        : 2
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

/* Add the products of one block of samples for a tile of delays from m on. */
static inline void add_block(const double *block, size_t m, double *products) {
  lanes sum[TILE] = {0};
  for (size_t t = 0; t < TSN_PRODUCTS_BLOCK; t += LANES) {
    for (size_t v = 0; v < VECTORS; v++) {
      tsn_f64 now = *(const tsn_f64_at *)(block + t + v * WIDTH);
      for (size_t k = 0; k < TILE; k++) {
        sum[k].part[v] += now * *(const tsn_f64_at *)(block + t + v * WIDTH - m - k);
      }
    }
  }
  for (size_t k = 0; k < TILE; k++) products[k] += sum_of_lanes(&sum[k]);
}

static void products(const double *e, size_t n, size_t first, size_t count,
                     double *products) {
  for (size_t i = 0; i < count; i++) products[i] = 0;
  /* Earlier blocks have no sample `first` before them. */
  for (size_t t = first / TSN_PRODUCTS_BLOCK * TSN_PRODUCTS_BLOCK; t < n;
       t += TSN_PRODUCTS_BLOCK) {
    for (size_t i = 0; i < count; i += TILE) add_block(e + t, first + i, products + i);
  }
}

const tsn_dpd_products_kernels TSN_LEVEL(tsn_dpd_products_kernels) = {
    .products = products,
};
