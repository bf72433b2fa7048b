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

/* A block is skipped if all its sets share an attribute outside of the set: sorted by
 * size and words, neighbors often have their last words in common. Without this the
 * elements of 500, 1000 and 2000 rows of 40 attributes take 1.3, 1.7 and 2.6 times as
 * long (AMD EPYC Zen 5). */
static int has_subset(const tsn_rs_transposed *index, size_t blocks, const uint64_t *set,
                      const uint32_t *outside, size_t outside_count) {
  for (size_t b = 0; b < blocks; b++) {
    const uint64_t *common = index->common + b * index->words;
    uint64_t beyond = 0;
    for (size_t w = 0; w < index->words; w++) beyond |= common[w] & ~set[w];
    if (beyond) continue;
    const uint64_t *rows = index->rows + b * (index->attributes + 1) * TSN_RS_BLOCK_WORDS;
    if (block_has_subset(rows, outside, outside_count)) return 1;
  }
  return 0;
}

const tsn_rs_absorb_kernels TSN_LEVEL(tsn_rs_absorb_kernels) = {.has_subset = has_subset};
