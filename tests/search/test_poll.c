/* SPDX-License-Identifier: BSD-3-Clause */
/* When a search asks the poll, and what is left behind when it stops. */
#include <tsanom/search.h>

#include "search/calls.h"
#include "support/polls.h"

/* One query, or one chunk of windows, is work of seconds if the series are long. */
Test(search, a_query_is_polled_about_every_million_cells) {
  enum { N = 1000, COUNT = 40, WINDOWS = 20, MILLION = 1 << 20 };
  static double series[COUNT * N];
  uint64_t seed = 9;
  for (size_t i = 0; i < COUNT * N; i++) series[i] = random_unit(&seed);
  tsanom_search_index *index = index_of(series, COUNT - 1, N, 0, NULL, NULL);
  tsanom_series query = rows_of(series + (COUNT - 1) * N, 1, N, 0);
  for (int32_t threads = 1; threads <= 2; threads++) {
    for (uint64_t stop_at = 1; stop_at < 10; stop_at++) {
      size_t found[COUNT];
      double distances[COUNT];
      test_polls p = {.stop_at = stop_at};
      tsanom_exec exec = exec_polled(test_poll, &p);
      exec.threads = threads;
      CHECK_STATUS(
          tsanom_search_nearest(index, &query, COUNT - 1, &exec, found, distances, NULL),
          TSANOM_STOPPED);
      cr_assert_eq(p.calls, stop_at);
      p = (test_polls){.stop_at = stop_at};
      CHECK_STATUS(tsanom_search_stream(query.data, N, series, N + WINDOWS, NULL, &exec,
                                        found, distances, NULL),
                   TSANOM_STOPPED);
      cr_assert_eq(p.calls, stop_at);
    }
    test_polls p = {0};
    size_t found[COUNT];
    double distances[COUNT];
    tsanom_exec exec = exec_polled(test_poll, &p);
    exec.threads = threads;
    CHECK_STATUS(
        tsanom_search_nearest(index, &query, COUNT - 1, &exec, found, distances, NULL),
        TSANOM_OK);
    cr_assert(p.calls >= (uint64_t)(COUNT - 1) * N * N / MILLION / 2);
  }
  tsanom_search_index_destroy(index);
}

Test(search, the_poll_stops_a_search) {
  enum { N = 8, SAMPLES = 20000 };
  static double stream[SAMPLES];
  uint64_t seed = 6;
  for (size_t i = 0; i < SAMPLES; i++) stream[i] = random_unit(&seed);
  for (uint64_t stop_at = 1; stop_at <= 3; stop_at++) {
    test_polls p = {.stop_at = stop_at};
    size_t start = 7, index_of_nearest = 7;
    double distance = -1;
    tsanom_search_report report = {.found = 7};
    tsanom_exec exec = exec_polled(test_poll, &p);
    CHECK_STATUS(tsanom_search_stream(stream + SAMPLES - N, N, stream, SAMPLES, NULL,
                                      &exec, &start, &distance, &report),
                 TSANOM_STOPPED);
    cr_assert(start == 7 && report.found == 7 && distance == -1);
    tsanom_search_index *index = index_of(stream, SAMPLES / N, N, 0, NULL, NULL);
    tsanom_series series = rows_of(stream, SAMPLES / N, N, 0);
    tsanom_series query = rows_of(stream, 1, N, 0);
    p = (test_polls){.stop_at = 1};
    CHECK_STATUS(tsanom_search_nearest(index, &query, 1, &exec, &index_of_nearest,
                                       &distance, NULL),
                 TSANOM_STOPPED);
    cr_assert(index_of_nearest == 7 && distance == -1);
    tsanom_search_index_destroy(index);
    index = NULL;
    p = (test_polls){.stop_at = 1};
    CHECK_STATUS(tsanom_search_index_create(&series, NULL, &exec, &index),
                 TSANOM_STOPPED);
    cr_assert(index == NULL);
  }
}
