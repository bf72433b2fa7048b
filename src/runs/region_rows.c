/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix of region times from region events: a row for each thread, or one row for a
 * process. One pass over the events, behind one that finds the functions to leave out
 * where functions were recorded. The vital signs add what processors explain
 * (spmd.c). */
#include <math.h>
#include <string.h>
#include <tsanom/record.h>

#include "core/fault.h"
#include "core/size.h"
#include "record/regions.h"
#include "runs/spmd.h"
#include "runs/walk.h"

/* The tree of the regions of a run: places in the code within each other.
 *
 * A node is named by its path, so that equal paths of several processes are one region:
 *
 *   solve (a.c:12)
 *   ├── solve (a.c:12) > until solve (a.c:15)
 *   ├── solve (a.c:12) > smooth
 *   └── solve (a.c:12) > rest
 *
 * The k-th node of a path is "PATH #k": two places can have one name, for example two
 * loops of a function without line numbers.
 *
 * What a node is known by within its parent: a place, for a region or a function; a place
 * and this, for the part of a region that ends there; or this alone, for the part behind
 * the last of these. */
enum {
  TSN_NODE_PART = TSN_REGIONS_PLACES_MAX,
  TSN_NODE_REST = 2 * TSN_REGIONS_PLACES_MAX
};

/* What a row of the matrix has in a node: the data of the tree, by node and row. */
typedef struct {
  double time, visits, count[TSN_REGIONS_METRICS];
  /* Visits without a processor time, in all and since the latest with one; and that time. */
  double unmeasured, since, latest;
} region_sums;

/* The last component of a path; NULL: out of memory. */
static const char *own_name(tsn_places *places, bool symbols, tsn_pool *scratch,
                            int32_t key) {
  if (key == TSN_NODE_REST) return "rest";
  bool is_part = key >= TSN_NODE_PART;
  size_t place = (size_t)(is_part ? key - TSN_NODE_PART : key);
  const char *name =
      place < places->count ? tsn_places_name(places, place, symbols) : "unknown place";
  return name && is_part ? tsn_pool_print(scratch, "until %s", name) : name;
}

/* Name all regions of `spmd`, and set their parents; false: out of memory. Node k is region
 * k - 1. */
static bool name_regions(const tsn_tree *nodes, tsn_places *places, bool symbols,
                         tsn_pool *scratch, tsn_spmd *spmd) {
  size_t regions = nodes->count - 1;
  size_t *used = tsn_pool_take(scratch, regions, sizeof *used);
  tsn_names names;
  if (!used || !tsn_names_create(&names, scratch, regions)) return false;
  for (size_t k = 0; k < regions; k++) {
    const tsn_tree_node *n = tsn_tree_node_at(nodes, (int32_t)k + 1);
    const char *name = own_name(places, symbols, scratch, n->key);
    spmd->parent[k] = n->parent - 1;
    if (name && n->parent > 0) {
      name = tsn_pool_print(scratch, "%s > %s", spmd->region[n->parent - 1], name);
    }
    if (!name) return false;
    size_t number = tsn_names_find(&names, name);
    if (number == TSANOM_NONE) {
      number = names.count;
      tsn_names_add(&names, name);
    }
    spmd->region[k] = ++used[number] == 1
                          ? tsn_pool_copy(&spmd->pool, name)
                          : tsn_pool_print(&spmd->pool, "%s #%zu", name, used[number]);
    if (!spmd->region[k]) return false;
  }
  return true;
}

/* One of the times that the time of a node is the sum of. That of a part is one of the
 * region around it, too. */
typedef struct {
  int32_t node;
  uint32_t row;
  double seconds;
} region_sample;

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
 * Where visits are short, only some that the recorder draws at random are measured. One
 * stands for those since the one before, as in the totals (tools/intercept/profile.c): a
 * program has phases, and of long visits more are measured than of short ones.
 *
 * The samples of a time are the visits of its node; or their parts, if it has any, so
 * that a region which the whole program runs in has many too (spmd.c).
 *
 * Threads are compared in their regions, so that functions count only there. Of a process
 * the functions outside of regions count too, and of its threads only the first. Calls of
 * MPI are taken out of its times: while they wait they may use the processor.
 *
 * Functions that were called too often for the recorder to follow are left out as a
 * whole, and those that are open already count once. So are regions of threads in which tasks
 * are created: threads execute them while they wait for their team, at times that are not
 * recorded.
 *
 * Each event costs O(regions nested directly in the open one). */
typedef struct {
  tsn_region_events of;
  int32_t *node_of; /* by row of the profile; 0: of no node */
  const tsanom_exec *exec;
  tsn_pool scratch;
  tsn_reader reader;
  tsn_tree nodes; /* node 0 is the program */
  size_t rows;
  int32_t node_of_place[TSN_REGIONS_PLACES_MAX]; /* see outermost(); 0: none */
  bool left_out[TSN_REGIONS_PLACES_MAX];         /* functions, and regions with tasks */
  /* size_t, by thread number: its row in the matrices; TSANOM_NONE: it recorded nothing.
   */
  tsn_array row_of;
  size_t threads;
  uint32_t metrics;  /* those of the run, by bits */
  bool has_totals;   /* which have neither parts nor samples */
  bool has_tasks;    /* so that regions are left out */
  tsn_array samples; /* region_sample, of threads, in the order of the events */
  size_t sample_count;
  /* Processor times found; without any, the run was recorded without them. */
  size_t measured;
  /* Times of the first and the last record of the run, in seconds. */
  double first, last;
  double waiting; /* of a process: in MPI */
  tsn_spmd *spmd;
  uint32_t *home; /* by row: see tsn_homes_read() */
} region_tree;

static region_sums *sums_at(const region_tree *r, size_t row, int32_t node) {
  return (region_sums *)tsn_tree_data(&r->nodes, node) + row;
}

static size_t *row_of(const region_tree *r, size_t thread) {
  return (size_t *)r->row_of.data + thread;
}

/* Streams that are read: of a process only that of thread 0, before which there are none of its team. */
static size_t streams_of(const region_tree *r) {
  size_t count = r->of.channel->stream_count;
  return r->of.is_process && count ? tsn_channel_leader(r->of.channel) + 1 : count;
}

/* Reject the run; returns the status. */
static tsanom_status reject(const region_tree *r, tsanom_status status,
                            const char *text) {
  return tsn_path_fault(r->exec, status, r->of.channel->directory, "%s", text);
}

static tsanom_status no_memory(const region_tree *r) {
  return reject(r, TSANOM_E_MEMORY, "out of memory");
}

/* The node of a place within a region, added if needed; -1: out of memory. That of a place is
 * 0 for none, which no place has: node 0 is the program. */
static int32_t nested(region_tree *r, int32_t parent, int32_t place) {
  int32_t at = tsn_tree_within(&r->nodes, parent, place);
  bool is_outermost = parent == 0;
  if (at > 0 && (is_outermost || !r->node_of_place[place])) r->node_of_place[place] = at;
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

static void add(const region_tree *r, size_t row, int32_t node, const tsn_usage *used,
                double visits) {
  region_sums *sums = sums_at(r, row, node);
  sums->time += used->cpu * (1 + sums->since);
  sums->visits += visits + sums->since;
  sums->latest = used->cpu;
  sums->since = 0;
  for (size_t m = 0; m < TSN_REGIONS_METRICS; m++) sums->count[m] += used->count[m];
}

/* A visit that was not measured, where the recorder draws those that are. */
static void add_unmeasured(const region_tree *r, size_t row, int32_t node) {
  region_sums *sums = sums_at(r, row, node);
  sums->unmeasured++;
  sums->since++;
}

static tsanom_status add_sample(region_tree *r, const thread_state *t, int32_t node,
                                double seconds) {
  if (r->of.is_process || r->has_totals) return TSANOM_OK;
  if (!tsn_array_reserve(&r->samples, r->exec, r->sample_count, r->sample_count + 1,
                         sizeof(region_sample))) {
    return no_memory(r);
  }
  ((region_sample *)r->samples.data)[r->sample_count++] =
      (region_sample){.node = node, .row = (uint32_t)t->row, .seconds = seconds};
  return TSANOM_OK;
}

/* The part of the innermost of `depth` regions that ends now. */
static tsanom_status add_part(region_tree *r, thread_state *t, size_t depth, int32_t key,
                              const tsn_usage *used) {
  size_t k = depth;
  while (k > 0 && t->open[k - 1].is_function) k--;
  if (k == 0 || t->open[k - 1].is_folded || isnan(used->cpu) || r->has_totals) {
    return TSANOM_OK;
  }
  int32_t at = tsn_tree_within(&r->nodes, t->open[k - 1].node, key);
  if (at < 0) return no_memory(r);
  t->open[k - 1].has_parts = true;
  add(r, t->row, at, used, 1);
  return add_sample(r, t, at, used->cpu);
}

/* The first region of a thread other than 0 was opened by another thread, perhaps within
 * regions that only that one has seen: it is the outermost node of the place, as nested teams of
 * several threads are rare, or else the first one. Stream 0 is thread 0's, so that its nodes exist
 * by then. */
static int32_t outermost(region_tree *r, const thread_state *t, int32_t place) {
  if (t->thread > 0 && r->node_of_place[place]) return r->node_of_place[place];
  return nested(r, 0, place);
}

/* A function that a region consists of has its place. */
static bool is_open(const thread_state *t, size_t depth, int32_t place) {
  size_t k = depth;
  while (k > 0 && t->open[k - 1].place != place) k--;
  return k > 0;
}

/* A call of MPI is no region of a process, nor is a function that is left out. */
static tsanom_status begin(region_tree *r, thread_state *t, const tsn_visit *v) {
  int32_t outer = v->depth ? t->open[v->depth - 1].node : 0;
  bool is_function = v->what == TSN_WALK_FUNCTION;
  bool is_left_out = v->what == TSN_WALK_CALL || r->left_out[v->place] ||
                     (is_function && !v->regions && !r->of.is_process);
  bool is_folded = is_left_out || (is_function && (is_open(t, v->depth, v->place) ||
                                                   r->nodes.count > TSN_REGIONS_MOST));
  int32_t at = is_folded     ? outer
               : is_function ? tsn_tree_within(&r->nodes, outer, v->place)
               : outer       ? nested(r, outer, v->place)
                             : outermost(r, t, v->place);
  if (at < 0) return no_memory(r);
  if (v->what == TSN_WALK_CALL && t->calls++ == 0) t->called = v->time;
  t->open[v->depth] = (open_region){.node = at,
                                    .place = is_left_out ? -1 : v->place,
                                    .is_function = v->what != TSN_WALK_REGION,
                                    .is_folded = is_folded,
                                    .excluded = t->excluded};
  return TSANOM_OK;
}

/* The calls have their processor times, if functions were recorded. */
static void end_call(region_tree *r, thread_state *t, const tsn_visit *v) {
  if (--t->calls > 0) return;
  r->waiting += v->time - t->called;
  if (!isnan(v->used->cpu)) exclude_call(t, v->used);
}

/* One that was left, or interrupted, has no time. */
static tsanom_status end(region_tree *r, thread_state *t, const tsn_visit *v) {
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
  return o->has_parts ? status : add_sample(r, t, o->node, used.cpu);
}

static tsanom_status take(region_tree *r, thread_state *t, const tsn_visit *v) {
  if (v->kind == TSN_VISIT_CPU) r->measured++;
  if (v->kind == TSN_VISIT_BEGIN) return begin(r, t, v);
  if (v->kind == TSN_VISIT_END) return end(r, t, v);
  return v->kind == TSN_VISIT_PART
             ? add_part(r, t, v->depth, TSN_NODE_PART + v->place, v->used)
             : TSANOM_OK;
}

static tsn_walk walk_of(const region_tree *r) {
  return tsn_walk_begin(r->of.is_process ? r->of.places : NULL, true);
}

static tsanom_status read_events(region_tree *r) {
  for (size_t i = 0; i < streams_of(r); i++) {
    const tsn_stream *stream = tsn_reader_open(&r->reader, i);
    thread_state t = {.thread = stream->thread};
    if ((size_t)t.thread >= r->threads) continue; /* it has functions only */
    t.row = *row_of(r, (size_t)t.thread);
    if (t.row == TSANOM_NONE) continue;
    tsn_walk walk = walk_of(r);
    tsn_visit v;
    while (tsn_walk_next(&walk, &r->reader, &v)) {
      tsanom_status status = take(r, &t, &v);
      if (status < 0) return status;
    }
  }
  return r->reader.status;
}

/* The node of a row of totals, added if needed; -1: out of memory. 0: it is of none, as
 * the rows in computations, whose regions have rows in the thread too. */
static int32_t node_of_row(region_tree *r, const tsn_regions_row *row) {
  int32_t parent = r->node_of[row->parent];
  if (row->kind != TSN_REGIONS_ROW_REGION || r->left_out[row->place]) return 0;
  if (parent > 0) return nested(r, parent, (int32_t)row->place);
  bool is_of_thread = r->of.profile->row[row->parent].kind == TSN_REGIONS_ROW_THREAD;
  const thread_state t = {.thread = (int32_t)row->thread};
  return is_of_thread ? outermost(r, &t, (int32_t)row->place) : 0;
}

/* A thread has events in front of its totals; one that lost them is left out. */
static tsanom_status read_totals(region_tree *r) {
  for (size_t k = 1; k < r->of.profile->count; k++) {
    const tsn_regions_row *row = &r->of.profile->row[k];
    size_t own = row->thread < r->threads ? *row_of(r, row->thread) : TSANOM_NONE;
    if (row->kind == TSN_REGIONS_ROW_THREAD && own != TSANOM_NONE) {
      double last = tsn_profile_end(row, r->of.channel->header.first.nanoseconds);
      if (last > r->last) r->last = last;
    }
    int32_t at = own == TSANOM_NONE ? 0 : node_of_row(r, row);
    if (at < 0) return no_memory(r);
    r->node_of[k] = at;
    if (!at || !row->cpu) continue;
    r->measured++;
    tsn_usage used = {.cpu = (double)row->cpu * 1e-9};
    for (size_t m = 0; m < TSN_REGIONS_METRICS; m++) used.count[m] = NAN;
    add(r, own, at, &used, (double)row->visits);
  }
  return TSANOM_OK;
}

/* Mark what to leave out. */
static void leave_out(region_tree *r) {
  for (size_t i = 0; i < streams_of(r); i++) {
    const tsn_stream *stream = tsn_reader_open(&r->reader, i);
    bool has_tasks = !r->of.is_process && tsn_stream_has(stream, TSN_REGIONS_TASK);
    if (!has_tasks && !tsn_stream_has(stream, TSN_REGIONS_FUNCTION)) continue;
    tsn_walk walk = walk_of(r);
    tsn_visit v;
    while (tsn_walk_next(&walk, &r->reader, &v)) {
      if (v.kind == TSN_VISIT_DROPPED) r->left_out[v.place] = true;
      for (size_t k = 0; v.kind == TSN_VISIT_TASKS && k < walk.depth; k++) {
        if (walk.open[k].what != TSN_WALK_REGION) continue;
        r->left_out[walk.open[k].place] = r->has_tasks = true;
      }
    }
  }
}

/* The function with which a thread of a program without teams starts, by its place; -1: it
 * is no such thread. */
static int32_t thread_function(region_tree *r, size_t index) {
  tsn_walk walk = tsn_walk_begin(NULL, true);
  tsn_visit v;
  (void)tsn_reader_open(&r->reader, index);
  if (!tsn_walk_next(&walk, &r->reader, &v) || v.kind != TSN_VISIT_BEGIN) return -1;
  bool is_known = v.place >= 0 && (size_t)v.place < r->of.places->count;
  return is_known && tsn_places_at(r->of.places, (size_t)v.place)->is_thread ? v.place
                                                                             : -1;
}

/* Those of the threads, by stream in `start`, and that of most threads, in *function: threads that
 * start with different functions do different work, and are not compared. -1: there are none. */
static tsanom_status find_function(region_tree *r, int32_t *start, int32_t *function) {
  size_t places = r->of.places->count, threads = 0;
  size_t *count = tsn_pool_take(&r->scratch, places + 1, sizeof *count);
  if (!count) return no_memory(r);
  for (size_t i = 0; i < streams_of(r); i++) {
    int32_t place = start[i] = r->of.is_process ? -1 : thread_function(r, i);
    if (place < 0 || ++count[place] <= threads) continue;
    *function = place;
    threads = count[place];
  }
  return threads == 1
             ? reject(r, TSANOM_E_STATE, "no two threads start with one function")
             : TSANOM_OK;
}

/* A thread that starts takes the number of one that has ended. If a number was that of twice as
 * many threads as another, it is chance which of them worked longer. */
static tsanom_status check_threads(region_tree *r, const int32_t *start,
                                   int32_t function) {
  enum { EVENTS = 3 }; /* of a thread that has ended */
  size_t least = SIZE_MAX, most = 0;
  for (size_t i = 0; i < streams_of(r) && function >= 0; i++) {
    size_t threads = (tsn_channel_stream(r->of.channel, i)->count + EVENTS - 1) / EVENTS;
    if (start[i] != function) continue;
    least = tsn_smaller(least, threads);
    most = tsn_larger(most, threads);
  }
  return most >= 2 * least
             ? reject(r, TSANOM_E_STATE, "threads start and end again and again")
             : TSANOM_OK;
}

/* Threads that recorded regions are the processes; the run lasts from its first record
 * to its last. Rows are in the order of thread numbers, which need not be dense. */
static tsanom_status number_threads(region_tree *r) {
  bool is_first = true;
  int32_t function = -1;
  int32_t *start = tsn_pool_take(&r->scratch, streams_of(r) + 1, sizeof *start);
  if (!start) return no_memory(r);
  tsanom_status found = find_function(r, start, &function);
  if (found == TSANOM_OK) found = check_threads(r, start, function);
  if (found < 0) return found;
  for (size_t i = 0; i < streams_of(r); i++) {
    const tsn_stream *stream = tsn_channel_stream(r->of.channel, i);
    size_t thread = (size_t)stream->thread;
    if (stream->thread < 0) continue;
    if (thread >= TSANOM_RECORD_STREAMS_MAX) {
      return reject(r, TSANOM_E_FORMAT, "a thread number is not below 65536");
    }
    if (stream->count && !r->of.is_process && !tsn_stream_has(stream, TSN_REGIONS_BEGIN))
      continue;
    if (function >= 0 && start[i] != function) continue;
    if (!tsn_array_reserve(&r->row_of, r->exec, r->threads, thread + 1, sizeof(size_t))) {
      return no_memory(r);
    }
    for (; r->threads <= thread; r->threads++) *row_of(r, r->threads) = TSANOM_NONE;
    if (!stream->count) continue;
    double first = tsn_stream_first(r->of.channel, stream),
           last = tsn_stream_last(r->of.channel, stream);
    *row_of(r, thread) = 0;
    if (is_first || first < r->first) r->first = first;
    if (is_first || last > r->last) r->last = last;
    is_first = false;
  }
  for (size_t t = 0; t < r->threads; t++) {
    if (*row_of(r, t) != TSANOM_NONE) *row_of(r, t) = r->rows++;
  }
  return TSANOM_OK;
}

/* The sums of the nodes as matrices. */
static tsanom_status fill(const region_tree *r) {
  tsn_spmd *s = r->spmd;
  size_t regions = r->nodes.count - 1, rows = r->rows;
  size_t cells = tsn_product(rows, regions);
  s->region = (const char **)tsn_pool_take(&s->pool, regions, sizeof *s->region);
  s->parent = tsn_pool_take(&s->pool, regions, sizeof *s->parent);
  s->time = tsn_pool_take(&s->pool, cells, sizeof *s->time);
  if (!s->region || !s->parent || !s->time || !tsn_metrics_take(s, r->metrics, cells)) {
    return no_memory(r);
  }
  s->data.regions = regions;
  s->data.processes = rows;
  for (size_t at = 0; at < cells; at++) {
    const region_sums *sums = sums_at(r, at / regions, (int32_t)(at % regions) + 1);
    s->time[at] = sums->time;
    tsn_metrics_set(s, r->metrics, at, sums->visits, sums->count);
  }
  s->data.elapsed = r->last - r->first;
  tsn_metrics_complete(s);
  return TSANOM_OK;
}

/* What was left out. */
static tsanom_status name_left_out(const region_tree *r) {
  tsn_spmd *s = r->spmd;
  size_t count = 0;
  for (size_t i = 0; i < r->of.places->count; i++) count += r->left_out[i];
  if (!count) return TSANOM_OK;
  s->dropped = (const char **)tsn_pool_take(&s->pool, count, sizeof *s->dropped);
  if (!s->dropped) return no_memory(r);
  for (size_t i = 0; i < r->of.places->count; i++) {
    if (!r->left_out[i]) continue;
    const char *name = tsn_places_name(r->of.places, i, r->of.symbols);
    const char *own = name ? tsn_pool_copy(&s->pool, name) : NULL;
    if (!own) return no_memory(r);
    s->dropped[s->dropped_count++] = own;
  }
  return TSANOM_OK;
}

/* Processes need names if some threads recorded nothing, or have names: "3 (loader)". */
static tsanom_status name_threads(region_tree *r, const tsn_thread_name *name) {
  tsn_spmd *s = r->spmd;
  bool is_needed = r->rows != r->threads;
  for (size_t t = 0; t < r->threads; t++) is_needed |= *name[t].text != '\0';
  if (!is_needed) return TSANOM_OK;
  s->process = (const char **)tsn_pool_take(&s->pool, r->rows, sizeof *s->process);
  if (!s->process) return no_memory(r);
  for (size_t t = 0; t < r->threads; t++) {
    size_t row = *row_of(r, t);
    if (row == TSANOM_NONE) continue;
    s->process[row] = *name[t].text
                          ? tsn_pool_print(&s->pool, "%zu (%s)", t, name[t].text)
                          : tsn_pool_print(&s->pool, "%zu", t);
    if (!s->process[row]) return no_memory(r);
  }
  return TSANOM_OK;
}

/* What the samples of the threads tell. */
static tsanom_status read_samples(region_tree *r) {
  tsn_pool *pool = &r->scratch;
  const tsn_run_header *run = &r->of.channel->header_seen;
  tsn_thread_name *name = tsn_pool_take(pool, r->threads, sizeof *name);
  r->home = tsn_pool_take(pool, r->threads, sizeof *r->home);
  if (!name || !r->home ||
      !tsn_homes_read(r->of.channel->directory, run, r->threads, pool, r->home, name) ||
      !tsn_homes_read(r->of.directory, run, r->threads, pool, r->home, name)) {
    return no_memory(r);
  }
  for (size_t t = 0; t < r->threads; t++) { /* rows are in the order of threads */
    size_t row = *row_of(r, t);
    if (row != TSANOM_NONE) r->home[row] = r->home[t];
  }
  return name_threads(r, name);
}

/* The latest visits of the events, in front of the totals. */
static void add_last_visits(const region_tree *r) {
  region_sums *sums = r->nodes.data.data;
  for (size_t i = 0; i < r->nodes.count * r->rows; i++) {
    sums[i].time += sums[i].since * sums[i].latest;
    if (sums[i].visits > 0) sums[i].visits += sums[i].since;
    sums[i].since = 0;
  }
}

/* Count the samples of each cell, or, where they are counted, put them into batches. */
static void take_samples(const region_tree *r, const tsn_spmd_samples *batches,
                         bool are_counted) {
  const region_sample *sample = r->samples.data;
  for (size_t i = 0; i < r->sample_count; i++) {
    const tsn_tree_node *node = tsn_tree_node_at(&r->nodes, sample[i].node);
    int32_t of[] = {sample[i].node, node->parent};
    for (int k = 0; k < (node->key >= TSN_NODE_PART ? 2 : 1); k++) {
      size_t cell = sample[i].row * r->spmd->data.regions + (size_t)of[k] - 1;
      if (are_counted) {
        tsn_spmd_add_sample(batches, cell, sample[i].seconds);
      } else {
        batches->count[cell]++;
      }
    }
  }
}

/* By the samples, and what the samples of the threads tell of processors. Totals do not show
 * how visits scatter. What a sum of many of them scatters by is assumed, so that not only
 * factors of 1.5 are seen; of few nothing is known. */
static bool fill_errors(region_tree *r) {
  const double many = 100, part = 0.04;
  tsn_spmd *s = r->spmd;
  tsn_spmd_samples batches;
  size_t regions = s->data.regions, rows = s->data.processes, cells = rows * regions;
  s->error = tsn_pool_take(&s->pool, cells, sizeof *s->error);
  if (!s->error) return false;
  if (r->has_totals) {
    for (size_t i = 0; i < cells; i++)
      s->error[i] = s->value[i] >= many ? part * s->time[i] : NAN;
    return true;
  }
  if (!tsn_spmd_take_samples(&batches, &r->scratch, cells)) return false;
  take_samples(r, &batches, false);
  take_samples(r, &batches, true);
  tsn_spmd_errors(&batches, rows, regions, s->error);
  for (size_t i = 0; i < cells; i++) {
    double measured =
        s->value[i] - sums_at(r, i / regions, (int32_t)(i % regions) + 1)->unmeasured;
    if (measured > 0) s->error[i] *= s->value[i] / measured;
  }
  return tsn_spmd_add_processor_errors(r->home, s, &r->scratch);
}

static tsanom_status read_all(region_tree *r) {
  size_t totals = r->of.profile ? r->of.profile->count : 0;
  r->node_of = tsn_pool_take(&r->scratch, totals, sizeof *r->node_of);
  r->has_totals = totals > 1;
  if (!r->node_of) return no_memory(r);
  leave_out(r);
  r->metrics = tsn_metrics_of(r->of.channel);
  if (!r->of.is_process) r->metrics &= ~(1u << TSN_REGIONS_NETWORK_BYTES);
  tsanom_status status = number_threads(r);
  if (status < 0) return status;
  r->nodes.bytes = tsn_larger(r->rows, 1) * sizeof(region_sums);
  if (tsn_tree_within(&r->nodes, -1, -1) < 0) return no_memory(r);
  status = read_events(r);
  if (status == TSANOM_OK) add_last_visits(r);
  if (status == TSANOM_OK && r->of.profile) status = read_totals(r);
  if (status < 0) return status;
  if (r->nodes.count == 1) {
    return reject(r, TSANOM_E_STATE,
                  r->has_tasks ? "the work of its regions is tasks, whose "
                                 "times are not recorded"
                               : "the run has no regions");
  }
  if (r->measured == 0) {
    return reject(r, TSANOM_E_STATE, "no visit of a region ended with a processor time");
  }
  status = fill(r);
  if (status < 0) return status;
  tsn_spmd *s = r->spmd;
  if (!name_regions(&r->nodes, r->of.places, r->of.symbols, &r->scratch, s)) {
    return no_memory(r);
  }
  if (r->of.is_process) {
    s->waiting = tsn_pool_take(&s->pool, 1, sizeof *s->waiting);
    if (!s->waiting) return no_memory(r);
    s->waiting[0] = r->waiting;
  } else {
    status = read_samples(r);
    if (status == TSANOM_OK && !fill_errors(r)) return no_memory(r);
  }
  return status == TSANOM_OK ? name_left_out(r) : status;
}

/* The tree has a table of all places, too large for a stack. */
tsanom_status tsn_spmd_read_events(const tsn_region_events *of, const tsanom_exec *exec,
                                   tsn_spmd *spmd) {
  tsn_pool whole = {.exec = exec};
  region_tree *r = tsn_pool_take(&whole, 1, sizeof *r);
  if (!r) return tsn_reject_memory(exec, sizeof *r);
  r->of = *of;
  r->spmd = spmd;
  r->exec = r->scratch.exec = r->nodes.exec = exec;
  r->reader = (tsn_reader){.channel = of->channel, .exec = exec};
  tsanom_status status = read_all(r);
  (void)tsn_reader_end(&r->reader);
  tsn_tree_free(&r->nodes);
  tsn_array_free(&r->row_of, exec);
  tsn_array_free(&r->samples, exec);
  tsn_pool_free(&r->scratch);
  tsn_pool_free(&whole);
  if (status == TSANOM_OK) tsn_spmd_complete(spmd);
  return status;
}
