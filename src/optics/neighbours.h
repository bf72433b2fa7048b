/* SPDX-License-Identifier: BSD-3-Clause */
/* What each point keeps of its neighbours, found in a kd-tree. Here points go by
 * their place in the tree, so that those near each other in space are near in memory
 * and threads that search for different points write to different cache lines. */
#ifndef TSN_OPTICS_NEIGHBOURS_H
#define TSN_OPTICS_NEIGHBOURS_H

#include <stdbool.h>
#include <tsanom/optics.h>

#include "core/arena.h"
#include "optics/optics_kernel.h"
#include "optics/tree.h"

/* Neighbours that a point keeps. */
enum { TSN_OPTICS_KEPT = 12 };

/* Neighbours of a point that were not processed when it last looked: the first ones
 * by (max(core distance, distance), number). One cache line; their keys are apart. */
typedef struct {
  double known;        /* any other has a larger key, or this and a larger number */
  uint32_t time;       /* place of the point in the order, once processed */
  uint8_t next, count; /* of those kept */
  bool complete;       /* there are no others */
  uint32_t neighbour[TSN_OPTICS_KEPT]; /* places */
} tsn_optics_list;

typedef struct {
  size_t min_points;
  double eps;
  tsn_optics_nearest *nearest;
  tsn_optics_tree tree;
  double *core;          /* by place */
  tsn_optics_list *list; /* by place */
  double *key;           /* TSN_OPTICS_KEPT for each place */
  double *found_key;     /* what a search finds, for each thread */
  uint32_t *found_number, *found_place;
} tsn_optics_neighbours;

/* Whether a look at what is near costs little. */
static inline bool tsn_optics_few_dimensions(size_t dimensions) {
  return dimensions <= 8;
}

void tsn_optics_neighbours_layout(tsn_arena *arena, size_t n, size_t dimensions,
                                  size_t min_points, int threads,
                                  tsn_optics_neighbours *neighbours);

/* Find the core distances and first neighbours of the places [begin, end): a body of
 * tsn_parallel_for. */
void tsn_optics_neighbours_find(void *neighbours, size_t begin, size_t end, int thread);

/* Fetch what letting the point at a place look farther needs. */
static inline void tsn_optics_neighbours_fetch(const tsn_optics_neighbours *neighbours,
                                               uint32_t place) {
  __builtin_prefetch(&neighbours->list[place], 1);
  __builtin_prefetch(&neighbours->core[place]);
  __builtin_prefetch(&neighbours->tree.rows[place * neighbours->tree.dimensions]);
}

/* Let the point at a place, of which all neighbours kept are used up, look farther:
 * it then has neighbours that are not processed, or knows of none to a larger key. */
void tsn_optics_neighbours_renew(const tsn_optics_neighbours *neighbours, uint32_t place);

#endif
