/* SPDX-License-Identifier: BSD-3-Clause */
/* All minimal hitting sets of one connected hypergraph: vertices are attributes, edges
 * are elements, and a hitting set has a vertex of every edge. */
#ifndef TSN_ROUGHSET_ENUMERATE_H
#define TSN_ROUGHSET_ENUMERATE_H

#include "roughset/search_kernel.h"
#include "roughset/table.h"

/* Takes one set of vertices, on the calling thread; TSANOM_OK to go on. */
typedef tsanom_status tsn_rs_sink(void *context, const uint64_t *set);

/* One of the searches under way: FREE -> FRESH (origin is set) -> RUNNING (compacted) ->
 * FINISHED -> FREE. A search pauses when its sets fill the buffer or its nodes for a
 * round are used up, and goes on in the next round. */
typedef struct {
  tsn_rs_search origin; /* the node it starts from */
  tsn_rs_search search;
  uint64_t *sets; /* found and not yet handed on */
  size_t count;
  int32_t state;
} tsn_rs_slot;

typedef struct {
  tsn_rs_hypergraph graph;
  tsn_rs_search trunk; /* hands out the nodes the slots start from */
  tsn_rs_slot *slot;
  size_t slots, capacity; /* sets a slot can hold */
  uint64_t *bitmap;       /* for small hypergraphs, two of them */
} tsn_rs_enumeration;

/* Buffers for hypergraphs of up to `vertices` and `edges`. Each slot has its own copy of
 * the hypergraph, of vertices * edges bits twice; with one thread there is one slot. */
void tsn_rs_enumerate_layout(tsn_arena *arena, size_t vertices, size_t edges,
                             const tsanom_exec *exec, tsn_rs_enumeration *enumeration);

/* Hand every minimal hitting set of at most `size_limit` vertices, in an order
 * that depends on nothing else, to the sink. The graph's vertices, edges,
 * vertex_words and edge array must be set. Returns TSANOM_OK, TSANOM_STOPPED if
 * the poll stopped the call, or the status of the sink. */
tsanom_status tsn_rs_enumerate(tsn_rs_enumeration *enumeration, size_t size_limit,
                               const tsanom_exec *exec, tsn_rs_sink *sink, void *context);

#endif
