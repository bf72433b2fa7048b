/* SPDX-License-Identifier: BSD-3-Clause */
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
#include <math.h>

#include "search/stream.h"

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
