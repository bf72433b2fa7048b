/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSN_CORE_CHECKSUM_H
#define TSN_CORE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a, 64 bits. Each step is a bijection of the state, so that two inputs
 * that differ in one byte always differ in their sum. */
static inline uint64_t tsn_checksum(const void *bytes, size_t count) {
  const unsigned char *byte = bytes;
  uint64_t sum = 0xCBF29CE484222325u;
  for (size_t i = 0; i < count; i++) {
    /* The analyzer loses sight of headers that pread() filled. */
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
    sum = (sum ^ byte[i]) * 0x100000001B3u;
  }
  return sum;
}

#endif
