/* SPDX-License-Identifier: BSD-3-Clause */
/* The regions of a process while its row is made, by events (process_times.c) and by
 * totals (process_totals.c): nodes, which are regions of the result, and shapes, which
 * are parallel regions within those around them, in whatever computation. The names of
 * nodes are in the set that all processes share. */
#ifndef TSN_RUNS_PROCESS_TREE_H
#define TSN_RUNS_PROCESS_TREE_H

#include <math.h>

#include "runs/names.h"
#include "runs/spmd.h"

enum { TSN_NODE_NONE = -1, TSN_NODE_PROGRAM = 0 };

/* Sums of neighboring samples, of which there is an unknown number. */
enum { TSN_NODE_BUCKETS = 64 };

/* A region of the result. Node 0 is the program, which is none. */
typedef struct {
  uint32_t region; /* its number in the names; not of the program */
  int32_t parent;
  int32_t links; /* nodes of the shapes directly in it */
  double time, visits;
  double count[TSN_REGIONS_METRICS]; /* NaN: not known */
  size_t samples, span;              /* span: those of a bucket */
  double bucket[TSN_NODE_BUCKETS];
} tsn_node;

/* A parallel region within those around it. Shape 0 is outside of all. */
typedef struct {
  int32_t parent, place;
  int32_t inner, next;
  bool is_pending; /* time was added since the last computation */
  double time, visits;
} tsn_shape;

typedef struct {
  const char *directory; /* for messages */
  const tsn_places *places;
  tsn_names *regions; /* those of all processes */
  const tsanom_exec *exec;
  tsn_pool scratch;
  tsn_array nodes, shapes, links;
  size_t node_count, shape_count, link_count;
  int32_t *node;        /* by region: its node; 0: none */
  int32_t *computation; /* by place: the node of the computation that it ends; 0: none */
} tsn_process_tree;

static inline tsn_node *tsn_node_at(const tsn_process_tree *tree, int32_t at) {
  return (tsn_node *)tree->nodes.data + at;
}

static inline tsn_shape *tsn_shape_at(const tsn_process_tree *tree, int32_t at) {
  return (tsn_shape *)tree->shapes.data + at;
}

/* `count`: of the metrics; NULL: not known. */
static inline void tsn_node_add(const tsn_process_tree *tree, int32_t at, double time,
                                double visits, const double *count) {
  tsn_node *n = tsn_node_at(tree, at);
  n->time += time;
  n->visits += visits;
  for (size_t m = 0; m < TSN_REGIONS_METRICS; m++) {
    n->count[m] += count ? count[m] : NAN;
  }
}

/* One more sample of its time. */
void tsn_node_sample(const tsn_process_tree *tree, int32_t at, double time);

/* The samples in TSN_SPMD_BATCHES batches, in order, which add up to its time. */
void tsn_node_batches(const tsn_node *node, double *batch);

/* The program and the shape outside of all; false: out of memory. Zero the tree before,
 * but for its first members, and free it in any case. */
bool tsn_process_tree_start(tsn_process_tree *tree);
void tsn_process_tree_free(tsn_process_tree *tree);

const tsn_place *tsn_process_tree_place(const tsn_process_tree *tree, int32_t place);

/* The shape of a place within another, added if needed; TSN_NODE_NONE: out of memory, as
 * of all that return one. */
int32_t tsn_shape_in(tsn_process_tree *tree, int32_t parent, int32_t place);

/* The node of the computation that a call ends, in the node of its function. */
int32_t tsn_node_before(tsn_process_tree *tree, int32_t place);

/* The node of a shape in a computation, or in the program. */
int32_t tsn_node_of_shape(tsn_process_tree *tree, int32_t within, int32_t at);

tsanom_status tsn_process_tree_reject(const tsn_process_tree *tree, tsanom_status status,
                                      const char *text);

/* Out of memory, or too many regions. */
tsanom_status tsn_process_tree_no_memory(const tsn_process_tree *tree);

/* Of a process: seconds in MPI, and of computations without a processor; the time of its
 * last event. */
typedef struct {
  double waiting, stalled, last;
} tsn_process_sums;

/* process_totals.c: add the totals by which the process continues where its events end.
 * `has_calls`: it calls MPI, so that its regions are in computations. */
tsanom_status tsn_process_add_totals(tsn_process_tree *tree, const tsn_profile *profile,
                                     uint64_t began, bool has_calls,
                                     tsn_process_sums *sums);

/* Whether computations are in the totals. */
bool tsn_process_has_calls(const tsn_profile *profile);

#endif
