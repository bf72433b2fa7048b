/* SPDX-License-Identifier: BSD-3-Clause */
/* A reduct found greedily by refining the partition of a table's classes: see
 * greedy.c. */
#ifndef TSN_ROUGHSET_GREEDY_H
#define TSN_ROUGHSET_GREEDY_H

#include "roughset/units.h"

/* Buffers, O(rows * attributes): cells and counters are numbered in 32 bits, so rows
 * times attributes must be below 2^32. */
typedef struct {
  uint32_t *cell;    /* counter of the code of each unit and attribute, row-major */
  uint32_t *count;   /* counters of codes, zero between uses */
  uint32_t *order;   /* units of the blocks not yet pure, block by block */
  uint32_t *ordered; /* the same after the next refinement */
  uint32_t *begin;   /* of each block in `order`, and its end */
  uint32_t *begun;
  uint64_t *left;   /* per attribute: pairs it would leave left */
  uint32_t *chosen; /* attributes in order of choice */
  uint32_t *pair;
  uint32_t *column;
  int32_t *values;          /* a column, while it is being coded */
  int32_t *least, *largest; /* per attribute, as the next two */
  uint32_t *base;           /* counter of the value 0 */
  uint8_t *sparse;          /* whether the values were numbered */
} tsn_rs_greedy_buffers;

void tsn_rs_greedy_layout(tsn_arena *arena, const tsn_rs_input *input,
                          tsn_rs_greedy_buffers *buffers);

/* The reduct of units that are classes, grown from their core: buffers->chosen,
 * *size attributes in increasing order. Returns TSANOM_OK or TSANOM_STOPPED. */
tsanom_status tsn_rs_greedy_classes(const tsn_rs_input *input, tsn_rs_unit_buffers *units,
                                    const uint64_t *core, tsn_rs_greedy_buffers *buffers,
                                    size_t *size);

#endif
