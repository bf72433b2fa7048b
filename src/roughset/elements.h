/* SPDX-License-Identifier: BSD-3-Clause */
/* The discernibility elements of a table's units: for a pair x, y the set of attributes
 *
 *     c_xy = {a : a(x) != a(y)}
 *
 * A set of attributes discerns all that must be discerned iff it meets every nonempty
 * element (A. Skowron and C. Rauszer, 1992); reducts are the minimal such sets. */
#ifndef TSN_ROUGHSET_ELEMENTS_H
#define TSN_ROUGHSET_ELEMENTS_H

#include "roughset/units.h"

/* A family of distinct sets of attributes in bounded memory: elements are inserted in any
 * order, duplicates are dropped, and absorption drops every set that contains another
 * one. A set of attributes that meets the smaller set meets the larger one too, so that
 * hitting sets are the same without it (the absorption law of Boolean algebra). */
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

/* Sort by size and words; with `absorb` drop the sets that contain another.
 * After it nothing is inserted. The poll is not called. */
void tsn_rs_family_sort(tsn_rs_family *family, bool absorb, const tsanom_exec *exec);

/* Buffers of both ways, since the choice depends on the table: O(rows * attributes) for
 * the units, element_limit sets, and bitmaps of 2^min(attributes, 26) bits. */
typedef struct {
  tsn_rs_unit_buffers units;
  tsn_rs_family family;
  uint64_t *bitmap; /* one for each thread, and one more */
  uint64_t *batch;  /* elements of a batch of pairs */
} tsn_rs_element_buffers;

void tsn_rs_elements_layout(tsn_arena *arena, const tsn_rs_input *input,
                            tsn_rs_element_buffers *buffers);

/* Fill buffers->family with the elements, sorted, as sets of the attributes that
 * vary. Returns TSANOM_OK, TSANOM_STOPPED with what was found so far, or
 * TSANOM_E_WORKSPACE if there are more than the family can hold. */
tsanom_status tsn_rs_elements_find(const tsn_rs_input *input,
                                   tsn_rs_element_buffers *buffers);

/* Write element i of the family as a set of the table's attributes. */
void tsn_rs_elements_write(const tsn_rs_element_buffers *buffers, size_t i, size_t words,
                           uint64_t *set);

#endif
