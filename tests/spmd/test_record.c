/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder: nesting, recursion, misuse. */
#include <time.h>
#include <tsanom/compat.h>
#include <tsanom/record.h>
#include <tsanom/spmd.h>

#include "support/check.h"

enum { OUTER, INNER, OTHER, REGIONS, DEPTH = 4 };

static tsanom_spmd_recorder *make(int32_t clock) {
  tsanom_spmd_recorder_options options;
  tsanom_spmd_recorder *r = NULL;
  CHECK_STATUS(tsanom_spmd_recorder_options_init(&options, sizeof options), TSANOM_OK);
  cr_assert_eq(options.clock, TSANOM_SPMD_CLOCK_ELAPSED);
  options.clock = clock;
  CHECK_STATUS(tsanom_spmd_recorder_create(REGIONS, DEPTH, &options, NULL, &r),
               TSANOM_OK);
  return r;
}

/* Let the clock of the recorder go on for a millisecond at least. */
static void spend(int32_t clock) {
  clockid_t id =
      clock == TSANOM_SPMD_CLOCK_CPU ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  struct timespec start, now;
  clock_gettime(id, &start);
  do {
    clock_gettime(id, &now);
  } while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec <
           1000000);
}

Test(spmd_record, nested_times_are_inclusive) {
  for (int32_t clock = TSANOM_SPMD_CLOCK_ELAPSED; clock <= TSANOM_SPMD_CLOCK_CPU;
       clock++) {
    tsanom_spmd_recorder *r = make(clock);
    for (int i = 0; i < 3; i++) {
      CHECK_STATUS(tsanom_spmd_begin(r, OUTER), TSANOM_OK);
      CHECK_STATUS(Par_begin(r, INNER), TSANOM_OK);
      spend(clock);
      CHECK_STATUS(Par_end(r, INNER), TSANOM_OK);
      CHECK_STATUS(tsanom_spmd_end(r, OUTER), TSANOM_OK);
    }
    double time[REGIONS];
    uint64_t calls[REGIONS];
    int32_t parent[REGIONS];
    CHECK_STATUS(tsanom_spmd_recorder_read(r, time, calls, parent), TSANOM_OK);
    cr_assert_geq(time[INNER], 3e-3);
    cr_assert_geq(time[OUTER], time[INNER]);
    cr_assert_eq(time[OTHER], 0);
    cr_assert(calls[OUTER] == 3 && calls[INNER] == 3 && calls[OTHER] == 0);
    cr_assert_eq(parent[OUTER], TSANOM_SPMD_NONE);
    cr_assert_eq(parent[INNER], OUTER);
    cr_assert_eq(parent[OTHER], TSANOM_SPMD_NONE);
    tsanom_spmd_recorder_destroy(r);
  }
}

Test(spmd_record, recursion_counts_time_once) {
  tsanom_spmd_recorder *r = make(TSANOM_SPMD_CLOCK_CPU);
  double time[REGIONS];
  uint64_t calls[REGIONS];
  CHECK_STATUS(tsanom_spmd_begin(r, OUTER), TSANOM_OK);
  for (int i = 0; i < 3; i++) CHECK_STATUS(tsanom_spmd_begin(r, INNER), TSANOM_OK);
  spend(TSANOM_SPMD_CLOCK_CPU);
  for (int i = 0; i < 3; i++) CHECK_STATUS(tsanom_spmd_end(r, INNER), TSANOM_OK);
  CHECK_STATUS(tsanom_spmd_recorder_read(r, time, calls, NULL), TSANOM_PARTIAL);
  cr_assert_eq(time[OUTER], 0, "still open");
  CHECK_STATUS(tsanom_spmd_end(r, OUTER), TSANOM_OK);
  CHECK_STATUS(tsanom_spmd_recorder_read(r, time, calls, NULL), TSANOM_OK);
  cr_assert_leq(time[INNER], time[OUTER]);
  cr_assert_eq(calls[INNER], 3);
  tsanom_spmd_recorder_destroy(r);
}

Test(spmd_record, misuse_is_rejected_and_does_no_harm) {
  tsanom_spmd_recorder *r = make(TSANOM_SPMD_CLOCK_ELAPSED);
  CHECK_STATUS(tsanom_spmd_begin(r, REGIONS), TSANOM_E_INDEX);
  CHECK_STATUS(tsanom_spmd_begin(r, -1), TSANOM_E_INDEX);
  CHECK_STATUS(tsanom_spmd_end(r, OUTER), TSANOM_E_STATE);
  for (int i = 0; i < DEPTH; i++) CHECK_STATUS(tsanom_spmd_begin(r, OUTER), TSANOM_OK);
  CHECK_STATUS(tsanom_spmd_begin(r, INNER), TSANOM_E_STATE);
  CHECK_STATUS(tsanom_spmd_end(r, INNER), TSANOM_E_STATE);
  for (int i = 0; i < DEPTH; i++) CHECK_STATUS(tsanom_spmd_end(r, OUTER), TSANOM_OK);
  CHECK_STATUS(tsanom_spmd_recorder_read(r, NULL, NULL, NULL), TSANOM_OK);
  CHECK_STATUS(tsanom_spmd_begin(r, INNER), TSANOM_OK);
  CHECK_STATUS(tsanom_spmd_begin(r, OUTER), TSANOM_OK);
  CHECK_STATUS(tsanom_spmd_end(r, OUTER), TSANOM_OK);
  CHECK_STATUS(tsanom_spmd_end(r, INNER), TSANOM_OK);
  CHECK_STATUS(tsanom_spmd_recorder_read(r, NULL, NULL, NULL), TSANOM_PARTIAL);
  tsanom_spmd_recorder_destroy(r);
}
