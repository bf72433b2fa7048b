/* SPDX-License-Identifier: BSD-3-Clause */
/* One process as a row of region times: what it computes between its calls of MPI.
 *
 *   events     END     cpu BEGIN Recv END    begin 5 end      cpu BEGIN Send  END
 *              |computation |   MPI   |     computation           |  MPI  |
 *
 *   regions    exchange                                                   function that calls
 *              ├── exchange > computation before MPI_Recv (x.c:7)         call that ends it
 *              └── exchange > computation before MPI_Send (x.c:9)
 *                  └── ... > loop (x.c:3)                                 parallel region 5
 *
 * A computation is known by the call that ends it. Its function is a region around it,
 * because processes of one program may make the calls of a function in another order: a
 * process that first sends does its work "before MPI_Send", and its neighbor, which first
 * receives, "before MPI_Recv"; but both do it in `exchange`.
 *
 * What a loop does between two polls (MPI_Test) at one place is waiting if it takes less
 * than 10 microseconds, which is mostly what recording the calls takes.
 *
 * The time of a computation is the processor time that was measured, and otherwise the
 * elapsed time. Calls of MPI within a parallel region do not count. Parallel regions are
 * parts of the elapsed time, which is scaled to the processor time at the end of the
 * computation; until then they wait in a tree of shapes, regions within regions, for it
 * is not known before to which computation they belong.
 *
 * The metrics of a computation come in front of its processor time; but the network
 * bytes behind the call that ends it, which are those of both. Parallel regions in it
 * have no metrics.
 *
 * The computations of a function are the samples of its time, in batches, from whose
 * scatter beside those of other processes come the standard errors (spmd.c).
 *
 * A process without MPI has its parallel regions as outermost regions, by elapsed time.
 * With MPI, what is behind the last call belongs to no region. */
#include <math.h>
#include <string.h>

#include "core/fault.h"
#include "runs/memory.h"
#include "runs/places.h"
#include "runs/spmd.h"
#include "runs/walk.h"

/* The regions of a process while its row is made are two trees. Nodes are regions of the result; shapes are the parallel regions since the latest
 * computation, within each other. Keys are the last components of names, numbered. The
 * whole names are in the set that all processes share. */

/* Node and shape 0, which is no region; and what belongs to none. -1 is out of memory. */
enum { PROGRAM = 0, NONE = -2 };

/* Sums of neighboring samples, of which there is an unknown number. */
enum { BUCKETS = 64 };

/* A region of the result. */
typedef struct {
  uint32_t region; /* its number in the names; not of the program */
  double time, visits;
  double count[TSN_REGIONS_METRICS]; /* NaN: not known */
  size_t samples, span;              /* span: those of a bucket */
  double bucket[BUCKETS];
} region_sums;

/* Since the latest computation. */
typedef struct {
  double time, visits;
} shape_sums;

/* One that is open. */
typedef struct {
  double excluded; /* that of the reader when it began */
  int32_t shape;   /* 0: a call of MPI */
} open_region;

typedef struct {
  const tsn_channel *channel;
  const tsn_profile *profile;
  const tsn_places *places;
  tsn_names *regions; /* those of all processes */
  const tsanom_exec *exec;
  tsn_spmd_part *part;
  tsn_pool scratch;
  tsn_tree nodes, shapes;
  tsn_names own;        /* last components of names */
  int32_t *key;         /* by place: its name in `own`, and 1; 0: not looked up yet */
  int32_t *computation; /* by place: the node of the computation that it ends; 0: none */
  tsn_array pending;    /* int32_t: shapes */
  size_t pending_count;
  open_region open[TSN_WALK_DEPTH]; /* those of the walk */
  double began;                     /* the computation */
  int32_t behind;                   /* the place of the call behind which it began */
  double excluded;        /* seconds in calls of MPI within regions, until now */
  double excluded_before; /* when the computation began */
  int32_t ended;          /* the node of the latest computation; NONE: it is not known */
  bool is_behind;         /* the latest event is the end of the call that ended it */
  bool has_calls;
  /* Seconds in MPI, and of computations without a processor; the time of the last event. */
  double waiting, stalled, last;
} reader;

static region_sums *node_at(const reader *r, int32_t at) {
  return tsn_tree_data(&r->nodes, at);
}

static shape_sums *shape_at(const reader *r, int32_t at) {
  return tsn_tree_data(&r->shapes, at);
}

/* `count`: of the metrics; NULL: not known. */
static void node_add(const reader *r, int32_t at, double time, double visits,
                     const double *count) {
  region_sums *n = node_at(r, at);
  n->time += time;
  n->visits += visits;
  for (size_t m = 0; m < TSN_REGIONS_METRICS; m++) {
    n->count[m] += count ? count[m] : NAN;
  }
}

/* The same for the node around it, too. */
static int32_t add_with_function(const reader *r, int32_t at, double time, double visits,
                                 const double *count) {
  int32_t function = tsn_tree_node_at(&r->nodes, at)->parent;
  node_add(r, at, time, visits, count);
  node_add(r, function, time, visits, count);
  return function;
}

/* Full buckets are put together by pairs. */
static void node_sample(const reader *r, int32_t at, double time) {
  region_sums *n = node_at(r, at);
  if (n->samples == n->span * BUCKETS) {
    for (size_t b = 0; b < BUCKETS; b++) {
      n->bucket[b] = 2 * b + 1 < BUCKETS ? n->bucket[2 * b] + n->bucket[2 * b + 1] : 0;
    }
    n->span *= 2;
  }
  n->bucket[n->samples++ / n->span] += time;
}

/* The samples in TSN_SPMD_BATCHES batches, in order, which add up to its time. */
static void node_batches(const region_sums *n, double *batch) {
  size_t used = (n->samples + n->span - 1) / n->span;
  double sum = 0;
  memset(batch, 0, TSN_SPMD_BATCHES * sizeof *batch);
  for (size_t b = 0; b < used; b++) {
    batch[b * TSN_SPMD_BATCHES / used] += n->bucket[b];
    sum += n->bucket[b];
  }
  for (size_t q = 0; q < TSN_SPMD_BATCHES && sum > 0; q++) batch[q] *= n->time / sum;
}

static tsanom_status reject(const reader *r, tsanom_status status, const char *text) {
  return tsn_path_fault(r->exec, status, r->channel->directory, "%s", text);
}

/* Out of memory, or too many regions. */
static tsanom_status no_memory(const reader *r) {
  return r->regions->count == r->regions->capacity
             ? tsn_reject_regions(r->channel->directory, r->exec)
             : reject(r, TSANOM_E_MEMORY, "out of memory");
}

static const tsn_place *place_at(const reader *r, int32_t place) {
  static const tsn_place unknown = {.name = "unknown place", .site = "unknown place"};
  return (size_t)place < r->places->count ? tsn_places_at(r->places, (size_t)place)
                                          : &unknown;
}

/* The key of a name, which is NULL if it could not be printed. -1: out of memory, as of all
 * below. */
static int32_t key_of(reader *r, const char *name) {
  size_t key = name ? tsn_names_number(&r->own, name) : TSANOM_NONE;
  return key == TSANOM_NONE ? -1 : (int32_t)key;
}

static int32_t key_of_place(reader *r, int32_t place) {
  const char *name = place_at(r, place)->name;
  if ((size_t)place >= r->places->count) return key_of(r, name);
  if (!r->key[place]) r->key[place] = key_of(r, name) + 1;
  return r->key[place] - 1;
}

/* The node of a key in a node. A new one gets its name. */
static int32_t node_within(reader *r, int32_t outer, int32_t key) {
  size_t count = r->nodes.count;
  int32_t at = key < 0 ? -1 : tsn_tree_within(&r->nodes, outer, key);
  if (at < 0 || r->nodes.count == count) return at;
  const char *name = r->own.name[key];
  if (outer != PROGRAM) {
    const char *outer_name = r->regions->name[node_at(r, outer)->region];
    name = tsn_pool_print(&r->scratch, "%s > %s", outer_name, name);
  }
  size_t region = name ? tsn_names_number(r->regions, name) : TSANOM_NONE;
  if (region == TSANOM_NONE) return -1;
  node_at(r, at)->region = (uint32_t)region;
  node_at(r, at)->span = 1;
  return at;
}

/* Where in the name of an address the function ends: before " (file.c:12)", or before
 * "+0x1a40", which then belong to the call. */
static size_t function_length(const char *site) {
  const char *line = NULL;
  for (const char *next = strstr(site, " ("); next; next = strstr(next + 1, " (")) {
    line = next;
  }
  if (line && strchr(line, ':') && site[strlen(site) - 1] == ')') {
    return (size_t)(line - site);
  }
  const char *offset = strstr(site, "+0x");
  return offset ? (size_t)(offset - site) : strlen(site);
}

/* The node of the computation that a call ends, in the node of its function. */
static int32_t node_before(reader *r, int32_t place) {
  if (r->computation[place]) return r->computation[place];
  const tsn_place *p = place_at(r, place);
  int length = (int)function_length(p->site);
  int32_t function = key_of(r, tsn_pool_print(&r->scratch, "%.*s", length, p->site));
  int32_t outer = node_within(r, PROGRAM, function);
  if (outer < 0) return -1;
  int32_t at = node_within(
      r, outer,
      key_of(r, tsn_pool_print(&r->scratch, "computation before %s%s%s", p->about.call,
                               p->site[length] == '+' ? " " : "", p->site + length)));
  if (at > 0) r->computation[place] = at;
  return at;
}

/* The node of a shape in a computation, or in the program. */
static int32_t node_of_shape(reader *r, int32_t within, int32_t shape) {
  if (shape == 0) return within;
  const tsn_tree_node *s = tsn_tree_node_at(&r->shapes, shape);
  int32_t outer = node_of_shape(r, within, s->parent);
  return outer < 0 ? -1 : node_within(r, outer, s->key);
}

static bool start_trees(reader *r) {
  size_t places = r->places->count;
  r->scratch.exec = r->nodes.exec = r->shapes.exec = r->exec;
  r->nodes.bytes = sizeof(region_sums);
  r->shapes.bytes = sizeof(shape_sums);
  r->key = tsn_pool_take(&r->scratch, places, sizeof *r->key);
  r->computation = tsn_pool_take(&r->scratch, places, sizeof *r->computation);
  return r->key && r->computation &&
         tsn_names_create(&r->own, &r->scratch, 3 * places + 1) &&
         tsn_tree_within(&r->nodes, -1, -1) == PROGRAM &&
         tsn_tree_within(&r->shapes, -1, -1) == PROGRAM;
}

/* Rows of totals (runs/profile.h) as regions of a process. The recorder adds up what is
 * added up of events here, so a row needs a name only:
 *
 *   thread ─┬─ region                       of a program without MPI: a region
 *           └─ computation before a call    function > before CALL
 *              └─ region                    function > before CALL > region
 *
 * The node of a row in that of another one; NONE of other threads, and of regions of all
 * computations together. If the process calls MPI, its regions are in computations. */
static tsanom_status place_row(reader *r, const tsn_regions_row *row, int32_t outer,
                               int32_t *to) {
  *to = NONE;
  if (row->kind == TSN_REGIONS_ROW_THREAD) {
    if (row->place) *to = PROGRAM;
    return TSANOM_OK;
  }
  if (outer == NONE || row->kind == TSN_REGIONS_ROW_BEATS) return TSANOM_OK;
  if (row->kind == TSN_REGIONS_ROW_COMPUTATION) {
    if (!place_at(r, (int32_t)row->place)->about.call) {
      return reject(r, TSANOM_E_FORMAT, "a row of totals names no call of MPI");
    }
    *to = node_before(r, (int32_t)row->place);
  } else if (outer != PROGRAM || !r->has_calls) {
    *to = node_within(r, outer, key_of_place(r, (int32_t)row->place));
  }
  return *to == -1 ? no_memory(r) : TSANOM_OK;
}

/* Add the totals by which the process continues where its events end. */
static tsanom_status add_totals(reader *r) {
  const tsn_profile *profile = r->profile;
  int32_t *node = tsn_pool_take(&r->scratch, profile->count, sizeof *node);
  uint64_t began = r->channel->header.first.nanoseconds;
  if (!node) return no_memory(r);
  for (size_t k = 1; k < profile->count; k++) {
    const tsn_regions_row *row = &profile->row[k];
    double visits = (double)row->visits, elapsed = (double)row->elapsed,
           useful = (double)row->useful;
    tsanom_status status = place_row(r, row, node[row->parent], &node[k]);
    if (status < 0) return status;
    if (row->kind == TSN_REGIONS_ROW_COMPUTATION) {
      r->stalled += (elapsed - useful) * 1e-9;
      if (node[k] > 0) (void)add_with_function(r, node[k], useful * 1e-9, visits, NULL);
    } else if (node[k] > 0) {
      node_add(r, node[k], (r->has_calls ? useful : elapsed) * 1e-9, visits, NULL);
    }
    if (row->kind != TSN_REGIONS_ROW_THREAD || !row->place) continue;
    r->waiting += (double)row->waiting * 1e-9;
    r->last = fmax(r->last, tsn_profile_end(row, began));
  }
  return TSANOM_OK;
}

/* Whether computations are in the totals. */
static bool has_computations(const tsn_profile *profile) {
  for (size_t k = 1; k < profile->count; k++) {
    if (profile->row[k].kind == TSN_REGIONS_ROW_COMPUTATION) return true;
  }
  return false;
}

/* Parallel regions since the last computation, which belong to `within`, or to nothing
 * if it is NONE. */
static tsanom_status settle(reader *r, int32_t within, double scale) {
  for (size_t i = 0; i < r->pending_count; i++) {
    int32_t at = ((int32_t *)r->pending.data)[i];
    if (within >= 0) {
      int32_t to = node_of_shape(r, within, at);
      if (to < 0) return no_memory(r);
      node_add(r, to, shape_at(r, at)->time * scale, shape_at(r, at)->visits, NULL);
    }
    *shape_at(r, at) = (shape_sums){0};
  }
  r->pending_count = 0;
  return TSANOM_OK;
}

/* Whether a call asks, and does not wait. */
static bool is_poll(const tsn_place *place) {
  static const char *const other[] = {"MPI_Iprobe", "MPI_Improbe", "MPI_Win_test",
                                      "MPI_Request_get_status"};
  const char *call = place->about.call;
  if (!call) return false;
  for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
    if (strcmp(call, other[i]) == 0) return true;
  }
  return strncmp(call, "MPI_Test", strlen("MPI_Test")) == 0;
}

/* Between two polls of one loop that does nothing else is waiting. */
static bool is_idle(const reader *r, int32_t place, double useful) {
  const double shortest_work = 1e-5;
  return place == r->behind && useful < shortest_work && is_poll(place_at(r, place));
}

/* A call of MPI begins: it ends a computation. There is none in front of MPI_Init, which
 * begins the run. */
static tsanom_status end_computation(reader *r, const tsn_visit *v) {
  double time = v->time, count[TSN_REGIONS_METRICS];
  r->has_calls = true;
  r->ended = NONE;
  if (time <= r->began) return settle(r, NONE, 0);
  double elapsed = fmax(0, time - r->began - (r->excluded - r->excluded_before));
  double useful = isnan(v->used->cpu) ? elapsed : fmin(v->used->cpu, elapsed);
  if (is_idle(r, v->place, useful)) {
    r->waiting += elapsed;
    return settle(r, NONE, 0);
  }
  r->stalled += elapsed - useful;
  int32_t at = node_before(r, v->place);
  if (at < 0) return no_memory(r);
  r->ended = at;
  memcpy(count, v->used->count, sizeof count);
  count[TSN_REGIONS_NETWORK_BYTES] = 0; /* they come behind the call */
  node_sample(r, add_with_function(r, at, useful, 1, count), useful);
  return settle(r, at, elapsed > 0 ? useful / elapsed : 1);
}

static void begin_computation(reader *r, double time, int32_t behind) {
  r->began = time;
  r->behind = behind;
  r->excluded_before = r->excluded;
}

static tsanom_status begin(reader *r, const tsn_visit *v) {
  open_region *o = &r->open[v->depth];
  *o = (open_region){.excluded = r->excluded};
  if (v->what == TSN_WALK_CALL) return v->depth ? TSANOM_OK : end_computation(r, v);
  int32_t key = key_of_place(r, v->place), outer = v->depth ? o[-1].shape : 0;
  o->shape = key < 0 ? -1 : tsn_tree_within(&r->shapes, outer, key);
  return o->shape < 0 ? no_memory(r) : TSANOM_OK;
}

/* A call within a region is taken out of the times of all that is open. */
static tsanom_status end(reader *r, const tsn_visit *v) {
  const open_region *o = &r->open[v->depth];
  double elapsed = fmax(0, v->time - v->begin);
  if (v->what == TSN_WALK_CALL) {
    r->waiting += elapsed;
    r->excluded += elapsed;
    if (!v->depth) begin_computation(r, v->time, v->place);
    r->is_behind = !v->depth && r->ended != NONE;
    return TSANOM_OK;
  }
  shape_sums *s = shape_at(r, o->shape);
  s->time += fmax(0, elapsed - (r->excluded - o->excluded));
  if (s->visits++ > 0) return TSANOM_OK;
  if (!tsn_array_reserve(&r->pending, r->exec, r->pending_count, r->pending_count + 1,
                         sizeof(int32_t))) {
    return no_memory(r);
  }
  ((int32_t *)r->pending.data)[r->pending_count++] = o->shape;
  return TSANOM_OK;
}

/* The event behind a call that ended a computation. */
static void take_network(reader *r, const tsn_visit *v) {
  bool is_counted = v->kind == TSN_VISIT_METRIC && v->place == TSN_REGIONS_NETWORK_BYTES;
  double count[TSN_REGIONS_METRICS] = {0};
  count[TSN_REGIONS_NETWORK_BYTES] = is_counted ? v->count : NAN;
  (void)add_with_function(r, r->ended, 0, 0, count);
  r->is_behind = false;
}

/* The stream of the thread that began the run. */
static tsanom_status read_stream(reader *r, tsn_reader *records) {
  begin_computation(r, tsn_stream_first(r->channel, records->stream), -1);
  r->ended = NONE;
  tsn_walk walk = tsn_walk_begin(r->places, false);
  tsn_visit v;
  while (tsn_walk_next(&walk, records, &v)) {
    tsanom_status status = TSANOM_OK;
    if (r->is_behind) take_network(r, &v);
    if (v.kind == TSN_VISIT_BEGIN) status = begin(r, &v);
    if (v.kind == TSN_VISIT_END) status = end(r, &v);
    if (status < 0) return status;
  }
  return settle(r, r->has_calls ? NONE : PROGRAM, 1);
}

static tsanom_status fill(reader *r, double elapsed) {
  tsn_spmd *s = &r->part->spmd;
  tsn_pool *pool = &s->pool;
  size_t regions = r->nodes.count - 1;
  uint32_t metrics = tsn_metrics_of(r->channel);
  r->part->region = tsn_pool_take(pool, regions, sizeof *r->part->region);
  s->parent = tsn_pool_take(pool, regions, sizeof *s->parent);
  s->time = tsn_pool_take(pool, regions, sizeof *s->time);
  s->waiting = tsn_pool_take(pool, 1, sizeof *s->waiting);
  s->stalled = tsn_pool_take(pool, 1, sizeof *s->stalled);
  s->samples = tsn_pool_take(pool, regions, sizeof *s->samples);
  s->batch = tsn_pool_take(pool, regions, TSN_SPMD_BATCHES * sizeof *s->batch);
  if (!r->part->region || !s->parent || !s->time || !s->waiting || !s->stalled ||
      !s->samples || !s->batch || !tsn_metrics_take(s, metrics, regions)) {
    return no_memory(r);
  }
  s->data.regions = regions;
  s->data.processes = 1;
  for (size_t k = 0; k < regions; k++) {
    const region_sums *n = node_at(r, (int32_t)k + 1);
    r->part->region[k] = n->region;
    s->parent[k] = tsn_tree_node_at(&r->nodes, (int32_t)k + 1)->parent - 1;
    s->time[k] = n->time;
    s->samples[k] = n->samples;
    node_batches(n, s->batch + k * TSN_SPMD_BATCHES);
    tsn_metrics_set(s, metrics, k, n->visits, n->count);
  }
  s->waiting[0] = r->waiting;
  s->stalled[0] = r->stalled;
  s->data.elapsed = elapsed;
  tsn_metrics_complete(s);
  return TSANOM_OK;
}

static tsanom_status read_all(reader *r) {
  double elapsed = 0;
  if (!start_trees(r)) return no_memory(r);
  size_t leader = tsn_channel_leader(r->channel);
  const tsn_stream *stream =
      r->channel->stream_count ? tsn_channel_stream(r->channel, leader) : NULL;
  if (stream && stream->count) {
    tsn_reader records = {.channel = r->channel, .exec = r->exec};
    (void)tsn_reader_open(&records, leader);
    r->last = tsn_stream_last(r->channel, stream);
    r->has_calls = has_computations(r->profile);
    tsanom_status status = read_stream(r, &records), read = tsn_reader_end(&records);
    if (read < 0) status = read;
    if (status == TSANOM_OK) status = add_totals(r);
    if (status < 0) return status;
    elapsed = fmax(0, r->last - tsn_stream_first(r->channel, stream));
  }
  return fill(r, elapsed);
}

/* The reader has a stack of open regions, too large for that of a thread. */
tsanom_status tsn_spmd_read_process(const tsn_channel *channel,
                                    const tsn_profile *profile, const tsn_places *places,
                                    tsn_names *regions, const tsanom_exec *exec,
                                    tsn_spmd_part *part) {
  tsn_pool whole = {.exec = exec};
  reader *r = tsn_pool_take(&whole, 1, sizeof *r);
  if (!r) return tsn_reject_memory(exec, sizeof *r);
  *r = (reader){.channel = channel,
                .profile = profile,
                .places = places,
                .regions = regions,
                .exec = exec,
                .part = part};
  tsanom_status status = read_all(r);
  tsn_array_free(&r->pending, exec);
  tsn_tree_free(&r->nodes);
  tsn_tree_free(&r->shapes);
  tsn_pool_free(&r->scratch);
  tsn_pool_free(&whole);
  return status;
}
