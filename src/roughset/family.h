/* SPDX-License-Identifier: BSD-3-Clause */
/* A family of distinct sets of attributes in bounded memory: elements are inserted in any
 * order, duplicates are dropped, and absorption drops every set that contains another
 * one. A set of attributes that meets the smaller set meets the larger one too, so that
 * hitting sets are the same without it (the absorption law of Boolean algebra). */
#ifndef TSN_ROUGHSET_FAMILY_H
#define TSN_ROUGHSET_FAMILY_H

#include "roughset/elements_kernel.h"
#include "roughset/table.h"

typedef struct {
  size_t attributes, words; /* of the sets now held */
  size_t capacity, count;
  uint64_t *sets;
  /* The hash index: number of a set + 1; 0: free. Valid until the sets are sorted. Its
   * first `used` slots, a power of two, are in use. */
  uint32_t *slot;
  size_t slots, used;
  /* What absorption needs: a sorted copy of the sets, their sizes and order, the
   * transposed index of the sets kept so far, and for each thread the complement of a
   * set. */
  uint64_t *spare;
  uint32_t *size, *order, *scratch;
  uint64_t *rows, *common;
  uint8_t *absorbed;
  uint32_t *outside;
} tsn_rs_family;

/* Buffers for up to `capacity` sets of up to `attributes` attributes: about three times
 * the memory of the sets. */
void tsn_rs_family_layout(tsn_arena *arena, size_t attributes, size_t capacity,
                          int threads, tsn_rs_family *family);

/* Empty the family, whose sets have `attributes` attributes from now on. */
void tsn_rs_family_clear(tsn_rs_family *family, size_t attributes);

/* Add a set unless it is a member; false: no capacity. */
bool tsn_rs_family_insert(tsn_rs_family *family, const uint64_t *set);

/* Add a set known to be new, outside of the hash index; false: no capacity. */
bool tsn_rs_family_append(tsn_rs_family *family, const uint64_t *set);

/* Sort by size and words; with `absorb` drop the sets that contain another.
 * Insertions after it need tsn_rs_family_reindex(). The poll is not called. */
void tsn_rs_family_sort(tsn_rs_family *family, bool absorb, const tsanom_exec *exec);

/* Make the hash index anew. */
void tsn_rs_family_reindex(tsn_rs_family *family);

#endif
