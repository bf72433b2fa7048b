/* SPDX-License-Identifier: BSD-3-Clause */
/* The nearest series of an index. */
#include <math.h>
#include <string.h>
#include <tsanom/lbkeogh.h>

#include "core/exec.h"
#include "core/parallel.h"
#include "search/index.h"

/* Queries that one thread takes through the index together: a part of the index
 * that fits the cache serves them all. */
enum { GROUP = 16, PART_SAMPLES = 1 << 14, SAMPLES_PER_POLL = 1 << 26 };

/* The first DTWs are a batch, of a small index a share. */
enum { FIRST_SHARE = 32 };

/* Candidates that pass the bounds wait for the end of the index, where the best
 * come first, unless there are so many. */
enum { WAITING = 4096 };

/* A candidate and the best bound of its distance known so far. */
typedef struct {
  double bound;
  size_t id;
} ranked;

typedef struct {
  const tsanom_search_index *index;
  const double *queries;
  size_t stride, neighbours;
  const tsanom_exec *exec;
  size_t first; /* series of the first DTWs */
  size_t part;  /* series of a part of the index */
  size_t group; /* queries at a time */
  size_t work_bytes;
  size_t *indices;
  double *distances;
  tsanom_search_report *reports;
  struct buffers *buffers;
} search;

/* One query under way. */
typedef struct {
  const search *search;
  const tsn_search_kernels *kernels;
  void *work;                    /* the thread's, for envelopes and for DTW */
  double *query, *lower, *upper; /* as compared, and its envelope */
  tsn_search_query_sums sums;
  size_t *taken; /* series of the first DTWs, in order */
  size_t passed; /* of those, how many the filter is past */
  ranked *heap;
  size_t waiting; /* in the heap */
  size_t found;   /* neighbours so far, in order */
  size_t *indices;
  double *distances;
  double limit; /* a bound above it removes a candidate */
  tsanom_search_report report;
} progress;

/* What one thread works in. */
typedef struct buffers {
  progress queries[GROUP];
  double *bounds, *other; /* of a part of the index */
  double *sums;           /* of half a series */
} buffers;

static int before(const ranked *a, const ranked *b) {
  return a->bound < b->bound || (a->bound == b->bound && a->id < b->id);
}

static void heap_down(ranked *heap, size_t count, size_t i) {
  ranked moved = heap[i];
  for (size_t child; (child = 2 * i + 1) < count; i = child) {
    if (child + 1 < count && before(heap + child + 1, heap + child)) child++;
    if (!before(heap + child, &moved)) break;
    heap[i] = heap[child];
  }
  heap[i] = moved;
}

static void heap_make(ranked *heap, size_t count) {
  for (size_t i = count / 2; i-- > 0;) heap_down(heap, count, i);
}

static ranked heap_pop(ranked *heap, size_t *count) {
  ranked top = heap[0];
  heap[0] = heap[--*count];
  if (*count > 0) heap_down(heap, *count, 0);
  return top;
}

/* Distance of the last neighbour; none beyond it can be one. */
static double cutoff(const progress *p) {
  size_t wanted = p->search->neighbours;
  return p->found < wanted ? INFINITY : p->distances[wanted - 1];
}

static void insert(progress *p, double distance, size_t id) {
  size_t wanted = p->search->neighbours;
  size_t at = p->found < wanted ? p->found : wanted - 1;
  if (at == p->found) {
    p->found++;
  } else if (distance > p->distances[at] ||
             (distance == p->distances[at] && id > p->indices[at])) {
    return;
  }
  for (; at > 0; at--) {
    double other = p->distances[at - 1];
    if (other < distance || (other == distance && p->indices[at - 1] < id)) break;
    p->distances[at] = other;
    p->indices[at] = p->indices[at - 1];
  }
  p->distances[at] = distance;
  p->indices[at] = id;
}

/* DTW of what waits; the neighbours and the limit follow. The arguments are
 * checked and the workspace is there: it cannot fail. */
static void run_batch(progress *p, tsn_search_batch *batch) {
  const search *s = p->search;
  const tsanom_search_index *index = s->index;
  double distances[TSN_SEARCH_BATCH], worst = cutoff(p);
  (void)tsn_search_distances(p->query, index->length, batch, index->radius, index->cost,
                             worst, s->exec, p->work, s->work_bytes, distances);
  for (size_t i = 0; i < batch->count; i++) {
    if (isinf(distances[i]) && !isinf(worst)) {
      p->report.abandoned++;
    } else {
      p->report.computed++;
      insert(p, distances[i], batch->id[i]);
    }
  }
  batch->count = 0;
  p->limit = tsn_search_limit(cutoff(p), index->length, index->cost, 0);
}

static void add_to_batch(progress *p, tsn_search_batch *batch, size_t id) {
  batch->series[batch->count] = tsn_search_series(p->search->index, id);
  batch->id[batch->count++] = id;
  if (batch->count == TSN_SEARCH_BATCH) run_batch(p, batch);
}

/* LB_Keogh of a series against the envelope of the query. */
static double keogh(const progress *p, size_t id) {
  const tsanom_search_index *index = p->search->index;
  tsn_search_keogh problem = {.c = tsn_search_series(index, id),
                              .lower = p->lower,
                              .upper = p->upper,
                              .n = index->length,
                              .limit = p->limit};
  return p->kernels->keogh[index->cost](&problem);
}

/* LB_Keogh of the query against the envelope of a series. */
static double keogh_reversed(const progress *p, size_t id) {
  const tsanom_search_index *index = p->search->index;
  tsn_search_keogh problem = {.c = p->query,
                              .lower = index->lower + id * index->row,
                              .upper = index->upper + id * index->row,
                              .n = index->length,
                              .limit = p->limit};
  return p->kernels->keogh[index->cost](&problem);
}

/* LB_KimFL and the larger bound by segments, for `count` series from `first`. */
static void cheap_bounds(const progress *p, size_t first, size_t count, double *bounds,
                         double *other) {
  const tsanom_search_index *index = p->search->index;
  tsn_search_kim kim = {.mean = index->zeros, .inverse = index->ones};
  tsn_search_query_ends(p->query, index->length, &kim);
  tsn_search_ends ends = index->ends;
  for (size_t k = 0; k < TSN_SEARCH_ENDS; k++) {
    ends.front[k] += first;
    ends.back[k] += first;
  }
  tsn_search_segments segments = {.low = index->sums,
                                  .high = index->sums,
                                  .query_low = p->sums.lowest,
                                  .query_high = p->sums.highest,
                                  .stride = index->count,
                                  .count = p->sums.count,
                                  .length = index->cut.length};
  tsn_search_segments reversed = segments;
  reversed.low = index->lower_sums;
  reversed.high = index->upper_sums;
  reversed.query_low = p->sums.low;
  reversed.query_high = p->sums.high;
  p->kernels->segments[index->cost](&segments, first, count, bounds);
  p->kernels->segments[index->cost](&reversed, first, count, other);
  for (size_t i = 0; i < count; i++) bounds[i] = fmax(bounds[i], other[i]);
  p->kernels->kim[index->cost](&ends, &kim, count, other);
  for (size_t i = 0; i < count; i++) bounds[i] += other[i];
}

/* Keep the least of all in order, as many as have the first DTWs. */
static void choose(progress *p, ranked candidate) {
  size_t first = p->search->first, at = p->waiting < first ? p->waiting : first - 1;
  if (at == p->waiting) {
    p->waiting++;
  } else if (!before(&candidate, p->heap + at)) {
    return;
  }
  for (; at > 0 && before(&candidate, p->heap + at - 1); at--) {
    p->heap[at] = p->heap[at - 1];
  }
  p->heap[at] = candidate;
}

static void note_taken(progress *p, size_t id) {
  size_t at = p->passed++;
  for (; at > 0 && p->taken[at - 1] > id; at--) p->taken[at] = p->taken[at - 1];
  p->taken[at] = id;
}

/* The first DTWs, of the series that look nearest, give a limit to all bounds
 * that follow. */
static void take_first(progress *p) {
  tsn_search_batch batch = {.count = 0};
  for (size_t i = 0; i < p->search->first; i++) {
    size_t id = p->heap[i].id;
    note_taken(p, id);
    add_to_batch(p, &batch, id);
  }
  p->waiting = p->passed = 0;
  if (batch.count > 0) run_batch(p, &batch);
}

/* DTW of those that wait, the best first, until the bound of one removes it
 * and all behind it. */
static void run_waiting(progress *p) {
  tsn_search_batch batch = {.count = 0};
  heap_make(p->heap, p->waiting);
  while (p->waiting > 0) {
    ranked best = heap_pop(p->heap, &p->waiting);
    if (best.bound > p->limit) {
      p->report.keogh_reversed += p->waiting + 1;
      p->waiting = 0;
      break;
    }
    add_to_batch(p, &batch, best.id);
  }
  if (batch.count > 0) run_batch(p, &batch);
}

static void filter_one(progress *p, size_t id, double cheap) {
  double bound, other;
  if (cheap > p->limit) {
    p->report.means++;
  } else if ((bound = keogh(p, id)) > p->limit) {
    p->report.keogh++;
  } else if ((other = keogh_reversed(p, id)) > p->limit) {
    p->report.keogh_reversed++;
  } else {
    p->heap[p->waiting++] = (ranked){bound > other ? bound : other, id};
  }
}

static void choose_part(progress *p, size_t first, size_t count, buffers *b) {
  cheap_bounds(p, first, count, b->bounds, b->other);
  for (size_t i = 0; i < count; i++) choose(p, (ranked){b->bounds[i], first + i});
}

static void filter_part(progress *p, size_t first, size_t count, buffers *b) {
  cheap_bounds(p, first, count, b->bounds, b->other);
  for (size_t i = 0; i < count; i++) {
    if (p->passed < p->search->first && p->taken[p->passed] == first + i) {
      p->passed++;
      continue;
    }
    filter_one(p, first + i, b->bounds[i]);
    if (p->waiting == WAITING) run_waiting(p);
  }
}

static void begin_query(const search *s, size_t number, progress *p, double *work) {
  const tsanom_search_index *index = s->index;
  const double *query = s->queries + number * s->stride;
  size_t n = index->length;
  p->search = s;
  p->kernels = tsn_search_kernels_at(s->exec->isa);
  p->passed = p->waiting = p->found = 0;
  p->indices = s->indices + number * s->neighbours;
  p->distances = s->distances + number * s->neighbours;
  p->limit = INFINITY;
  p->report = (tsanom_search_report){.candidates = index->count};
  if (index->z_normalize) {
    tsn_search_normalize(p->kernels, query, n, p->query);
  } else {
    memcpy(p->query, query, n * sizeof *query);
  }
  tsanom_lbkeogh_options options;
  tsanom_lbkeogh_options_init(&options, sizeof options);
  options.radius = index->radius;
  tsanom_exec alone = tsn_search_alone(s->exec);
  tsanom_lbkeogh_envelope(p->query, n, &options, &alone, p->work, s->work_bytes, p->lower,
                          p->upper);
  double largest = fmax(index->largest, p->kernels->largest(p->query, n));
  tsn_search_sum_query(p->kernels, p->query, p->lower, p->upper, n, largest, work,
                       &p->sums);
}

/* Visit the index part by part, each for all queries. */
static void each_part(buffers *b, size_t queries,
                      void visit(progress *p, size_t first, size_t count, buffers *b)) {
  const search *s = b->queries[0].search;
  size_t count = s->index->count;
  for (size_t i = 0; i < count; i += s->part) {
    size_t part = count - i < s->part ? count - i : s->part;
    for (size_t q = 0; q < queries; q++) visit(b->queries + q, i, part, b);
  }
}

static void search_group(void *context, size_t begin, size_t end, int thread) {
  const search *s = context;
  buffers *b = s->buffers + thread;
  for (size_t q = begin; q < end; q++)
    begin_query(s, q, b->queries + (q - begin), b->sums);
  each_part(b, end - begin, choose_part);
  for (size_t q = begin; q < end; q++) take_first(b->queries + (q - begin));
  each_part(b, end - begin, filter_part);
  for (size_t q = begin; q < end; q++) {
    progress *p = b->queries + (q - begin);
    run_waiting(p);
    if (s->reports) s->reports[q] = p->report;
  }
}

static tsanom_status work_size(const tsanom_search_index *index, const tsanom_exec *exec,
                               size_t *bytes) {
  tsanom_lbkeogh_options options;
  tsanom_lbkeogh_options_init(&options, sizeof options);
  options.radius = index->radius;
  tsanom_exec alone = tsn_search_alone(exec);
  size_t envelope;
  tsanom_status status =
      tsanom_lbkeogh_envelope_workspace(index->length, &options, &alone, &envelope);
  if (status < 0) return status;
  status =
      tsn_search_distances_size(index->length, index->radius, index->cost, exec, bytes);
  if (*bytes < envelope) *bytes = envelope;
  return status;
}

static buffers *layout(tsn_arena *arena, const search *s) {
  size_t length = s->index->length, room = s->first > WAITING ? s->first : WAITING;
  if (room > s->index->count) room = s->index->count;
  buffers *all = tsn_arena_take(arena, (size_t)s->exec->threads, sizeof *all);
  for (int t = 0; t < s->exec->threads; t++) {
    double *bounds = tsn_arena_take(arena, s->part, sizeof(double));
    double *other = tsn_arena_take(arena, s->part, sizeof(double));
    double *sums = tsn_arena_take(arena, length, sizeof(double));
    void *work = tsn_arena_take(arena, 1, s->work_bytes);
    if (all) {
      all[t].bounds = bounds;
      all[t].other = other;
      all[t].sums = sums;
    }
    for (size_t q = 0; q < GROUP; q++) {
      progress p = {.work = work,
                    .query = tsn_arena_take(arena, length, sizeof(double)),
                    .lower = tsn_arena_take(arena, length, sizeof(double)),
                    .upper = tsn_arena_take(arena, length, sizeof(double)),
                    .taken = tsn_arena_take(arena, s->first, sizeof(size_t)),
                    .heap = tsn_arena_take(arena, room, sizeof(ranked))};
      if (all) all[t].queries[q] = p;
    }
  }
  return all;
}

/* Everything but the queries. */
static tsanom_status describe(const tsanom_search_index *index, size_t neighbours,
                              const tsanom_exec *exec, tsanom_exec *own_exec, search *s) {
  tsanom_status status = tsn_exec_read(own_exec, exec);
  if (status < 0) return status;
  if (neighbours == 0 || neighbours > index->count) return TSANOM_E_COUNT;
  size_t first = 1 + index->count / FIRST_SHARE;
  if (first > TSN_SEARCH_BATCH) first = TSN_SEARCH_BATCH;
  if (first < neighbours) first = neighbours;
  *s = (search){.index = index,
                .neighbours = neighbours,
                .exec = own_exec,
                .first = first,
                .part = 1 + PART_SAMPLES / index->length};
  return work_size(index, own_exec, &s->work_bytes);
}

/* Enough groups for every thread, and a look at the poll now and then. Results
 * and reports do not depend on it. */
static size_t group_size(const search *s, size_t queries) {
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
  search s;
  if (!index || !bytes) return TSANOM_E_NULL;
  tsanom_status status = describe(index, neighbours, exec, &own_exec, &s);
  if (status < 0) return status;
  tsn_arena arena = tsn_arena_measure();
  layout(&arena, &s);
  return tsn_arena_bytes(&arena, bytes);
}

static tsanom_status check_queries(const search *s, size_t query_count) {
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
  tsanom_status status = describe(index, neighbours, exec, &own_exec, &s);
  if (status < 0) return status;
  if (query_count == 0 || stride < index->length) return TSANOM_E_COUNT;
  s.queries = queries;
  s.stride = stride;
  s.indices = indices;
  s.distances = distances;
  s.reports = reports;
  s.group = group_size(&s, query_count);
  tsn_arena measured = tsn_arena_measure();
  layout(&measured, &s);
  tsn_workspace workspace;
  status = tsn_workspace_open(&workspace, &measured, &own_exec, work, work_bytes);
  if (status < 0) return status;
  status = check_queries(&s, query_count);
  if (status == TSANOM_OK) {
    s.buffers = layout(&workspace.arena, &s);
    status = tsn_parallel_for(&own_exec, query_count, s.group, search_group, &s, NULL);
  }
  tsn_workspace_close(&workspace);
  return status;
}
