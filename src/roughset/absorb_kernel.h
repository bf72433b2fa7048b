/* SPDX-License-Identifier: BSD-3-Clause */
/* The test of absorption against a transposed index of sets: see family.c. */
#ifndef TSN_ROUGHSET_ABSORB_KERNEL_H
#define TSN_ROUGHSET_ABSORB_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "core/isa.h"

/* Sets of a block of the transposed index, and words of a bit for each: one register of
 * AVX-512, one cache line a row. */
enum { TSN_RS_BLOCK = 512, TSN_RS_BLOCK_WORDS = TSN_RS_BLOCK / 64 };

/* A transposed index of sets: for each block, a row of TSN_RS_BLOCK_WORDS words
 * for each attribute, whose bit k is set if set k of the block contains it, after a row
 * of the sets that exist; and the intersection of the sets of the block. */
typedef struct {
  const uint64_t *rows;
  const uint64_t *common;
  size_t attributes;
  size_t words; /* of a set */
} tsn_rs_transposed;

typedef struct {
  /* Whether one of the first `blocks` blocks has a subset of the set, whose
   * complement lists `outside_count` attributes. */
  int (*has_subset)(const tsn_rs_transposed *index, size_t blocks, const uint64_t *set,
                    const uint32_t *outside, size_t outside_count);
} tsn_rs_absorb_kernels;

TSN_KERNEL_TABLE(tsn_rs_absorb_kernels);

#endif
