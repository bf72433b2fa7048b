/* SPDX-License-Identifier: BSD-3-Clause */
/* One process as a row of region times: what it computes between its calls of MPI.
 *
 *   events     END     cpu BEGIN Recv END    begin 5 end      cpu BEGIN Send  END
 *              |computation |   MPI   |     computation           |  MPI  |
 *
 *   regions    exchange                                      function that calls
 *              ├── exchange > before MPI_Recv (x.c:7)        call that ends it
 *              └── exchange > before MPI_Send (x.c:9)
 *                  └── ... > loop (x.c:3)                    parallel region 5
 *
 * A computation is known by the call that ends it. Its function is a region around it,
 * because processes of one program may make the calls of a function in another order: a
 * process that first sends does its work "before MPI_Send", and its neighbor, which first
 * receives, "before MPI_Recv"; but both do it in `exchange`.
 *
 * The time of a computation is the processor time that was measured, and otherwise the
 * elapsed time. Calls of MPI within a parallel region do not count. Parallel regions are
 * parts of the elapsed time, which is scaled to the processor time at the end of the
 * computation; until then they wait in a tree of shapes, regions within regions, for it
 * is not known before to which computation they belong.
 *
 * A process without MPI has its parallel regions as outermost regions, by elapsed time.
 * With MPI, what is behind the last call belongs to no region. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/fault.h"
#include "runs/names.h"
#include "runs/spmd.h"

enum { DEPTH_MOST = 64, NONE = -1, PROGRAM = 0 };

/* A region of the result. Node 0 is the program, which is none. */
typedef struct {
  const char *name;
  int32_t parent;
  int32_t links; /* nodes of the shapes directly in it */
  double time, visits;
} node;

/* A parallel region within those around it. Shape 0 is outside of all. */
typedef struct {
  int32_t parent, place;
  int32_t inner, next;
  bool is_pending; /* time was added since the last computation */
  double time, visits;
} shape;

/* The node of a shape in a node. */
typedef struct {
  int32_t shape, node, next;
} shape_link;

typedef struct {
  double begin, excluded; /* `excluded` of the reader when it began */
  int32_t shape;          /* NONE: a call of MPI */
} open_region;

typedef struct {
  const tsn_channel *channel;
  const tsn_places *places;
  const tsanom_exec *exec;
  tsn_pool scratch;
  tsn_array nodes, shapes, links, pending; /* node, shape, shape_link, int32_t */
  size_t node_count, shape_count, link_count, pending_count;
  tsn_names names;      /* node k has number k - 1 */
  tsn_names *kept;      /* the caller's */
  int32_t *computation; /* by place: the node of the computation that it ends; 0: none */
  open_region open[DEPTH_MOST];
  size_t depth;
  double began;           /* the computation */
  double excluded;        /* seconds in calls of MPI within regions, until now */
  double excluded_before; /* when the computation began */
  double cpu;             /* of the computation; NaN: not measured */
  bool is_known;          /* its beginning: it is not behind a gap */
  bool has_calls;
  double waiting;
  tsn_spmd *spmd;
} reader;

static node *node_at(const reader *r, int32_t at) {
  return (node *)r->nodes.data + at;
}

static shape *shape_at(const reader *r, int32_t at) {
  return (shape *)r->shapes.data + at;
}

static tsanom_status reject(const reader *r, tsanom_status status, const char *text) {
  tsn_file_place place = {.file = r->channel->directory};
  return tsn_reject_file(r->exec, status, &place, "%s", text);
}

static tsanom_status no_memory(const reader *r) {
  return reject(r, TSANOM_E_MEMORY, "out of memory");
}

/* A larger set with the names of all nodes. */
static bool grow_names(reader *r) {
  size_t capacity = r->names.capacity ? 4 * r->names.capacity : 64;
  tsn_names larger;
  if (!tsn_names_create(&larger, &r->scratch, capacity)) return false;
  for (size_t k = 1; k < r->node_count; k++) {
    tsn_names_add(&larger, node_at(r, (int32_t)k)->name);
  }
  r->names = larger;
  return true;
}

/* The node of that name in a node, added if needed; NONE: out of memory. The name is of
 * the scratch pool or NULL, which fails. */
static int32_t node_named(reader *r, int32_t parent, const char *name) {
  if (!name) return NONE;
  if (r->node_count > 1) {
    size_t found = tsn_names_find(&r->names, name);
    if (found != TSANOM_NONE) return (int32_t)found + 1;
  }
  if (!tsn_array_reserve(&r->nodes, r->exec, r->node_count, r->node_count + 1,
                         sizeof(node))) {
    return NONE;
  }
  if ((!r->node_count || r->names.count == r->names.capacity) && !grow_names(r)) {
    return NONE;
  }
  int32_t at = (int32_t)r->node_count++;
  *node_at(r, at) = (node){.name = name, .parent = parent, .links = NONE};
  if (at != PROGRAM) tsn_names_add(&r->names, name);
  return at;
}

/* The shape of a place within another, added if needed; NONE: out of memory. */
static int32_t shape_in(reader *r, int32_t parent, int32_t place) {
  int32_t at = parent < 0 ? NONE : shape_at(r, parent)->inner;
  while (at >= 0 && shape_at(r, at)->place != place) at = shape_at(r, at)->next;
  if (at >= 0) return at;
  if (!tsn_array_reserve(&r->shapes, r->exec, r->shape_count, r->shape_count + 1,
                         sizeof(shape))) {
    return NONE;
  }
  at = (int32_t)r->shape_count++;
  *shape_at(r, at) = (shape){.parent = parent,
                             .place = place,
                             .inner = NONE,
                             .next = parent < 0 ? NONE : shape_at(r, parent)->inner};
  if (parent >= 0) shape_at(r, parent)->inner = at;
  return at;
}

static const tsn_place *place_at(const reader *r, int32_t place) {
  static const tsn_place unknown = {.name = "unknown place", .site = "unknown place"};
  return (size_t)place < r->places->count ? tsn_places_at(r->places, (size_t)place)
                                          : &unknown;
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
static int32_t computation_before(reader *r, int32_t place) {
  if (r->computation[place]) return r->computation[place];
  const tsn_place *p = place_at(r, place);
  size_t length = function_length(p->site);
  int32_t function =
      node_named(r, PROGRAM, tsn_pool_print(&r->scratch, "%.*s", (int)length, p->site));
  if (function < 0) return NONE;
  const char *name =
      tsn_pool_print(&r->scratch, "%.*s > before %s%s%s", (int)length, p->site,
                     p->about.call, p->site[length] == '+' ? " " : "", p->site + length);
  int32_t at = node_named(r, function, name);
  if (at > 0) r->computation[place] = at;
  return at;
}

/* The node of a shape in a computation, or in the program. */
static int32_t node_of_shape(reader *r, int32_t within, int32_t at) {
  int32_t outer = shape_at(r, at)->parent;
  int32_t parent = outer == 0 ? within : node_of_shape(r, within, outer);
  if (parent < 0) return NONE;
  int32_t link = node_at(r, parent)->links;
  const shape_link *l = r->links.data;
  while (link >= 0 && l[link].shape != at) link = l[link].next;
  if (link >= 0) return l[link].node;
  const char *name = place_at(r, shape_at(r, at)->place)->name;
  name = parent == PROGRAM
             ? tsn_pool_copy(&r->scratch, name)
             : tsn_pool_print(&r->scratch, "%s > %s", node_at(r, parent)->name, name);
  int32_t found = node_named(r, parent, name);
  if (found < 0 || !tsn_array_reserve(&r->links, r->exec, r->link_count,
                                      r->link_count + 1, sizeof(shape_link))) {
    return NONE;
  }
  ((shape_link *)r->links.data)[r->link_count] =
      (shape_link){.shape = at, .node = found, .next = node_at(r, parent)->links};
  node_at(r, parent)->links = (int32_t)r->link_count++;
  return found;
}

static void add(const reader *r, int32_t at, double time, double visits) {
  node_at(r, at)->time += time;
  node_at(r, at)->visits += visits;
}

/* Parallel regions since the last computation, which belong to `within`, or to nothing
 * if it is NONE. */
static tsanom_status settle(reader *r, int32_t within, double scale) {
  for (size_t i = 0; i < r->pending_count; i++) {
    int32_t at = ((int32_t *)r->pending.data)[i];
    if (within >= 0) {
      int32_t to = node_of_shape(r, within, at);
      if (to < 0) return no_memory(r);
      add(r, to, shape_at(r, at)->time * scale, shape_at(r, at)->visits);
    }
    shape *s = shape_at(r, at);
    s->time = s->visits = 0;
    s->is_pending = false;
  }
  r->pending_count = 0;
  return TSANOM_OK;
}

/* A call of MPI begins: it ends a computation, if the beginning of that is known. There
 * is none in front of MPI_Init, which begins the run. */
static tsanom_status end_computation(reader *r, int32_t place, double time) {
  r->has_calls = true;
  if (!r->is_known || time <= r->began) return settle(r, NONE, 0);
  double elapsed = fmax(0, time - r->began - (r->excluded - r->excluded_before));
  double useful = isnan(r->cpu) ? elapsed : fmin(r->cpu, elapsed);
  int32_t at = computation_before(r, place);
  if (at < 0) return no_memory(r);
  add(r, at, useful, 1);
  add(r, node_at(r, at)->parent, useful, 1);
  return settle(r, at, elapsed > 0 ? useful / elapsed : 1);
}

static void begin_computation(reader *r, double time) {
  r->began = time;
  r->excluded_before = r->excluded;
  r->cpu = NAN;
  r->is_known = true;
}

static tsanom_status begin(reader *r, int32_t place, double time) {
  if (r->depth == DEPTH_MOST) {
    return reject(r, TSANOM_E_FORMAT, "more than 64 regions are nested");
  }
  open_region *o = &r->open[r->depth];
  *o = (open_region){.begin = time, .excluded = r->excluded, .shape = NONE};
  if (place_at(r, place)->about.call) {
    tsanom_status status = r->depth ? TSANOM_OK : end_computation(r, place, time);
    r->depth++;
    return status;
  }
  int32_t outer = r->depth && o[-1].shape > 0 ? o[-1].shape : 0;
  o->shape = shape_in(r, outer, place);
  r->depth++;
  return o->shape < 0 ? no_memory(r) : TSANOM_OK;
}

/* A call within a region is taken out of the times of all that is open. */
static tsanom_status end(reader *r, double time) {
  if (!r->depth) return TSANOM_OK;
  const open_region *o = &r->open[--r->depth];
  double elapsed = fmax(0, time - o->begin);
  if (o->shape < 0) {
    r->waiting += elapsed;
    r->excluded += elapsed;
    if (!r->depth) begin_computation(r, time);
    return TSANOM_OK;
  }
  shape *s = shape_at(r, o->shape);
  s->time += fmax(0, elapsed - (r->excluded - o->excluded));
  s->visits++;
  if (s->is_pending) return TSANOM_OK;
  s->is_pending = true;
  if (!tsn_array_reserve(&r->pending, r->exec, r->pending_count, r->pending_count + 1,
                         sizeof(int32_t))) {
    return no_memory(r);
  }
  ((int32_t *)r->pending.data)[r->pending_count++] = o->shape;
  return TSANOM_OK;
}

/* The first stream is that of the thread that began the run. Behind a gap no region is
 * known to be open, and no computation. */
static tsanom_status read_stream(reader *r, const tsn_stream *stream) {
  const double *time = stream->time.data;
  const uint32_t *tag = stream->tag.data;
  size_t gap = 0;
  begin_computation(r, time[0]);
  for (size_t k = 0; k < stream->count; k++) {
    tsanom_runs_event event;
    tsanom_status status = TSANOM_OK;
    if (tsn_stream_gap_at(stream, k, &gap)) {
      r->depth = 0;
      r->is_known = false;
    }
    (void)tsanom_runs_decode(tag[k], &event);
    if (event.kind == TSANOM_REGIONS_BEGIN) status = begin(r, event.place, time[k]);
    if (event.kind == TSANOM_REGIONS_END) status = end(r, time[k]);
    if (event.kind == TSANOM_REGIONS_CPU && !r->depth) r->cpu = event.cpu_s;
    if (status < 0) return status;
  }
  return settle(r, r->has_calls ? NONE : PROGRAM, 1);
}

static tsanom_status fill(reader *r, double elapsed) {
  static const char *const calls = "calls";
  tsn_spmd *s = r->spmd;
  tsn_pool *pool = &s->pool;
  size_t regions = r->node_count - 1;
  s->region = (const char **)tsn_pool_take(pool, regions, sizeof *s->region);
  s->metric = (const char **)tsn_pool_take(pool, 1, sizeof *s->metric);
  s->parent = tsn_pool_take(pool, regions, sizeof *s->parent);
  s->time = tsn_pool_take(pool, regions, sizeof *s->time);
  s->value = tsn_pool_take(pool, regions, sizeof *s->value);
  s->waiting = tsn_pool_take(pool, 1, sizeof *s->waiting);
  if (!s->region || !s->metric || !s->parent || !s->time || !s->value || !s->waiting) {
    return no_memory(r);
  }
  for (size_t k = 0; k < regions; k++) {
    const node *n = node_at(r, (int32_t)k + 1);
    s->region[k] = tsn_names_keep(r->kept, pool, n->name);
    if (!s->region[k]) return no_memory(r);
    s->parent[k] = n->parent - 1;
    s->time[k] = n->time;
    s->value[k] = n->visits;
  }
  s->metric[0] = calls;
  s->waiting[0] = r->waiting;
  s->data.regions = regions;
  s->data.processes = s->data.metrics = 1;
  s->data.elapsed = elapsed;
  return TSANOM_OK;
}

static tsanom_status read_all(reader *r) {
  double elapsed = 0;
  r->computation =
      tsn_pool_take(&r->scratch, TSANOM_REGIONS_PLACES_MAX, sizeof *r->computation);
  if (!r->computation || node_named(r, NONE, "") < 0 || shape_in(r, NONE, NONE) < 0) {
    return no_memory(r);
  }
  const tsn_stream *stream =
      r->channel->stream_count ? tsn_channel_stream(r->channel, 0) : NULL;
  if (stream && stream->count) {
    const double *time = stream->time.data;
    elapsed = fmax(0, time[stream->count - 1] - time[0]);
    tsanom_status status = read_stream(r, stream);
    if (status < 0) return status;
  }
  return fill(r, elapsed);
}

/* The reader has a stack of open regions, too large for that of a thread. */
tsanom_status tsn_spmd_read_process(const tsn_channel *channel, const tsn_places *places,
                                    tsn_names *names, const tsanom_exec *exec,
                                    tsn_spmd *spmd) {
  tsn_pool whole = {.exec = exec};
  reader *r = tsn_pool_take(&whole, 1, sizeof *r);
  if (!r) return tsn_reject(exec, TSANOM_E_MEMORY, "exec.alloc");
  *r = (reader){.channel = channel,
                .places = places,
                .kept = names,
                .exec = exec,
                .scratch = {.exec = exec},
                .spmd = spmd};
  tsanom_status status = read_all(r);
  tsn_array_free(&r->nodes, exec);
  tsn_array_free(&r->shapes, exec);
  tsn_array_free(&r->links, exec);
  tsn_array_free(&r->pending, exec);
  tsn_pool_free(&r->scratch);
  tsn_pool_free(&whole);
  return status;
}
