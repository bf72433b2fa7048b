/* SPDX-License-Identifier: BSD-3-Clause */
/* The nearest series of an index. */
#include <math.h>
#include <string.h>
#include <tsanom/lbkeogh.h>

#include "core/exec.h"
#include "core/parallel.h"
#include "search/index.h"

/* A candidate and the best bound of its distance known so far. */
typedef struct {
  double bound;
  size_t id;
} ranked;

/* What one thread works in. */
typedef struct {
  double *query, *lower, *upper; /* the query as compared, and its envelope */
  double *kim;                   /* of every series; TAKEN once it had its DTW */
  ranked *heap;                  /* as many as there are series */
  void *work;                    /* for envelopes and for DTW */
} buffers;

typedef struct {
  const tsanom_search_index *index;
  const double *queries;
  size_t stride, neighbours;
  const tsanom_exec *exec;
  const buffers *buffers;
  size_t work_bytes;
  size_t *indices;
  double *distances;
  tsanom_search_report *reports;
} search;

/* One query under way. */
typedef struct {
  const search *search;
  const buffers *b;
  const tsn_search_kernels *kernels;
  size_t found; /* neighbours so far, in order */
  size_t *indices;
  double *distances;
  double limit; /* a bound above it removes a candidate */
  tsanom_search_report report;
} progress;

static const double TAKEN = -1;

/* How many candidates with the least LB_Kim compete for the first DTWs. */
enum { FIRST_CHOICE = 4 };

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

/* DTW of what waits; the neighbours and the limit follow. */
static tsanom_status run_batch(progress *p, tsn_search_batch *batch) {
  const search *s = p->search;
  const tsanom_search_index *index = s->index;
  double distances[TSN_SEARCH_BATCH], worst = cutoff(p);
  tsanom_status status =
      tsn_search_distances(p->b->query, index->length, batch, index->radius, index->cost,
                           worst, s->exec, p->b->work, s->work_bytes, distances);
  if (status < 0) return status;
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
  return TSANOM_OK;
}

static tsanom_status add_to_batch(progress *p, tsn_search_batch *batch, size_t id) {
  batch->series[batch->count] = tsn_search_series(p->search->index, id);
  batch->id[batch->count++] = id;
  return batch->count == TSN_SEARCH_BATCH ? run_batch(p, batch) : TSANOM_OK;
}

/* LB_Keogh of a series against the envelope of the query. */
static double keogh(const progress *p, size_t id) {
  const tsanom_search_index *index = p->search->index;
  tsn_search_keogh problem = {.c = tsn_search_series(index, id),
                              .lower = p->b->lower,
                              .upper = p->b->upper,
                              .n = index->length,
                              .limit = p->limit};
  return p->kernels->keogh[index->cost](&problem);
}

/* LB_Keogh of the query against the envelope of a series. */
static double keogh_reversed(const progress *p, size_t id) {
  const tsanom_search_index *index = p->search->index;
  tsn_search_keogh problem = {.c = p->b->query,
                              .lower = index->lower + id * index->row,
                              .upper = index->upper + id * index->row,
                              .n = index->length,
                              .limit = p->limit};
  return p->kernels->keogh[index->cost](&problem);
}

/* The first DTWs give a limit to all bounds that follow: those series that
 * look nearest by LB_Keogh among those that look nearest by LB_Kim. */
static tsanom_status take_first(progress *p) {
  const buffers *b = p->b;
  size_t count = p->search->index->count, wanted = p->search->neighbours;
  if (wanted < TSN_SEARCH_BATCH) wanted = TSN_SEARCH_BATCH;
  if (wanted > count) wanted = count;
  size_t choice = wanted > count / FIRST_CHOICE ? count : FIRST_CHOICE * wanted;
  size_t left = 0;
  for (size_t i = 0; i < count; i++) {
    ranked candidate = {b->kim[i], i};
    size_t at = left < choice ? left : choice - 1;
    if (at == left) {
      left++;
    } else if (!before(&candidate, b->heap + at)) {
      continue;
    }
    for (; at > 0 && before(&candidate, b->heap + at - 1); at--) {
      b->heap[at] = b->heap[at - 1];
    }
    b->heap[at] = candidate;
  }
  for (size_t i = 0; i < left; i++) b->heap[i].bound = keogh(p, b->heap[i].id);
  heap_make(b->heap, left);
  tsn_search_batch batch = {.count = 0};
  for (size_t i = 0; i < wanted; i++) {
    size_t id = heap_pop(b->heap, &left).id;
    b->kim[id] = TAKEN;
    tsanom_status status = add_to_batch(p, &batch, id);
    if (status < 0) return status;
  }
  return batch.count > 0 ? run_batch(p, &batch) : TSANOM_OK;
}

/* Those that no bound removes, with their bounds. */
static size_t filter(progress *p) {
  const buffers *b = p->b;
  size_t left = 0;
  for (size_t i = 0; i < p->search->index->count; i++) {
    if (b->kim[i] == TAKEN) continue;
    double bound;
    if (b->kim[i] > p->limit) {
      p->report.kim++;
    } else if ((bound = keogh(p, i)) > p->limit) {
      p->report.keogh++;
    } else {
      double other = keogh_reversed(p, i);
      if (other > p->limit) {
        p->report.keogh_reversed++;
      } else {
        b->heap[left++] = (ranked){bound > other ? bound : other, i};
      }
    }
  }
  return left;
}

static tsanom_status run_filtered(progress *p, size_t left) {
  tsn_search_batch batch = {.count = 0};
  heap_make(p->b->heap, left);
  while (left > 0) {
    ranked best = heap_pop(p->b->heap, &left);
    if (best.bound > p->limit) {
      p->report.keogh_reversed += left + 1;
      break;
    }
    tsanom_status status = add_to_batch(p, &batch, best.id);
    if (status < 0) return status;
  }
  return batch.count > 0 ? run_batch(p, &batch) : TSANOM_OK;
}

static void read_query(const search *s, size_t number, const buffers *b,
                       const tsn_search_kernels *kernels) {
  const tsanom_search_index *index = s->index;
  const double *query = s->queries + number * s->stride;
  size_t n = index->length;
  if (index->z_normalize) {
    tsn_search_normalize(kernels, query, n, b->query);
  } else {
    memcpy(b->query, query, n * sizeof *query);
  }
  tsanom_lbkeogh_options options;
  tsanom_lbkeogh_options_init(&options, sizeof options);
  options.radius = index->radius;
  tsanom_exec alone = tsn_search_alone(s->exec);
  tsanom_lbkeogh_envelope(b->query, n, &options, &alone, b->work, s->work_bytes, b->lower,
                          b->upper);
  tsn_search_kim kim = {.mean = index->zeros, .inverse = index->ones};
  tsn_search_query_ends(b->query, n, &kim);
  kernels->kim[index->cost](&index->ends, &kim, index->count, b->kim);
}

static void search_one(const search *s, size_t number, int thread) {
  const tsn_search_kernels *kernels = tsn_search_kernels_at(s->exec->isa);
  progress p = {.search = s,
                .b = s->buffers + thread,
                .kernels = kernels,
                .indices = s->indices + number * s->neighbours,
                .distances = s->distances + number * s->neighbours,
                .limit = INFINITY,
                .report = {.candidates = s->index->count}};
  read_query(s, number, p.b, kernels);
  /* The arguments are checked and the workspace is there: nothing can fail. */
  if (take_first(&p) == TSANOM_OK) run_filtered(&p, filter(&p));
  if (s->reports) s->reports[number] = p.report;
}

static void search_some(void *context, size_t begin, size_t end, int thread) {
  for (size_t i = begin; i < end; i++) search_one(context, i, thread);
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

static buffers *layout(tsn_arena *arena, const tsanom_search_index *index, int threads,
                       size_t work_bytes) {
  buffers *all = tsn_arena_take(arena, (size_t)threads, sizeof *all);
  for (int t = 0; t < threads; t++) {
    buffers b;
    b.query = tsn_arena_take(arena, index->length, sizeof(double));
    b.lower = tsn_arena_take(arena, index->length, sizeof(double));
    b.upper = tsn_arena_take(arena, index->length, sizeof(double));
    b.kim = tsn_arena_take(arena, index->count, sizeof(double));
    b.heap = tsn_arena_take(arena, index->count, sizeof(ranked));
    b.work = tsn_arena_take(arena, 1, work_bytes);
    if (all) all[t] = b;
  }
  return all;
}

tsanom_status tsanom_search_nearest_workspace(const tsanom_search_index *index,
                                              size_t neighbours, const tsanom_exec *exec,
                                              size_t *bytes) {
  tsanom_exec own_exec;
  size_t work_bytes;
  if (!index || !bytes) return TSANOM_E_NULL;
  tsanom_status status = tsn_exec_read(&own_exec, exec);
  if (status < 0) return status;
  if (neighbours == 0 || neighbours > index->count) return TSANOM_E_COUNT;
  if ((status = work_size(index, &own_exec, &work_bytes)) < 0) return status;
  tsn_arena arena = tsn_arena_measure();
  layout(&arena, index, own_exec.threads, work_bytes);
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
  if (!index || !queries || !indices || !distances) return TSANOM_E_NULL;
  tsanom_status status = tsn_exec_read(&own_exec, exec);
  if (status < 0) return status;
  if (query_count == 0 || neighbours == 0 || neighbours > index->count ||
      stride < index->length) {
    return TSANOM_E_COUNT;
  }
  search s = {.index = index,
              .queries = queries,
              .stride = stride,
              .neighbours = neighbours,
              .exec = &own_exec,
              .reports = reports};
  s.indices = indices;
  s.distances = distances;
  if ((status = work_size(index, &own_exec, &s.work_bytes)) < 0) return status;
  tsn_arena measured = tsn_arena_measure();
  layout(&measured, index, own_exec.threads, s.work_bytes);
  tsn_workspace workspace;
  status = tsn_workspace_open(&workspace, &measured, &own_exec, work, work_bytes);
  if (status < 0) return status;
  status = check_queries(&s, query_count);
  if (status == TSANOM_OK) {
    s.buffers = layout(&workspace.arena, index, own_exec.threads, s.work_bytes);
    status = tsn_parallel_for(&own_exec, query_count, 1, search_some, &s, NULL);
  }
  tsn_workspace_close(&workspace);
  return status;
}
