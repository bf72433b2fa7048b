/* SPDX-License-Identifier: BSD-3-Clause */
/* The nearest series of an index: groups of queries, arguments and workspace. */
#include <tsanom/lbkeogh.h>

#include "core/exec.h"
#include "core/parallel.h"
#include "search/cascade.h"

typedef tsn_search_plan plan;
typedef tsn_search_progress progress;

/* Queries that one thread takes through the index together: a part of the index
 * that fits the cache serves them all. */
enum { GROUP = 16, PART_SAMPLES = 1 << 14, SAMPLES_PER_POLL = 1 << 26 };

/* The first DTWs are a batch, of a small index a share. */
enum { FIRST_SHARE = 32 };

/* What one thread works in. */
typedef struct {
  progress queries[GROUP];
  tsn_search_part_buffers part;
} buffers;

typedef struct {
  tsn_search_plan plan;
  buffers *buffers;
} search;

/* Visit the index part by part, each for all queries. */
static void each_part(buffers *b, size_t queries,
                      void visit(progress *p, size_t first, size_t count,
                                 const tsn_search_part_buffers *b)) {
  const plan *s = b->queries[0].plan;
  size_t count = s->index->count;
  for (size_t i = 0; i < count; i += s->part) {
    size_t part = count - i < s->part ? count - i : s->part;
    for (size_t q = 0; q < queries; q++) visit(b->queries + q, i, part, &b->part);
  }
}

static void search_group(void *context, size_t begin, size_t end, int thread) {
  const search *s = context;
  buffers *b = s->buffers + thread;
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

static tsanom_status work_size(const tsanom_search_index *index, const tsanom_exec *exec,
                               size_t *bytes) {
  tsanom_exec alone = tsn_search_alone(exec, NULL, 0);
  size_t envelope;
  tsanom_status status =
      tsanom_lbkeogh_envelope_workspace(index->length, index->radius, &alone, &envelope);
  if (status < 0) return status;
  status =
      tsn_search_distances_size(index->length, index->radius, index->cost, exec, bytes);
  if (*bytes < envelope) *bytes = envelope;
  return status;
}

static buffers *layout(tsn_arena *arena, const plan *s) {
  size_t length = s->index->length,
         room = s->first > TSN_SEARCH_WAITING ? s->first : TSN_SEARCH_WAITING;
  if (room > s->index->count) room = s->index->count;
  buffers *all = tsn_arena_take(arena, (size_t)s->exec->threads, sizeof *all);
  for (int t = 0; t < s->exec->threads; t++) {
    double *bounds = tsn_arena_take(arena, s->part, sizeof(double));
    double *other = tsn_arena_take(arena, s->part, sizeof(double));
    double *sums = tsn_arena_take(arena, length, sizeof(double));
    void *work = tsn_arena_take(arena, 1, s->work_bytes);
    if (all) {
      all[t].part.bounds = bounds;
      all[t].part.other = other;
      all[t].part.sums = sums;
    }
    for (size_t q = 0; q < GROUP; q++) {
      progress p = {.work = work,
                    .query = tsn_arena_take(arena, length, sizeof(double)),
                    .lower = tsn_arena_take(arena, length, sizeof(double)),
                    .upper = tsn_arena_take(arena, length, sizeof(double)),
                    .taken = tsn_arena_take(arena, s->first, sizeof(size_t)),
                    .heap = tsn_arena_take(arena, room, sizeof(tsn_search_ranked))};
      if (all) all[t].queries[q] = p;
    }
  }
  return all;
}

/* Everything but the queries. */
static tsanom_status describe(const tsanom_search_index *index, size_t neighbours,
                              const tsanom_exec *exec, tsanom_exec *own_exec, plan *s) {
  tsanom_status status = tsn_exec_read(own_exec, exec);
  if (status < 0) return status;
  if (neighbours == 0 || neighbours > index->count) return TSANOM_E_COUNT;
  size_t first = 1 + index->count / FIRST_SHARE;
  if (first > TSN_SEARCH_BATCH) first = TSN_SEARCH_BATCH;
  if (first < neighbours) first = neighbours;
  *s = (plan){.index = index,
              .neighbours = neighbours,
              .exec = own_exec,
              .first = first,
              .part = 1 + PART_SAMPLES / index->length};
  return work_size(index, own_exec, &s->work_bytes);
}

/* Enough groups for every thread, and a look at the poll now and then. Results
 * and reports do not depend on it. */
static size_t group_size(const plan *s, size_t queries) {
  size_t parts = 4 * (size_t)s->exec->threads;
  size_t group = queries / parts + (queries % parts != 0);
  size_t polled = 1 + SAMPLES_PER_POLL / s->index->length / s->index->count;
  if (group > polled) group = polled;
  return group < GROUP ? group : GROUP;
}

tsanom_status tsanom_search_nearest_workspace(const tsanom_search_index *index,
                                              size_t neighbours, const tsanom_exec *exec,
                                              size_t *bytes) {
  tsanom_exec own_exec;
  plan s;
  if (!index || !bytes) return TSANOM_E_NULL;
  tsanom_status status = describe(index, neighbours, exec, &own_exec, &s);
  if (status < 0) return status;
  tsn_arena arena = tsn_arena_measure();
  layout(&arena, &s);
  return tsn_arena_bytes(&arena, bytes);
}

static tsanom_status check_queries(const plan *s, size_t query_count) {
  const tsn_search_kernels *kernels = tsn_search_kernels_at(s->exec->isa);
  tsanom_status worst = TSANOM_OK;
  for (size_t i = 0; i < query_count && worst != TSANOM_E_NONFINITE; i++) {
    tsanom_status status = tsn_search_check(kernels, s->queries + i * s->stride,
                                            s->index->length, s->index->z_normalize);
    if (status < 0) worst = status;
  }
  return worst;
}

tsanom_status tsanom_search_nearest(const tsanom_search_index *index,
                                    const double *queries, size_t query_count,
                                    size_t stride, size_t neighbours,
                                    const tsanom_exec *exec, void *work,
                                    size_t work_bytes, size_t *indices, double *distances,
                                    tsanom_search_report *reports) {
  tsanom_exec own_exec;
  search s;
  if (!index || !queries || !indices || !distances) return TSANOM_E_NULL;
  tsanom_status status = describe(index, neighbours, exec, &own_exec, &s.plan);
  if (status < 0) return status;
  if (query_count == 0 || stride < index->length) return TSANOM_E_COUNT;
  s.plan.queries = queries;
  s.plan.stride = stride;
  s.plan.indices = indices;
  s.plan.distances = distances;
  s.plan.reports = reports;
  tsn_arena measured = tsn_arena_measure();
  layout(&measured, &s.plan);
  tsn_workspace workspace;
  status = tsn_workspace_borrow(&workspace, &measured, &own_exec, work, work_bytes);
  if (status < 0) return status;
  status = check_queries(&s.plan, query_count);
  if (status == TSANOM_OK) {
    s.buffers = layout(&workspace.arena, &s.plan);
    status = tsn_parallel_for(&own_exec, query_count, group_size(&s.plan, query_count),
                              search_group, &s, NULL);
  }
  tsn_workspace_close(&workspace);
  return status;
}
