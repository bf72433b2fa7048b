/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of nearest neighbors that each point keeps; see neighbors.c. A point is named
 * by its place in the tree, not by its index: points that are near each other in space
 * are near each other in memory, and threads that search for different points write to
 * different cache lines. This and the deferred edges of queue.h together reduced the time
 * of 100,000 points in 2 dimensions from 233 to 214 ms. */
#ifndef TSN_OPTICS_NEIGHBORS_H
#define TSN_OPTICS_NEIGHBORS_H

#include <stdbool.h>
#include <tsanom/optics.h>

#include "core/arena.h"
#include "optics/optics_kernel.h"
#include "optics/tree.h"

/* Neighbors in a list: with 12 places of 4 bytes and the 16 bytes before them a list is
 * one cache line. The default of 5 min_points fits with a margin for later edges. */
enum { TSN_OPTICS_KEPT = 12 };

/* The first neighbors of a point by (key, index), key = max(core distance, distance),
 * among those that were unprocessed when the list was filled. Their keys are separate. */
typedef struct {
  double known;        /* each neighbor not listed has a larger key, or this key and a
                          larger index: a bound below which no search is needed */
  uint32_t time;       /* position of the point in the order, once processed */
  uint8_t next, count; /* [next, count) are not yet used */
  bool complete;       /* no neighbor within eps is missing */
  uint32_t neighbor[TSN_OPTICS_KEPT]; /* places */
} tsn_optics_list;

/* What a search needs, and the lists of all points. Threads share it: each writes to the
 * lists of the places that it was given and to its own result of a search. */
typedef struct {
  size_t min_points;
  double eps;
  tsn_optics_nearest *nearest; /* of the metric and the instruction set */
  tsn_optics_tree tree;
  double *core;          /* by place */
  tsn_optics_list *list; /* by place */
  double *key;           /* TSN_OPTICS_KEPT for each place */
  double *found_key;     /* result of a search, for each thread */
  uint32_t *found_number, *found_place;
} tsn_optics_neighbors;

/* Whether searches in a small radius are much faster than in a large one. In more
 * dimensions nearly all boxes of the tree meet even a small ball. */
static inline bool tsn_optics_few_dimensions(size_t dimensions) {
  return dimensions <= 8;
}

void tsn_optics_neighbors_layout(tsn_arena *arena, size_t n, size_t dimensions,
                                 size_t min_points, int threads,
                                 tsn_optics_neighbors *neighbors);

/* Find the core distances and first lists of the places [begin, end): a body of
 * tsn_parallel_for. The tree must be complete: no point may have been removed. */
void tsn_optics_neighbors_find(void *neighbors, size_t begin, size_t end, int thread);

/* Refill the used-up list of a processed point: afterwards it has unprocessed
 * neighbors, or `known` is larger than before, or it is complete. */
void tsn_optics_neighbors_extend(const tsn_optics_neighbors *neighbors, uint32_t place);

#endif
