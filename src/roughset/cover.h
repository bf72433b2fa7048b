/* SPDX-License-Identifier: BSD-3-Clause */
/* Smallest hitting sets of a growing list of edges. The caller asks for sets of at most k
 * vertices and is shown each one that hits all edges so far; it may answer with an edge
 * that the set misses, after which the search goes on from there and not from the start.
 * minimum.c learns edges from a table in this way; paper_choice.c adds none. */
#ifndef TSN_ROUGHSET_COVER_H
#define TSN_ROUGHSET_COVER_H

#include "roughset/cover_kernel.h"
#include "roughset/table.h"

/* Buffers for `vertices`, `edges`, and sets of up to `deepest`: about 2 * vertices *
 * edges bits, and deepest * edges bits for the stack. */
void tsn_rs_cover_layout(tsn_arena *arena, size_t vertices, size_t edges, size_t deepest,
                         tsn_rs_cover *cover);

/* Forget all edges; sets have `vertices` vertices from now on. Edges are kept from one
 * search to the next otherwise. */
void tsn_rs_cover_clear(tsn_rs_cover *cover, size_t vertices);

/* Add an edge that the chosen vertices do not hit; false: no capacity. */
bool tsn_rs_cover_add(tsn_rs_cover *cover, const uint64_t *edge);

/* Called for every candidate: it may add edges that cover->chosen does not hit, and then
 * returns TSANOM_OK; TSANOM_INFEASIBLE: the candidate is accepted, continue; any other
 * status ends the search. */
typedef tsanom_status tsn_rs_cover_examine(void *context, tsn_rs_cover *cover);

/* Call `examine` for every set of at most `limit` vertices, among the candidates given,
 * that hits all edges and is minimal. Returns TSANOM_OK after the last, TSANOM_STOPPED if
 * the poll stopped the call, TSANOM_PARTIAL if there was no capacity for an edge, or the
 * status of `examine`. */
tsanom_status tsn_rs_cover_search(tsn_rs_cover *cover, size_t limit,
                                  const uint64_t *candidates, const tsanom_exec *exec,
                                  tsn_rs_cover_examine *examine, void *context);

#endif
