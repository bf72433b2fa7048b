/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the modules that compare, fit and search series, and of those in analyses.c,
 * each on a small and on a large input. The program that calls them decides what is
 * checked around a call. A call that can work in a workspace has one of exactly the size
 * that it asked for. */
#include "contract/calls.h"
#include "support/rows.h"

/* Samples of a fit by more than one block and thread, which is still quick at the highest degree. */
enum { SEVERAL_BLOCKS = 5000 };

static void fit(const double *x, const double *y, const double *weights, size_t n,
                int32_t degree, const tsanom_exec *exec, int32_t method) {
  tsanom_polyfit_options options;
  tsanom_polyfit_model model;
  tsanom_polyfit_options_init(&options, sizeof options);
  model = (tsanom_polyfit_model){.struct_size = sizeof model};
  options.degree = degree;
  WATCH_IN_WORKSPACE(exec, tsanom_polyfit_fit(x, y, weights, n, &options, &own, &model));
  NEED(model.method == method);
  double *values = take(n, sizeof *values);
  WATCH(tsanom_polyfit_evaluate(&model, x, n, exec, values, NULL));
  free(values);
}

static void push(const double *x, const double *y, const double *weights, size_t n,
                 int32_t degree, const tsanom_exec *exec) {
  tsanom_polyfit_options options;
  tsanom_polyfit_model model;
  tsanom_polyfit_options_init(&options, sizeof options);
  model = (tsanom_polyfit_model){.struct_size = sizeof model};
  options.degree = degree;
  tsanom_polyfit_stream *one = NULL, *two = NULL;
  NEED(tsanom_polyfit_stream_create(&options, exec, &one) == TSANOM_OK);
  NEED(tsanom_polyfit_stream_create(&options, exec, &two) == TSANOM_OK);
  WATCH(tsanom_polyfit_stream_push(one, x, y, weights, n / 2, exec));
  WATCH(tsanom_polyfit_stream_push(two, x + n / 2, y + n / 2,
                                   weights ? weights + n / 2 : NULL, n - n / 2, exec));
  WATCH(tsanom_polyfit_stream_merge(one, two, exec));
  WATCH(tsanom_polyfit_stream_fit(one, &options, exec, &model));
  tsanom_polyfit_stream_destroy(one);
  tsanom_polyfit_stream_destroy(two);
}

static void polyfit(size_t n, const tsanom_exec *exec) {
  double *x = take(n, sizeof *x), *crowded = take(n, sizeof *x);
  double *y = random_series(n, 1), *weights = take(n, sizeof *weights);
  for (size_t i = 0; i < n; i++) {
    x[i] = (double)i / (double)n;
    crowded[i] = i + 1 < n ? 1e-6 * x[i] : 1;
    weights[i] = 1 + (double)(i % 3);
  }
  fit(x, y, NULL, n, 10, exec, TSANOM_POLYFIT_GRAM);
  fit(x, y, weights, n, 10, exec, TSANOM_POLYFIT_GRAM);
  fit(crowded, y, NULL, n, 10, exec, TSANOM_POLYFIT_QR);
  fit(crowded, y, weights, n, 10, exec, TSANOM_POLYFIT_QR);
  if (n == SEVERAL_BLOCKS) {
    fit(crowded, y, weights, n, TSANOM_POLYFIT_MAX_DEGREE, exec, TSANOM_POLYFIT_QR);
    push(x, y, weights, n, TSANOM_POLYFIT_MAX_DEGREE, exec);
  }
  push(x, y, weights, n, 10, exec);
  push(crowded, y, NULL, n, 10, exec);
  free(weights);
  free(y);
  free(crowded);
  free(x);
}

static void dtw_pair(size_t n, const double *x, const double *y,
                     const tsanom_exec *exec) {
  double distance;
  tsanom_dtw_options options;
  tsanom_dtw_options_init(&options, sizeof options);
  options.radius = n / 4 + 1;
  size_t length, *path = take(4 * n, sizeof *path);
  WATCH_IN_WORKSPACE(exec, tsanom_dtw_distance(x, n, y, n, &options, &own, &distance));
  for (int32_t memory = TSANOM_DTW_PATH_FULL; memory <= TSANOM_DTW_PATH_LINEAR;
       memory++) {
    options.path_memory = memory;
    WATCH_IN_WORKSPACE(
        exec, tsanom_dtw_path(x, n, y, n, &options, &own, path, &length, &distance));
  }
  free(path);
}

static void dtw_set(size_t n, double *x, const tsanom_exec *exec) {
  enum { SERIES = 12 };
  size_t computed, medoid, length = n / SERIES + 1;
  double distances[SERIES * SERIES], sum;
  const tsanom_series set = rows_of(x, SERIES, length, (n - length) / SERIES);
  WATCH_IN_WORKSPACE(
      exec, tsanom_dtw_one_to_many(x, n, &set, NULL, &own, distances, &computed));
  WATCH_IN_WORKSPACE(exec, tsanom_dtw_condensed(&set, NULL, &own, distances, &computed));
  WATCH_IN_WORKSPACE(
      exec, tsanom_dtw_cross(&set, &set, NULL, &own, distances, SERIES, &computed));
  WATCH_IN_WORKSPACE(exec, tsanom_dtw_medoid(&set, NULL, &own, &medoid, &sum));
  double *average = random_series(length, 8);
  WATCH_IN_WORKSPACE(
      exec, tsanom_dtw_barycenter(&set, length, 3, 0, NULL, &own, average, &sum));
  free(average);
}

static void dtw(size_t n, const tsanom_exec *exec) {
  double *x = random_series(n, 2), *y = random_series(n, 3);
  dtw_pair(n, x, y, exec);
  dtw_set(n, x, exec);
  free(y);
  free(x);
}

static void lbkeogh(size_t n, const tsanom_exec *exec) {
  enum { COST = TSANOM_COST_ABSOLUTE };
  double *x = random_series(n, 4), *y = random_series(n, 5), bound, bounds[2];
  double *lower = take(n, sizeof *lower), *upper = take(n, sizeof *upper);
  double *tail = take(n + 1, sizeof *tail);
  tsanom_lbkeogh_options options;
  tsanom_lbkeogh_options_init(&options, sizeof options);
  options.radius = n / 10;
  WATCH_IN_WORKSPACE(exec, tsanom_lbkeogh_envelope(x, n, n / 10, &own, lower, upper));
  WATCH(tsanom_lbkeogh_kim(x, n, y, n, COST, exec, &bound));
  WATCH(tsanom_lbkeogh_bound(y, lower, upper, n, COST, exec, &bound));
  WATCH(tsanom_lbkeogh_tail(y, lower, upper, n, COST, exec, tail));
  WATCH(tsanom_lbkeogh_enhanced(y, x, lower, upper, n, &options, exec, &bound));
  WATCH_IN_WORKSPACE(exec, tsanom_lbkeogh_pair(x, n, y, n, &options, &own, bounds));
  WATCH_IN_WORKSPACE(
      exec, tsanom_lbkeogh_improved(y, x, lower, upper, n, &options, &own, &bound));
  size_t produced, taken;
  tsanom_lbkeogh_stream *stream = NULL;
  NEED(tsanom_lbkeogh_stream_create(n / 10, exec, &stream) == TSANOM_OK);
  WATCH(tsanom_lbkeogh_stream_push(stream, x, n, lower, upper, &produced, &taken));
  WATCH(tsanom_lbkeogh_stream_finish(stream, lower, upper, &produced));
  tsanom_lbkeogh_stream_destroy(stream);
  free(tail);
  free(upper);
  free(lower);
  free(y);
  free(x);
}

static void search(size_t count, size_t length, const tsanom_exec *exec) {
  enum { QUERIES = 8, NEIGHBORS = 3 };
  double *series = random_series(count * length, 6), distances[QUERIES * NEIGHBORS];
  double *queries = random_series(QUERIES * length, 7);
  size_t indices[QUERIES * NEIGHBORS];
  tsanom_search_options options;
  tsanom_search_options_init(&options, sizeof options);
  options.radius = length / 10;
  options.z_normalize = 1;
  tsanom_search_index *index = NULL;
  const tsanom_series series_set = rows_of(series, count, length, 0);
  const tsanom_series query_set = rows_of(queries, QUERIES, length, 0);
  NEED(tsanom_search_index_create(&series_set, &options, exec, &index) == TSANOM_OK);
  WATCH_IN_WORKSPACE(exec, tsanom_search_nearest(index, &query_set, NEIGHBORS, &own,
                                                 indices, distances, NULL));
  options.neighbors = NEIGHBORS;
  WATCH_IN_WORKSPACE(
      exec, tsanom_search_stream(queries, length, series, count * length, &options, &own,
                                 indices, distances, NULL));
  tsanom_search_index_destroy(index);
  free(queries);
  free(series);
}

static void dpd_find(size_t n, const tsanom_exec *exec) {
  double *samples = random_series(n, 19);
  tsanom_dpd_found found = {.struct_size = sizeof found};
  WATCH_IN_WORKSPACE(exec, tsanom_dpd_find(samples, n, NULL, &own, &found));
  free(samples);
}

static void dpd_main(size_t n, const tsanom_exec *exec) {
  uint32_t *events = take(n, sizeof *events);
  tsanom_dpd_iteration iterations[10];
  tsanom_dpd_main found;
  tsanom_dpd_main_options options;
  found = (tsanom_dpd_main){.struct_size = sizeof found};
  tsanom_dpd_main_options_init(&options, sizeof options);
  options.kinds = 7;
  for (size_t i = 0; i < n; i++) events[i] = (uint32_t)(i % 7);
  WATCH_IN_WORKSPACE(exec, tsanom_dpd_main_loop(events, NULL, n, &options, &own, &found,
                                                iterations, 10));
  free(events);
}

static void dpd(size_t n, const tsanom_exec *exec) {
  uint64_t *events = take(n, sizeof *events);
  double *samples = take(n, sizeof *samples);
  size_t *periods = take(n, sizeof *periods), done;
  int32_t *starts = take(n, sizeof *starts), changed;
  for (size_t i = 0; i < n; i++) {
    events[i] = (uint32_t)(i % 7);
    samples[i] = (double)(i % 7);
  }
  tsanom_dpd_event *event = NULL;
  NEED(tsanom_dpd_event_create(NULL, exec, &event) == TSANOM_OK);
  WATCH(tsanom_dpd_event_push_many(event, events, n, periods, starts));
  WATCH(tsanom_dpd_event_resize(event, 100));
  tsanom_dpd_event_destroy(event);
  tsanom_dpd_value *value = NULL;
  NEED(tsanom_dpd_value_create(NULL, exec, &value) == TSANOM_OK);
  WATCH(tsanom_dpd_value_push_many(value, samples, n, periods, starts, &done));
  tsanom_dpd_value_destroy(value);
  tsanom_dpd_nest *nest = NULL;
  NEED(tsanom_dpd_nest_create(NULL, exec, &nest) == TSANOM_OK);
  watch_begin();
  tsanom_status status = TSANOM_OK;
  for (size_t i = 0; i < n && status >= 0; i++) {
    status = tsanom_dpd_nest_push(nest, events[i], &changed);
  }
  watch_end("tsanom_dpd_nest_push()", status);
  WATCH(tsanom_dpd_nest_push_many(nest, events, n, starts));
  WATCH(tsanom_dpd_nest_resize(nest, 100));
  WATCH(tsanom_dpd_nest_resize(nest, 1024));
  WATCH(tsanom_dpd_nest_predict(nest, events, n));
  tsanom_dpd_nest_destroy(nest);
  free(starts);
  free(periods);
  free(samples);
  free(events);
}

static void change(size_t n, const tsanom_exec *exec) {
  double *x = random_series(n, 6);
  for (size_t i = n / 2; i < n; i++) x[i] += 100;
  tsanom_change_point points[8];
  size_t count, taken;
  WATCH_IN_WORKSPACE(exec, tsanom_change_find(x, n, NULL, &own, points, 8, &count));
  tsanom_change_detector *detector = NULL;
  NEED(tsanom_change_create(NULL, exec, &detector) == TSANOM_OK);
  WATCH(tsanom_change_push(detector, x, n, points, 8, &count, &taken));
  tsanom_change_destroy(detector);
  tsanom_change_comparison comparison = {.struct_size = sizeof comparison};
  WATCH(tsanom_change_compare(x, n / 2, x + n / 2, n - n / 2, NULL, exec, &comparison));
  free(x);
}

void call_modules(const tsanom_exec *exec) {
  change(16, exec);
  change(100000, exec);
  polyfit(100, exec);
  polyfit(SEVERAL_BLOCKS, exec);
  polyfit(1000000, exec);
  dtw(24, exec);
  dtw(3000, exec);
  lbkeogh(24, exec);
  lbkeogh(100000, exec);
  search(10, 16, exec);
  search(1000, 128, exec);
  dpd(100, exec);
  dpd(20000, exec);
  dpd_find(100, exec);
  dpd_find(20000, exec);
  dpd_main(100, exec);
  dpd_main(20000, exec);
  call_analyses(exec);
}
