/* SPDX-License-Identifier: BSD-3-Clause */
/* Searches by brute force. The distances are those of tsanom_dtw_distance(), the
 * normalization is tsanom_search_normalize(), as the header promises. */
#ifndef TSANOM_TEST_NAIVE_SEARCH_H
#define TSANOM_TEST_NAIVE_SEARCH_H

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/dtw.h>
#include <tsanom/search.h>

typedef struct {
  double distance;
  size_t index;
} naive_match;

static inline double naive_dtw(const double *x, const double *y, size_t n, size_t radius,
                               int32_t cost) {
  tsanom_dtw_options options;
  tsanom_dtw_options_init(&options, sizeof options);
  options.radius = radius;
  options.cost = cost;
  double distance;
  if (tsanom_dtw_distance(x, n, y, n, &options, NULL, &distance) != TSANOM_OK) abort();
  return distance;
}

/* A copy, normalized if requested. */
static inline void naive_prepare(const double *x, size_t n, int32_t normalize,
                                 double *out) {
  memcpy(out, x, n * sizeof *x);
  if (normalize && tsanom_search_normalize(x, n, NULL, out) != TSANOM_OK) abort();
}

static inline int naive_by_distance(const void *a, const void *b) {
  const naive_match *x = a, *y = b;
  if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

/* All series, sorted by their distance to the query. */
static inline void naive_nearest(const double *query, const double *series, size_t count,
                                 size_t n, size_t ld,
                                 const tsanom_search_options *options,
                                 naive_match *sorted) {
  double *x = malloc(2 * n * sizeof *x), *y = x + n;
  naive_prepare(query, n, options->z_normalize, x);
  for (size_t i = 0; i < count; i++) {
    naive_prepare(series + i * ld, n, options->z_normalize, y);
    sorted[i] = (naive_match){naive_dtw(x, y, n, options->radius, options->cost), i};
  }
  qsort(sorted, count, sizeof *sorted, naive_by_distance);
  free(x);
}

/* The windows of a stream: all distances, then one choice after the other. Returns the
 * number of matches. */
static inline size_t naive_stream(const double *query, size_t n, const double *stream,
                                  size_t samples, const tsanom_search_options *options,
                                  size_t *starts, double *distances) {
  size_t windows = samples - n + 1, found = 0;
  size_t exclusion = options->exclusion == SIZE_MAX ? n / 2 : options->exclusion;
  double *all = malloc(windows * sizeof *all), *x = malloc(2 * n * sizeof *x), *y = x + n;
  naive_prepare(query, n, options->z_normalize, x);
  for (size_t i = 0; i < windows; i++) {
    naive_prepare(stream + i, n, options->z_normalize, y);
    all[i] = naive_dtw(x, y, n, options->radius, options->cost);
  }
  while (found < options->neighbors) {
    size_t best = 0;
    for (size_t i = 1; i < windows; i++) {
      if (all[i] < all[best]) best = i;
    }
    if (isinf(all[best])) break;
    starts[found] = best;
    distances[found++] = all[best];
    for (size_t i = 0; i < windows; i++) {
      if ((i > best ? i - best : best - i) <= exclusion) all[i] = INFINITY;
    }
  }
  free(all);
  free(x);
  return found;
}

#endif
