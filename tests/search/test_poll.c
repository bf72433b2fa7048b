/* SPDX-License-Identifier: BSD-3-Clause */
/* When a search asks the poll, and what is left behind when it stops. */
#include <tsanom/search.h>

#include "search/calls.h"

static int32_t stop_after(void *user, uint64_t done, uint64_t total) {
  size_t *left = user;
  cr_assert(done <= total);
  return (*left)-- == 0;
}

/* Counts its calls, and asks to stop at one of them. */
typedef struct {
  size_t calls, stop_at;
} call_count;

static int32_t count_calls(void *user, uint64_t done, uint64_t total) {
  call_count *c = user;
  cr_assert(done <= total);
  return c->calls++ == c->stop_at;
}

static tsanom_exec counting_exec(call_count *calls, int32_t threads) {
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  exec.threads = threads;
  exec.poll = count_calls;
  exec.poll_user = calls;
  return exec;
}

/* One query, or one chunk of windows, is work of seconds if the series are long. */
Test(search, a_query_is_polled_about_every_million_cells) {
  enum { N = 1000, COUNT = 40, WINDOWS = 20, MILLION = 1 << 20 };
  static double series[COUNT * N];
  uint64_t seed = 9;
  for (size_t i = 0; i < COUNT * N; i++) series[i] = random_unit(&seed);
  tsanom_search_index *index = index_of(series, COUNT - 1, N, 0, NULL, NULL);
  tsanom_series query = rows_of(series + (COUNT - 1) * N, 1, N, 0);
  for (int32_t threads = 1; threads <= 2; threads++) {
    for (size_t stop_at = 0; stop_at < 9; stop_at++) {
      size_t found[COUNT];
      double distances[COUNT];
      call_count calls = {.stop_at = stop_at};
      tsanom_exec exec = counting_exec(&calls, threads);
      CHECK_STATUS(
          tsanom_search_nearest(index, &query, COUNT - 1, &exec, found, distances, NULL),
          TSANOM_STOPPED);
      cr_assert_eq(calls.calls, stop_at + 1);
      calls.calls = 0;
      CHECK_STATUS(tsanom_search_stream(query.data, N, series, N + WINDOWS, NULL, &exec,
                                        found, distances, NULL),
                   TSANOM_STOPPED);
      cr_assert_eq(calls.calls, stop_at + 1);
    }
    call_count calls = {.stop_at = SIZE_MAX};
    size_t found[COUNT];
    double distances[COUNT];
    tsanom_exec exec = counting_exec(&calls, threads);
    CHECK_STATUS(
        tsanom_search_nearest(index, &query, COUNT - 1, &exec, found, distances, NULL),
        TSANOM_OK);
    cr_assert(calls.calls >= (size_t)(COUNT - 1) * N * N / MILLION / 2, "%zu",
              calls.calls);
  }
  tsanom_search_index_destroy(index);
}

Test(search, the_poll_stops_a_search) {
  enum { N = 8, SAMPLES = 20000 };
  static double stream[SAMPLES];
  uint64_t seed = 6;
  for (size_t i = 0; i < SAMPLES; i++) stream[i] = random_unit(&seed);
  for (size_t polls = 0; polls < 3; polls++) {
    size_t left = polls, start = 7, index_of_nearest = 7;
    double distance = -1;
    tsanom_search_report report = {.found = 7};
    tsanom_exec exec;
    tsanom_exec_init(&exec, sizeof exec);
    exec.poll = stop_after;
    exec.poll_user = &left;
    CHECK_STATUS(tsanom_search_stream(stream + SAMPLES - N, N, stream, SAMPLES, NULL,
                                      &exec, &start, &distance, &report),
                 TSANOM_STOPPED);
    cr_assert(start == 7 && report.found == 7 && distance == -1);
    tsanom_search_index *index = index_of(stream, SAMPLES / N, N, 0, NULL, NULL);
    tsanom_series series = rows_of(stream, SAMPLES / N, N, 0);
    tsanom_series query = rows_of(stream, 1, N, 0);
    left = 0;
    CHECK_STATUS(tsanom_search_nearest(index, &query, 1, &exec, &index_of_nearest,
                                       &distance, NULL),
                 TSANOM_STOPPED);
    cr_assert(index_of_nearest == 7 && distance == -1);
    tsanom_search_index_destroy(index);
    index = NULL;
    left = 0;
    CHECK_STATUS(tsanom_search_index_create(&series, NULL, &exec, &index),
                 TSANOM_STOPPED);
    cr_assert(index == NULL);
  }
}
