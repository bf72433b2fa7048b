/* SPDX-License-Identifier: BSD-3-Clause */
/* The nearest series of an index and the nearest windows of a stream beside brute force,
 * bit by bit: with and without normalization, samples of any size, ties. */
#include <tsanom/search.h>

#include "input.h"
#include "search/naive.h"
#include "support/ask.h"
#include "support/rows.h"

enum { LENGTH = 24, COUNT = 20, QUERIES = 2, STREAM = 120, MATCHES = 6 };

typedef struct {
  size_t count, n, samples, neighbors;
  double series[COUNT * LENGTH], queries[QUERIES * LENGTH], stream[STREAM];
  tsanom_search_options options;
} problem;

static void take_problem(fuzz_input *in, problem *p) {
  tsanom_search_options_init(&p->options, sizeof p->options);
  size_t flags = take_byte(in), radius = take_byte(in);
  p->count = take_between(in, 1, COUNT);
  p->n = take_between(in, 1, LENGTH);
  p->samples = take_between(in, p->n, STREAM);
  p->neighbors = take_between(in, 1, p->count);
  p->options.cost = (int32_t)(flags & 1);
  p->options.z_normalize = (int32_t)(flags >> 1 & 1);
  p->options.borrow = !p->options.z_normalize && flags & 4;
  p->options.radius = radius == UINT8_MAX ? SIZE_MAX : radius % LENGTH;
  take_samples(in, p->queries, QUERIES * p->n);
  take_samples(in, p->series, p->count * p->n);
  take_samples(in, p->stream, p->samples);
  /* Ties, and a distance of 0. */
  size_t twin = flags >> 3;
  if (twin < p->count) memcpy(p->series, p->series + twin * p->n, p->n * sizeof(double));
  if (flags & 128) memcpy(p->queries, p->series, p->n * sizeof(double));
}

/* What samples allow: success, or the error of one of them. */
static int accepts(tsanom_status status, const double *x, size_t count, int normalized) {
  int finite = all_finite(x, count);
  int large = normalized && largest_magnitude(x, count) > 1e140;
  if (status == TSANOM_E_NONFINITE) return !finite;
  if (status == TSANOM_E_VALUE) return large;
  return status == TSANOM_OK && finite && !large;
}

/* A distance that overflows is that of no series. */
static void check_neighbors(const problem *p, size_t query, const size_t *indices,
                            const double *distances, uint64_t found) {
  naive_match expected[COUNT];
  size_t finite = 0;
  naive_nearest(p->queries + query * p->n, p->series, p->count, p->n, p->n, &p->options,
                expected);
  for (size_t k = 0; k < p->neighbors; k++) {
    int none = isinf(expected[k].distance);
    finite += !none;
    demand(indices[k] == (none ? TSANOM_NONE : expected[k].index));
    demand(distances[k] == expected[k].distance);
  }
  demand(found == finite);
}

static void check_index(const problem *p, const tsanom_exec *exec) {
  tsanom_series series = rows_of(p->series, p->count, p->n, 0);
  tsanom_series queries = rows_of(p->queries, QUERIES, p->n, 0);
  tsanom_search_index *index = NULL;
  size_t indices[QUERIES * COUNT], bytes;
  double distances[QUERIES * COUNT];
  tsanom_search_report reports[QUERIES];
  tsanom_status status = tsanom_search_index_create(&series, &p->options, exec, &index);
  demand(accepts(status, p->series, p->count * p->n, p->options.z_normalize));
  if (status < 0) return;
  tsanom_exec own = ask_exec(exec, &bytes);
  demand(tsanom_search_nearest(index, &queries, p->neighbors, &own, NULL, NULL, NULL) ==
         TSANOM_E_WORKSPACE);
  own = with_work(*exec, bytes);
  status = tsanom_search_nearest(index, &queries, p->neighbors, &own, indices, distances,
                                 reports);
  demand(accepts(status, p->queries, QUERIES * p->n, p->options.z_normalize));
  for (size_t q = 0; q < QUERIES && status == TSANOM_OK; q++) {
    const tsanom_search_report *r = reports + q;
    check_neighbors(p, q, indices + q * p->neighbors, distances + q * p->neighbors,
                    r->found);
    demand(r->candidates == p->count);
    demand(r->means + r->kim + r->keogh + r->abandoned + r->computed == p->count);
  }
  drop_work(&own);
  tsanom_search_index_destroy(index);
}

static void check_stream(const problem *p, const tsanom_exec *exec) {
  size_t starts[MATCHES], expected_starts[MATCHES];
  double distances[MATCHES], expected[MATCHES];
  tsanom_search_report report;
  tsanom_status status =
      tsanom_search_stream(p->queries, p->n, p->stream, p->samples, &p->options, exec,
                           starts, distances, &report);
  double both[LENGTH + STREAM];
  memcpy(both, p->queries, p->n * sizeof *both);
  memcpy(both + p->n, p->stream, p->samples * sizeof *both);
  demand(accepts(status, both, p->n + p->samples, p->options.z_normalize));
  if (status < 0) return;
  size_t found = naive_stream(p->queries, p->n, p->stream, p->samples, &p->options,
                              expected_starts, expected);
  demand(report.found == found && report.candidates == p->samples - p->n + 1);
  for (size_t i = 0; i < p->options.neighbors; i++) {
    demand(starts[i] == (i < found ? expected_starts[i] : TSANOM_NONE));
    demand(distances[i] == (i < found ? expected[i] : INFINITY));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static problem p;
  fuzz_input in = {data, data + size};
  tsanom_exec exec = take_exec(&in);
  size_t matches = take_between(&in, 1, MATCHES), exclusion = take_byte(&in);
  take_problem(&in, &p);
  check_index(&p, &exec);
  p.options.borrow = 0;
  p.options.neighbors = matches;
  p.options.exclusion = exclusion > 100 ? SIZE_MAX : exclusion % 40;
  check_stream(&p, &exec);
  return 0;
}
