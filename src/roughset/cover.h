/* SPDX-License-Identifier: BSD-3-Clause */
/* Smallest hitting sets of a growing list of edges. */
#ifndef TSN_ROUGHSET_COVER_H
#define TSN_ROUGHSET_COVER_H

#include "roughset/cover_kernel.h"
#include "roughset/table.h"

/* Buffers for up to so many vertices and edges, and sets of up to `deepest`. */
void tsn_rs_cover_layout(tsn_arena *arena, size_t vertices, size_t edges, size_t deepest,
                         tsn_rs_cover *cover);

/* Forget all edges. */
void tsn_rs_cover_clear(tsn_rs_cover *cover, size_t vertices);

/* Add an edge that the chosen vertices do not hit; false if there is no room. */
bool tsn_rs_cover_add(tsn_rs_cover *cover, const uint64_t *edge);

/* Asked about every candidate: may add edges that cover->chosen does not hit and
 * then answers TSANOM_OK; TSANOM_INFEASIBLE says that nothing is wrong with it
 * and the search should go on; any other answer ends the search. */
typedef tsanom_status tsn_rs_cover_judge(void *context, tsn_rs_cover *cover);

/* Put every set of at most `limit` vertices, among the candidates given, that
 * hits all edges, and has no more than it needs for that, before the judge.
 * Returns TSANOM_OK when there is no other, TSANOM_STOPPED if the poll asked to
 * stop, TSANOM_PARTIAL if an edge had no room, or the judge's answer. */
tsanom_status tsn_rs_cover_search(tsn_rs_cover *cover, size_t limit,
                                  const uint64_t *candidates, const tsanom_exec *exec,
                                  tsn_rs_cover_judge *judge, void *context);

#endif
