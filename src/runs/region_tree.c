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

/* Regions that may be open in a thread: the stack is an array. */
enum { DEPTH_MOST = 64 };

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

/* Seconds, and counts of the metrics. NaN: not measured. */
typedef struct {
  double cpu, count[TSANOM_REGIONS_METRICS];
} usage;

typedef struct {
  int32_t node, place;
  bool is_function, is_folded; /* folded: its time is in that of another one */
  bool has_parts;
  usage excluded; /* of the thread when it began */
} open_region;

typedef struct {
  open_region open[DEPTH_MOST];
  int32_t thread;
  size_t depth, row;
  double now;
  /* Latest processor time, and the one before it; NaN: none since another event. */
  usage latest, part;
  double count[TSANOM_REGIONS_METRICS]; /* since the latest processor time */
  size_t calls;                         /* of MPI, open in a process */
  double called;
  usage excluded; /* used in calls of MPI, of a process */
} thread_state;

static void forget_counts(thread_state *t) {
  for (size_t m = 0; m < TSANOM_REGIONS_METRICS; m++) t->count[m] = NAN;
}

static void forget_usage(thread_state *t) {
  t->latest.cpu = t->part.cpu = NAN;
  forget_counts(t);
}

static void take_cpu(thread_state *t, double seconds) {
  t->part = t->latest;
  t->latest.cpu = seconds;
  memcpy(t->latest.count, t->count, sizeof t->count);
  forget_counts(t);
}

/* The network serves the calls of MPI, which use it for the program. */
static void exclude_call(thread_state *t) {
  t->excluded.cpu += t->latest.cpu;
  for (size_t m = 0; m < TSANOM_REGIONS_NETWORK_BYTES; m++) {
    t->excluded.count[m] += t->latest.count[m];
  }
}

/* What is used of `all` beside the calls since a region began. */
static usage without_calls(const thread_state *t, const usage *all, const usage *began) {
  usage used = {.cpu = fmax(0, all->cpu - (t->excluded.cpu - began->cpu))};
  for (size_t m = 0; m < TSANOM_REGIONS_METRICS; m++) {
    double excluded = t->excluded.count[m] - began->count[m];
    used.count[m] = all->count[m] - excluded;
    if (used.count[m] < 0) used.count[m] = 0;
  }
  return used;
}

/* Node k is region k - 1. */
static void add(const tsn_region_tree *r, size_t row, int32_t node, const usage *used,
                double visits) {
  if (r->pass != TSN_PASS_ADD) return;
  size_t at = row * r->spmd->data.regions + (size_t)node - 1;
  r->spmd->time[at] += used->cpu;
  r->spmd->value[at] += visits;
  for (int32_t m = 0; m < TSANOM_REGIONS_METRICS; m++) {
    size_t column = tsn_metric_column(r->metrics, m);
    if (column)
      r->spmd->value[column * r->rows * r->spmd->data.regions + at] += used->count[m];
  }
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

/* The part of the innermost region that ends now. */
static tsanom_status add_part(tsn_region_tree *r, thread_state *t, int32_t key,
                              const usage *used) {
  size_t k = t->depth;
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

/* The region on top of the stack ends. */
static void pop(const tsn_region_tree *r, thread_state *t) {
  const open_region *o = &t->open[--t->depth];
  if (isnan(t->latest.cpu) || o->is_folded) return;
  usage used = without_calls(t, &t->latest, &o->excluded);
  add(r, t->row, o->node, &used, 1);
  if (!o->has_parts) add_sample(r, t, o->node, used.cpu);
}

static void push(thread_state *t, open_region o) {
  o.excluded = t->excluded;
  t->open[t->depth++] = o;
}

/* The first region of a thread other than 0 was opened by another thread, perhaps within
 * regions that only that one has seen: it is the first node of the place. Stream 0 is
 * thread 0's, so that its nodes exist by then. */
static int32_t outermost(tsn_region_tree *r, const thread_state *t, int32_t place) {
  if (t->thread > 0 && r->first_of[place]) return r->first_of[place];
  return nested(r, 0, place);
}

/* A program that recurses without end must not grow the tree without end. */
static tsanom_status begin_region(tsn_region_tree *r, thread_state *t, int32_t place) {
  if (t->depth == DEPTH_MOST) {
    return tsn_region_tree_reject(r, TSANOM_E_FORMAT, "more than 64 regions are nested");
  }
  int32_t at =
      t->depth ? nested(r, t->open[t->depth - 1].node, place) : outermost(r, t, place);
  if (at < 0) return tsn_region_tree_no_memory(r);
  push(t, (open_region){.node = at, .place = place});
  return TSANOM_OK;
}

/* Functions that are still open were left by longjmp(): they have no time. */
static tsanom_status end_region(tsn_region_tree *r, thread_state *t) {
  tsanom_status status = TSANOM_OK;
  while (t->depth && t->open[t->depth - 1].is_function) t->depth--;
  if (t->depth == 0) return TSANOM_OK; /* its begin was dropped or lost */
  if (!isnan(t->part.cpu)) status = add_part(r, t, TSN_NODE_REST, &t->part);
  pop(r, t);
  return status;
}

/* A function that a region consists of has its place. */
static bool is_open(const thread_state *t, int32_t place) {
  size_t k = t->depth;
  while (k > 0 && t->open[k - 1].place != place) k--;
  return k > 0;
}

static tsanom_status begin_function(tsn_region_tree *r, thread_state *t, int32_t place) {
  if (r->left_out[place] || t->depth == DEPTH_MOST || (!t->depth && !r->is_process)) {
    return TSANOM_OK;
  }
  int32_t outer = t->depth ? t->open[t->depth - 1].node : 0;
  bool is_folded = is_open(t, place) || r->nodes.count > TSN_REGIONS_MOST;
  int32_t at = is_folded ? outer : tsn_region_nodes_within(&r->nodes, outer, place);
  if (at < 0) return tsn_region_tree_no_memory(r);
  push(t, (open_region){
              .node = at, .place = place, .is_function = true, .is_folded = is_folded});
  return TSANOM_OK;
}

/* The innermost function of that place; those in it were left by longjmp(). */
static void end_function(const tsn_region_tree *r, thread_state *t, int32_t place) {
  size_t k = t->depth;
  while (k > 0 && t->open[k - 1].is_function && t->open[k - 1].place != place) k--;
  if (k == 0 || !t->open[k - 1].is_function || r->left_out[place]) return;
  t->depth = k;
  pop(r, t);
}

/* A call of MPI in a process, which is not a region of it. False: it is none. The calls
 * have their processor times, if functions were recorded. */
static bool take_call(tsn_region_tree *r, thread_state *t,
                      const tsanom_runs_event *event) {
  bool begins = event->kind == TSANOM_REGIONS_BEGIN;
  size_t place = (size_t)event->place;
  if (!r->is_process || place >= r->places->count ||
      !tsn_places_at(r->places, place)->about.call) {
    return false;
  }
  if (begins && t->calls++ == 0) t->called = t->now;
  if (!begins && t->calls > 0 && --t->calls == 0) {
    r->waiting += r->pass == TSN_PASS_ADD ? t->now - t->called : 0;
    if (!isnan(t->latest.cpu)) exclude_call(t);
  }
  return true;
}

/* The processor time comes before the end, while its region is still open. */
static tsanom_status take_event(tsn_region_tree *r, thread_state *t, uint32_t tag) {
  tsanom_runs_event event;
  tsanom_status status = TSANOM_OK;
  (void)tsanom_runs_decode(tag, &event);
  if (event.kind == TSANOM_REGIONS_TASK || event.kind == TSANOM_REGIONS_WORK) {
    return TSANOM_OK;
  }
  if (event.kind == TSANOM_REGIONS_CPU) {
    r->measured++;
    take_cpu(t, event.cpu_s);
    return TSANOM_OK;
  }
  if (event.kind == TSANOM_REGIONS_METRIC) {
    if (event.place < TSANOM_REGIONS_METRICS) t->count[event.place] = event.count;
    return TSANOM_OK;
  }
  if (event.kind == TSANOM_REGIONS_SHARE) {
    status = add_part(r, t, TSN_NODE_PART + event.place, &t->latest);
  } else if (event.kind == TSANOM_REGIONS_FUNCTION) {
    if (event.threads == TSANOM_REGIONS_ENTERED) {
      status = begin_function(r, t, event.place);
    } else if (event.threads == TSANOM_REGIONS_LEFT) {
      end_function(r, t, event.place);
    }
  } else if (!take_call(r, t, &event)) {
    status = event.kind == TSANOM_REGIONS_BEGIN ? begin_region(r, t, event.place)
                                                : end_region(r, t);
  }
  forget_usage(t);
  return status;
}

tsanom_status tsn_region_tree_read(tsn_region_tree *r) {
  for (size_t i = 0; i < tsn_region_tree_streams(r); i++) {
    const tsn_stream *stream = tsn_channel_stream(r->channel, i);
    const uint32_t *tag = stream->tag.data;
    const double *time = stream->time.data;
    thread_state t = {.thread = stream->thread};
    forget_usage(&t);
    if ((size_t)t.thread >= r->threads) continue; /* it has functions only */
    t.row = *tsn_region_tree_row(r, (size_t)t.thread);
    if (t.row == TSANOM_NONE) continue;
    for (size_t k = 0; k < stream->count; k++) {
      t.now = time[k];
      tsanom_status status = take_event(r, &t, tag[k]);
      if (status < 0) return status;
    }
  }
  return TSANOM_OK;
}

/* The node of a row of totals, added if needed; -1: out of memory. 0: it is of none, as
 * the rows in computations, whose regions have rows in the thread too. */
static int32_t node_of_row(tsn_region_tree *r, const tsanom_regions_row *row) {
  int32_t parent = r->node_of[row->parent];
  if (row->kind != TSANOM_REGIONS_ROW_REGION) return 0;
  if (parent > 0) return nested(r, parent, (int32_t)row->place);
  bool is_of_thread = r->profile->row[row->parent].kind == TSANOM_REGIONS_ROW_THREAD;
  const thread_state t = {.thread = (int32_t)row->thread};
  return is_of_thread ? outermost(r, &t, (int32_t)row->place) : 0;
}

/* A thread has events in front of its totals; one that lost them is left out. */
tsanom_status tsn_region_tree_read_totals(tsn_region_tree *r) {
  for (size_t k = 1; k < r->profile->count; k++) {
    const tsanom_regions_row *row = &r->profile->row[k];
    size_t own =
        row->thread < r->threads ? *tsn_region_tree_row(r, row->thread) : TSANOM_NONE;
    if (row->kind == TSANOM_REGIONS_ROW_THREAD && own != TSANOM_NONE) {
      double last = tsn_profile_end(row, r->channel->header.first.nanoseconds);
      if (last > r->last) r->last = last;
    }
    int32_t at = own == TSANOM_NONE ? 0 : node_of_row(r, row);
    if (at < 0) return tsn_region_tree_no_memory(r);
    r->node_of[k] = at;
    if (!at || !row->cpu) continue;
    r->measured++;
    usage used = {.cpu = (double)row->cpu * 1e-9};
    for (size_t m = 0; m < TSANOM_REGIONS_METRICS; m++) used.count[m] = NAN;
    add(r, own, at, &used, (double)row->visits);
  }
  return TSANOM_OK;
}

void tsn_region_tree_leave_out(tsn_region_tree *r) {
  for (size_t i = 0; i < tsn_region_tree_streams(r); i++) {
    const tsn_stream *stream = tsn_channel_stream(r->channel, i);
    const uint32_t *tag = stream->tag.data;
    for (size_t k = 0; k < stream->count; k++) {
      tsanom_runs_event event;
      (void)tsanom_runs_decode(tag[k], &event);
      if (event.kind == TSANOM_REGIONS_FUNCTION &&
          event.threads == TSANOM_REGIONS_DROPPED) {
        r->left_out[event.place] = true;
      }
    }
  }
}
