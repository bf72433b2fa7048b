/* SPDX-License-Identifier: BSD-3-Clause */
/* The discernibility elements of a table's units: for a pair x, y the set of attributes
 *
 *     c_xy = {a : a(x) != a(y)}
 *
 * A set of attributes discerns all that must be discerned iff it meets every nonempty
 * element (A. Skowron and C. Rauszer, 1992); reducts are the minimal such sets. */
#ifndef TSN_ROUGHSET_ELEMENTS_H
#define TSN_ROUGHSET_ELEMENTS_H

#include "roughset/family.h"
#include "roughset/units.h"

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
