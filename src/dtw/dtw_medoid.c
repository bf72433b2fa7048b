/* SPDX-License-Identifier: BSD-3-Clause */
/* Medoid of a set: the series whose sum of distances to all others is least. The whole
 * condensed matrix is computed, count*(count-1)/2 distances; of equal sums the lower
 * index is taken. Unlike a barycenter the medoid is one of the series. */
#include <math.h>

#include "core/size.h"
#include "dtw/dtw_pairwise.h"

typedef struct {
  tsn_dtw_settings settings;
  tsn_dtw_pairwise pairs;
  size_t *medoid;
  double *sum;
} medoid_call;

static void layout(tsn_arena *arena, void *context) {
  medoid_call *c = context;
  size_t count = c->pairs.xs.count;
  c->pairs.distances = tsn_arena_take(arena, count * (count - 1) / 2, sizeof(double));
  tsn_dtw_pairwise_layout(arena, &c->pairs);
}

/* Rows 0 ... low-1 of the condensed matrix have count-1, count-2, ... elements. */
static size_t condensed_place(size_t a, size_t b, size_t count) {
  size_t low = tsn_smaller(a, b), high = tsn_larger(a, b);
  return low * (2 * count - low - 1) / 2 + high - low - 1;
}

/* The sums are added in the order of the index, so that they are the same bits for every
 * number of threads. A series without a path to another has an infinite sum. */
static tsanom_status least_sum(const medoid_call *c) {
  size_t count = c->pairs.xs.count, best = 0;
  double least = INFINITY;
  for (size_t a = 0; a < count; a++) {
    double own = 0;
    for (size_t b = 0; b < count; b++) {
      if (a != b) own += c->pairs.distances[condensed_place(a, b, count)];
    }
    if (own < least) {
      least = own;
      best = a;
    }
  }
  if (isinf(least)) return TSANOM_INFEASIBLE;
  *c->medoid = best;
  if (c->sum) *c->sum = least;
  return TSANOM_OK;
}

static tsanom_status run(void *context) {
  medoid_call *c = context;
  tsanom_status status = tsn_dtw_pairwise_run(&c->pairs);
  return status == TSANOM_OK ? least_sum(c) : status;
}

static tsanom_status check(void *context) {
  const medoid_call *c = context;
  const tsanom_exec *exec = &c->settings.exec;
  tsanom_status status = tsn_require(exec, c->medoid, "medoid");
  if (status < 0 || (status = tsn_series_require(&c->pairs.xs, "series", exec)) < 0) {
    return status;
  }
  return tsn_dtw_set_finite(&c->pairs.xs, "series", &c->settings);
}

tsanom_status tsanom_dtw_medoid(const tsanom_series *series,
                                const tsanom_dtw_options *options,
                                const tsanom_exec *exec, size_t *medoid, double *sum) {
  medoid_call c = {.medoid = medoid, .sum = sum};
  tsanom_status status = tsn_dtw_settings_read(&c.settings, options, exec, 0);
  if (status < 0 ||
      (status = tsn_dtw_set_read(&c.pairs.xs, series, "series", &c.settings)) < 0) {
    return status;
  }
  size_t count = c.pairs.xs.count;
  c.settings.options.dimensions = c.pairs.xs.dimensions;
  c.pairs.settings = &c.settings;
  c.pairs.ys = c.pairs.xs;
  c.pairs.condensed = true;
  status = tsn_dtw_pairwise_init(&c.pairs);
  if (status < 0) {
    return tsn_reject_is(&c.settings.exec, status, "series.count", TSANOM_NONE,
                         "%zu; the matrix of %zu x %zu, or the slope windows, exceed the "
                         "address space",
                         count, count, count);
  }
  return tsn_workspace_run(&c.settings.exec, layout, check, run, &c);
}
