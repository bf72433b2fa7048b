/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom_search_nearest(): arguments, workspace, and groups of queries.
 *
 *                  part 0    part 1    part 2   ...      of the index
 *   group 0    q0  ------->  ------->  ------->
 *   (thread)   q1  ------->  ------->  ------->
 *              q2  ------->  ------->  ------->
 *
 * A pass over the index for each query would read it from memory each time. A group goes
 * through it part by part, all its queries one after the other in a part that fits the
 * cache. Threads share the groups; a group belongs to one thread, with its buffers. */
#include "core/fault.h"
#include "core/parallel.h"
#include "core/size.h"
#include "search/cascade.h"

typedef tsn_search_plan plan;
typedef tsn_search_progress progress;

/* Queries of a group, which one thread takes through the index together: a part of the
 * index that fits in the cache serves all of them. */
enum { GROUP = 16, PART_SAMPLES = 1 << 14, SAMPLES_PER_POLL = 1 << 26 };

/* The first DTWs are two vectors of doubles at level v4, or in a small index one of this
 * many series: they run without a limit, hence there must be few. */
enum { FIRST_SHARE = 32, FIRST_MOST = 16 };

/* Buffers of one thread. */
typedef struct {
  progress queries[GROUP];
  tsn_search_part_buffers part;
  tsn_search_work work;
  tsn_search_watcher watcher;
} buffers;

/* One call. */
typedef struct {
  plan plan;
  buffers *buffers;
  tsn_search_watch watch;
} search;

/* Visit the index part by part, each part for all queries, until the poll asks to stop.
 */
static void each_part(buffers *b, size_t queries,
                      void visit(progress *p, size_t first, size_t count,
                                 const tsn_search_part_buffers *b)) {
  const plan *s = b->queries[0].plan;
  size_t count = s->index->count;
  for (size_t i = 0; i < count && !tsn_search_stopped(&b->watcher); i += s->part) {
    size_t part = count - i < s->part ? count - i : s->part;
    for (size_t q = 0; q < queries; q++) visit(b->queries + q, i, part, &b->part);
  }
}

/* Queries begin ... end-1: two passes over the index; see cascade.h. */
static void search_group(void *context, size_t begin, size_t end, int thread) {
  search *s = context;
  buffers *b = s->buffers + thread;
  b->watcher = (tsn_search_watcher){.watch = &s->watch, .calling = thread == 0};
  for (size_t q = begin; q < end; q++)
    tsn_search_begin(&s->plan, q, b->queries + (q - begin), &b->part);
  each_part(b, end - begin, tsn_search_choose_part);
  for (size_t q = begin; q < end; q++) tsn_search_take_first(b->queries + (q - begin));
  each_part(b, end - begin, tsn_search_filter_part);
  for (size_t q = begin; q < end; q++) {
    progress *p = b->queries + (q - begin);
    tsn_search_run_waiting(p);
    if (s->plan.reports) s->plan.reports[q] = p->report;
  }
}

/* While the arena measures, there are no buffers to write addresses to. */
static void layout(tsn_arena *arena, void *context) {
  search *call = context;
  const plan *s = &call->plan;
  size_t length = s->index->length, threads = (size_t)s->exec.threads;
  size_t waiting = tsn_smaller(tsn_larger(s->first, TSN_SEARCH_WAITING), s->index->count);
  call->buffers = tsn_arena_take(arena, threads, sizeof *call->buffers);
  for (size_t t = 0; t < threads; t++) {
    buffers *own = call->buffers ? call->buffers + t : NULL;
    tsn_search_part_buffers part = {
        .bounds = tsn_arena_take(arena, s->part, sizeof(double)),
        .other = tsn_arena_take(arena, s->part, sizeof(double)),
        .sums = tsn_arena_take(arena, length, sizeof(double))};
    tsn_search_work work;
    tsn_search_work_layout(arena, length, s->work_bytes, &work);
    if (own) own->part = part, own->work = work;
    for (size_t q = 0; q < GROUP; q++) {
      progress p = {.watcher = own ? &own->watcher : NULL,
                    .work = own ? &own->work : NULL,
                    .query = tsn_arena_take(arena, length, sizeof(double)),
                    .lower = tsn_arena_take(arena, length, sizeof(double)),
                    .upper = tsn_arena_take(arena, length, sizeof(double)),
                    .taken = tsn_arena_take(arena, s->first, sizeof(size_t)),
                    .heap = tsn_arena_take(arena, waiting, sizeof(tsn_search_ranked))};
      if (own) own->queries[q] = p;
    }
  }
}

/* Everything but the queries: exec is read. */
static tsanom_status describe(plan *s, const tsanom_search_index *index,
                              size_t neighbors) {
  if (!index) return tsn_reject(&s->exec, TSANOM_E_NULL, "index");
  if (neighbors == 0 || neighbors > index->count) {
    return tsn_reject(&s->exec, TSANOM_E_COUNT, "neighbors");
  }
  s->index = index;
  s->neighbors = neighbors;
  s->first = tsn_smaller(1 + index->count / FIRST_SHARE, FIRST_MOST);
  s->first = tsn_larger(s->first, neighbors);
  s->part = 1 + PART_SAMPLES / index->length;
  tsanom_status status = tsn_search_work_size(index->length, index->length, index->radius,
                                              index->cost, &s->exec, &s->work_bytes);
  return status < 0 ? tsn_reject(&s->exec, status, "index") : status;
}

/* Small enough that every thread gets groups and the poll is called regularly. Results
 * and reports do not depend on it. */
static size_t group_size(const plan *s, size_t queries) {
  size_t parts = 4 * (size_t)s->exec.threads;
  size_t group = queries / parts + (queries % parts != 0);
  size_t polled = 1 + SAMPLES_PER_POLL / s->index->length / s->index->count;
  if (group > polled) group = polled;
  return group < GROUP ? group : GROUP;
}

tsanom_status tsanom_search_nearest_workspace(const tsanom_search_index *index,
                                              size_t neighbors, const tsanom_exec *exec,
                                              size_t *bytes) {
  search call = {.buffers = NULL};
  tsanom_status status = tsn_exec_read(&call.plan.exec, exec);
  if (status < 0) return status;
  if (!bytes) return tsn_reject(&call.plan.exec, TSANOM_E_NULL, "bytes");
  status = describe(&call.plan, index, neighbors);
  if (status < 0) return status;
  status = tsn_layout_bytes(layout, &call, bytes);
  return status < 0 ? tsn_reject(&call.plan.exec, status, "neighbors") : status;
}

/* All queries are checked before the search: a rejected call modifies no output. */
static tsanom_status check_queries(const plan *s) {
  const tsn_search_kernels *kernels = tsn_search_kernels_at(s->exec.isa);
  size_t n = s->index->length;
  for (size_t i = 0; i < s->queries.count; i++) {
    const double *x = tsn_series_at(&s->queries, i);
    size_t k = tsn_search_first_bad(kernels, x, n, s->index->z_normalize);
    if (k == n) continue;
    return tsn_reject_pair(&s->exec, tsn_search_bad_status(x[k]), "queries", i, k);
  }
  return TSANOM_OK;
}

static tsanom_status run(void *context) {
  search *call = context;
  plan *s = &call->plan;
  size_t queries = s->queries.count;
  tsanom_status status = check_queries(s);
  if (status < 0) return status;
  tsanom_exec watched = tsn_search_watch_begin(&call->watch, &s->exec);
  return tsn_parallel_for(&watched, queries, group_size(s, queries), search_group, call,
                          NULL);
}

tsanom_status tsanom_search_nearest(const tsanom_search_index *index,
                                    const tsanom_series *queries, size_t neighbors,
                                    const tsanom_exec *exec, size_t *indices,
                                    double *distances, tsanom_search_report *reports) {
  search call = {
      .plan = {.indices = indices, .distances = distances, .reports = reports}};
  plan *s = &call.plan;
  size_t count;
  tsanom_status status = tsn_exec_read(&s->exec, exec);
  if (status < 0) return status;
  if (!indices) return tsn_reject(&s->exec, TSANOM_E_NULL, "indices");
  if (!distances) return tsn_reject(&s->exec, TSANOM_E_NULL, "distances");
  status = describe(s, index, neighbors);
  if (status < 0) return status;
  status =
      tsn_search_read_series(&s->queries, queries, "queries", index->length, &s->exec);
  if (status < 0) return status;
  if (__builtin_mul_overflow(s->queries.count, neighbors, &count) ||
      !tsn_array_fits(count, sizeof *reports)) {
    return tsn_reject(&s->exec, TSANOM_E_OVERFLOW, "neighbors");
  }
  return tsn_workspace_run(&s->exec, layout, run, &call);
}
