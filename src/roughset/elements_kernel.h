/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of pairs of packed rows, and the test of absorption: see elements_kernel.c. */
#ifndef TSN_ROUGHSET_ELEMENTS_KERNEL_H
#define TSN_ROUGHSET_ELEMENTS_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "core/isa.h"

/* Rows packed so that a few word operations give the attributes in which two of them
 * differ: each attribute has a field of as many bits as its codes need, fields fill words
 * in order of the attributes and straddle none. Four attributes with codes up to 5, 1, 3
 * and 2:
 *
 *     bit     7 6 | 5 4 | 3 | 2 1 0
 *     field    a3 |  a2 | a1|   a0
 *     high    1 0   1 0   1   1 0 0
 *     low     0 1   0 1   0   0 1 1 */
typedef struct {
  uint64_t *codes;   /* words of each unit */
  size_t words;      /* per unit */
  uint64_t *high;    /* per word: the top bit of each field */
  uint64_t *low;     /* per word: the other bits of the fields */
  uint32_t *offset;  /* per word: number of its first attribute */
  uint64_t *missing; /* set of the missing values of each unit, or NULL */
  size_t set_words;  /* words of an element */
} tsn_rs_packed;

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

/* The first two functions take one unit against consecutive ones, which the sorting by labels
 * makes the pairs to discern; the codes of unit i stay in registers. */
typedef struct {
  /* Set bit e of the bitmap for the element e of unit i and each of the units
   * first <= j < last; one word, at most 26 attributes. */
  void (*mark)(const tsn_rs_packed *packed, size_t i, size_t first, size_t last,
               uint64_t *bitmap);
  /* Write the element of unit i and each of first <= j < last. */
  void (*list)(const tsn_rs_packed *packed, size_t i, size_t first, size_t last,
               uint64_t *sets);
  /* Whether one of the first `blocks` blocks has a subset of the set, whose
   * complement lists `outside_count` attributes. */
  int (*has_subset)(const tsn_rs_transposed *index, size_t blocks, const uint64_t *set,
                    const uint32_t *outside, size_t outside_count);
} tsn_rs_elements_kernels;

TSN_KERNEL_TABLE(tsn_rs_elements_kernels);

#endif
