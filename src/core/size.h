/* SPDX-License-Identifier: BSD-3-Clause */
/* Small arithmetic of sizes. */
#ifndef TSN_CORE_SIZE_H
#define TSN_CORE_SIZE_H

#include <stddef.h>

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

#endif
