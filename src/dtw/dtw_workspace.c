/* SPDX-License-Identifier: BSD-3-Clause */
/* The public queries of workspaces that serve both precisions. Single precision usually
 * needs less; but its vectors have twice the lanes, on which the choice of sweeps, strips
 * and margins depend, so that neither size bounds the other. Hence the larger of both. */
#include "core/size.h"
#include "dtw/dtw_bytes.h"

static tsanom_status read_query(tsn_dtw_settings *own, const tsanom_dtw_options *options,
                                const tsanom_exec *exec, int uses, const size_t *bytes) {
  tsanom_status status = tsn_dtw_settings_read(own, options, exec, uses);
  return status < 0 ? status : tsn_require(&own->exec, bytes, "bytes");
}

/* The larger of the sizes in both precisions. Series may be so long that only double
 * precision can count their samples. */
static tsanom_status answer(const tsn_dtw_settings *settings, const tsn_dtw_shape *shape,
                            tsn_dtw_bytes *f64, tsn_dtw_bytes *f32, size_t *bytes) {
  size_t own, other;
  tsanom_status status = f64(settings, shape, &own);
  if (status < 0) return tsn_reject(&settings->exec, status, "bytes");
  *bytes = f32(settings, shape, &other) < 0 ? own : tsn_larger(own, other);
  return TSANOM_OK;
}

static tsanom_status query_pair(size_t n, size_t m, const tsanom_dtw_options *options,
                                const tsanom_exec *exec, int uses, tsn_dtw_bytes *f64,
                                tsn_dtw_bytes *f32, size_t *bytes) {
  tsn_dtw_settings settings;
  const tsn_dtw_count counts[] = {{n, 1, "n"}, {m, 1, "m"}};
  const tsn_dtw_shape shape = {.longest_x = n, .longest_y = m};
  tsanom_status status =
      read_query(&settings, options, exec, uses | TSN_DTW_USES_SHAPE, bytes);
  if (status < 0 || (status = tsn_dtw_check_counts(&settings, counts, 2)) < 0)
    return status;
  return answer(&settings, &shape, f64, f32, bytes);
}

tsanom_status tsanom_dtw_distance_workspace(size_t n, size_t m,
                                            const tsanom_dtw_options *options,
                                            const tsanom_exec *exec, size_t *bytes) {
  return query_pair(n, m, options, exec, TSN_DTW_USES_TAILS, tsn_dtw_distance_bytes,
                    tsn_dtw_distance_bytes_f32, bytes);
}

tsanom_status tsanom_dtw_path_workspace(size_t n, size_t m,
                                        const tsanom_dtw_options *options,
                                        const tsanom_exec *exec, size_t *bytes) {
  return query_pair(n, m, options, exec, TSN_DTW_USES_PATH_MEMORY, tsn_dtw_path_bytes,
                    tsn_dtw_path_bytes_f32, bytes);
}

/* The last of the counts is the number of dimensions. */
static tsanom_status query_sets(const tsn_dtw_count *counts, size_t number,
                                const tsn_dtw_shape *shape,
                                const tsanom_dtw_options *options,
                                const tsanom_exec *exec, int uses, size_t *bytes) {
  tsn_dtw_settings settings;
  tsanom_status status = read_query(&settings, options, exec, uses, bytes);
  if (status < 0 || (status = tsn_dtw_check_counts(&settings, counts, number)) < 0) {
    return status;
  }
  settings.options.dimensions = settings.options.stride = counts[number - 1].value;
  return answer(&settings, shape, tsn_dtw_pairwise_bytes, tsn_dtw_pairwise_bytes_f32,
                bytes);
}

tsanom_status tsanom_dtw_one_to_many_workspace(size_t n, size_t longest, size_t count,
                                               size_t dimensions,
                                               const tsanom_dtw_options *options,
                                               const tsanom_exec *exec, size_t *bytes) {
  const tsn_dtw_count counts[] = {{n, 1, "n"},
                                  {longest, 1, "longest"},
                                  {count, 1, "count"},
                                  {dimensions, 1, "dimensions"}};
  const tsn_dtw_shape shape = {n, 1, longest, count, false};
  return query_sets(counts, 4, &shape, options, exec, TSN_DTW_USES_TAILS, bytes);
}

tsanom_status tsanom_dtw_condensed_workspace(size_t longest, size_t count,
                                             size_t dimensions,
                                             const tsanom_dtw_options *options,
                                             const tsanom_exec *exec, size_t *bytes) {
  const tsn_dtw_count counts[] = {
      {longest, 1, "longest"}, {count, 2, "count"}, {dimensions, 1, "dimensions"}};
  const tsn_dtw_shape shape = {longest, count, longest, count, true};
  return query_sets(counts, 3, &shape, options, exec, 0, bytes);
}

tsanom_status tsanom_dtw_cross_workspace(size_t longest_x, size_t count_x,
                                         size_t longest_y, size_t count_y,
                                         size_t dimensions,
                                         const tsanom_dtw_options *options,
                                         const tsanom_exec *exec, size_t *bytes) {
  const tsn_dtw_count counts[] = {{longest_x, 1, "longest_x"},
                                  {count_x, 1, "count_x"},
                                  {longest_y, 1, "longest_y"},
                                  {count_y, 1, "count_y"},
                                  {dimensions, 1, "dimensions"}};
  const tsn_dtw_shape shape = {longest_x, count_x, longest_y, count_y, false};
  return query_sets(counts, 5, &shape, options, exec, 0, bytes);
}
