/* SPDX-License-Identifier: BSD-3-Clause */
/* Small hitting sets by local search: upper bounds for minimum.c. */
#ifndef TSN_ROUGHSET_LOCAL_SEARCH_H
#define TSN_ROUGHSET_LOCAL_SEARCH_H

#include "roughset/cover_kernel.h"
#include "roughset/table.h"

typedef struct {
  uint64_t *chosen;   /* the current set, */
  size_t size;        /* and its vertices */
  uint32_t *hits;     /* of each edge: vertices of the set in it */
  uint32_t *weight;   /* of each edge: 1 + the moves that left it unhit */
  uint32_t *missed;   /* edges not hit, */
  uint32_t *position; /* and the position of each of them */
  size_t missed_count;
  size_t weighted; /* edges that have a weight */
  /* Of each vertex: the weight of the edges that only it hits, if it is in the set, or
   * that it would be the first to hit; and the last move that it took part in. */
  uint64_t *score, *moved;
  uint64_t moves;
} tsn_rs_local;

void tsn_rs_local_layout(tsn_arena *arena, size_t vertices, size_t edges,
                         tsn_rs_local *local);

/* Forget all weights; start from the vertices of `set`. */
void tsn_rs_local_start(tsn_rs_local *local, const uint64_t *set, size_t words);

/* Search for a set of `size` vertices that hits all edges of `cover`, from the current
 * set on: local->chosen. At most `moves` moves, a few microseconds each. The result
 * depends on the edges and the calls so far only. */
bool tsn_rs_local_search(tsn_rs_local *local, const tsn_rs_cover *cover, size_t size,
                         uint64_t moves);

#endif
