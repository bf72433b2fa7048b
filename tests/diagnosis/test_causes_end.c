/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that end early, and runs that are not comparable. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "diagnosis/found.h"
#include "support/check.h"

static finding find_end(const tsanom_diagnosis_normal *normal, const living_kind *k,
                        int32_t exit_code, char text[512]) {
  uint64_t seed = 27;
  tsanom_hsa_run run = living_run(k, &seed);
  run.exit_code = exit_code;
  finding f = find(normal, &run);
  text[0] = '\0';
  if (f.count)
    tsanom_diagnosis_cause_text(&f.cause[0], TSANOM_DIAGNOSIS_CAUSE_EVIDENCE, text, 512,
                                NULL);
  living_free(&run);
  return f;
}

Test(diagnosis_causes, the_end_of_the_program_is_named) {
  living_kind k;
  tsanom_hsa_run runs[RUNS];
  uint64_t seed = 28;
  char text[512];
  tsanom_diagnosis_normal normal = learn_two_threads(&k);
  cr_assert(find_end(&normal, &k, 0, text).count == 0);
  finding f = find_end(&normal, &k, 1, text);
  cr_assert(f.count == 1 && f.status == TSANOM_HSA_SHUTDOWN);
  cr_assert(f.cause[0].detail == TSANOM_DIAGNOSIS_DETAIL_EXIT &&
            f.thread[1] == TSANOM_HSA_SHUTDOWN);
  cr_assert(strstr(text, "with status 1, normally at most 0, after 2000 beats"), "%s",
            text);
  cr_assert(find_end(&normal, &k, TSANOM_EXIT_INSIDE, text).status ==
            TSANOM_HSA_SHUTDOWN);
  cr_assert(strstr(text, "exited inside a parallel region with status 0, after 2000"),
            "%s", text);
  k.cut = 5; /* too few to say anything else */
  f = find_end(&normal, &k, 1, text);
  cr_assert(f.count == 1 && f.status == TSANOM_HSA_SHUTDOWN);
  k.state = TSANOM_RUN_KILLED;
  cr_assert(find_end(&normal, &k, 0, text).status == TSANOM_HSA_SHUTDOWN);
  cr_assert(strstr(text, "the program ended without ending its recording"), "%s", text);
  (void)find_end(&normal, &k, -9, text);
  cr_assert(strstr(text, "was killed by signal 9 (SIGKILL), after 5 beats"), "%s", text);
  (void)find_end(&normal, &k, -64, text);
  cr_assert(strstr(text, "was killed by signal 64, after"), "%s", text);
  (void)find_end(&normal, &k, 3, text);
  cr_assert(strstr(text, "exited with status 3 without ending"), "%s", text);
  /* A program that always exits with status 3. */
  k = living_normal();
  for (int i = 0; i < RUNS; i++) {
    runs[i] = living_run(&k, &seed);
    runs[i].exit_code = 3;
  }
  learn_again(&normal, runs);
  cr_assert(find_end(&normal, &k, 3, text).count == 0);
  cr_assert(find_end(&normal, &k, 4, text).status == TSANOM_HSA_SHUTDOWN);
}

Test(diagnosis_causes, what_ends_early_is_shut_down) {
  living_kind k;
  tsanom_diagnosis_normal normal = learn_two_threads(&k);
  k.thread[0].stop = 400;
  EXPECT(&normal, &k, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_NORMAL);
  k.thread[0].stop = 0;
  k.cut = 1900;
  k.state = TSANOM_RUN_KILLED;
  EXPECT(&normal, &k, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_SHUTDOWN);
  k.cut = 3;
  EXPECT(&normal, &k, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_SHUTDOWN);
  /* A file does not say whether its program ended it. */
  k.cut = 1900;
  k.state = TSANOM_RUN_UNKNOWN;
  EXPECT(&normal, &k, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_SHUTDOWN);
  k.state = TSANOM_RUN_FINISHED;
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  uint64_t seed = 9;
  k = living_normal();
  tsanom_hsa_run run = living_run(&k, &seed);
  ((tsanom_hsa_series *)run.threads)[1].beats = 0;
  finding f = find(&normal, &run);
  cr_assert(f.thread[1] == TSANOM_HSA_SHUTDOWN && f.thread[0] == TSANOM_HSA_NORMAL);
  cr_assert(f.cause[0].detail == TSANOM_DIAGNOSIS_DETAIL_NEVER);
  cr_assert(confidence_in(&normal, &run) == 1); /* it has no limit */
  living_free(&run);
}

/* Alone, the other thread makes its last fifth of the beats in 3 ms of 1.6 s. */
Test(diagnosis_causes, a_thread_that_stops_late_is_shut_down) {
  living_kind k;
  uint64_t seed = 22;
  tsanom_diagnosis_normal normal = learn_two_threads(&k);
  k.thread[1].stop = 1600;
  tsanom_hsa_run run = living_run(&k, &seed);
  double *time = (double *)run.threads[0].time;
  for (size_t i = 1600; i < 2000; i++) time[i] = time[i - 1] + 7.5e-6;
  finding f = find(&normal, &run);
  cr_assert(f.thread[1] == TSANOM_HSA_SHUTDOWN && f.thread[0] == TSANOM_HSA_NORMAL);
  cr_assert(f.cause[0].detail == TSANOM_DIAGNOSIS_DETAIL_STOPPED);
  cr_assert(fabs(f.cause[0].value - 0.2) < 0.05, "%g", f.cause[0].value);
  living_free(&run);
}

static void expect_incomparable(const tsanom_diagnosis_normal *normal,
                                const tsanom_hsa_run *run, int32_t detail) {
  finding f = find(normal, run);
  cr_assert(f.count == 1 && f.status == TSANOM_HSA_NOT_COMPARABLE);
  cr_assert(f.cause[0].detail == detail && f.thread[0] == TSANOM_HSA_NOT_COMPARABLE);
}

Test(diagnosis_causes, a_run_of_something_else_is_not_comparable) {
  living_kind k;
  uint64_t seed = 10;
  tsanom_diagnosis_normal normal = learn_two_threads(&k);
  cr_assert_str_eq(normal.program, "living");
  cr_assert_str_eq(normal.machine, "here");
  cr_assert(normal.beats == 2000 && normal.fewest == 2000 && normal.run_count == RUNS);
  tsanom_hsa_run run = living_run(&k, &seed), other = run;
  other.program = "other";
  expect_incomparable(&normal, &other, TSANOM_DIAGNOSIS_DETAIL_PROGRAM);
  other = run;
  other.machine = "there";
  expect_incomparable(&normal, &other, TSANOM_DIAGNOSIS_DETAIL_MACHINE);
  other = run;
  other.thread_count = 1;
  expect_incomparable(&normal, &other, TSANOM_DIAGNOSIS_DETAIL_THREADS);
  other = run;
  other.program = other.machine = NULL;
  cr_assert(find(&normal, &other).count == 0);
  normal.ledger[0] = 0;
  for (size_t i = 0; i < RANGES; i++) {
    normal.range[i] = (tsanom_hsa_range){-INFINITY, INFINITY};
  }
  expect_incomparable(&normal, &run, TSANOM_DIAGNOSIS_DETAIL_NO_POWER);
  living_free(&run);
}
