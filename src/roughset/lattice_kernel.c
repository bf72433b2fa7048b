/* SPDX-License-Identifier: BSD-3-Clause */
/* The lattice of subsets, one sweep for each attribute: attributes 0-5 move bits within a
 * word, the others whole words. For attributes a, b, c:
 *
 *     bit      0    1    2    3    4    5    6    7
 *     subset   {}   a    b    ab   c    ac   bc   abc
 *     add b              0    1              4    5       "bit 2 |= bit 0", 2 places up
 *
 * close_up: after the sweep of attribute v, the family is closed under adding any of the
 * attributes 0 ... v; so one sweep each suffices, as in the zeta transform of subsets.
 *
 * minimal: a member of a family closed upwards is minimal iff no subset with one
 * attribute less is a member. For arbitrary families this would not be enough.
 *
 * Hitting sets follow from both (reducts.c): a set meets every element iff its
 * complement contains none, that is, iff the complement is not in the closure of the
 * elements.
 *
 * All is done in place or in one pass over 2^m bits, without a branch on the data. */
#include "roughset/lattice_kernel.h"

/* The bits of a word whose subset lacks attribute v < 6. */
static const uint64_t without[6] = {0x5555555555555555u, 0x3333333333333333u,
                                    0x0F0F0F0F0F0F0F0Fu, 0x00FF00FF00FF00FFu,
                                    0x0000FFFF0000FFFFu, 0x00000000FFFFFFFFu};

/* The sweeps of attributes 0-5 are joined in one pass over the words. */
static void close_up(uint64_t *restrict family, unsigned m) {
  size_t words = tsn_rs_lattice_words(m);
  unsigned low = m < 6 ? m : 6;
  for (size_t w = 0; w < words; w++) {
    uint64_t bits = family[w];
    for (unsigned v = 0; v < low; v++) bits |= (bits & without[v]) << (1u << v);
    family[w] = bits;
  }
  for (size_t step = 1; step < words; step *= 2) {
    for (size_t block = 0; block < words; block += 2 * step) {
      const uint64_t *restrict from = family + block;
      uint64_t *restrict to = family + block + step;
#pragma omp simd
      for (size_t w = 0; w < step; w++) to[w] |= from[w];
    }
  }
}

/* Each sweep looks at `closed`, not at what it has removed so far: a member with a
 * smaller member goes even if that one goes too. */
static void minimal(const uint64_t *restrict closed, unsigned m, uint64_t *restrict out) {
  size_t words = tsn_rs_lattice_words(m);
  unsigned low = m < 6 ? m : 6;
  for (size_t w = 0; w < words; w++) {
    uint64_t bits = closed[w], above = 0;
    for (unsigned v = 0; v < low; v++) above |= (bits & without[v]) << (1u << v);
    out[w] = bits & ~above;
  }
  for (size_t step = 1; step < words; step *= 2) {
    for (size_t block = 0; block < words; block += 2 * step) {
      const uint64_t *restrict from = closed + block;
      uint64_t *restrict to = out + block + step;
#pragma omp simd
      for (size_t w = 0; w < step; w++) to[w] &= ~from[w];
    }
  }
}

/* Reverse the bits of a word: exchange neighbors, then pairs, and so on. */
static inline uint64_t reverse(uint64_t bits) {
  for (unsigned v = 0; v < 6; v++) {
    bits = (bits & without[v]) << (1u << v) | (bits >> (1u << v) & without[v]);
  }
  return bits;
}

/* The complement of S is 2^m - 1 - S: the bitmap backwards. */
static void dual(const uint64_t *restrict family, unsigned m, uint64_t *restrict out) {
  size_t words = tsn_rs_lattice_words(m);
  if (m < 6) {
    uint64_t bits = (uint64_t)1 << (1u << m);
    out[0] = ~(reverse(family[0]) >> (64 - (1u << m))) & (bits - 1);
    return;
  }
#pragma omp simd
  for (size_t w = 0; w < words; w++) out[w] = ~reverse(family[words - 1 - w]);
}

static void unite(uint64_t *restrict family, const uint64_t *restrict other, unsigned m) {
  size_t words = tsn_rs_lattice_words(m);
#pragma omp simd
  for (size_t w = 0; w < words; w++) family[w] |= other[w];
}

const tsn_rs_lattice_kernels TSN_LEVEL(tsn_rs_lattice_kernels) = {
    .close_up = close_up, .minimal = minimal, .dual = dual, .unite = unite};
