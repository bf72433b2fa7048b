/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for minimal hitting sets: see search_kernel.c. */
#ifndef TSN_ROUGHSET_SEARCH_KERNEL_H
#define TSN_ROUGHSET_SEARCH_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "core/isa.h"

/* A hypergraph: edges as sets of vertices, and the transpose. Branching reads edges,
 * choosing a vertex reads the transpose, so both are kept as bitsets. */
typedef struct {
  size_t vertices, vertex_words;
  size_t edges, edge_words;
  uint64_t *edge;       /* vertex_words words each */
  uint64_t *occurrence; /* of each vertex: the set of its edges, edge_words words */
  uint32_t *first;      /* of each vertex: the first nonzero word of it */
} tsn_rs_hypergraph;

/* A depth-first search for minimal hitting sets that can be paused and resumed: its stack
 * is in arrays and not in calls. A row of each array belongs to a depth, the number of
 * vertices chosen before; row d of `once` has the edges that exactly one of them hits,
 * row d of `uncovered` those that none hits:
 *
 *     depth    chosen    uncovered    once    candidates
 *       0        -       all edges    none    all vertices
 *       1        v       ...          ...     ...             a row for each depth, so
 *       2        v, w    ...          ...     ...             that leaving is free */
typedef struct {
  tsn_rs_hypergraph graph;
  size_t depth;
  size_t size_limit;          /* sets of more vertices are not looked for */
  uint64_t *uncovered, *once; /* edge_words words a row */
  uint64_t *candidates;       /* vertex_words words a row, as the next two */
  uint64_t *branch;           /* vertices of the chosen edge still to be tried */
  uint64_t *final;            /* vertices that hit all uncovered edges */
  uint32_t *chosen;
  uint64_t nodes; /* counted up */
} tsn_rs_search;

enum {
  TSN_RS_SEARCH_DONE, /* the search is exhausted */
  TSN_RS_SEARCH_FULL, /* no capacity for more sets */
  TSN_RS_SEARCH_NODES /* the node budget is used up */
};

typedef struct {
  /* Open the root, whose rows are set but for branch and final. */
  void (*open)(tsn_rs_search *search);
  /* Search on, writing sets of vertices; at most `capacity`, and about `budget`
   * nodes. Returns TSN_RS_SEARCH_*; `*count` is the number of sets written. */
  int (*run)(tsn_rs_search *search, uint64_t *sets, size_t capacity, uint64_t budget,
             size_t *count);
} tsn_rs_search_kernels;

TSN_KERNEL_TABLE(tsn_rs_search_kernels);

#endif
