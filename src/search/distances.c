/* SPDX-License-Identifier: BSD-3-Clause */
/* Envelopes and DTW through the public functions of the modules lbkeogh and dtw. All
 * calls of other modules are here. Arguments are checked and the workspace is large
 * enough before a search starts, so these calls cannot fail.
 *
 * They run on one thread each, since the threads of a search have different queries or
 * chunks. The modules are used by their public functions only: a search has no knowledge
 * of their kernels, and its results are those that a user would get. */
#include <tsanom/dtw.h>
#include <tsanom/lbkeogh.h>

#include "core/size.h"
#include "search/search_internal.h"

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
  size_t envelope_bytes;
  tsanom_status status =
      tsanom_lbkeogh_envelope_workspace(samples, radius, &alone, &envelope_bytes);
  if (status < 0) return status;
  status =
      tsanom_dtw_one_to_many_workspace(n, n, TSN_SEARCH_BATCH, 1, &dtw, &alone, bytes);
  if (status < 0) return status;
  *bytes = tsn_larger(*bytes, envelope_bytes);
  return TSANOM_OK;
}

void tsn_search_envelope(const double *x, size_t n, size_t radius,
                         const tsanom_exec *exec, void *work, size_t work_bytes,
                         double *lower, double *upper) {
  tsanom_exec alone = one_thread(exec);
  alone.work = work;
  alone.work_bytes = work_bytes;
  (void)tsanom_lbkeogh_envelope(x, n, radius, &alone, lower, upper);
}

/* Pairs of samples within the radius, at most. */
static double batch_cells(size_t n, size_t radius, size_t count) {
  double width = radius < n / 2 ? 2 * (double)radius + 1 : (double)n;
  return width * (double)n * (double)count;
}

/* One to many: series of one length run side by side in the lanes of a vector. */
bool tsn_search_distances(const double *query, size_t n, const tsn_search_batch *batch,
                          size_t radius, int32_t cost, double cutoff,
                          const tsanom_exec *exec, void *work, size_t work_bytes,
                          double *distances) {
  tsanom_exec alone = one_thread(exec);
  tsanom_dtw_options options = dtw_options(radius, cost);
  options.cutoff = cutoff;
  alone.work = work;
  alone.work_bytes = work_bytes;
  if (tsn_search_stopped(batch->watcher)) return false;
  tsn_search_watch_cells(batch->watcher, batch_cells(n, radius, batch->count), &alone);
  tsanom_series series;
  tsanom_series_init(&series, sizeof series);
  series.count = batch->count;
  series.pointers = batch->series;
  series.length = n;
  return tsanom_dtw_one_to_many(query, n, &series, &options, &alone, distances, NULL) !=
         TSANOM_STOPPED;
}
