/* SPDX-License-Identifier: BSD-3-Clause */
/* Small arithmetic of sizes. */
#ifndef TSN_CORE_SIZE_H
#define TSN_CORE_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t tsn_smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

static inline size_t tsn_larger(size_t a, size_t b) {
  return a > b ? a : b;
}

/* The next multiple of `to`; the sum must not overflow. */
static inline size_t tsn_round_up(size_t value, size_t to) {
  return (value + to - 1) / to * to;
}

/* Sums and products that stay at SIZE_MAX where they overflow: no arena has that many
 * elements, so that tsn_arena_take() remembers the overflow. */
static inline size_t tsn_sum(size_t a, size_t b) {
  size_t sum;
  return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

static inline size_t tsn_product(size_t a, size_t b) {
  size_t product;
  return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

/* Whether an array of `count` elements of `size` bytes can exist: no object is larger
 * than PTRDIFF_MAX bytes. */
static inline bool tsn_array_fits(size_t count, size_t size) {
  return tsn_product(count, size) <= PTRDIFF_MAX;
}

#endif
