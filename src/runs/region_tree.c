/* SPDX-License-Identifier: BSD-3-Clause */
/* Region events as region times by thread.
 *
 * A region is a place in the code within the regions that are open there: a node of a
 * tree whose root is the program.
 *
 *   events of a thread           tree                  regions
 *   begin 5                      program               5      parent: none
 *     begin 7   cpu   end        ├── 5                 7      parent: 5
 *   cpu end                      │   └── 7             7 #2   parent: none
 *   begin 7   cpu   end          └── 7
 *
 * Its time in a thread is the processor time that the thread spent in it, which the
 * event before the end of the region has. Elapsed time would include waiting for the
 * other threads at the end of the region, and so make all threads look the same. Streams
 * of one thread number are added up.
 *
 * Two passes over the events: the first finds the nodes, the second adds the times to a
 * matrix of the final size. Each event costs O(regions nested directly in the open one).
 */
#include <tsanom/heartbeat.h>

#include "runs/names.h"
#include "runs/spmd.h"

/* Regions that may be open in a thread: the stack is an array. */
enum { DEPTH_MOST = 64 };

typedef struct {
  int32_t parent, place;
  /* First node nested in it, and next one beside it: a list for each node, because most
   * have few. */
  int32_t inner, next;
} node;

typedef struct {
  const tsn_channel *channel;
  const tsn_profile *profile;
  int32_t *node_of; /* by row of the profile; 0: of no node */
  tsn_places *places;
  bool symbols;
  const tsanom_exec *exec;
  tsn_pool scratch;
  tsn_array nodes; /* node 0 is the program */
  size_t count;
  int32_t first_of[TSANOM_REGIONS_PLACES_MAX]; /* first node of each place; 0: none */
  /* size_t, by thread number: its row in the matrices; TSANOM_NONE: it recorded nothing.
   */
  tsn_array row_of;
  size_t threads, rows;
  /* Second pass: times are added to the matrices. */
  bool adding;
  /* Processor times found; without any, the run was recorded without them. */
  size_t measured;
  /* Times of the first and the last record of the run, in seconds. */
  double first, last;
  tsn_spmd *spmd;
} reader;

static node *node_at(const reader *r, int32_t index) {
  return (node *)r->nodes.data + index;
}

static size_t *row_at(const reader *r, size_t thread) {
  return (size_t *)r->row_of.data + thread;
}

static tsanom_status reject(const reader *r, tsanom_status status, const char *text) {
  tsn_file_place place = {.file = r->channel->directory};
  return tsn_reject_file(r->exec, status, &place, "%s", text);
}

static tsanom_status no_memory(const reader *r) {
  return reject(r, TSANOM_E_MEMORY, "out of memory");
}

/* A new node within `parent`; -1: out of memory. The array may move, so nodes are known
 * by number. */
static int32_t add_node(reader *r, int32_t parent, int32_t place) {
  if (!tsn_array_reserve(&r->nodes, r->exec, r->count, r->count + 1, sizeof(node))) {
    return -1;
  }
  int32_t at = (int32_t)r->count++;
  *node_at(r, at) = (node){.parent = parent, .place = place, .inner = -1, .next = -1};
  if (at == 0) return at;
  node_at(r, at)->next = node_at(r, parent)->inner;
  node_at(r, parent)->inner = at;
  return at;
}

/* The node of a place within a region, added if needed; -1: out of memory. `first_of` is
 * 0 for none, which no place has: node 0 is the program. */
static int32_t nested(reader *r, int32_t parent, int32_t place) {
  int32_t at = node_at(r, parent)->inner;
  while (at >= 0 && node_at(r, at)->place != place) at = node_at(r, at)->next;
  if (at >= 0) return at;
  at = add_node(r, parent, place);
  if (at > 0 && !r->first_of[place]) r->first_of[place] = at;
  return at;
}

typedef struct {
  int32_t open[DEPTH_MOST], thread;
  size_t depth, row;
} thread_state;

/* The first region of a thread other than 0 was opened by another thread, perhaps within
 * regions that only that one has seen: it is the first node of the place. Stream 0 is
 * thread 0's, so that its nodes exist by then. */
static int32_t outermost(reader *r, const thread_state *t, int32_t place) {
  if (t->thread > 0 && r->first_of[place]) return r->first_of[place];
  return nested(r, 0, place);
}

/* A program that recurses without end must not grow the tree without end. */
static tsanom_status begin_region(reader *r, thread_state *t, int32_t place) {
  if (t->depth == DEPTH_MOST) {
    return reject(r, TSANOM_E_FORMAT, "more than 64 regions are nested");
  }
  int32_t at =
      t->depth ? nested(r, t->open[t->depth - 1], place) : outermost(r, t, place);
  if (at < 0) return no_memory(r);
  t->open[t->depth++] = at;
  return TSANOM_OK;
}

/* Node k is region k - 1. */
static void add(const reader *r, size_t row, int32_t of, double seconds, double visits) {
  size_t at = row * r->spmd->data.regions + (size_t)of - 1;
  r->spmd->time[at] += seconds;
  r->spmd->value[at] += visits;
}

/* The processor time comes before the end, while its region is still open. */
static tsanom_status take_event(reader *r, thread_state *t, uint32_t tag) {
  tsanom_runs_event event;
  (void)tsanom_runs_decode(tag, &event);
  if (event.kind == TSANOM_REGIONS_BEGIN) return begin_region(r, t, event.place);
  if (t->depth == 0) return TSANOM_OK; /* its begin was dropped or lost */
  if (event.kind == TSANOM_REGIONS_END) t->depth--;
  if (event.kind == TSANOM_REGIONS_CPU) {
    r->measured++;
    if (r->adding) add(r, t->row, t->open[t->depth - 1], event.cpu_s, 1);
  }
  return TSANOM_OK;
}

/* One pass. Behind a gap no region is known to be open, as in events.c. */
static tsanom_status read_streams(reader *r) {
  for (size_t i = 0; i < r->channel->stream_count; i++) {
    const tsn_stream *stream = tsn_channel_stream(r->channel, i);
    const uint32_t *tag = stream->tag.data;
    thread_state t = {.thread = stream->thread,
                      .row = *row_at(r, (size_t)stream->thread)};
    size_t gap = 0;
    for (size_t k = 0; k < stream->count; k++) {
      if (tsn_stream_gap_at(stream, k, &gap)) t.depth = 0;
      tsanom_status status = take_event(r, &t, tag[k]);
      if (status < 0) return status;
    }
  }
  return TSANOM_OK;
}

/* The node of a row of totals, added if needed; -1: out of memory. 0: it is of none, as
 * the rows in computations, whose regions have rows in the thread too. */
static int32_t node_of_row(reader *r, const tsanom_regions_row *row) {
  int32_t parent = r->node_of[row->parent];
  if (row->kind != TSANOM_REGIONS_ROW_REGION) return 0;
  if (parent > 0) return nested(r, parent, (int32_t)row->place);
  bool is_of_thread = r->profile->row[row->parent].kind == TSANOM_REGIONS_ROW_THREAD;
  const thread_state t = {.thread = (int32_t)row->thread};
  return is_of_thread ? outermost(r, &t, (int32_t)row->place) : 0;
}

/* Totals where the events end. A thread has events in front of them; one that lost them
 * is left out. */
static tsanom_status read_totals(reader *r) {
  for (size_t k = 1; k < r->profile->count; k++) {
    const tsanom_regions_row *row = &r->profile->row[k];
    size_t own = row->thread < r->threads ? *row_at(r, row->thread) : TSANOM_NONE;
    if (row->kind == TSANOM_REGIONS_ROW_THREAD && own != TSANOM_NONE) {
      double last = tsn_profile_end(row, r->channel->header.first.nanoseconds);
      if (last > r->last) r->last = last;
    }
    int32_t at = own == TSANOM_NONE ? 0 : node_of_row(r, row);
    if (at < 0) return no_memory(r);
    r->node_of[k] = at;
    if (!at || !row->cpu) continue;
    r->measured++;
    if (r->adding) add(r, own, at, (double)row->cpu * 1e-9, (double)row->visits);
  }
  return TSANOM_OK;
}

/* Threads that recorded something are the processes; the run lasts from its first record
 * to its last. Rows are in the order of thread numbers, which need not be dense. */
static tsanom_status number_threads(reader *r) {
  bool is_first = true;
  for (size_t i = 0; i < r->channel->stream_count; i++) {
    const tsn_stream *stream = tsn_channel_stream(r->channel, i);
    size_t thread = (size_t)stream->thread;
    if (thread >= TSANOM_HEARTBEAT_STREAMS_MAX) {
      return reject(r, TSANOM_E_FORMAT, "a thread number is not below 65536");
    }
    if (!tsn_array_reserve(&r->row_of, r->exec, r->threads, thread + 1, sizeof(size_t))) {
      return no_memory(r);
    }
    for (; r->threads <= thread; r->threads++) *row_at(r, r->threads) = TSANOM_NONE;
    if (!stream->count) continue;
    const double *time = stream->time.data;
    *row_at(r, thread) = 0;
    if (is_first || time[0] < r->first) r->first = time[0];
    if (is_first || time[stream->count - 1] > r->last) r->last = time[stream->count - 1];
    is_first = false;
  }
  for (size_t t = 0; t < r->threads; t++) {
    if (*row_at(r, t) != TSANOM_NONE) *row_at(r, t) = r->rows++;
  }
  return TSANOM_OK;
}

/* One metric: the number of visits. */
static tsanom_status allocate(reader *r) {
  tsn_spmd *s = r->spmd;
  tsn_pool *pool = &s->pool;
  size_t regions = r->count - 1, cells = 0;
  if (__builtin_mul_overflow(r->rows, regions, &cells)) return no_memory(r);
  s->region = (const char **)tsn_pool_take(pool, regions, sizeof *s->region);
  s->metric = (const char **)tsn_pool_take(pool, 1, sizeof *s->metric);
  s->parent = tsn_pool_take(pool, regions, sizeof *s->parent);
  s->time = tsn_pool_take(pool, cells, sizeof *s->time);
  s->value = tsn_pool_take(pool, cells, sizeof *s->value);
  if (!s->region || !s->metric || !s->parent || !s->time || !s->value) {
    return no_memory(r);
  }
  s->metric[0] = "calls";
  s->data.regions = regions;
  s->data.processes = r->rows;
  s->data.metrics = 1;
  s->data.elapsed = r->last - r->first;
  return TSANOM_OK;
}

/* A region is named like its place; the k-th region of that name is "NAME #k". Two
 * places can have one name as well, for example two loops of a function without line
 * numbers. */
static tsanom_status name_regions(reader *r) {
  tsn_spmd *s = r->spmd;
  tsn_names names;
  size_t regions = s->data.regions;
  size_t *used = tsn_pool_take(&r->scratch, regions, sizeof *used);
  if (!used || !tsn_names_create(&names, &r->scratch, regions)) return no_memory(r);
  for (size_t k = 0; k < regions; k++) {
    const node *n = node_at(r, (int32_t)k + 1);
    s->parent[k] = n->parent - 1;
    size_t place = (size_t)n->place;
    const char *name = place < r->places->count
                           ? tsn_places_name(r->places, place, r->symbols)
                           : "unknown place";
    if (!name) return no_memory(r);
    size_t number = tsn_names_find(&names, name);
    if (number == TSANOM_NONE) {
      number = names.count;
      tsn_names_add(&names, name);
    }
    used[number]++;
    s->region[k] = used[number] == 1
                       ? tsn_pool_copy(&s->pool, name)
                       : tsn_pool_print(&s->pool, "%s #%zu", name, used[number]);
    if (!s->region[k]) return no_memory(r);
  }
  return TSANOM_OK;
}

/* Processes need names only if some threads recorded nothing. */
static tsanom_status name_threads(reader *r) {
  tsn_spmd *s = r->spmd;
  if (r->rows == r->threads) return TSANOM_OK;
  s->process = (const char **)tsn_pool_take(&s->pool, r->rows, sizeof *s->process);
  if (!s->process) return no_memory(r);
  for (size_t t = 0; t < r->threads; t++) {
    size_t row = *row_at(r, t);
    if (row == TSANOM_NONE) continue;
    s->process[row] = tsn_pool_print(&s->pool, "%zu", t);
    if (!s->process[row]) return no_memory(r);
  }
  return TSANOM_OK;
}

/* The first pass finds the regions, the second adds up their times. */
static tsanom_status read_all(reader *r) {
  r->node_of = tsn_pool_take(&r->scratch, r->profile->count, sizeof *r->node_of);
  if (!r->node_of || add_node(r, -1, -1) < 0) return no_memory(r);
  tsanom_status status = number_threads(r);
  if (status == TSANOM_OK) status = read_streams(r);
  if (status == TSANOM_OK) status = read_totals(r);
  if (status < 0) return status;
  if (r->count == 1) return reject(r, TSANOM_E_STATE, "the run has no regions");
  if (r->measured == 0) {
    return reject(
        r, TSANOM_E_STATE,
        "the run has no processor times: record it by tsanom record --cpu-time");
  }
  status = allocate(r);
  if (status == TSANOM_OK) status = name_regions(r);
  if (status == TSANOM_OK) status = name_threads(r);
  r->adding = true;
  if (status == TSANOM_OK) status = read_streams(r);
  return status == TSANOM_OK ? read_totals(r) : status;
}

/* The reader has a table of all places, too large for a stack. */
tsanom_status tsn_spmd_read_events(const tsn_channel *channel, const tsn_profile *profile,
                                   tsn_places *places, bool symbols,
                                   const tsanom_exec *exec, tsn_spmd *spmd) {
  tsn_pool whole = {.exec = exec};
  reader *r = tsn_pool_take(&whole, 1, sizeof *r);
  if (!r) return TSANOM_E_MEMORY;
  *r = (reader){.channel = channel,
                .profile = profile,
                .places = places,
                .symbols = symbols,
                .exec = exec,
                .scratch = {.exec = exec},
                .spmd = spmd};
  tsanom_status status = read_all(r);
  tsn_array_free(&r->nodes, exec);
  tsn_array_free(&r->row_of, exec);
  tsn_pool_free(&r->scratch);
  tsn_pool_free(&whole);
  if (status == TSANOM_OK) tsn_spmd_complete(spmd);
  return status;
}
