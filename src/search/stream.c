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
enum { TSN_STREAM_CHUNK = 2048 };

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
} tsn_stream_buffers;

/* One call. Threads write only their own buffers and, of `distance` and `least`, their
 * own chunks; all else is constant during a round. */
typedef struct {
  const double *query, *stream;
  size_t length; /* of the query */
  size_t samples, windows, chunks;
  size_t exclusion;
  size_t neighbors; /* elements of starts and distances */
  size_t wanted;    /* matches to find, at most the samples */
  size_t radius;
  int32_t cost, z_normalize;
  tsanom_exec exec;
  size_t work_bytes;
  size_t first_chunk; /* of the round */
  double *own_query;  /* normalized if requested */
  double *distance;   /* of every window; INFINITY if it was removed */
  double *least;      /* of every chunk */
  tsn_separated best;
  tsn_zeros zeros; /* of the rounds so far */
  size_t skipped;  /* windows that no round needs */
  tsn_search_watch watch;
  tsn_stream_buffers *threads;
  size_t *starts; /* the caller's outputs */
  double *distances;
  tsanom_search_report *report; /* or NULL */
} tsn_stream_search;

/* Apply all bounds and DTW to the windows of chunk `number`, with the buffers of
 * `thread`: sets the distances of the windows and the least of them. */
void tsn_stream_search_chunk(const tsn_stream_search *s, size_t number, int thread);

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
  const tsn_stream_search *s;
  tsn_stream_buffers *b;
  const tsn_search_kernels *kernels;
  const double *samples; /* that bounds compare */
  size_t first, count;
  double limit; /* a bound above it removes a window */
  int enveloped;
  tsn_zeros zeros;
  tsn_search_batch batch;
} chunk;

static double limit_of(const tsn_stream_search *s, const tsn_separated *best) {
  return tsn_search_limit(tsn_separated_threshold(best), s->length, s->cost,
                          s->z_normalize ? TSN_SEARCH_ERROR : 0);
}

static void run_batch(chunk *c) {
  const tsn_stream_search *s = c->s;
  tsn_stream_buffers *b = c->b;
  double distances[TSN_SEARCH_BATCH], cutoff = tsn_separated_threshold(&b->best);
  tsn_search_pairs pairs = {.query = s->own_query,
                            .n = s->length,
                            .radius = s->radius,
                            .cost = s->cost,
                            .cutoff = cutoff,
                            .exec = &s->exec};
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
    double *least = s->least + start / TSN_STREAM_CHUNK;
    if (distances[i] < *least) *least = distances[i];
    if (distances[i] == 0) tsn_zeros_add(&c->zeros, start, s->exclusion);
    if (!isinf(distances[i])) tsn_separated_insert(&b->best, start, distances[i]);
  }
  c->batch.count = 0;
  c->limit = limit_of(s, &b->best);
}

/* The batch runs when it is full; windows wait in it as copies, or in place if the stream
 * is not normalized. */
static void add_to_batch(chunk *c, size_t start) {
  const tsn_stream_search *s = c->s;
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

/* One envelope of all samples of the chunk serves all its windows: it also covers samples
 * outside a window, which only loosens the bound. What it lacks at the ends of the chunk
 * is in none of its windows. */
static void make_envelope(chunk *c) {
  const tsn_stream_search *s = c->s;
  tsn_search_envelope(c->samples, c->count + s->length - 1, s->radius, &s->exec,
                      c->b->work.block, s->work_bytes, c->b->lower, c->b->upper);
  c->enveloped = 1;
}

static void search_window(chunk *c, size_t i) {
  const tsn_stream_search *s = c->s;
  tsn_stream_buffers *b = c->b;
  if (b->kim[i] > c->limit) {
    b->report.kim++;
    return;
  }
  if (!c->enveloped) make_envelope(c);
  tsn_search_keogh problem = {.c = s->own_query,
                              .lower = b->lower + i,
                              .upper = b->upper + i,
                              .n = s->length,
                              .mean = b->mean[i],
                              .inverse = b->inverse[i],
                              .limit = c->limit};
  if (c->kernels->keogh[s->cost](&problem) > c->limit) {
    b->report.keogh_reversed++;
    return;
  }
  add_to_batch(c, c->first + i);
}

/* Moments and LB_KimFL of all windows. Sample k of window i is x[i + k], so that arrays
 * by candidate are parts of one array. */
static void bound_by_kim(chunk *c) {
  const tsn_stream_search *s = c->s;
  const tsn_stream_buffers *b = c->b;
  const double *x = s->stream + c->first;
  size_t n = s->length;
  if (s->z_normalize) {
    c->kernels->window_moments(x, c->count, n, b->shifted, b->mean, b->inverse);
    x = b->shifted;
  } else {
    for (size_t i = 0; i < c->count; i++) b->mean[i] = 0, b->inverse[i] = 1;
  }
  c->samples = x;
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

void tsn_stream_search_chunk(const tsn_stream_search *s, size_t number, int thread) {
  chunk c = {.s = s,
             .b = s->threads + thread,
             .kernels = tsn_search_kernels_at(s->exec.isa),
             .first = number * TSN_STREAM_CHUNK,
             .batch = {.watcher = &s->threads[thread].watcher}};
  size_t left = s->windows - c.first;
  c.count = left < TSN_STREAM_CHUNK ? left : TSN_STREAM_CHUNK;
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
  const tsn_stream_search *s = context;
  for (size_t i = begin; i < end; i++) {
    tsn_stream_search_chunk(s, s->first_chunk + i, thread);
  }
}

/* The caller's poll, with the progress of all rounds. */
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

/* Windows of the round, in the order of the stream, for the threshold of the next one:
 * the order of threads must not matter. Chunks without a match are skipped as a whole. */
static void learn_from_round(tsn_stream_search *s, size_t chunks) {
  for (size_t i = s->first_chunk; i < s->first_chunk + chunks; i++) {
    if (isinf(s->least[i])) continue;
    for (size_t start = i * TSN_STREAM_CHUNK; start < chunk_end(s, i); start++) {
      if (isinf(s->distance[start])) continue;
      if (s->distance[start] == 0) tsn_zeros_add(&s->zeros, start, s->exclusion);
      tsn_separated_insert(&s->best, start, s->distance[start]);
    }
  }
}

/* End the stream after the first `done` chunks: they contain all matches. */
static void skip_rest(tsn_stream_search *s, size_t done) {
  size_t end = chunk_end(s, done - 1);
  s->skipped = s->windows - end;
  s->windows = end;
  s->chunks = done;
}

/* Rounds of 1, 1, 2, 4, ... ROUND chunks: short ones first, when a new threshold removes
 * most, long ones later, since every round ends with a barrier. */
static tsanom_status search_all(tsn_stream_search *s) {
  whole_poll whole = {.exec = &s->exec, .total = s->chunks};
  tsanom_exec round_exec = s->exec;
  if (round_exec.poll) round_exec.poll = poll_whole;
  round_exec.poll_user = &whole;
  tsanom_exec watched = tsn_search_watch_begin(&s->watch, &round_exec);
  for (int32_t t = 0; t < s->exec.threads; t++) {
    s->threads[t].watcher = (tsn_search_watcher){.watch = &s->watch, .calling = t == 0};
  }
  for (size_t done = 0; done < s->chunks;) {
    size_t size = done < 2 ? 1 : done < ROUND ? done : ROUND;
    if (size > s->chunks - done) size = s->chunks - done;
    whole.before = s->first_chunk = done;
    tsanom_status status = tsn_parallel_for(&watched, size, 1, search_chunks, s, NULL);
    if (status != TSANOM_OK) return status;
    learn_from_round(s, size);
    done += size;
    if (s->zeros.count >= s->wanted) skip_rest(s, done);
  }
  return TSANOM_OK;
}

/* Remove the windows that a match excludes. */
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

/* Write the matches; returns their number. Greedy: the least distance, of equals the
 * earliest, then the least among the windows that it does not exclude. With the minima of
 * chunks a choice takes O(chunks + exclusion), not O(windows). */
static size_t choose(tsn_stream_search *s) {
  size_t found = 0;
  for (; found < s->wanted; found++) {
    size_t best = 0;
    for (size_t k = 1; k < s->chunks; k++) {
      if (s->least[k] < s->least[best]) best = k;
    }
    if (isinf(s->least[best])) break;
    size_t start = best * TSN_STREAM_CHUNK;
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

/* Starts must differ by more than 2e; an exclusion beyond half the range of size_t admits
 * one window only. */
static void take_set(tsn_arena *arena, size_t wanted, size_t exclusion,
                     tsn_separated *set) {
  *set = (tsn_separated){.id = tsn_arena_take(arena, wanted, sizeof *set->id),
                         .distance = tsn_arena_take(arena, wanted, sizeof *set->distance),
                         .wanted = wanted,
                         .gap = exclusion > SIZE_MAX / 2 ? SIZE_MAX : 2 * exclusion};
  if (exclusion == 0) return;
  set->places = tsn_separated_places(wanted);
  set->table = tsn_arena_take(arena, set->places, sizeof *set->table);
}

static void layout(tsn_arena *arena, void *context) {
  tsn_stream_search *s = context;
  size_t segment = tsn_sum(TSN_STREAM_CHUNK, s->length);
  size_t batch = tsn_product(s->length, TSN_SEARCH_BATCH);
  s->own_query = tsn_arena_take(arena, s->length, sizeof(double));
  s->distance = tsn_arena_take(arena, s->samples, sizeof(double));
  s->least = tsn_arena_take(arena, s->samples / TSN_STREAM_CHUNK + 1, sizeof(double));
  take_set(arena, s->wanted, s->exclusion, &s->best);
  s->threads = tsn_arena_take(arena, (size_t)s->exec.threads, sizeof *s->threads);
  for (int t = 0; t < s->exec.threads; t++) {
    tsn_stream_buffers b = {
        .mean = tsn_arena_take(arena, TSN_STREAM_CHUNK, sizeof(double)),
        .inverse = tsn_arena_take(arena, TSN_STREAM_CHUNK, sizeof(double)),
        .kim = tsn_arena_take(arena, TSN_STREAM_CHUNK, sizeof(double)),
        .shifted = tsn_arena_take(arena, segment, sizeof(double)),
        .lower = tsn_arena_take(arena, segment, sizeof(double)),
        .upper = tsn_arena_take(arena, segment, sizeof(double)),
        .waiting = tsn_arena_take(arena, batch, sizeof(double))};
    tsn_search_work_layout(arena, s->length, s->work_bytes, &b.work);
    take_set(arena, s->wanted, s->exclusion, &b.best);
    if (s->threads) s->threads[t] = b;
  }
}

/* Everything but the samples: exec is read. */
static tsanom_status describe(tsn_stream_search *s, size_t query_length,
                              size_t stream_length,
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
  s->length = query_length;
  s->samples = stream_length;
  s->windows = stream_length - query_length + 1;
  s->chunks = (s->windows - 1) / TSN_STREAM_CHUNK + 1;
  s->exclusion = own.exclusion == TSANOM_NONE ? query_length / 2 : own.exclusion;
  s->neighbors = own.neighbors;
  s->wanted = tsn_smaller(own.neighbors, stream_length);
  s->radius = own.radius;
  s->cost = own.cost;
  s->z_normalize = own.z_normalize;
  status = tsn_search_work_size(query_length, query_length + TSN_STREAM_CHUNK, own.radius,
                                own.cost, exec, &s->work_bytes);
  if (status == TSANOM_OK) return TSANOM_OK;
  return tsn_reject_is(exec, status, "query_length", TSANOM_NONE,
                       "%zu; its workspace exceeds the address space", query_length);
}

static tsanom_status check_samples(const tsn_stream_search *s, const double *x, size_t n,
                                   const char *name) {
  size_t k =
      tsn_search_first_bad(tsn_search_kernels_at(s->exec.isa), x, n, s->z_normalize);
  return k < n ? tsn_search_reject_sample(&s->exec, name, k, TSANOM_NONE, x[k])
               : TSANOM_OK;
}

static tsanom_status check(void *context) {
  const tsn_stream_search *s = context;
  const tsanom_exec *exec = &s->exec;
  tsanom_status status = tsn_require_array(exec, s->query, s->length, "query");
  if (status < 0 ||
      (status = tsn_require_array(exec, s->stream, s->samples, "stream")) < 0 ||
      (status = tsn_require_array(exec, s->starts, s->neighbors, "starts")) < 0 ||
      (status = tsn_require_array(exec, s->distances, s->neighbors, "distances")) < 0 ||
      (status = check_samples(s, s->query, s->length, "query")) < 0) {
    return status;
  }
  return check_samples(s, s->stream, s->samples, "stream");
}

/* Set the query as it is compared. */
static void prepare_query(tsn_stream_search *s) {
  size_t n = s->length;
  if (s->z_normalize) {
    tsn_search_normalize(tsn_search_kernels_at(s->exec.isa), s->query, n, s->own_query);
  } else {
    memcpy(s->own_query, s->query, n * sizeof *s->query);
  }
}

/* The counts of all threads; each window is counted by one of them. */
static tsanom_search_report total_report(const tsn_stream_search *s, size_t found) {
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
  tsn_stream_search *s = context;
  prepare_query(s);
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
  tsn_stream_search s = {.query = query,
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
