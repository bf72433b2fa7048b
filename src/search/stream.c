/* SPDX-License-Identifier: BSD-3-Clause */
/* The windows of a stream that are nearest to a query: rounds of chunks, and the
 * choice among what they found. */
#include <math.h>
#include <string.h>
#include <tsanom/lbkeogh.h>

#include "core/exec.h"
#include "core/parallel.h"
#include "search/stream.h"

/* The threshold passes between chunks only from round to round, so that it
 * does not depend on which thread was faster; rounds grow to this many. */
enum { ROUND = 128 };

static void search_chunks(void *context, size_t begin, size_t end, int thread) {
  const tsn_stream_search *s = context;
  for (size_t i = begin; i < end; i++) {
    tsn_stream_search_chunk(s, s->first_chunk + i, thread);
  }
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

/* The window after the last of chunk `number`. */
static size_t chunk_end(const tsn_stream_search *s, size_t number) {
  size_t end = (number + 1) * TSN_STREAM_CHUNK;
  return end < s->windows ? end : s->windows;
}

static void learn_from_round(tsn_stream_search *s, size_t chunks) {
  for (size_t i = s->first_chunk; i < s->first_chunk + chunks; i++) {
    if (isinf(s->least[i])) continue;
    for (size_t start = i * TSN_STREAM_CHUNK; start < chunk_end(s, i); start++) {
      if (isinf(s->distance[start])) continue;
      tsn_separated_insert(&s->best, start, s->distance[start]);
    }
  }
}

static tsanom_status search_all(tsn_stream_search *s, const tsanom_exec *exec) {
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
static void exclude(tsn_stream_search *s, size_t start) {
  size_t first = start > s->exclusion ? start - s->exclusion : 0;
  size_t last =
      s->windows - 1 - start > s->exclusion ? start + s->exclusion : s->windows - 1;
  for (size_t i = first; i <= last; i++) s->distance[i] = INFINITY;
  for (size_t k = first / TSN_STREAM_CHUNK; k <= last / TSN_STREAM_CHUNK; k++) {
    s->least[k] = INFINITY;
    for (size_t i = k * TSN_STREAM_CHUNK; i < chunk_end(s, k); i++) {
      if (s->distance[i] < s->least[k]) s->least[k] = s->distance[i];
    }
  }
}

static size_t choose(tsn_stream_search *s, size_t *starts, double *distances) {
  size_t found = 0;
  for (; found < s->wanted; found++) {
    size_t best = 0;
    for (size_t k = 1; k < s->chunks; k++) {
      if (s->least[k] < s->least[best]) best = k;
    }
    if (isinf(s->least[best])) break;
    size_t start = best * TSN_STREAM_CHUNK;
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

static void layout(tsn_arena *arena, tsn_stream_search *s, int threads) {
  size_t segment = plus(arena, TSN_STREAM_CHUNK, s->length), batch;
  if (__builtin_mul_overflow(s->length, TSN_SEARCH_BATCH, &batch)) arena->overflow = true;
  s->own_query = tsn_arena_take(arena, s->length, sizeof(double));
  s->lower = tsn_arena_take(arena, s->length, sizeof(double));
  s->upper = tsn_arena_take(arena, s->length, sizeof(double));
  s->distance = tsn_arena_take(arena, s->samples, sizeof(double));
  s->least = tsn_arena_take(arena, s->samples / TSN_STREAM_CHUNK + 1, sizeof(double));
  take_set(arena, s->wanted, s->exclusion, &s->best);
  s->threads = tsn_arena_take(arena, (size_t)threads, sizeof *s->threads);
  for (int t = 0; t < threads; t++) {
    tsn_stream_buffers b = {
        .mean = tsn_arena_take(arena, TSN_STREAM_CHUNK, sizeof(double)),
        .inverse = tsn_arena_take(arena, TSN_STREAM_CHUNK, sizeof(double)),
        .kim = tsn_arena_take(arena, TSN_STREAM_CHUNK, sizeof(double)),
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
                              const tsanom_exec *exec, tsanom_exec *own_exec,
                              tsn_stream_search *s) {
  tsanom_search_options own;
  tsanom_status status = tsn_search_read_options(&own, options);
  if (status < 0) return status;
  if ((status = tsn_exec_read(own_exec, exec)) < 0) return status;
  if (query_length == 0 || query_length > stream_length) return TSANOM_E_COUNT;
  size_t windows = stream_length - query_length + 1;
  *s = (tsn_stream_search){
      .length = query_length,
      .samples = stream_length,
      .windows = windows,
      .chunks = (windows - 1) / TSN_STREAM_CHUNK + 1,
      .exclusion = own.exclusion == SIZE_MAX ? query_length / 2 : own.exclusion,
      .wanted = own.neighbours < stream_length ? own.neighbours : stream_length,
      .radius = own.radius,
      .cost = own.cost,
      .z_normalize = own.z_normalize,
      .exec = own_exec};
  tsanom_exec alone = tsn_search_alone(own_exec, NULL, 0);
  size_t segment, bytes;
  if (__builtin_add_overflow(query_length, TSN_STREAM_CHUNK, &segment))
    return TSANOM_E_OVERFLOW;
  status = tsanom_lbkeogh_envelope_workspace(segment, own.radius, &alone, &bytes);
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
  tsn_stream_search s;
  if (!bytes) return TSANOM_E_NULL;
  tsanom_status status =
      describe(query_length, stream_length, options, exec, &own_exec, &s);
  if (status < 0) return status;
  tsn_arena arena = tsn_arena_measure();
  layout(&arena, &s, own_exec.threads);
  return tsn_arena_bytes(&arena, bytes);
}

/* The query as compared, and its envelope. */
static void read_query(tsn_stream_search *s, const double *query,
                       const tsanom_exec *exec) {
  size_t n = s->length;
  if (s->z_normalize) {
    tsn_search_normalize(tsn_search_kernels_at(exec->isa), query, n, s->own_query);
  } else {
    memcpy(s->own_query, query, n * sizeof *query);
  }
  tsanom_exec alone = tsn_search_alone(exec, s->threads[0].work, s->work_bytes);
  tsanom_lbkeogh_envelope(s->own_query, n, s->radius, &alone, s->lower, s->upper);
}

static tsanom_search_report total_report(const tsn_stream_search *s, int threads) {
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
  tsn_stream_search s;
  if (!query || !stream || !starts || !distances || !found) return TSANOM_E_NULL;
  tsanom_status status =
      describe(query_length, stream_length, options, exec, &own_exec, &s);
  if (status < 0) return status;
  tsn_arena measured = tsn_arena_measure();
  layout(&measured, &s, own_exec.threads);
  tsn_workspace workspace;
  status = tsn_workspace_borrow(&workspace, &measured, &own_exec, work, work_bytes);
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
