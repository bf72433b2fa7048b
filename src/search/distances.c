/* SPDX-License-Identifier: BSD-3-Clause */
/* DTW of a batch of candidates, through the public interface. */
#include <tsanom/dtw.h>

#include "search/search_internal.h"

static tsanom_dtw_options options_of(size_t radius, int32_t cost) {
  tsanom_dtw_options options;
  tsanom_dtw_options_init(&options, sizeof options);
  options.radius = radius;
  options.cost =
      cost == TSANOM_SEARCH_SQUARED ? TSANOM_COST_SQUARED : TSANOM_COST_ABSOLUTE;
  return options;
}

tsanom_status tsn_search_distances_size(size_t n, size_t radius, int32_t cost,
                                        const tsanom_exec *exec, size_t *bytes) {
  tsanom_dtw_options options = options_of(radius, cost);
  tsanom_exec alone = tsn_search_alone(exec, NULL, 0);
  return tsanom_dtw_one_to_many_workspace(n, n, TSN_SEARCH_BATCH, 1, &options, &alone,
                                          bytes);
}

tsanom_status tsn_search_distances(const double *query, size_t n,
                                   const tsn_search_batch *batch, size_t radius,
                                   int32_t cost, double cutoff, const tsanom_exec *exec,
                                   void *work, size_t work_bytes, double *distances) {
  tsanom_dtw_options options = options_of(radius, cost);
  options.cutoff = cutoff;
  tsanom_exec alone = tsn_search_alone(exec, work, work_bytes);
  tsanom_series series;
  tsanom_series_init(&series, sizeof series);
  series.count = batch->count;
  series.pointers = batch->series;
  series.length = n;
  return tsanom_dtw_one_to_many(query, n, &series, &options, &alone, distances, NULL);
}
