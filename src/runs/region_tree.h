/* SPDX-License-Identifier: BSD-3-Clause */
/* What one pass over the region events of a run needs and finds: region_tree.c makes the
 * passes, region_rows.c the matrix. */
#ifndef TSN_RUNS_REGION_TREE_H
#define TSN_RUNS_REGION_TREE_H

#include "runs/metrics.h"
#include "runs/region_nodes.h"
#include "runs/spmd.h"
#include "runs/walk.h"

typedef struct {
  const char *directory; /* of the run of threads */
  const tsn_channel *channel;
  const tsn_profile *profile; /* of threads */
  int32_t *node_of;           /* by row of the profile; 0: of no node */
  tsn_places *places;
  bool symbols, is_process;
  const tsanom_exec *exec;
  tsn_pool scratch;
  tsn_region_nodes nodes;
  int32_t first_of[TSN_REGIONS_PLACES_MAX]; /* first node of each place; 0: none */
  bool left_out[TSN_REGIONS_PLACES_MAX];    /* functions */
  /* size_t, by thread number: its row in the matrices; TSANOM_NONE: it recorded nothing.
   */
  tsn_array row_of;
  size_t threads, rows;
  uint32_t metrics; /* those of the run, by bits */
  /* Find the nodes; add their times to the matrices; put the samples into batches. */
  enum { TSN_PASS_FIND, TSN_PASS_ADD, TSN_PASS_BATCH } pass;
  double *unmeasured;       /* visits without a processor time, by cell of the matrix */
  bool has_totals;          /* which have neither parts nor samples */
  tsn_spmd_samples samples; /* of threads */
  /* Processor times found; without any, the run was recorded without them. */
  size_t measured;
  /* Times of the first and the last record of the run, in seconds. */
  double first, last;
  double waiting; /* of a process: in MPI */
  tsn_spmd *spmd;
} tsn_region_tree;

static inline size_t *tsn_region_tree_row(const tsn_region_tree *r, size_t thread) {
  return (size_t *)r->row_of.data + thread;
}

/* Streams that are read: of a process only the first. */
static inline size_t tsn_region_tree_streams(const tsn_region_tree *r) {
  size_t count = r->channel->stream_count;
  return r->is_process && count > 1 ? 1 : count;
}

/* One pass over the events. */
tsanom_status tsn_region_tree_read(tsn_region_tree *r);

/* And over the totals, by which threads continue where their events end. */
tsanom_status tsn_region_tree_read_totals(tsn_region_tree *r);

/* Mark the functions to leave out. */
void tsn_region_tree_leave_out(tsn_region_tree *r);

/* Reject the run; returns the status. */
tsanom_status tsn_region_tree_reject(const tsn_region_tree *r, tsanom_status status,
                                     const char *text);
tsanom_status tsn_region_tree_no_memory(const tsn_region_tree *r);

#endif
