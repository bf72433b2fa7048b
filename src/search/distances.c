/* SPDX-License-Identifier: BSD-3-Clause */
/* Envelopes, bounds and DTW through the public functions of the modules lbkeogh and dtw.
 * All calls of other modules are here. Arguments are checked and the workspace is large
 * enough before a search starts, so these calls cannot fail.
 *
 * They run on one thread each, since the threads of a search have different queries or
 * chunks. The modules are used by their public functions only: a search has no knowledge
 * of their kernels, and its results are those that a user would get. */
#include <math.h>
#include <tsanom/dtw.h>
#include <tsanom/lbkeogh.h>

#include "core/size.h"
#include "search/coarse.h"

static tsanom_dtw_options dtw_options(size_t radius, int32_t cost) {
  tsanom_dtw_options options;
  tsanom_dtw_options_init(&options, sizeof options);
  options.radius = radius;
  options.cost = cost;
  return options;
}

/* Without the caller's poll, workspace and fault, which belong to the search. */
static tsanom_exec one_thread(const tsanom_exec *exec) {
  tsanom_exec alone = tsn_exec_for_object(exec);
  alone.threads = 1;
  return alone;
}

tsanom_status tsn_search_work_size(size_t n, size_t samples, size_t radius, int32_t cost,
                                   const tsanom_exec *exec, size_t *bytes) {
  tsanom_exec alone = one_thread(exec);
  tsanom_dtw_options dtw = dtw_options(radius, cost);
  size_t envelope_bytes = 0, dtw_bytes = 0;
  tsanom_exec ask = tsn_exec_asking(&alone, &envelope_bytes);
  tsanom_status status =
      tsn_asked(tsanom_lbkeogh_envelope(NULL, samples, radius, &ask, NULL, NULL));
  if (status < 0) return status;
  tsanom_series series = {
      .struct_size = sizeof series, .count = TSN_SEARCH_BATCH, .length = n};
  ask.work_needed = &dtw_bytes;
  status = tsn_asked(tsanom_dtw_one_to_many(NULL, n, &series, &dtw, &ask, NULL, NULL));
  if (status >= 0) *bytes = tsn_larger(dtw_bytes, envelope_bytes);
  return status;
}

double tsn_search_bound_kim(const tsn_search_pairs *p, const double *series) {
  tsanom_exec alone = one_thread(p->exec);
  double bound = 0;
  (void)tsanom_lbkeogh_kim(series, p->n, p->query, p->n, p->cost, &alone, &bound);
  return bound;
}

double tsn_search_bound_keogh(const tsn_search_pairs *p, const double *series,
                              const double *lower, const double *upper) {
  tsanom_exec alone = one_thread(p->exec);
  double bound = 0;
  (void)tsanom_lbkeogh_bound(series, lower, upper, p->n, p->cost, &alone, &bound);
  return bound;
}

void tsn_search_envelope(const double *x, size_t n, size_t radius,
                         const tsanom_exec *exec, void *work, size_t work_bytes,
                         double *lower, double *upper) {
  tsanom_exec alone = one_thread(exec);
  alone.work = work;
  alone.work_bytes = work_bytes;
  (void)tsanom_lbkeogh_envelope(x, n, radius, &alone, lower, upper);
}

void tsn_search_work_layout(tsn_arena *arena, size_t n, size_t bytes,
                            tsn_search_work *work) {
  work->block = tsn_arena_take(arena, 1, bytes);
  work->bytes = bytes;
  tsn_search_coarse_layout(arena, n, &work->coarse);
}

/* Pairs of samples within the radius, at most. */
static double batch_cells(const tsn_search_pairs *p, size_t count) {
  double width = p->radius < p->n / 2 ? 2 * (double)p->radius + 1 : (double)p->n;
  return width * (double)p->n * (double)count;
}

/* DTW of the candidates that are left. One to many: series of one length run side by side
 * in the lanes of a vector. */
static bool exact_distances(const tsn_search_pairs *p, const double *const *candidates,
                            size_t count, tsn_search_watcher *watcher,
                            const tsn_search_work *work, double *distances) {
  tsanom_exec alone = one_thread(p->exec);
  tsanom_dtw_options options = dtw_options(p->radius, p->cost);
  options.cutoff = p->cutoff;
  alone.work = work->block;
  alone.work_bytes = work->bytes;
  tsn_search_watch_cells(watcher, batch_cells(p, count), &alone);
  tsanom_series series = {.struct_size = sizeof series};
  series.count = count;
  series.pointers = candidates;
  series.length = p->n;
  return tsanom_dtw_one_to_many(p->query, p->n, &series, &options, &alone, distances,
                                NULL) != TSANOM_STOPPED;
}

bool tsn_search_distances(const tsn_search_pairs *p, const tsn_search_batch *batch,
                          const tsn_search_work *work, double *distances) {
  const double *left[TSN_SEARCH_BATCH];
  size_t count = 0;
  bool removed[TSN_SEARCH_BATCH];
  if (tsn_search_stopped(batch->watcher) ||
      !tsn_search_coarse(p, batch, &work->coarse, removed)) {
    return false;
  }
  for (size_t i = 0; i < batch->count; i++) {
    if (!removed[i]) left[count++] = batch->series[i];
  }
  if (count > 0 && !exact_distances(p, left, count, batch->watcher, work, distances)) {
    return false;
  }
  for (size_t i = batch->count; i-- > 0;) {
    distances[i] = removed[i] ? INFINITY : distances[--count];
  }
  return true;
}
