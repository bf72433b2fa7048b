/* SPDX-License-Identifier: BSD-3-Clause */
/* All minimal hitting sets of one connected hypergraph: vertices are attributes, edges
 * are elements, and a hitting set has a vertex of every edge. */
#ifndef TSN_ROUGHSET_ENUMERATE_H
#define TSN_ROUGHSET_ENUMERATE_H

#include "roughset/search_kernel.h"
#include "roughset/table.h"

/* Takes one set of vertices, on the calling thread; TSANOM_OK to go on. */
typedef tsanom_status tsn_rs_sink(void *context, const uint64_t *set);

typedef struct {
  tsn_rs_hypergraph graph;
  tsn_rs_search search;
  uint64_t *sets;   /* found and not yet handed on */
  size_t capacity;  /* of them */
  uint64_t *bitmap; /* for small hypergraphs, two of them */
} tsn_rs_enumeration;

/* Buffers for hypergraphs of up to `vertices` and `edges`: about four times vertices *
 * edges bits. */
void tsn_rs_enumerate_layout(tsn_arena *arena, size_t vertices, size_t edges,
                             tsn_rs_enumeration *enumeration);

/* Hand every minimal hitting set of at most `size_limit` vertices, in an order
 * that depends on nothing else, to the sink. The graph's vertices, edges,
 * vertex_words and edge array must be set. Returns TSANOM_OK, TSANOM_STOPPED if
 * the poll stopped the call, or the status of the sink. */
tsanom_status tsn_rs_enumerate(tsn_rs_enumeration *enumeration, size_t size_limit,
                               const tsanom_exec *exec, tsn_rs_sink *sink, void *context);

#endif
