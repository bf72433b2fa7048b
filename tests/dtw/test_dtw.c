/* SPDX-License-Identifier: BSD-3-Clause */
/* Polls of pairs and matrices, and sets whose rows overlap. */
#include <stdlib.h>
#include <tsanom/dtw.h>

#include "series.h"
#include "support/check.h"
#include "support/polls.h"
#include "support/random.h"

Test(dtw, the_poll_stops_the_run) {
  double x[] = {1, 2}, distance = -1;
  test_polls p = {.stop_at = 1};
  tsanom_exec exec = exec_polled(test_poll, &p);
  CHECK_STATUS(tsanom_dtw_distance(x, 2, x, 2, NULL, &exec, &distance), TSANOM_STOPPED);
  cr_assert(distance == -1);
}

/* In the first strip already, and in the last. */
Test(dtw, the_poll_stops_a_large_pair) {
  enum { LONG = 300000 };
  double *y = calloc(LONG, sizeof *y);
  for (size_t n = 40; n < 100; n += 40) {
    double x[100] = {1}, distance = -1;
    test_polls p = {.stop_at = 2};
    tsanom_exec exec = exec_polled(test_poll, &p);
    CHECK_STATUS(tsanom_dtw_distance(x, n, y, LONG, NULL, &exec, &distance),
                 TSANOM_STOPPED);
    cr_assert(distance == -1 && p.calls == 2);
  }
  free(y);
}

/* A poll for about every 2^20 cells. Of a matrix that is stopped inside a pair, only the
 * pairs before are counted. */
Test(dtw, large_pairs_are_polled_and_counted_when_they_are_done) {
  enum { LONG = 4000, STOPS = 40 };
  double *x = malloc(3 * LONG * sizeof *x);
  uint64_t seed = 8;
  for (size_t i = 0; i < 3 * LONG; i++) x[i] = random_unit(&seed);
  const double *series[] = {x, x + LONG, x + 2 * LONG};
  size_t lengths[] = {LONG, LONG - 1, LONG - 2};
  tsanom_series set = series_of(series, lengths, 3);
  double whole[3], distance[3];
  test_polls p = {0};
  tsanom_exec exec = exec_polled(test_poll, &p);
  CHECK_STATUS(tsanom_dtw_condensed(&set, NULL, &exec, whole, NULL), TSANOM_OK);
  cr_assert(p.calls >= 20);
  for (uint64_t stop = 1; stop <= STOPS; stop++) {
    size_t computed = 3;
    for (int k = 0; k < 3; k++) distance[k] = -1;
    p = (test_polls){.stop_at = stop};
    if (tsanom_dtw_condensed(&set, NULL, &exec, distance, &computed) == TSANOM_OK) break;
    for (size_t k = 0; k < computed; k++) {
      cr_assert(distance[k] == whole[k], "stop %d pair %zu", (int)stop, k);
    }
  }
  free(x);
}

/* Windows of one long series are rows that overlap. */
Test(dtw, a_set_may_be_the_rows_of_a_matrix) {
  enum { ROWS = 30, LENGTH = 20 };
  double samples[ROWS + LENGTH], row[ROWS], alone;
  uint64_t seed = 3;
  for (size_t i = 0; i < ROWS + LENGTH; i++) samples[i] = random_unit(&seed);
  tsanom_series set = {.struct_size = sizeof set};
  set.data = samples;
  set.count = ROWS;
  set.length = LENGTH;
  set.ld = 1;
  CHECK_STATUS(tsanom_dtw_one_to_many(samples, LENGTH, &set, NULL, NULL, row, NULL),
               TSANOM_OK);
  for (size_t k = 0; k < ROWS; k++) {
    CHECK_STATUS(
        tsanom_dtw_distance(samples, LENGTH, samples + k, LENGTH, NULL, NULL, &alone),
        TSANOM_OK);
    cr_assert(row[k] == alone);
  }
}
