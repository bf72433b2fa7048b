/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on families of subsets as bitmaps: see lattice_kernel.c. */
#ifndef TSN_ROUGHSET_LATTICE_KERNEL_H
#define TSN_ROUGHSET_LATTICE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "core/isa.h"

/* Families of subsets of m attributes as bitmaps of 2^m bits, in at least one word: bit S
 * is set iff S, read as a number, is in the family. Input and output do not overlap. Each
 * function takes O(m * 2^m / 64) word operations or fewer, whatever the family. */
typedef struct {
  /* Add every superset of a member. */
  void (*close_up)(uint64_t *family, unsigned m);
  /* Of a family closed upwards, write the members without a smaller member. */
  void (*minimal)(const uint64_t *closed, unsigned m, uint64_t *minimal);
  /* Write the sets whose complement is not in the family. */
  void (*dual)(const uint64_t *family, unsigned m, uint64_t *dual);
  /* Add the members of another family. */
  void (*unite)(uint64_t *family, const uint64_t *other, unsigned m);
} tsn_rs_lattice_kernels;

TSN_KERNEL_TABLE(tsn_rs_lattice_kernels);

/* Words of a bitmap. */
static inline size_t tsn_rs_lattice_words(unsigned m) {
  return m < 6 ? 1 : (size_t)1 << (m - 6);
}

#endif
