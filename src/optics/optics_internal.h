/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of this module; README.md lists them in calling order. */
#ifndef TSN_OPTICS_INTERNAL_H
#define TSN_OPTICS_INTERNAL_H

#include <stdbool.h>
#include <tsanom/optics.h>

#include "core/arena.h"
#include "optics/neighbors.h"
#include "optics/optics_kernel.h"
#include "optics/queue.h"
#include "optics/tree.h"

/* No point. */
#define TSN_OPTICS_NONE UINT32_MAX

/* The input of a call: exactly one of points, matrix and function; a matrix of one point
 * may be NULL. */
typedef struct {
  size_t n;
  const double *points;
  size_t dimensions; /* 0: no points, but distances */
  size_t ld;         /* of points or matrix; 0: a condensed matrix */
  const double *matrix;
  tsanom_optics_distance *function;
  void *user;
} tsn_optics_input;

/* The result by position in the order; core by point. It is copied to the caller's
 * arrays at the end, because a call that is stopped must not modify them. */
typedef struct {
  uint32_t *order, *predecessor;
  double *reachability, *core;
} tsn_optics_result;

/* The caller's poll during a call: 2 n units of work, n for core distances and n for the
 * order. */
typedef struct {
  tsanom_exec counting; /* polls with done = before + the units of the current loop */
  tsanom_exec standing; /* polls with done = before */
  const tsanom_exec *caller;
  uint64_t before, total;
} tsn_optics_progress;

/* A point that may be processed next. */
typedef struct {
  double reach;
  uint32_t number;
  size_t place; /* in the blocks of unprocessed points */
} tsn_optics_candidate;

/* Buffers of the exhaustive search. */
typedef struct {
  double *blocks;   /* unprocessed points, in the layout of optics_kernel.h */
  uint32_t *number; /* their indices */
  double *reach;    /* their reachability */
  uint32_t *from;   /* their predecessor */
  double *limit;    /* larger raw distances do not improve their reachability */
  uint32_t *place;  /* those that may be improved */
  double *distance; /* TSN_OPTICS_QUERIES rows of raw distances for each thread */
  double *query;    /* TSN_OPTICS_QUERIES points for each thread */
  double *nearest;  /* the smallest of each row, min_points for each thread */
  tsn_optics_candidate *candidate; /* one for each thread */
  size_t row_length;               /* elements of a row of distances */
} tsn_optics_exhaustive;

void tsn_optics_exhaustive_layout(tsn_arena *arena, size_t n, size_t dimensions,
                                  size_t min_points, int threads,
                                  tsn_optics_exhaustive *scratch);

/* Order by computing all distances. */
tsanom_status tsn_optics_exhaustive_order(const tsn_optics_input *input,
                                          const tsanom_optics_options *options,
                                          tsn_optics_progress *progress,
                                          const tsn_optics_exhaustive *scratch,
                                          const tsn_optics_result *result);

void tsn_optics_tree_layout(tsn_arena *arena, size_t n, size_t dimensions,
                            tsn_optics_tree *tree);

/* Build the tree of all points; the poll of `standing` may stop it. */
tsanom_status tsn_optics_tree_build(tsn_optics_tree *tree, const tsn_optics_input *input,
                                    const tsanom_exec *standing);

/* Remove the point at a place. */
void tsn_optics_tree_remove(tsn_optics_tree *tree, uint32_t place);

/* Buffers of the search by a tree. */
typedef struct {
  tsn_optics_neighbors neighbors;
  tsn_optics_heap heap;
  tsn_optics_buckets deferred;
  double *reach;   /* by place: smallest key of the published edges to the point */
  uint32_t *place; /* by position in the order: place in the tree */
} tsn_optics_lazy;

void tsn_optics_lazy_layout(tsn_arena *arena, size_t n, size_t dimensions,
                            size_t min_points, int threads, tsn_optics_lazy *scratch);

/* Order by a kd-tree. */
tsanom_status tsn_optics_lazy_order(const tsn_optics_input *input,
                                    const tsanom_optics_options *options,
                                    tsn_optics_progress *progress,
                                    tsn_optics_lazy *scratch,
                                    const tsn_optics_result *result);

/* Reject samples or distances that are out of range. A caller's function is checked as
 * it is called instead. */
tsanom_status tsn_optics_check_input(const tsn_optics_input *input,
                                     const tsanom_exec *exec);

/* Reject a distance: NaN, infinite or negative. */
tsanom_status tsn_optics_check_distance(double distance);

/* Reject a number of points. */
tsanom_status tsn_optics_check_count(size_t n, const char *name, const tsanom_exec *exec);

/* Read the caller's ordering: order and reachability are not NULL. */
tsanom_status tsn_optics_ordering_read(tsanom_optics_ordering *own,
                                       const tsanom_optics_ordering *caller,
                                       const tsanom_exec *exec);

/* Write the number of points to the caller's ordering. */
void tsn_optics_ordering_write(tsanom_optics_ordering *caller,
                               const tsanom_optics_ordering *own);

/* Reject an ordering with an index that is not a point, or a reachability that is NaN or
 * negative. */
tsanom_status tsn_optics_ordering_check(const tsanom_optics_ordering *ordering,
                                        const tsanom_exec *exec);

/* Reject values that are NaN or negative; infinity means undefined. */
tsanom_status tsn_optics_check_heights(const double *values, size_t n, const char *name,
                                       const tsanom_exec *exec);

#endif
