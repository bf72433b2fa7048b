/* SPDX-License-Identifier: BSD-3-Clause */
/* A lower bound of DTW in integers of 16 bits, of a batch of candidates at once: the last
 * bound before DTW itself. coarse.c derives it. */
#ifndef TSN_SEARCH_COARSE_H
#define TSN_SEARCH_COARSE_H

#include "search/search_internal.h"

/* Whether the bound of each candidate of a batch exceeds the cut-off, by more than all
 * rounding; none if there is no cut-off, or if the samples do not suit the grid. False:
 * the poll asked to stop, and `removed` is not set. */
bool tsn_search_coarse(const tsn_search_pairs *p, const tsn_search_batch *batch,
                       const tsn_search_coarse_buffers *b, bool *removed);

/* Buffers for series of n samples. */
void tsn_search_coarse_layout(tsn_arena *arena, size_t n, tsn_search_coarse_buffers *b);

#endif
