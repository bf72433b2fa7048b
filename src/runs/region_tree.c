/* SPDX-License-Identifier: BSD-3-Clause */
/* Region events as region times by thread, or of one process.
 *
 * A region is a place in the code within the regions that are open there: a node of a
 * tree whose root is the program. So are the functions called in it, and its parts: what
 * a thread does between two worksharing constructs.
 *
 *   events of a thread           tree                  regions
 *   begin 5                      program               5              parent: none
 *     begin 7   cpu   end        ├── 5                 5 > 7          parent: 5
 *     cpu   share 9              │   ├── 7             5 > until 9    parent: 5
 *     cpu                        │   ├── until 9       5 > rest       parent: 5
 *   cpu end                      │   └── rest          7              parent: none
 *   begin 7   cpu   end          └── 7
 *
 * Its time in a thread is the processor time that the thread spent in it, which the
 * event before the end of the region has; where two come before it, the first is that of
 * the part behind the last construct. Elapsed time would include waiting for the
 * other threads at the end of the region, and so make all threads look the same. Streams
 * of one thread number are added up.
 *
 * Where visits are short, only some that the recorder draws at random are measured: these
 * stand for all of their node.
 *
 * The samples of a time are the visits of its node; or their parts, if it has any, so
 * that a region which the whole program runs in has many too (region_error.c).
 *
 * Threads are compared in their regions, so that functions count only there. Of a process
 * the functions outside of regions count too, and of its threads only the first. Calls of
 * MPI are taken out of its times: while they wait they may use the processor.
 *
 * Functions that were called too often for the recorder to follow are left out as a
 * whole, and those that are open already count once.
 *
 * Each event costs O(regions nested directly in the open one). */
#include "runs/region_tree.h"

#include <math.h>
#include <string.h>

#include "core/fault.h"

tsanom_status tsn_region_tree_reject(const tsn_region_tree *r, tsanom_status status,
                                     const char *text) {
  tsn_file_place place = {.file = r->channel->directory};
  return tsn_reject_file(r->exec, status, &place, "%s", text);
}

tsanom_status tsn_region_tree_no_memory(const tsn_region_tree *r) {
  return tsn_region_tree_reject(r, TSANOM_E_MEMORY, "out of memory");
}

/* The node of a place within a region, added if needed; -1: out of memory. `first_of` is
 * 0 for none, which no place has: node 0 is the program. */
static int32_t nested(tsn_region_tree *r, int32_t parent, int32_t place) {
  int32_t at = tsn_region_nodes_within(&r->nodes, parent, place);
  if (at > 0 && !r->first_of[place]) r->first_of[place] = at;
  return at;
}

/* What the tree knows of one that is open. Folded: its time is in that of another one, or
 * in none. */
typedef struct {
  int32_t node, place; /* place -1: it does not count */
  bool is_function, is_folded;
  bool has_parts;
  tsn_usage excluded; /* of the thread when it began */
} open_region;

typedef struct {
  open_region open[TSN_WALK_DEPTH]; /* those of the walk */
  int32_t thread;
  size_t row;
  size_t calls; /* of MPI, open in a process */
  double called;
  tsn_usage excluded; /* used in calls of MPI, of a process */
} thread_state;

/* The network serves the calls of MPI, which use it for the program. */
static void exclude_call(thread_state *t, const tsn_usage *used) {
  t->excluded.cpu += used->cpu;
  for (size_t m = 0; m < TSN_REGIONS_NETWORK_BYTES; m++) {
    t->excluded.count[m] += used->count[m];
  }
}

/* What is used of `all` beside the calls since a region began. */
static tsn_usage without_calls(const thread_state *t, const tsn_usage *all,
                               const tsn_usage *began) {
  tsn_usage used = {.cpu = fmax(0, all->cpu - (t->excluded.cpu - began->cpu))};
  for (size_t m = 0; m < TSN_REGIONS_METRICS; m++) {
    double excluded = t->excluded.count[m] - began->count[m];
    used.count[m] = all->count[m] - excluded;
    if (used.count[m] < 0) used.count[m] = 0;
  }
  return used;
}

/* Node k is region k - 1. */
static void add(const tsn_region_tree *r, size_t row, int32_t node, const tsn_usage *used,
                double visits) {
  if (r->pass != TSN_PASS_ADD) return;
  size_t at = row * r->spmd->data.regions + (size_t)node - 1;
  r->spmd->time[at] += used->cpu;
  r->spmd->value[at] += visits;
  for (int32_t m = 0; m < TSN_REGIONS_METRICS; m++) {
    size_t column = tsn_metric_column(r->metrics, m);
    if (column)
      r->spmd->value[column * r->rows * r->spmd->data.regions + at] += used->count[m];
  }
}

/* A visit that was not measured, where the recorder draws those that are. */
static void add_unmeasured(const tsn_region_tree *r, size_t row, int32_t node) {
  if (r->pass != TSN_PASS_ADD) return;
  r->unmeasured[row * r->spmd->data.regions + (size_t)node - 1]++;
}

/* One of the times that the time of a node is the sum of: its visits, or the parts of
 * these. */
static void add_sample(const tsn_region_tree *r, const thread_state *t, int32_t node,
                       double seconds) {
  if (r->is_process || r->has_totals || r->pass == TSN_PASS_FIND) return;
  size_t at = t->row * r->spmd->data.regions + (size_t)node - 1;
  if (r->pass == TSN_PASS_ADD) {
    r->samples.count[at]++;
  } else {
    tsn_spmd_add_sample(&r->samples, at, seconds);
  }
}

/* The part of the innermost of `depth` regions that ends now. */
static tsanom_status add_part(tsn_region_tree *r, thread_state *t, size_t depth,
                              int32_t key, const tsn_usage *used) {
  size_t k = depth;
  while (k > 0 && t->open[k - 1].is_function) k--;
  if (k == 0 || isnan(used->cpu) || r->has_totals) return TSANOM_OK;
  int32_t at = tsn_region_nodes_within(&r->nodes, t->open[k - 1].node, key);
  if (at < 0) return tsn_region_tree_no_memory(r);
  t->open[k - 1].has_parts = true;
  add(r, t->row, at, used, 1);
  add_sample(r, t, at, used->cpu);
  add_sample(r, t, t->open[k - 1].node, used->cpu);
  return TSANOM_OK;
}

/* The first region of a thread other than 0 was opened by another thread, perhaps within
 * regions that only that one has seen: it is the first node of the place. Stream 0 is
 * thread 0's, so that its nodes exist by then. */
static int32_t outermost(tsn_region_tree *r, const thread_state *t, int32_t place) {
  if (t->thread > 0 && r->first_of[place]) return r->first_of[place];
  return nested(r, 0, place);
}

/* A function that a region consists of has its place. */
static bool is_open(const thread_state *t, size_t depth, int32_t place) {
  size_t k = depth;
  while (k > 0 && t->open[k - 1].place != place) k--;
  return k > 0;
}

/* A call of MPI is no region of a process, nor is a function that is left out. */
static tsanom_status begin(tsn_region_tree *r, thread_state *t, const tsn_visit *v) {
  int32_t outer = v->depth ? t->open[v->depth - 1].node : 0;
  bool is_function = v->what == TSN_WALK_FUNCTION;
  bool is_left_out =
      v->what == TSN_WALK_CALL ||
      (is_function && (r->left_out[v->place] || (!v->regions && !r->is_process)));
  bool is_folded = is_left_out || (is_function && (is_open(t, v->depth, v->place) ||
                                                   r->nodes.count > TSN_REGIONS_MOST));
  int32_t at = is_folded     ? outer
               : is_function ? tsn_region_nodes_within(&r->nodes, outer, v->place)
               : outer       ? nested(r, outer, v->place)
                             : outermost(r, t, v->place);
  if (at < 0) return tsn_region_tree_no_memory(r);
  if (v->what == TSN_WALK_CALL && t->calls++ == 0) t->called = v->time;
  t->open[v->depth] = (open_region){.node = at,
                                    .place = is_left_out ? -1 : v->place,
                                    .is_function = v->what != TSN_WALK_REGION,
                                    .is_folded = is_folded,
                                    .excluded = t->excluded};
  return TSANOM_OK;
}

/* The calls have their processor times, if functions were recorded. */
static void end_call(tsn_region_tree *r, thread_state *t, const tsn_visit *v) {
  if (--t->calls > 0) return;
  if (r->pass == TSN_PASS_ADD) r->waiting += v->time - t->called;
  if (!isnan(v->used->cpu)) exclude_call(t, v->used);
}

/* One that was left, or interrupted, has no time. */
static tsanom_status end(tsn_region_tree *r, thread_state *t, const tsn_visit *v) {
  const open_region *o = &t->open[v->depth];
  tsanom_status status = TSANOM_OK;
  if (v->what == TSN_WALK_CALL) end_call(r, t, v);
  if (v->what == TSN_WALK_REGION && v->known && !isnan(v->last_part->cpu)) {
    status = add_part(r, t, v->depth + 1, TSN_NODE_REST, v->last_part);
  }
  if (!v->known || o->is_folded) return status;
  if (isnan(v->used->cpu)) {
    add_unmeasured(r, t->row, o->node);
    return status;
  }
  tsn_usage used = without_calls(t, v->used, &o->excluded);
  add(r, t->row, o->node, &used, 1);
  if (!o->has_parts) add_sample(r, t, o->node, used.cpu);
  return status;
}

static tsanom_status take(tsn_region_tree *r, thread_state *t, const tsn_visit *v) {
  if (v->kind == TSN_VISIT_CPU) r->measured++;
  if (v->kind == TSN_VISIT_BEGIN) return begin(r, t, v);
  if (v->kind == TSN_VISIT_END) return end(r, t, v);
  return v->kind == TSN_VISIT_PART
             ? add_part(r, t, v->depth, TSN_NODE_PART + v->place, v->used)
             : TSANOM_OK;
}

static tsn_walk walk_of(const tsn_region_tree *r) {
  return tsn_walk_begin(r->is_process ? r->places : NULL, true);
}

tsanom_status tsn_region_tree_read(tsn_region_tree *r) {
  for (size_t i = 0; i < tsn_region_tree_streams(r); i++) {
    const tsn_stream *stream = tsn_channel_stream(r->channel, i);
    thread_state t = {.thread = stream->thread};
    if ((size_t)t.thread >= r->threads) continue; /* it has functions only */
    t.row = *tsn_region_tree_row(r, (size_t)t.thread);
    if (t.row == TSANOM_NONE) continue;
    tsn_walk walk = walk_of(r);
    tsn_visit v;
    while (tsn_walk_next(&walk, stream, &v)) {
      tsanom_status status = take(r, &t, &v);
      if (status < 0) return status;
    }
  }
  return TSANOM_OK;
}

/* The node of a row of totals, added if needed; -1: out of memory. 0: it is of none, as
 * the rows in computations, whose regions have rows in the thread too. */
static int32_t node_of_row(tsn_region_tree *r, const tsn_regions_row *row) {
  int32_t parent = r->node_of[row->parent];
  if (row->kind != TSN_REGIONS_ROW_REGION) return 0;
  if (parent > 0) return nested(r, parent, (int32_t)row->place);
  bool is_of_thread = r->profile->row[row->parent].kind == TSN_REGIONS_ROW_THREAD;
  const thread_state t = {.thread = (int32_t)row->thread};
  return is_of_thread ? outermost(r, &t, (int32_t)row->place) : 0;
}

/* A thread has events in front of its totals; one that lost them is left out. */
tsanom_status tsn_region_tree_read_totals(tsn_region_tree *r) {
  for (size_t k = 1; k < r->profile->count; k++) {
    const tsn_regions_row *row = &r->profile->row[k];
    size_t own =
        row->thread < r->threads ? *tsn_region_tree_row(r, row->thread) : TSANOM_NONE;
    if (row->kind == TSN_REGIONS_ROW_THREAD && own != TSANOM_NONE) {
      double last = tsn_profile_end(row, r->channel->header.first.nanoseconds);
      if (last > r->last) r->last = last;
    }
    int32_t at = own == TSANOM_NONE ? 0 : node_of_row(r, row);
    if (at < 0) return tsn_region_tree_no_memory(r);
    r->node_of[k] = at;
    if (!at || !row->cpu) continue;
    r->measured++;
    tsn_usage used = {.cpu = (double)row->cpu * 1e-9};
    for (size_t m = 0; m < TSN_REGIONS_METRICS; m++) used.count[m] = NAN;
    add(r, own, at, &used, (double)row->visits);
  }
  return TSANOM_OK;
}

void tsn_region_tree_leave_out(tsn_region_tree *r) {
  for (size_t i = 0; i < tsn_region_tree_streams(r); i++) {
    const tsn_stream *stream = tsn_channel_stream(r->channel, i);
    if (!tsn_stream_has(stream, TSN_REGIONS_FUNCTION)) continue;
    tsn_walk walk = walk_of(r);
    tsn_visit v;
    while (tsn_walk_next(&walk, stream, &v)) {
      if (v.kind == TSN_VISIT_DROPPED) r->left_out[v.place] = true;
    }
  }
}
