/* SPDX-License-Identifier: BSD-3-Clause */
/* Smallest hitting sets of a growing list of edges. The caller asks for sets of at most k
 * vertices and is shown each one that hits all edges so far; it may answer with an edge
 * that the set misses, after which the search goes on from there and not from the start.
 * minimum.c learns edges from a table in this way; paper_choice.c adds none. */
#ifndef TSN_ROUGHSET_COVER_H
#define TSN_ROUGHSET_COVER_H

#include "core/isa.h"
#include "roughset/table.h"

/* A depth-first search for the hitting sets of at most `limit` vertices, to which edges
 * may be added at every candidate it stops at. Row d of an array belongs to the node at
 * which d vertices are chosen. Rows of edges have a stride for all edges that fit, so
 * that adding one moves nothing. */
typedef struct {
  size_t vertices, vertex_words;
  size_t edges, edge_words; /* words in use */
  size_t capacity;          /* edges that fit */
  size_t stride;            /* words from one row of edges to the next */
  uint64_t *edge;           /* vertex_words words each */
  uint64_t *occurrence;     /* of each vertex: the set of its edges */
  uint64_t *uncovered;
  uint64_t *candidates; /* vertex_words words a row, as the next */
  uint64_t *branch;     /* vertices still to be tried */
  uint32_t *chosen;
  size_t depth, limit;
  uint64_t nodes; /* counted up */
} tsn_rs_cover;

enum {
  TSN_RS_COVER_DONE,     /* the root is exhausted */
  TSN_RS_COVER_NODES,    /* the node budget is used up */
  TSN_RS_COVER_CANDIDATE /* chosen[0 ... depth - 1] hits all edges */
};

typedef struct {
  /* Open the node at `depth`, whose rows are set but for branch. */
  void (*open)(tsn_rs_cover *cover);
  /* Search on from an opened node; about `budget` nodes. At a candidate the search
   * stands at its node: open it if edges were added, else leave it. */
  int (*run)(tsn_rs_cover *cover, uint64_t budget);
} tsn_rs_cover_kernels;

TSN_KERNEL_TABLE(tsn_rs_cover_kernels);

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
