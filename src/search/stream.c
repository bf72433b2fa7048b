/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom_search_stream(): rounds of chunks, then the greedy choice of matches.
 *
 *     round     1  2  3    4          5            ...  up to 128 chunks
 *     chunks    #  #  ##   ####       ########
 *
 * Threads share the chunks of a round. A threshold learned in a chunk reaches other
 * chunks only in the next round, so that the counts do not depend on which thread was
 * faster; short rounds come first, because they find a threshold for the rest. */
#include <math.h>
#include <string.h>

#include "core/fault.h"
#include "core/parallel.h"
#include "core/size.h"
#include "search/search_internal.h"
#include "search/separated.h"

/* A candidate is a window x[i .. i + length), 0 <= i < windows. Neighbors share all but
 * one sample, so that a chunk of windows shares moments, by moving sums, and one
 * envelope. */

/* Windows of a chunk, which one thread searches. The size is fixed, since chunks decide
 * which threshold a window meets, and with it the counts of the report. */
enum { CHUNK = 2048 };

/* Buffers of one thread. */
typedef struct {
  double *mean, *inverse, *kim; /* moments and LB_KimFL of the windows of a chunk */
  double *shifted;              /* samples of a chunk about their mean, scaled */
  double *lower, *upper;        /* their envelope */
  double *waiting;              /* the normalized windows of a batch */
  tsn_search_work work;
  tsn_separated best;
  tsanom_search_report report;
  tsn_search_watcher watcher;
} buffers;

/* Windows of distance 0 are chosen from left to right, each more than e after the one
 * before. So as soon as `wanted` of them are found in this way, and all windows up to
 * here are known, no later window is a match. A search that begins further right finds at
 * most one fewer, since only one earlier match can exclude its first: hence the same
 * holds for the windows of one chunk alone. */
typedef struct {
  size_t count, last;
} zeros_found;

/* Count a window of distance 0; starts increase. */
static void add_zero(zeros_found *zeros, size_t start, size_t exclusion) {
  if (zeros->count > 0 && start - zeros->last <= exclusion) return;
  zeros->count++;
  zeros->last = start;
}

/* One call. Threads write only their own buffers and, of `distance` and `least`, their
 * own chunks; all else is constant during a round. */
typedef struct {
  const double *query, *stream;
  size_t samples, windows, chunks;
  size_t exclusion;
  size_t neighbors; /* elements of starts and distances */
  size_t wanted;    /* matches to find, at most the samples */
  int32_t z_normalize;
  tsanom_exec exec;
  tsn_search_dtw dtw;
  size_t first_chunk; /* of the round */
  double *own_query;  /* normalized if requested */
  double *distance;   /* of every window; INFINITY if it was removed */
  double *least;      /* of every chunk */
  tsn_separated best;
  zeros_found zeros; /* of the rounds so far */
  size_t skipped;    /* windows that no round needs */
  tsn_search_watch watch;
  buffers *threads;
  size_t *starts; /* the caller's outputs */
  double *distances;
  tsanom_search_report *report; /* or NULL */
} search;

/* The cascade of bounds for the windows of one chunk (T. Rakthanmanon et al., KDD 2012,
 * 262-270):
 *
 *   all windows   moments, LB_KimFL     8 windows per vector
 *   each window   KimFL       > limit   removed (kim)
 *                 Keogh       > limit   removed (keogh_reversed): of the query against
 *                                       the envelope of the chunk, which is computed
 *                                       once and scaled on the fly
 *                 otherwise             DTW in batches of TSN_SEARCH_BATCH, which begin
 *                                       with a bound in integers (coarse.h)
 *
 * Moving sums normalize the windows for the bounds, O(1) a window instead of O(n), about
 * the mean of the chunk, so that its digits remain with any offset; the limit allows for
 * their error. DTW uses exactly normalized copies. A window that a cheap bound removes is
 * never copied. */

/* A chunk in progress. The limit falls with every batch of the chunk. */
typedef struct {
  const search *s;
  buffers *b;
  const tsn_search_kernels *kernels;
  const double *samples; /* that bounds compare */
  size_t first, count;
  double limit; /* a bound above it removes a window */
  int enveloped;
  zeros_found zeros;
  tsn_search_batch batch;
} chunk;

static double limit_of(const search *s, const tsn_separated *best) {
  return tsn_search_limit(&s->dtw, tsn_separated_threshold(best),
                          s->z_normalize ? TSN_SEARCH_ERROR : 0);
}

static void run_batch(chunk *c) {
  const search *s = c->s;
  buffers *b = c->b;
  double distances[TSN_SEARCH_BATCH], cutoff = tsn_separated_threshold(&b->best);
  tsn_search_pairs pairs = {.dtw = &s->dtw, .query = s->own_query, .cutoff = cutoff};
  if (!tsn_search_distances(&pairs, &c->batch, &b->work, distances)) {
    c->batch.count = 0;
    return;
  }
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
    if (distances[i] == 0) add_zero(&c->zeros, start, s->exclusion);
    if (!isinf(distances[i])) tsn_separated_insert(&b->best, start, distances[i]);
  }
  c->batch.count = 0;
  c->limit = limit_of(s, &b->best);
}

/* The batch runs when it is full; windows wait in it as copies, or in place if the stream
 * is not normalized. */
static void add_to_batch(chunk *c, size_t start) {
  const search *s = c->s;
  const double *series = s->stream + start;
  if (s->z_normalize) {
    double *copy = c->b->waiting + c->batch.count * s->dtw.n;
    tsn_search_prepare(c->kernels, series, s->dtw.n, 1, copy);
    series = copy;
  }
  c->batch.series[c->batch.count] = series;
  c->batch.id[c->batch.count++] = start;
  if (c->batch.count == TSN_SEARCH_BATCH) run_batch(c);
}

/* One envelope of all samples of the chunk serves all its windows: it also covers samples
 * outside a window, which only loosens the bound. What it lacks at the ends of the chunk
 * is in none of its windows. */
static void make_envelope(chunk *c) {
  const search *s = c->s;
  tsn_search_envelope(&s->dtw, c->samples, c->count + s->dtw.n - 1, &c->b->work,
                      c->b->lower, c->b->upper);
  c->enveloped = 1;
}

static void search_window(chunk *c, size_t i) {
  const search *s = c->s;
  buffers *b = c->b;
  if (b->kim[i] > c->limit) {
    b->report.kim++;
    return;
  }
  if (!c->enveloped) make_envelope(c);
  tsn_search_keogh problem = {.c = s->own_query,
                              .lower = b->lower + i,
                              .upper = b->upper + i,
                              .n = s->dtw.n,
                              .mean = b->mean[i],
                              .inverse = b->inverse[i],
                              .limit = c->limit};
  if (c->kernels->keogh[s->dtw.cost](&problem) > c->limit) {
    b->report.keogh_reversed++;
    return;
  }
  add_to_batch(c, c->first + i);
}

/* Moments and LB_KimFL of all windows. Sample k of window i is x[i + k], so that arrays
 * by candidate are parts of one array. A query of fewer than three samples repeats its
 * first one, with weight 0. */
static void bound_by_kim(chunk *c) {
  const search *s = c->s;
  const buffers *b = c->b;
  const double *x = s->stream + c->first;
  size_t n = s->dtw.n;
  if (s->z_normalize) {
    c->kernels->window_moments(x, c->count, n, b->shifted, b->mean, b->inverse);
    x = b->shifted;
  } else {
    for (size_t i = 0; i < c->count; i++) b->mean[i] = 0, b->inverse[i] = 1;
  }
  c->samples = x;
  tsn_search_ends ends = {.front_count = tsn_smaller((n + 1) / 2, TSN_SEARCH_ENDS),
                          .back_count = tsn_smaller(n / 2, TSN_SEARCH_ENDS)};
  tsn_search_kim kim = {.mean = b->mean, .inverse = b->inverse};
  for (size_t k = 0; k < TSN_SEARCH_ENDS; k++) {
    size_t front = k < n ? k : 0, back = k < n ? n - 1 - k : 0;
    ends.front[k] = x + front;
    ends.back[k] = x + back;
    kim.query_front[k] = s->own_query[front];
    kim.query_back[k] = s->own_query[back];
  }
  c->kernels->kim[s->dtw.cost](&ends, &kim, c->count, b->kim);
}

/* The window after the last of chunk `number`. */
static size_t chunk_end(const search *s, size_t number) {
  return tsn_smaller((number + 1) * CHUNK, s->windows);
}

static void search_chunk(const search *s, size_t number, int thread) {
  chunk c = {.s = s,
             .b = s->threads + thread,
             .kernels = tsn_search_kernels_at(s->exec.isa),
             .first = number * CHUNK,
             .count = chunk_end(s, number) - number * CHUNK,
             .batch = {.watcher = &s->threads[thread].watcher}};
  for (size_t i = 0; i < c.count; i++) s->distance[c.first + i] = INFINITY;
  s->least[number] = INFINITY;
  tsn_separated_copy(&c.b->best, &s->best);
  c.limit = limit_of(s, &c.b->best);
  bound_by_kim(&c);
  size_t i = 0;
  for (; i < c.count && c.zeros.count < s->wanted; i++) {
    if (tsn_search_stopped(c.batch.watcher)) return;
    search_window(&c, i);
  }
  c.b->report.kim += c.count - i;
  if (c.batch.count > 0) run_batch(&c);
}

/* Largest number of chunks of a round. */
enum { ROUND = 128 };

static void search_chunks(void *context, size_t begin, size_t end, int thread) {
  const search *s = context;
  for (size_t i = begin; i < end; i++) search_chunk(s, s->first_chunk + i, thread);
}

/* Windows of the round, in the order of the stream, for the threshold of the next one:
 * the order of threads must not matter. Chunks without a match are skipped as a whole. */
static void learn_from_round(search *s, size_t chunks) {
  for (size_t i = s->first_chunk; i < s->first_chunk + chunks; i++) {
    if (isinf(s->least[i])) continue;
    for (size_t start = i * CHUNK; start < chunk_end(s, i); start++) {
      if (isinf(s->distance[start])) continue;
      if (s->distance[start] == 0) add_zero(&s->zeros, start, s->exclusion);
      tsn_separated_insert(&s->best, start, s->distance[start]);
    }
  }
}

/* End the stream after the first `done` chunks: they contain all matches. */
static void skip_rest(search *s, size_t done) {
  size_t end = chunk_end(s, done - 1);
  s->skipped = s->windows - end;
  s->windows = end;
  s->chunks = done;
}

/* Rounds of 1, 1, 2, 4, ... ROUND chunks: short ones first, when a new threshold removes
 * most, long ones later, since every round ends with a barrier. */
static tsanom_status search_all(search *s) {
  tsanom_exec watched = tsn_search_watch_begin(&s->watch, &s->exec, s->chunks);
  for (int32_t t = 0; t < s->exec.threads; t++) {
    s->threads[t].watcher = (tsn_search_watcher){.watch = &s->watch, .calling = t == 0};
  }
  for (size_t done = 0; done < s->chunks;) {
    size_t size = done < 2 ? 1 : done < ROUND ? done : ROUND;
    if (size > s->chunks - done) size = s->chunks - done;
    s->watch.before = s->first_chunk = done;
    tsanom_status status = tsn_parallel_for(&watched, size, 1, search_chunks, s, NULL);
    if (status != TSANOM_OK) return status;
    learn_from_round(s, size);
    done += size;
    if (s->zeros.count >= s->wanted) skip_rest(s, done);
  }
  return TSANOM_OK;
}

/* Remove the windows that a match excludes. */
static void exclude(search *s, size_t start) {
  size_t first = start > s->exclusion ? start - s->exclusion : 0;
  size_t last =
      s->windows - 1 - start > s->exclusion ? start + s->exclusion : s->windows - 1;
  for (size_t i = first; i <= last; i++) s->distance[i] = INFINITY;
  for (size_t k = first / CHUNK; k <= last / CHUNK; k++) {
    s->least[k] = INFINITY;
    for (size_t i = k * CHUNK; i < chunk_end(s, k); i++) {
      if (s->distance[i] < s->least[k]) s->least[k] = s->distance[i];
    }
  }
}

/* Write the matches; returns their number. Greedy: the least distance, of equals the
 * earliest, then the least among the windows that it does not exclude. With the minima of
 * chunks a choice takes O(chunks + exclusion), not O(windows). */
static size_t choose(search *s) {
  size_t found = 0;
  for (; found < s->wanted; found++) {
    size_t best = 0;
    for (size_t k = 1; k < s->chunks; k++) {
      if (s->least[k] < s->least[best]) best = k;
    }
    if (isinf(s->least[best])) break;
    size_t start = best * CHUNK;
    while (s->distance[start] > s->least[best]) start++;
    s->starts[found] = start;
    s->distances[found] = s->distance[start];
    exclude(s, start);
  }
  for (size_t i = found; i < s->neighbors; i++) {
    s->starts[i] = TSANOM_NONE;
    s->distances[i] = INFINITY;
  }
  return found;
}

static void layout(tsn_arena *arena, void *context) {
  search *s = context;
  size_t segment = tsn_sum(CHUNK, s->dtw.n);
  size_t batch = tsn_product(s->dtw.n, TSN_SEARCH_BATCH);
  s->own_query = tsn_arena_take(arena, s->dtw.n, sizeof(double));
  s->distance = tsn_arena_take(arena, s->samples, sizeof(double));
  s->least = tsn_arena_take(arena, s->samples / CHUNK + 1, sizeof(double));
  tsn_separated_layout(arena, s->wanted, s->exclusion, &s->best);
  s->threads = tsn_arena_take(arena, (size_t)s->exec.threads, sizeof *s->threads);
  for (int t = 0; t < s->exec.threads; t++) {
    buffers b = {.mean = tsn_arena_take(arena, CHUNK, sizeof(double)),
                 .inverse = tsn_arena_take(arena, CHUNK, sizeof(double)),
                 .kim = tsn_arena_take(arena, CHUNK, sizeof(double)),
                 .shifted = tsn_arena_take(arena, segment, sizeof(double)),
                 .lower = tsn_arena_take(arena, segment, sizeof(double)),
                 .upper = tsn_arena_take(arena, segment, sizeof(double)),
                 .waiting = tsn_arena_take(arena, batch, sizeof(double))};
    tsn_search_work_layout(arena, &s->dtw, &b.work);
    tsn_separated_layout(arena, s->wanted, s->exclusion, &b.best);
    if (s->threads) s->threads[t] = b;
  }
}

/* Everything but the samples: exec is read. */
static tsanom_status describe(search *s, size_t query_length, size_t stream_length,
                              const tsanom_search_options *options) {
  const tsanom_exec *exec = &s->exec;
  tsanom_search_options own;
  tsanom_status status = tsn_search_read_options(&own, options, exec);
  if (status < 0) return status;
  if (own.borrow) {
    return tsn_reject_is(exec, TSANOM_E_OPTION, "options.borrow", TSANOM_NONE,
                         "1; a stream does not use it, and 0 is expected");
  }
  const size_t most = PTRDIFF_MAX / sizeof(double);
  if ((status = tsn_require_size(exec, TSANOM_E_OPTION, "options.neighbors",
                                 own.neighbors, 1, SIZE_MAX)) < 0 ||
      (status = tsn_require_size(exec, TSANOM_E_OVERFLOW, "options.neighbors",
                                 own.neighbors, 1, most)) < 0 ||
      (status = tsn_require_size(exec, TSANOM_E_COUNT, "query_length", query_length, 1,
                                 SIZE_MAX)) < 0) {
    return status;
  }
  if (query_length > stream_length) {
    return tsn_reject_is(exec, TSANOM_E_COUNT, "stream_length", TSANOM_NONE,
                         "%zu; the query has %zu samples", stream_length, query_length);
  }
  status =
      tsn_require_size(exec, TSANOM_E_OVERFLOW, "stream_length", stream_length, 1, most);
  if (status < 0) return status;
  s->dtw = (tsn_search_dtw){.n = query_length, .radius = own.radius, .cost = own.cost};
  s->samples = stream_length;
  s->windows = stream_length - query_length + 1;
  s->chunks = (s->windows - 1) / CHUNK + 1;
  s->exclusion = own.exclusion == TSANOM_NONE ? query_length / 2 : own.exclusion;
  s->neighbors = own.neighbors;
  s->wanted = tsn_smaller(own.neighbors, stream_length);
  s->z_normalize = own.z_normalize;
  status = tsn_search_dtw_begin(&s->dtw, query_length + CHUNK, exec);
  if (status == TSANOM_OK) return TSANOM_OK;
  return tsn_reject_is(exec, status, "query_length", TSANOM_NONE,
                       "%zu; its workspace exceeds the address space", query_length);
}

static tsanom_status check(void *context) {
  const search *s = context;
  const tsanom_exec *exec = &s->exec;
  tsanom_status status = tsn_require_array(exec, s->query, s->dtw.n, "query");
  if (status < 0 ||
      (status = tsn_require_array(exec, s->stream, s->samples, "stream")) < 0 ||
      (status = tsn_require_array(exec, s->starts, s->neighbors, "starts")) < 0 ||
      (status = tsn_require_array(exec, s->distances, s->neighbors, "distances")) < 0 ||
      (status = tsn_search_check(exec, "query", TSANOM_NONE, s->query, s->dtw.n,
                                 s->z_normalize)) < 0) {
    return status;
  }
  return tsn_search_check(exec, "stream", TSANOM_NONE, s->stream, s->samples,
                          s->z_normalize);
}

/* The counts of all threads; each window is counted by one of them. */
static tsanom_search_report total_report(const search *s, size_t found) {
  tsanom_search_report total = {
      .candidates = s->windows + s->skipped, .kim = s->skipped, .found = found};
  for (int t = 0; t < s->exec.threads; t++) {
    const tsanom_search_report *part = &s->threads[t].report;
    total.kim += part->kim;
    total.keogh += part->keogh;
    total.keogh_reversed += part->keogh_reversed;
    total.abandoned += part->abandoned;
    total.computed += part->computed;
  }
  return total;
}

static tsanom_status run(void *context) {
  search *s = context;
  tsn_search_prepare(tsn_search_kernels_at(s->exec.isa), s->query, s->dtw.n,
                     s->z_normalize, s->own_query);
  if (s->best.table) memset(s->best.table, 0, s->best.places * sizeof *s->best.table);
  tsanom_status status = search_all(s);
  if (status != TSANOM_OK) return status;
  size_t found = choose(s);
  if (s->report) *s->report = total_report(s, found);
  return TSANOM_OK;
}

tsanom_status tsanom_search_stream(const double *query, size_t query_length,
                                   const double *stream, size_t stream_length,
                                   const tsanom_search_options *options,
                                   const tsanom_exec *exec, size_t *starts,
                                   double *distances, tsanom_search_report *report) {
  search s = {.query = query,
              .stream = stream,
              .starts = starts,
              .distances = distances,
              .report = report};
  tsanom_status status = tsn_exec_read(&s.exec, exec);
  if (status < 0 || (status = describe(&s, query_length, stream_length, options)) < 0) {
    return status;
  }
  return tsn_workspace_run(&s.exec, layout, check, run, &s);
}
