/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for small hitting sets: see cover_kernel.c. */
#ifndef TSN_ROUGHSET_COVER_KERNEL_H
#define TSN_ROUGHSET_COVER_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/isa.h"

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

#endif
