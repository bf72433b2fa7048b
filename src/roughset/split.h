/* SPDX-License-Identifier: BSD-3-Clause */
/* Smallest sets of attributes that discern all rows, of tables of two values: see
 * split_kernel.c for the search, which needs no elements. */
#ifndef TSN_ROUGHSET_SPLIT_H
#define TSN_ROUGHSET_SPLIT_H

#include "roughset/split_kernel.h"
#include "roughset/units.h"

/* Buffers for as many rows as the search takes: at most TSN_RS_SPLIT_ROWS. */
void tsn_rs_split_layout(tsn_arena *arena, size_t rows, size_t attributes,
                         tsn_rs_split *split);

/* Read the rows of the units. Returns false if the search is not for them: they are too
 * many, an attribute has more than two values, or two units share a label. */
bool tsn_rs_split_load(tsn_rs_split *split, const tsanom_roughset_table *table,
                       const tsn_rs_units *units);

/* The root of a search: all sets contain the core. */
void tsn_rs_split_root(tsn_rs_split *split, const uint32_t *core, size_t core_size,
                       const uint64_t *candidates, int32_t isa);

/* Called for every set found; TSANOM_INFEASIBLE: continue; any other status ends the
 * search. */
typedef tsanom_status tsn_rs_split_examine(void *context, const uint32_t *chosen,
                                           size_t count);

/* Call `examine` for every set of at most `limit` <= TSN_RS_SPLIT_DEPTH attributes that
 * discerns all rows, if none of its subsets does; the core is part of them. Once for
 * each root. Returns TSANOM_OK after the last, TSANOM_STOPPED if the poll stopped the
 * call, or the status of `examine`. */
tsanom_status tsn_rs_split_search(tsn_rs_split *split, size_t limit,
                                  const tsanom_exec *exec, tsn_rs_split_examine *examine,
                                  void *context);

#endif
