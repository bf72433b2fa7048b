/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a family has a subset of a set: see family.c for the index and an example. */
#include "roughset/absorb_kernel.h"

/* The sets of a block that have none of the attributes outside are the subsets;
 * the candidates are soon gone when there are none. */
static inline int block_has_subset(const uint64_t *restrict rows,
                                   const uint32_t *restrict outside, size_t count) {
  uint64_t left[TSN_RS_BLOCK_WORDS];
  for (size_t w = 0; w < TSN_RS_BLOCK_WORDS; w++) left[w] = rows[w];
  for (size_t k = 0; k < count; k++) {
    const uint64_t *restrict row = rows + (outside[k] + 1) * (size_t)TSN_RS_BLOCK_WORDS;
    uint64_t any = 0;
    for (size_t w = 0; w < TSN_RS_BLOCK_WORDS; w++) {
      left[w] &= ~row[w];
      any |= left[w];
    }
    if (!any) return 0;
  }
  return 1;
}

static int has_subset(const tsn_rs_transposed *index, size_t blocks,
                      const uint32_t *outside, size_t count) {
  const size_t words = (index->attributes + 1) * TSN_RS_BLOCK_WORDS;
  for (size_t b = 0; b < blocks; b++) {
    if (block_has_subset(index->rows + b * words, outside, count)) return 1;
  }
  return 0;
}

const tsn_rs_absorb_kernels TSN_LEVEL(tsn_rs_absorb_kernels) = {.has_subset = has_subset};
