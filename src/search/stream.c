/* SPDX-License-Identifier: BSD-3-Clause */
/* The windows of a stream that are nearest to a query. */
#include <math.h>
#include <string.h>
#include <tsanom/lbkeogh.h>

#include "core/exec.h"
#include "core/parallel.h"
#include "search/search_internal.h"
#include "search/separated.h"

/* Windows that one thread takes at a time. */
enum { CHUNK = 2048 };

/* The threshold passes between chunks only from round to round, so that it
 * does not depend on which thread was faster; rounds grow to this many. */
enum { ROUND = 128 };

/* What one thread works in. */
typedef struct {
  double *mean, *inverse, *kim; /* of the windows of a chunk */
  double *lower, *upper;        /* envelope of the samples of a chunk */
  double *waiting;              /* the batch, normalised */
  void *work;                   /* for envelopes and for DTW */
  tsn_separated best;
  tsanom_search_report report;
} buffers;

typedef struct {
  const double *query, *stream;
  size_t length, samples, windows, chunks; /* of query and stream */
  size_t exclusion, wanted;
  size_t radius;
  int32_t cost, z_normalize;
  const tsanom_exec *exec;
  size_t work_bytes;
  size_t first_chunk; /* of the round */
  double *own_query, *lower, *upper;
  double *distance; /* of every window; INFINITY if it was removed */
  double *least;    /* of every chunk */
  tsn_separated best;
  buffers *threads;
} search;

/* A chunk under way. */
typedef struct {
  const search *s;
  buffers *b;
  const tsn_search_kernels *kernels;
  size_t first, count;
  double limit; /* a bound above it removes a window */
  int enveloped;
  tsn_search_batch batch;
} chunk;

static double limit_of(const search *s, const tsn_separated *best) {
  return tsn_search_limit(tsn_separated_threshold(best), s->length, s->cost,
                          s->z_normalize ? TSN_SEARCH_ERROR : 0);
}

static void run_batch(chunk *c) {
  const search *s = c->s;
  buffers *b = c->b;
  double distances[TSN_SEARCH_BATCH], cutoff = tsn_separated_threshold(&b->best);
  /* The arguments are checked and the workspace is there: it cannot fail. */
  (void)tsn_search_distances(s->own_query, s->length, &c->batch, s->radius, s->cost,
                             cutoff, s->exec, b->work, s->work_bytes, distances);
  for (size_t i = 0; i < c->batch.count; i++) {
    size_t start = c->batch.id[i];
    if (isinf(distances[i]) && !isinf(cutoff)) {
      b->report.abandoned++;
      continue;
    }
    b->report.computed++;
    s->distance[start] = distances[i];
    double *least = s->least + start / CHUNK;
    if (distances[i] < *least) *least = distances[i];
    if (!isinf(distances[i])) tsn_separated_insert(&b->best, start, distances[i]);
  }
  c->batch.count = 0;
  c->limit = limit_of(s, &b->best);
}

static void add_to_batch(chunk *c, size_t start) {
  const search *s = c->s;
  const double *series = s->stream + start;
  if (s->z_normalize) {
    double *copy = c->b->waiting + c->batch.count * s->length;
    tsn_search_normalize(c->kernels, series, s->length, copy);
    series = copy;
  }
  c->batch.series[c->batch.count] = series;
  c->batch.id[c->batch.count++] = start;
  if (c->batch.count == TSN_SEARCH_BATCH) run_batch(c);
}

/* The samples at the ends of a chunk may lie in fewer windows than their
 * neighbours; what their envelope lacks is in none of them. */
static void make_envelope(chunk *c) {
  const search *s = c->s;
  tsanom_lbkeogh_options options;
  tsanom_lbkeogh_options_init(&options, sizeof options);
  options.radius = s->radius;
  tsanom_exec alone = tsn_search_alone(s->exec);
  tsanom_lbkeogh_envelope(s->stream + c->first, c->count + s->length - 1, &options,
                          &alone, c->b->work, s->work_bytes, c->b->lower, c->b->upper);
  c->enveloped = 1;
}

static void search_window(chunk *c, size_t i) {
  const search *s = c->s;
  buffers *b = c->b;
  if (b->kim[i] > c->limit) {
    b->report.kim++;
    return;
  }
  tsn_search_keogh problem = {.c = s->stream + c->first + i,
                              .lower = s->lower,
                              .upper = s->upper,
                              .n = s->length,
                              .mean = b->mean[i],
                              .inverse = b->inverse[i],
                              .limit = c->limit};
  if (c->kernels->keogh_series[s->cost](&problem) > c->limit) {
    b->report.keogh++;
    return;
  }
  if (!c->enveloped) make_envelope(c);
  problem.c = s->own_query;
  problem.lower = b->lower + i;
  problem.upper = b->upper + i;
  if (c->kernels->keogh_envelope[s->cost](&problem) > c->limit) {
    b->report.keogh_reversed++;
    return;
  }
  add_to_batch(c, c->first + i);
}

static void bound_by_kim(const chunk *c) {
  const search *s = c->s;
  const buffers *b = c->b;
  const double *x = s->stream + c->first;
  size_t n = s->length;
  if (s->z_normalize) {
    c->kernels->window_moments(x, c->count, n, b->mean, b->inverse);
  } else {
    for (size_t i = 0; i < c->count; i++) b->mean[i] = 0, b->inverse[i] = 1;
  }
  tsn_search_ends ends = {.front_count = tsn_search_front(n),
                          .back_count = tsn_search_back(n)};
  for (size_t k = 0; k < TSN_SEARCH_ENDS; k++) {
    ends.front[k] = x + (k < n ? k : 0);
    ends.back[k] = x + (k < n ? n - 1 - k : 0);
  }
  tsn_search_kim kim = {.mean = b->mean, .inverse = b->inverse};
  tsn_search_query_ends(s->own_query, n, &kim);
  c->kernels->kim[s->cost](&ends, &kim, c->count, b->kim);
}

static void search_chunk(const search *s, size_t number, int thread) {
  chunk c = {.s = s,
             .b = s->threads + thread,
             .kernels = tsn_search_kernels_at(s->exec->isa),
             .first = number * CHUNK};
  size_t left = s->windows - c.first;
  c.count = left < CHUNK ? left : CHUNK;
  for (size_t i = 0; i < c.count; i++) s->distance[c.first + i] = INFINITY;
  s->least[number] = INFINITY;
  tsn_separated_copy(&c.b->best, &s->best);
  c.limit = limit_of(s, &c.b->best);
  bound_by_kim(&c);
  for (size_t i = 0; i < c.count; i++) search_window(&c, i);
  if (c.batch.count > 0) run_batch(&c);
}

static void search_chunks(void *context, size_t begin, size_t end, int thread) {
  const search *s = context;
  for (size_t i = begin; i < end; i++) search_chunk(s, s->first_chunk + i, thread);
}

/* The caller's poll, told of all rounds. */
typedef struct {
  const tsanom_exec *exec;
  size_t before, total;
} whole_poll;

static int32_t poll_whole(void *user, uint64_t done, uint64_t total) {
  const whole_poll *whole = user;
  (void)total;
  return tsn_exec_stop(whole->exec, whole->before + done, whole->total);
}

static void learn_from_round(search *s, size_t chunks) {
  for (size_t i = s->first_chunk; i < s->first_chunk + chunks; i++) {
    if (isinf(s->least[i])) continue;
    size_t last = s->windows - i * CHUNK < CHUNK ? s->windows : (i + 1) * CHUNK;
    for (size_t start = i * CHUNK; start < last; start++) {
      if (isinf(s->distance[start])) continue;
      tsn_separated_insert(&s->best, start, s->distance[start]);
    }
  }
}

static tsanom_status search_all(search *s, const tsanom_exec *exec) {
  whole_poll whole = {.exec = exec, .total = s->chunks};
  tsanom_exec round_exec = *exec;
  round_exec.poll = poll_whole;
  round_exec.poll_user = &whole;
  for (size_t done = 0; done < s->chunks;) {
    /* Short rounds first, which find a threshold for the rest. */
    size_t size = done < 2 ? 1 : done < ROUND ? done : ROUND;
    if (size > s->chunks - done) size = s->chunks - done;
    whole.before = s->first_chunk = done;
    tsanom_status status = tsn_parallel_for(&round_exec, size, 1, search_chunks, s, NULL);
    if (status != TSANOM_OK) return status;
    learn_from_round(s, size);
    done += size;
  }
  return TSANOM_OK;
}

/* Take out the windows that a match excludes. */
static void exclude(search *s, size_t start) {
  size_t first = start > s->exclusion ? start - s->exclusion : 0;
  size_t last =
      s->windows - 1 - start > s->exclusion ? start + s->exclusion : s->windows - 1;
  for (size_t i = first; i <= last; i++) s->distance[i] = INFINITY;
  for (size_t k = first / CHUNK; k <= last / CHUNK; k++) {
    size_t end = s->windows - k * CHUNK < CHUNK ? s->windows : (k + 1) * CHUNK;
    s->least[k] = INFINITY;
    for (size_t i = k * CHUNK; i < end; i++) {
      if (s->distance[i] < s->least[k]) s->least[k] = s->distance[i];
    }
  }
}

static size_t choose(search *s, size_t *starts, double *distances) {
  size_t found = 0;
  for (; found < s->wanted; found++) {
    size_t best = 0;
    for (size_t k = 1; k < s->chunks; k++) {
      if (s->least[k] < s->least[best]) best = k;
    }
    if (isinf(s->least[best])) break;
    size_t start = best * CHUNK;
    while (s->distance[start] > s->least[best]) start++;
    starts[found] = start;
    distances[found] = s->distance[start];
    exclude(s, start);
  }
  return found;
}

static void take_set(tsn_arena *arena, size_t wanted, size_t exclusion,
                     tsn_separated *set) {
  *set = (tsn_separated){.start = tsn_arena_take(arena, wanted, sizeof *set->start),
                         .distance = tsn_arena_take(arena, wanted, sizeof *set->distance),
                         .wanted = wanted,
                         .gap = exclusion > SIZE_MAX / 2 ? SIZE_MAX : 2 * exclusion};
}

static size_t plus(tsn_arena *arena, size_t a, size_t b) {
  size_t sum;
  if (__builtin_add_overflow(a, b, &sum)) arena->overflow = true;
  return sum;
}

static void layout(tsn_arena *arena, search *s, int threads) {
  size_t segment = plus(arena, CHUNK, s->length), batch;
  if (__builtin_mul_overflow(s->length, TSN_SEARCH_BATCH, &batch)) arena->overflow = true;
  s->own_query = tsn_arena_take(arena, s->length, sizeof(double));
  s->lower = tsn_arena_take(arena, s->length, sizeof(double));
  s->upper = tsn_arena_take(arena, s->length, sizeof(double));
  s->distance = tsn_arena_take(arena, s->samples, sizeof(double));
  s->least = tsn_arena_take(arena, s->samples / CHUNK + 1, sizeof(double));
  take_set(arena, s->wanted, s->exclusion, &s->best);
  s->threads = tsn_arena_take(arena, (size_t)threads, sizeof *s->threads);
  for (int t = 0; t < threads; t++) {
    buffers b = {.mean = tsn_arena_take(arena, CHUNK, sizeof(double)),
                 .inverse = tsn_arena_take(arena, CHUNK, sizeof(double)),
                 .kim = tsn_arena_take(arena, CHUNK, sizeof(double)),
                 .lower = tsn_arena_take(arena, segment, sizeof(double)),
                 .upper = tsn_arena_take(arena, segment, sizeof(double)),
                 .waiting = tsn_arena_take(arena, batch, sizeof(double)),
                 .work = tsn_arena_take(arena, 1, s->work_bytes)};
    take_set(arena, s->wanted, s->exclusion, &b.best);
    if (s->threads) s->threads[t] = b;
  }
}

/* Everything but the samples. */
static tsanom_status describe(size_t query_length, size_t stream_length,
                              const tsanom_search_options *options,
                              const tsanom_exec *exec, tsanom_exec *own_exec, search *s) {
  tsanom_search_options own;
  tsanom_status status = tsn_search_read_options(&own, options);
  if (status < 0) return status;
  if ((status = tsn_exec_read(own_exec, exec)) < 0) return status;
  if (query_length == 0 || query_length > stream_length) return TSANOM_E_COUNT;
  size_t windows = stream_length - query_length + 1;
  *s = (search){.length = query_length,
                .samples = stream_length,
                .windows = windows,
                .chunks = (windows - 1) / CHUNK + 1,
                .exclusion = own.exclusion == SIZE_MAX ? query_length / 2 : own.exclusion,
                .wanted = own.neighbours < stream_length ? own.neighbours : stream_length,
                .radius = own.radius,
                .cost = own.cost,
                .z_normalize = own.z_normalize,
                .exec = own_exec};
  tsanom_lbkeogh_options envelope;
  tsanom_lbkeogh_options_init(&envelope, sizeof envelope);
  envelope.radius = own.radius;
  tsanom_exec alone = tsn_search_alone(own_exec);
  size_t segment, bytes;
  if (__builtin_add_overflow(query_length, CHUNK, &segment)) return TSANOM_E_OVERFLOW;
  status = tsanom_lbkeogh_envelope_workspace(segment, &envelope, &alone, &bytes);
  if (status < 0) return status;
  status = tsn_search_distances_size(query_length, own.radius, own.cost, own_exec,
                                     &s->work_bytes);
  if (s->work_bytes < bytes) s->work_bytes = bytes;
  return status;
}

tsanom_status tsanom_search_stream_workspace(size_t query_length, size_t stream_length,
                                             const tsanom_search_options *options,
                                             const tsanom_exec *exec, size_t *bytes) {
  tsanom_exec own_exec;
  search s;
  if (!bytes) return TSANOM_E_NULL;
  tsanom_status status =
      describe(query_length, stream_length, options, exec, &own_exec, &s);
  if (status < 0) return status;
  tsn_arena arena = tsn_arena_measure();
  layout(&arena, &s, own_exec.threads);
  return tsn_arena_bytes(&arena, bytes);
}

/* The query as compared, and its envelope. */
static void read_query(search *s, const double *query, const tsanom_exec *exec) {
  size_t n = s->length;
  if (s->z_normalize) {
    tsn_search_normalize(tsn_search_kernels_at(exec->isa), query, n, s->own_query);
  } else {
    memcpy(s->own_query, query, n * sizeof *query);
  }
  tsanom_lbkeogh_options options;
  tsanom_lbkeogh_options_init(&options, sizeof options);
  options.radius = s->radius;
  tsanom_exec alone = tsn_search_alone(exec);
  tsanom_lbkeogh_envelope(s->own_query, n, &options, &alone, s->threads[0].work,
                          s->work_bytes, s->lower, s->upper);
}

static tsanom_search_report total_report(const search *s, int threads) {
  tsanom_search_report total = {.candidates = s->windows};
  for (int t = 0; t < threads; t++) {
    const tsanom_search_report *part = &s->threads[t].report;
    total.kim += part->kim;
    total.keogh += part->keogh;
    total.keogh_reversed += part->keogh_reversed;
    total.abandoned += part->abandoned;
    total.computed += part->computed;
  }
  return total;
}

tsanom_status tsanom_search_stream(const double *query, size_t query_length,
                                   const double *stream, size_t stream_length,
                                   const tsanom_search_options *options,
                                   const tsanom_exec *exec, void *work, size_t work_bytes,
                                   size_t *starts, double *distances, size_t *found,
                                   tsanom_search_report *report) {
  tsanom_exec own_exec;
  search s;
  if (!query || !stream || !starts || !distances || !found) return TSANOM_E_NULL;
  tsanom_status status =
      describe(query_length, stream_length, options, exec, &own_exec, &s);
  if (status < 0) return status;
  tsn_arena measured = tsn_arena_measure();
  layout(&measured, &s, own_exec.threads);
  tsn_workspace workspace;
  status = tsn_workspace_open(&workspace, &measured, &own_exec, work, work_bytes);
  if (status < 0) return status;
  const tsn_search_kernels *kernels = tsn_search_kernels_at(own_exec.isa);
  status = tsn_search_check(kernels, query, query_length, s.z_normalize);
  if (status == TSANOM_OK) {
    status = tsn_search_check(kernels, stream, stream_length, s.z_normalize);
  }
  if (status == TSANOM_OK) {
    layout(&workspace.arena, &s, own_exec.threads);
    s.stream = stream;
    read_query(&s, query, &own_exec);
    status = search_all(&s, &own_exec);
  }
  if (status == TSANOM_OK) {
    *found = choose(&s, starts, distances);
    if (report) *report = total_report(&s, own_exec.threads);
  }
  tsn_workspace_close(&workspace);
  return status;
}
