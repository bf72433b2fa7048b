/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSN_RECORD_ALIGN_H
#define TSN_RECORD_ALIGN_H

#include <stddef.h>
#include <stdint.h>

/* The first multiple of `alignment` in a block of any alignment. */
static inline void *tsn_align(void *block, size_t alignment) {
  size_t past = (uintptr_t)block % alignment;
  return (unsigned char *)block + (past ? alignment - past : 0);
}

#endif
