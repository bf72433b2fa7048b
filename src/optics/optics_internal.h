/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSN_OPTICS_INTERNAL_H
#define TSN_OPTICS_INTERNAL_H

#include <stdbool.h>
#include <tsanom/optics.h>

#include "core/arena.h"
#include "optics/neighbours.h"
#include "optics/optics_kernel.h"
#include "optics/queue.h"
#include "optics/tree.h"

/* No point. */
#define TSN_OPTICS_NONE UINT32_MAX

/* What the points are known by: exactly one of points, matrix, function. */
typedef struct {
  size_t n;
  const double *points;
  size_t dimensions, leading;
  const double *matrix; /* leading 0: condensed */
  tsanom_optics_distance *function;
  void *user;
} tsn_optics_input;

/* The result by position in the order; core by point. */
typedef struct {
  uint32_t *order, *predecessor;
  double *reachability, *core;
} tsn_optics_result;

/* A refused distance. */
typedef struct {
  tsanom_status status;
  size_t where[2];
} tsn_optics_fault;

/* exec with a poll that counts both halves of the work: finding core distances
 * and ordering, n units each. */
typedef struct {
  tsanom_exec exec;
  const tsanom_exec *caller;
  uint64_t before, total;
} tsn_optics_progress;

/* A point that may be processed next. */
typedef struct {
  double reach;
  uint32_t number;
  size_t place; /* where it is gathered */
} tsn_optics_candidate;

/* Scratch of the exhaustive search. */
typedef struct {
  double *blocks;   /* points not yet processed, as optics_kernel.h has them */
  uint32_t *number; /* which these are */
  double *reach;    /* their reachability */
  uint32_t *from;   /* their predecessor */
  double *limit;    /* raw distances above are no nearer than their reachability */
  uint32_t *place;  /* those that may be nearer */
  double *distance; /* TSN_OPTICS_QUERIES rows of raw distances for each thread */
  double *query;    /* TSN_OPTICS_QUERIES points for each thread */
  double *nearest;  /* the smallest of each row, min_points for each thread */
  tsn_optics_candidate *candidate; /* one for each thread */
  size_t row_length;               /* elements of a row of distances */
} tsn_optics_exhaustive;

void tsn_optics_exhaustive_layout(tsn_arena *arena, size_t n, size_t dimensions,
                                  size_t min_points, int threads,
                                  tsn_optics_exhaustive *scratch);

/* Order by looking at all distances. TSANOM_STOPPED, or the status in `fault`.
 */
tsanom_status tsn_optics_exhaustive_order(const tsn_optics_input *input,
                                          const tsanom_optics_options *options,
                                          tsn_optics_progress *progress,
                                          const tsn_optics_exhaustive *scratch,
                                          const tsn_optics_result *result,
                                          tsn_optics_fault *fault);

void tsn_optics_tree_layout(tsn_arena *arena, size_t n, size_t dimensions,
                            tsn_optics_tree *tree);

/* exec: without a poll. */
void tsn_optics_tree_build(tsn_optics_tree *tree, const tsn_optics_input *input,
                           const tsanom_exec *exec);

/* Take away the point at a place. */
void tsn_optics_tree_remove(tsn_optics_tree *tree, uint32_t place);

/* Scratch of the search by a tree. */
typedef struct {
  tsn_optics_neighbours neighbours;
  tsn_optics_offers offers;
  tsn_optics_buckets waiting;
  double *reach;   /* by place: the best offer made to the point */
  uint32_t *place; /* in the tree, of each point in the order */
} tsn_optics_lazy;

void tsn_optics_lazy_layout(tsn_arena *arena, size_t n, size_t dimensions,
                            size_t min_points, int threads, tsn_optics_lazy *scratch);

/* Order by a kd-tree. TSANOM_STOPPED, or done. */
tsanom_status tsn_optics_lazy_order(const tsn_optics_input *input,
                                    const tsanom_optics_options *options,
                                    tsn_optics_progress *progress,
                                    tsn_optics_lazy *scratch,
                                    const tsn_optics_result *result);

/* Labels at a cut, all arguments checked; returns the number of clusters. */
size_t tsn_optics_labels(const size_t *order, const double *reachability,
                         const double *core, size_t n, double eps, int32_t *labels);

/* Whether n is a count of points; else why not. */
tsanom_status tsn_optics_check_count(size_t n);

/* Whether the n values are distances: not NaN and >= 0. */
bool tsn_optics_are_distances(const double *values, size_t n);

#endif
