/* SPDX-License-Identifier: BSD-3-Clause */
/* A Lagrangian lower bound at the nodes of the search for hitting sets: see bound.c. */
#ifndef TSN_ROUGHSET_BOUND_H
#define TSN_ROUGHSET_BOUND_H

#include "roughset/cover.h"

typedef struct tsn_rs_bound {
  size_t capacity; /* edges that fit: rows from here on are cuts, */
  size_t most;     /* cuts that fit */
  int64_t *weight; /* multipliers of all edges, then of all cuts */
  size_t weighted; /* edges that have a multiplier */
  uint64_t *cut;
  size_t cuts;
  /* Of one node: */
  uint32_t *row; /* edges and cuts that no chosen vertex is in */
  size_t rows;
  int32_t *slope;   /* of each of them */
  int64_t *reduced; /* the reduced cost of each vertex */
  uint64_t *cheap;  /* the vertices of negative reduced cost */
  uint32_t *times;  /* of each vertex: iterations with a negative one */
  uint64_t *score;  /* of each vertex, to branch on */
  uint32_t *tight;  /* edges that cuts are made of */
  uint64_t *odd;    /* the vertices in one of two edges */
} tsn_rs_bound;

void tsn_rs_bound_layout(tsn_arena *arena, size_t vertices, size_t edges,
                         tsn_rs_bound *bound);

/* Whether some edge, known or not, is a subset of `set`: it may be added to the cover. */
typedef bool tsn_rs_bound_oracle(void *context, const uint64_t *set);

/* Solve the root of a search with the edges of `cover` and the limit `limit`, and derive
 * cuts: `*lower` vertices at least hit all edges. Returns TSANOM_OK or TSANOM_STOPPED. */
tsanom_status tsn_rs_bound_prepare(tsn_rs_bound *bound, tsn_rs_cover *cover,
                                   const tsanom_exec *exec, size_t limit,
                                   const uint64_t *candidates,
                                   tsn_rs_bound_oracle *oracle, void *context,
                                   size_t *lower);

/* At the node of `cover`: drop candidates that no set of at most cover->limit vertices
 * contains, and return the vertex to branch on; SIZE_MAX: no such set exists. */
size_t tsn_rs_bound_branch(tsn_rs_bound *bound, tsn_rs_cover *cover);

#endif
