/* SPDX-License-Identifier: BSD-3-Clause */
/* Workspaces, objects and rejections of searches. */
#include <math.h>
#include <stdlib.h>
#include <tsanom/search.h>

#include "search/calls.h"
#include "support/exec.h"
#include "support/workspace.h"

/* Series enough for each thread to build some, and so long that the scratch memory of a
 * thread is larger than what lies beside it. */
Test(search_contract, threads_do_not_change_an_index) {
  enum { COUNT = 300, LENGTH = 1000, QUERIES = 4, NEAREST = 5 };
  uint64_t seed = 6;
  double *data = malloc(COUNT * LENGTH * sizeof *data);
  for (size_t i = 0; i < COUNT; i++) fill(data + i * LENGTH, LENGTH, &seed);
  tsanom_series series = rows_of(data, COUNT, LENGTH, 0),
                queries = rows_of(data + 7 * LENGTH + 5, QUERIES, LENGTH, 0);
  tsanom_search_options options = options_of(100, 1, 0);
  size_t indices[2][QUERIES * NEAREST];
  double distances[2][QUERIES * NEAREST];
  tsanom_search_report report[2][QUERIES];
  memset(report, 0, sizeof report);
  for (int run = 0; run < 25; run++) {
    tsanom_search_index *index = NULL;
    tsanom_exec exec = exec_at(TSANOM_ISA_AUTO, 1 + run % 4);
    int k = run > 0;
    CHECK_STATUS(tsanom_search_index_create(&series, &options, &exec, &index), TSANOM_OK);
    CHECK_STATUS(tsanom_search_nearest(index, &queries, NEAREST, NULL, indices[k],
                                       distances[k], report[k]),
                 TSANOM_OK);
    cr_assert(k == 0 || memcmp(indices[0], indices[1], sizeof indices[0]) == 0);
    cr_assert(k == 0 || memcmp(distances[0], distances[1], sizeof distances[0]) == 0);
    cr_assert(k == 0 || memcmp(report[0], report[1], sizeof report[0]) == 0);
    tsanom_search_index_destroy(index);
  }
  free(data);
}

enum { MOST = 40, LONGEST = 60 };

/* A set of series, of which the first is the query. */
static struct {
  double data[MOST * LONGEST];
  size_t count, length;
  tsanom_search_options options;
  tsanom_search_index *index;
} given;

typedef struct {
  size_t at[MOST];
  double distances[MOST];
} results;

#define OUT(field) (to ? to->field : NULL)

static tsanom_status run_nearest(const tsanom_exec *by, void *result) {
  results *to = result;
  tsanom_series query = rows_of(to ? given.data : NULL, 1, given.length, 0);
  return tsanom_search_nearest(given.index, &query, given.options.neighbors, by, OUT(at),
                               OUT(distances), NULL);
}

static tsanom_status run_stream(const tsanom_exec *by, void *result) {
  results *to = result;
  const double *samples = to ? given.data : NULL;
  return tsanom_search_stream(samples, given.length, samples, given.count * given.length,
                              &given.options, by, OUT(at), OUT(distances), NULL);
}

static tsanom_status create(const tsanom_exec *by, bool inputs, void **object) {
  tsanom_series series =
      rows_of(inputs ? given.data : NULL, given.count, given.length, 0);
  return tsanom_search_index_create(&series, &given.options, by,
                                    (tsanom_search_index **)object);
}

static void destroy(void *object) {
  tsanom_search_index_destroy(object);
}

Test(search_contract, memory_is_the_callers_or_one_block) {
  static const workspace_case cases[] = {{"nearest", run_nearest, sizeof(results)},
                                         {"stream", run_stream, sizeof(results)}};
  uint64_t seed = 7;
  for (int trial = 0; trial < CASES(200); trial++) {
    size_t n = random_between(&seed, 1, LONGEST), count = random_between(&seed, 1, MOST);
    for (size_t i = 0; i < count; i++) fill(given.data + i * n, n, &seed);
    given.count = count;
    given.length = n;
    given.options = options_of(random_between(&seed, 0, n), 1, trial % 3 == 0);
    check_object(create, destroy);
    given.index = index_of(given.data, count, n, 0, &given.options, NULL);
    given.options.neighbors = random_between(&seed, 1, count);
    check_workspaces(cases, 2);
    tsanom_search_index_destroy(given.index);
  }
  tsanom_search_index_destroy(NULL);
}

static tsanom_fault fault;
static tsanom_exec exec;
static tsanom_search_index *made;
static double out[4] = {-1};
static size_t at = 7, bytes = 7;

static void prepare_fault(void) {
  exec = exec_reporting(&fault);
}

/* The call was rejected for this argument and left the outputs unchanged. */
static void expect(tsanom_status status, tsanom_status expected, const char *argument,
                   size_t element, size_t second) {
  CHECK_STATUS(status, expected);
  cr_assert(fault.status == status);
  cr_assert_str_eq(fault.argument, argument);
  cr_assert(fault.element == element && fault.second == second, "%s: %zu, %zu", argument,
            fault.element, fault.second);
  cr_assert(out[0] == -1 && at == 7 && bytes == 7 && !made);
}

#define NONE TSANOM_NONE

Test(search_contract, normalize_rejects_bad_samples) {
  double x[] = {1, 2, 3, 4}, nan[] = {1, 2, 3, NAN}, huge[] = {1, 1e200, 3, NAN};
  prepare_fault();
  expect(tsanom_search_normalize(x, (size_t)1 << 61, &exec, out), TSANOM_E_OVERFLOW, "n",
         NONE, NONE);
  expect(tsanom_search_normalize(nan, 4, &exec, out), TSANOM_E_NONFINITE, "x", 3, NONE);
  expect(tsanom_search_normalize(huge, 4, &exec, out), TSANOM_E_VALUE, "x", 1, NONE);
}

static void expect_index(const tsanom_series *series,
                         const tsanom_search_options *options, tsanom_status expected,
                         const char *argument, size_t element, size_t second) {
  expect(tsanom_search_index_create(series, options, &exec, &made), expected, argument,
         element, second);
}

Test(search_contract, an_index_rejects_bad_series) {
  double data[] = {1, 2, 3, 4}, nan[] = {1, 2, NAN, NAN}, huge[] = {1, 2, 3, 1e200};
  const double *pointers[] = {data, data + 2};
  size_t lengths[] = {2, 1};
  tsanom_search_options normalized = options_of(1, 0, 1);
  prepare_fault();
  tsanom_series series = rows_of(data, 0, 2, 0);
  expect_index(&series, NULL, TSANOM_E_COUNT, "series.count", NONE, NONE);
  series = rows_of(data, 1, 2, 0);
  series.dimensions = 2;
  expect_index(&series, NULL, TSANOM_E_OPTION, "series.dimensions", NONE, NONE);
  series.dimensions = 1;
  series.stride = 2;
  expect_index(&series, NULL, TSANOM_E_OPTION, "series.stride", NONE, NONE);
  series = rows_of(NULL, 2, 0, 0);
  series.pointers = pointers;
  series.lengths = lengths;
  expect_index(&series, NULL, TSANOM_E_COUNT, "series.lengths", 1, NONE);
  for (exec.threads = 1; exec.threads <= 3; exec.threads++) {
    series = rows_of(nan, 4, 1, 0);
    expect_index(&series, NULL, TSANOM_E_NONFINITE, "series", 2, 0);
    series = rows_of(huge, 2, 2, 0);
    expect_index(&series, &normalized, TSANOM_E_VALUE, "series", 1, 1);
  }
}

Test(search_contract, an_index_rejects_bad_options) {
  double data[] = {1, 2, 3, 4};
  tsanom_series series = rows_of(data, 2, 2, 0);
  prepare_fault();
  static const char *const field[] = {
      "options.cost",   "options.z_normalize", "options.borrow",   "options.reserved0",
      "options.borrow", "options.neighbors",   "options.exclusion"};
  for (int k = 0; k < 7; k++) {
    tsanom_search_options bad = options_of(1, 0, 1);
    if (k == 0) bad.cost = 2;
    if (k == 1) bad.z_normalize = 2;
    if (k == 2) bad.borrow = 2;
    if (k == 3) bad.reserved0 = 2;
    if (k == 4) bad.borrow = 1;
    if (k == 5) bad.neighbors = 2;
    if (k == 6) bad.exclusion = 0;
    expect_index(&series, &bad, TSANOM_E_OPTION, field[k], NONE, NONE);
  }
  series = rows_of(data, (size_t)1 << 40, (size_t)1 << 30, 1);
  tsanom_exec asking = ask_exec(&exec, &bytes);
  expect(tsanom_search_index_create(&series, NULL, &asking, &made), TSANOM_E_OVERFLOW,
         "exec.alloc", NONE, NONE);
}

Test(search_contract, a_search_of_an_index_rejects_bad_queries) {
  double data[] = {1, 2, 3, 4}, nan[] = {1, 2, 3, NAN}, huge[] = {1, 2, 1e200, NAN};
  tsanom_search_options options = options_of(1, 0, 1);
  tsanom_search_index *index = index_of(data, 2, 2, 0, &options, NULL);
  tsanom_series good = rows_of(data, 2, 2, 0), bad = rows_of(data, 4, 1, 0);
  prepare_fault();
  expect(tsanom_search_nearest(index, &good, 3, &exec, &at, out, NULL), TSANOM_E_COUNT,
         "neighbors", NONE, NONE);
  expect(tsanom_search_nearest(index, &bad, 1, &exec, &at, out, NULL), TSANOM_E_COUNT,
         "queries.length", NONE, NONE);
  cr_assert_str_eq(fault.text, "queries.length is 1; the index has series of 2 samples");
  bad = rows_of(nan, 2, 2, 0);
  expect(tsanom_search_nearest(index, &bad, 1, &exec, &at, out, NULL), TSANOM_E_NONFINITE,
         "queries", 1, 1);
  bad = rows_of(huge, 2, 2, 0);
  expect(tsanom_search_nearest(index, &bad, 1, &exec, &at, out, NULL), TSANOM_E_VALUE,
         "queries", 1, 0);
  expect(tsanom_search_nearest(index, &good, 0, &exec, &at, out, NULL), TSANOM_E_COUNT,
         "neighbors", NONE, NONE);
  tsanom_search_index_destroy(index);
}

static void expect_stream(size_t query_length, const double *stream, size_t stream_length,
                          const tsanom_search_options *options, tsanom_status expected,
                          const char *argument, size_t element) {
  double query[] = {1, 2, 3, 4};
  expect(tsanom_search_stream(query, query_length, stream, stream_length, options, &exec,
                              &at, out, NULL),
         expected, argument, element, NONE);
}

Test(search_contract, a_search_of_a_stream_rejects_bad_arguments) {
  double x[] = {1, 2, 3, 4}, nan[] = {1, 2, 3, NAN}, huge[] = {1, 2, 1e200, NAN};
  prepare_fault();
  tsanom_search_options options = options_of(1, 0, 1), bad = options;
  expect_stream(5, x, 4, NULL, TSANOM_E_COUNT, "stream_length", NONE);
  expect_stream(2, x, (size_t)1 << 61, NULL, TSANOM_E_OVERFLOW, "stream_length", NONE);
  expect_stream(2, nan, 4, NULL, TSANOM_E_NONFINITE, "stream", 3);
  expect_stream(2, huge, 4, &options, TSANOM_E_VALUE, "stream", 2);
  bad.neighbors = 0;
  expect_stream(2, x, 4, &bad, TSANOM_E_OPTION, "options.neighbors", NONE);
  bad.neighbors = SIZE_MAX;
  expect_stream(2, x, 4, &bad, TSANOM_E_OVERFLOW, "options.neighbors", NONE);
  bad = options_of(1, 0, 0);
  bad.borrow = 1;
  expect_stream(2, x, 4, &bad, TSANOM_E_OPTION, "options.borrow", NONE);
  tsanom_exec asking = ask_exec(&exec, &bytes);
  expect(tsanom_search_stream(NULL, SIZE_MAX, NULL, SIZE_MAX, NULL, &asking, NULL, NULL,
                              NULL),
         TSANOM_E_OVERFLOW, "stream_length", NONE, NONE);
  expect(tsanom_search_stream(NULL, SIZE_MAX / 16, NULL, SIZE_MAX / 16, NULL, &asking,
                              NULL, NULL, NULL),
         TSANOM_E_OVERFLOW, "query_length", NONE, NONE);
}
