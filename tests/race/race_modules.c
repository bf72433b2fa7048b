/* SPDX-License-Identifier: BSD-3-Clause */
/* Modules on four threads: fits by both methods and a stream of samples, searches
 * of an index and of a stream, the counting of rough sets; and one index
 * searched by several threads of the caller at once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/polyfit.h>
#include <tsanom/search.h>

#include "race/levels.h"
#include "roughset/tables.h"
#include "support/random.h"
#include "support/rows.h"

enum {
  SAMPLES = 60000,
  SERIES = 200,
  LENGTH = 64,
  QUERIES = 12,
  NEIGHBORS = 3,
  CALLERS = 4,
  ROWS = 400,
  ATTRIBUTES = 12
};

static int fit(const double *x, const double *y, const tsanom_exec *exec,
               int32_t method) {
  static double values[SAMPLES];
  tsanom_polyfit_model model;
  tsanom_polyfit_options options;
  model = (tsanom_polyfit_model){.struct_size = sizeof model};
  tsanom_polyfit_options_init(&options, sizeof options);
  options.degree = 10;
  if (tsanom_polyfit_fit(x, y, NULL, SAMPLES, &options, exec, &model) < 0 ||
      model.method != method ||
      tsanom_polyfit_evaluate(&model, x, SAMPLES, exec, values, NULL) < 0) {
    return 1;
  }
  tsanom_polyfit_stream *stream;
  if (tsanom_polyfit_stream_create(&options, exec, &stream) < 0) return 1;
  int failed = tsanom_polyfit_stream_push(stream, x, y, NULL, SAMPLES, exec) < 0 ||
               tsanom_polyfit_stream_fit(stream, NULL, exec, &model) < 0;
  tsanom_polyfit_stream_destroy(stream);
  return failed;
}

static int polyfit(const tsanom_exec *exec) {
  static double x[SAMPLES], crowded[SAMPLES], y[SAMPLES];
  for (size_t i = 0; i < SAMPLES; i++) {
    x[i] = (double)i / SAMPLES;
    crowded[i] = i + 1 < SAMPLES ? 1e-6 * x[i] : 1;
    y[i] = sin(7 * x[i]);
  }
  return fit(x, y, exec, TSANOM_POLYFIT_GRAM) || fit(crowded, y, exec, TSANOM_POLYFIT_QR);
}

typedef struct {
  size_t indices[QUERIES * NEIGHBORS];
  double distances[QUERIES * NEIGHBORS];
} answer;

static int nearest(const tsanom_search_index *index, const tsanom_series *queries,
                   const tsanom_exec *exec, answer *found) {
  return tsanom_search_nearest(index, queries, NEIGHBORS, exec, found->indices,
                               found->distances, NULL) != TSANOM_OK;
}

static int search(const tsanom_exec *exec) {
  static double series[SERIES * LENGTH], queries[QUERIES * LENGTH];
  static answer expected, answers[CALLERS];
  uint64_t seed = 5;
  for (size_t i = 0; i < SERIES * LENGTH; i++) series[i] = random_unit(&seed);
  for (size_t i = 0; i < QUERIES * LENGTH; i++) queries[i] = random_unit(&seed);
  tsanom_search_options options;
  tsanom_search_options_init(&options, sizeof options);
  options.radius = 6;
  options.z_normalize = 1;
  tsanom_search_index *index;
  tsanom_series series_set = rows_of(series, SERIES, LENGTH, 0),
                query_set = rows_of(queries, QUERIES, LENGTH, 0);
  if (tsanom_search_index_create(&series_set, &options, exec, &index) < 0) return 1;
  int failed = nearest(index, &query_set, exec, &expected);
#pragma omp parallel for num_threads(CALLERS) reduction(| : failed)
  for (int i = 0; i < CALLERS; i++) {
    for (int repeat = 0; repeat < 4; repeat++) {
      failed |= nearest(index, &query_set, NULL, &answers[i]);
    }
  }
  for (int i = 0; i < CALLERS; i++) {
    failed |= memcmp(&answers[i], &expected, sizeof expected) != 0;
  }
  tsanom_search_index_destroy(index);
  size_t starts[NEIGHBORS];
  double distances[NEIGHBORS];
  options.neighbors = NEIGHBORS;
  return failed ||
         tsanom_search_stream(queries, LENGTH, series, (size_t)SERIES * LENGTH, &options,
                              exec, starts, distances, NULL) != TSANOM_OK;
}

static int roughset(const tsanom_exec *exec) {
  static int32_t values[ROWS * ATTRIBUTES], decision[ROWS], positive[ROWS];
  static uint64_t matrix[ROWS * (ROWS - 1) / 2];
  static int32_t kind[ROWS * (ROWS - 1) / 2];
  fill_family(FAMILY_MIXED, ROWS, ATTRIBUTES, values, decision);
  tsanom_roughset_table table = table_of(values, decision, ROWS, ATTRIBUTES);
  uint64_t core, reduct, all = (UINT64_C(1) << ATTRIBUTES) - 1;
  tsanom_roughset_bounds bounds;
  size_t found, size;
  double gamma, significance[ATTRIBUTES];
  return tsanom_roughset_matrix(&table, NULL, exec, matrix, kind) < 0 ||
         tsanom_roughset_core(&table, NULL, exec, &core) < 0 ||
         tsanom_roughset_minimum(&table, NULL, exec, NULL, &bounds, &reduct, &found) <
             0 ||
         tsanom_roughset_dependency(&table, &all, NULL, exec, positive, &size, &gamma) <
             0 ||
         tsanom_roughset_significance(&table, &all, NULL, exec, significance) < 0;
}

int main(void) {
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  exec.threads = CALLERS;
  for (int k = 0; k < RACE_LEVELS; k++) {
    exec.isa = race_level[k];
    if (polyfit(&exec)) return puts("polyfit failed"), 1;
    if (search(&exec)) return puts("search failed"), 1;
    if (roughset(&exec)) return puts("roughset failed"), 1;
  }
  puts("no race");
  return 0;
}
