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
 * scatter beside those of other processes come the standard errors (region_error.c).
 *
 * A process without MPI has its parallel regions as outermost regions, by elapsed time.
 * With MPI, what is behind the last call belongs to no region. */
#include <math.h>
#include <string.h>

#include "core/fault.h"
#include "runs/metrics.h"
#include "runs/process_tree.h"
#include "runs/walk.h"

enum { NONE = TSN_NODE_NONE, PROGRAM = TSN_NODE_PROGRAM };

typedef struct {
  double excluded; /* that of the reader when it began */
  int32_t shape;   /* 0: a call of MPI */
} open_region;

typedef struct {
  const tsn_channel *channel;
  const tsn_profile *profile;
  tsn_process_tree tree;
  const tsanom_exec *exec;
  tsn_array pending; /* int32_t: shapes */
  size_t pending_count;
  open_region open[TSN_WALK_DEPTH]; /* those of the walk */
  double began;                     /* the computation */
  int32_t behind;                   /* the place of the call behind which it began */
  double excluded;        /* seconds in calls of MPI within regions, until now */
  double excluded_before; /* when the computation began */
  int32_t ended;          /* the node of the latest computation; NONE: it is not known */
  bool is_behind;         /* the latest event is the end of the call that ended it */
  bool has_calls;
  tsn_process_sums sums;
  tsn_spmd_part *part;
} reader;

/* Parallel regions since the last computation, which belong to `within`, or to nothing
 * if it is NONE. */
static tsanom_status settle(reader *r, int32_t within, double scale) {
  for (size_t i = 0; i < r->pending_count; i++) {
    int32_t at = ((int32_t *)r->pending.data)[i];
    if (within >= 0) {
      int32_t to = tsn_node_of_shape(&r->tree, within, at);
      if (to < 0) return tsn_process_tree_no_memory(&r->tree);
      tsn_node_add(&r->tree, to, tsn_shape_at(&r->tree, at)->time * scale,
                   tsn_shape_at(&r->tree, at)->visits, NULL);
    }
    tsn_shape *s = tsn_shape_at(&r->tree, at);
    s->time = s->visits = 0;
    s->is_pending = false;
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
  return place == r->behind && useful < shortest_work &&
         is_poll(tsn_process_tree_place(&r->tree, place));
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
    r->sums.waiting += elapsed;
    return settle(r, NONE, 0);
  }
  r->sums.stalled += elapsed - useful;
  int32_t at = tsn_node_before(&r->tree, v->place);
  if (at < 0) return tsn_process_tree_no_memory(&r->tree);
  r->ended = at;
  memcpy(count, v->used->count, sizeof count);
  count[TSN_REGIONS_NETWORK_BYTES] = 0; /* they come behind the call */
  tsn_node_add(&r->tree, at, useful, 1, count);
  int32_t function = tsn_node_at(&r->tree, at)->parent;
  tsn_node_add(&r->tree, function, useful, 1, count);
  tsn_node_sample(&r->tree, function, useful);
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
  o->shape = tsn_shape_in(&r->tree, v->depth ? o[-1].shape : 0, v->place);
  return o->shape < 0 ? tsn_process_tree_no_memory(&r->tree) : TSANOM_OK;
}

/* A call within a region is taken out of the times of all that is open. */
static tsanom_status end(reader *r, const tsn_visit *v) {
  const open_region *o = &r->open[v->depth];
  double elapsed = fmax(0, v->time - v->begin);
  if (v->what == TSN_WALK_CALL) {
    r->sums.waiting += elapsed;
    r->excluded += elapsed;
    if (!v->depth) begin_computation(r, v->time, v->place);
    r->is_behind = !v->depth && r->ended != NONE;
    return TSANOM_OK;
  }
  tsn_shape *s = tsn_shape_at(&r->tree, o->shape);
  s->time += fmax(0, elapsed - (r->excluded - o->excluded));
  s->visits++;
  if (s->is_pending) return TSANOM_OK;
  s->is_pending = true;
  if (!tsn_array_reserve(&r->pending, r->exec, r->pending_count, r->pending_count + 1,
                         sizeof(int32_t))) {
    return tsn_process_tree_no_memory(&r->tree);
  }
  ((int32_t *)r->pending.data)[r->pending_count++] = o->shape;
  return TSANOM_OK;
}

/* The event behind a call that ended a computation. */
static void take_network(reader *r, const tsn_visit *v) {
  bool is_counted = v->kind == TSN_VISIT_METRIC && v->place == TSN_REGIONS_NETWORK_BYTES;
  double count[TSN_REGIONS_METRICS] = {0};
  count[TSN_REGIONS_NETWORK_BYTES] = is_counted ? v->count : NAN;
  tsn_node_add(&r->tree, r->ended, 0, 0, count);
  tsn_node_add(&r->tree, tsn_node_at(&r->tree, r->ended)->parent, 0, 0, count);
  r->is_behind = false;
}

/* The first stream is that of the thread that began the run. */
static tsanom_status read_stream(reader *r, const tsn_stream *stream) {
  const double *time = stream->time.data;
  begin_computation(r, time[0], -1);
  r->ended = NONE;
  tsn_walk walk = tsn_walk_begin(r->tree.places, false);
  tsn_visit v;
  while (tsn_walk_next(&walk, stream, &v)) {
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
  size_t regions = r->tree.node_count - 1;
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
    return tsn_process_tree_no_memory(&r->tree);
  }
  for (size_t k = 0; k < regions; k++) {
    const tsn_node *n = tsn_node_at(&r->tree, (int32_t)k + 1);
    r->part->region[k] = n->region;
    s->parent[k] = n->parent - 1;
    s->time[k] = n->time;
    s->value[k] = n->visits;
    s->samples[k] = n->samples;
    tsn_node_batches(n, s->batch + k * TSN_SPMD_BATCHES);
    for (int32_t m = 0; m < TSN_REGIONS_METRICS; m++) {
      size_t column = tsn_metric_column(metrics, m);
      if (column) s->value[column * regions + k] = n->count[m];
    }
  }
  s->waiting[0] = r->sums.waiting;
  s->stalled[0] = r->sums.stalled;
  s->data.regions = regions;
  s->data.processes = 1;
  s->data.elapsed = elapsed;
  tsn_metrics_complete(s);
  return TSANOM_OK;
}

static tsanom_status read_all(reader *r) {
  double elapsed = 0;
  if (!tsn_process_tree_start(&r->tree)) return tsn_process_tree_no_memory(&r->tree);
  const tsn_stream *stream =
      r->channel->stream_count ? tsn_channel_stream(r->channel, 0) : NULL;
  if (stream && stream->count) {
    const double *time = stream->time.data;
    r->sums.last = time[stream->count - 1];
    r->has_calls = tsn_process_has_calls(r->profile);
    tsanom_status status = read_stream(r, stream);
    if (status == TSANOM_OK) {
      status = tsn_process_add_totals(&r->tree, r->profile,
                                      r->channel->header.first.nanoseconds, r->has_calls,
                                      &r->sums);
    }
    if (status < 0) return status;
    elapsed = fmax(0, r->sums.last - time[0]);
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
                .exec = exec,
                .tree = {.directory = channel->directory,
                         .places = places,
                         .regions = regions,
                         .exec = exec},
                .part = part};
  tsanom_status status = read_all(r);
  tsn_array_free(&r->pending, exec);
  tsn_process_tree_free(&r->tree);
  tsn_pool_free(&whole);
  return status;
}
