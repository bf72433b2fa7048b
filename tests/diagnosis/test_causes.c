/* SPDX-License-Identifier: BSD-3-Clause */
/* Causes of runs that never happened, of each kind: memory, pace, and what is not known.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "diagnosis/found.h"
#include "support/check.h"
#include "support/random.h"

Test(diagnosis_causes, normal_runs_of_any_length_have_none) {
  living_kind k;
  tsanom_diagnosis_normal normal = learn_two_threads(&k);
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  k.beats = 700;
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  k.beats = 9000;
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
}

/* 8 MB are allocated in the first tenth: the growth of a short prefix is compared with
 * that of the same prefix. */
Test(diagnosis_causes, a_healthy_running_program_is_normal) {
  living_kind k;
  tsanom_diagnosis_normal normal = learn_two_threads(&k);
  k.state = TSANOM_RUN_RUNNING;
  static const double shares[] = {0.05, 0.1, 0.15, 0.3, 0.5, 0.9};
  for (int i = 0; i < 6; i++) {
    k.cut = (size_t)(shares[i] * (double)k.beats);
    EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  }
  /* What a program allocates in the beginning comes later than in the normal runs. */
  k.startup = 3e7;
  k.cut = 200;
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  k.cut = 5;
  EXPECT(&normal, &k, TSANOM_HSA_UNKNOWN, TSANOM_HSA_UNKNOWN, TSANOM_HSA_UNKNOWN);
}

/* Of the slower thread, or of the first that began. */
Test(diagnosis_causes, a_running_program_without_a_verdict_has_its_beats) {
  living_kind k;
  tsanom_diagnosis_normal normal = learn_two_threads(&k);
  uint64_t seed = 37;
  k.state = TSANOM_RUN_RUNNING;
  for (int i = 0; i < ROUNDS; i++) {
    char text[256], expected[256];
    size_t fewest = random_between(&seed, 1, 15), most = fewest;
    k.threads = i % 3 ? 2 : 1;
    if (i % 3 == 2) most = random_between(&seed, fewest, 500);
    k.cut = most;
    k.thread[1].stop = fewest;
    finding f = find_in(&normal, &k, &seed);
    cr_assert(f.count == 1 && f.status == TSANOM_HSA_UNKNOWN);
    tsanom_diagnosis_cause_text(&f.cause[0], TSANOM_DIAGNOSIS_CAUSE_EVIDENCE, text,
                                sizeof text, NULL);
    (void)snprintf(expected, sizeof expected, "has %zu beats; at least 16 are", fewest);
    cr_assert(strstr(text, expected), "%s, not %s", text, expected);
  }
}

Test(diagnosis_causes, the_leaking_thread_is_named) {
  living_kind k;
  tsanom_diagnosis_normal normal = learn_two_threads(&k);
  k.thread[1].leak = 5000;
  k.thread[1].faults = 1.2;
  EXPECT(&normal, &k, TSANOM_HSA_MEMORY_LEAK, TSANOM_HSA_NORMAL, TSANOM_HSA_MEMORY_LEAK);
  /* Both leak; one more. */
  k.thread[0].faults = 0.5;
  EXPECT(&normal, &k, TSANOM_HSA_MEMORY_LEAK, TSANOM_HSA_MEMORY_LEAK,
         TSANOM_HSA_MEMORY_LEAK);
  uint64_t seed = 4;
  finding f = find_in(&normal, &k, &seed);
  for (size_t i = 0; i < f.count; i++) {
    char text[256];
    cr_assert_str_eq(f.cause[i].name, f.cause[i].thread ? "n1" : "n0");
    CHECK_STATUS(tsanom_diagnosis_cause_text(&f.cause[i], TSANOM_DIAGNOSIS_CAUSE_NEXT,
                                             text, sizeof text, NULL),
                 TSANOM_OK);
    cr_assert(strstr(text, f.cause[i].thread ? " of thread 1 (n1) " : "thread 0 (n0) "));
  }
  /* The threads that take it do not beat. */
  k.thread[0].faults = k.thread[1].faults = 0.001;
  f = find_in(&normal, &k, &seed);
  cr_assert(f.status == TSANOM_HSA_MEMORY_LEAK && f.cause[0].thread == -1);
}

/* The process grows by 30 to 60 MiB in normal runs; thread 1 takes 20 MiB, which its page
 * faults show. */
Test(diagnosis_causes, a_leak_beside_legitimate_growth_is_named) {
  living_kind k = living_normal();
  tsanom_hsa_run runs[RUNS];
  uint64_t seed = 36;
  tsanom_diagnosis_normal normal = learn_from(&k, RUNS, &seed, TSANOM_OK);
  for (int i = 0; i < RUNS; i++) {
    k.thread[0].leak = i % 2 ? 20000 : 40000;
    runs[i] = living_run(&k, &seed);
  }
  learn_again(&normal, runs);
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  k.thread[1].leak = 12000;
  k.thread[1].faults = 3;
  EXPECT(&normal, &k, TSANOM_HSA_MEMORY_LEAK, TSANOM_HSA_NORMAL, TSANOM_HSA_MEMORY_LEAK);
  finding f = find_in(&normal, &k, &seed);
  cr_assert(f.cause[0].detail == TSANOM_DIAGNOSIS_DETAIL_FAULTS);
  /* Its range is that of six runs. */
  tsanom_hsa_run run = living_run(&k, &seed);
  cr_assert(fabs(confidence_in(&normal, &run) - RUNS / (RUNS + 1.0)) < 1e-12);
  living_free(&run);
  k.thread[1].faults = 0.2; /* less than a disturbance */
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
}

/* As LULESH, which allocates and frees in each iteration. The leak adds a tenth; thread 0
 * has a few faults more than normally. */
Test(diagnosis_causes, a_leaking_thread_is_named_beside_normal_page_faults) {
  living_kind k = living_normal();
  uint64_t seed = 35;
  k.thread[0].faults = 200;
  k.thread[1].faults = 220;
  tsanom_diagnosis_normal normal = learn_from(&k, RUNS, &seed, TSANOM_OK);
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  k.thread[1].leak = 90000;
  k.thread[1].faults = 242;
  k.thread[0].faults = 201;
  EXPECT(&normal, &k, TSANOM_HSA_MEMORY_LEAK, TSANOM_HSA_NORMAL, TSANOM_HSA_MEMORY_LEAK);
}

/* Growth in proportion to the beats is normal if it was in the normal runs. */
Test(diagnosis_causes, growth_is_compared_with_the_normal_growth) {
  living_kind k = living_normal();
  uint64_t seed = 2;
  k.thread[0].leak = 20000;
  tsanom_diagnosis_normal normal = learn_from(&k, RUNS, &seed, TSANOM_OK);
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  k.beats = 8000;
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  k.thread[0].leak = 40000;
  uint64_t other = 3;
  cr_assert(find_in(&normal, &k, &other).status == TSANOM_HSA_MEMORY_LEAK);
}

/* The scatter of normal growth is added to the greatest. */
Test(diagnosis_causes, growth_that_scatters_has_a_wider_range) {
  living_kind k = living_normal();
  tsanom_hsa_run runs[RUNS];
  tsanom_diagnosis_power power;
  uint64_t seed = 20;
  tsanom_diagnosis_normal normal = learn_from(&k, RUNS, &seed, TSANOM_OK);
  for (int i = 0; i < RUNS; i++) {
    k.thread[0].leak = i % 2 ? 2500 : 0;
    runs[i] = living_run(&k, &seed);
  }
  CHECK_STATUS(tsanom_diagnosis_learn_normal(runs, RUNS, 0.99, NULL, &normal), TSANOM_OK);
  CHECK_STATUS(tsanom_diagnosis_normal_power(&normal, &power), TSANOM_OK);
  cr_assert(fabs(power.leak - (2 * 0.8 * 2000 * 2500 + (3 << 20))) < 4e5, "%g",
            power.leak);
  for (int i = 0; i < RUNS; i++) living_free(&runs[i]);
}

Test(diagnosis_causes, more_time_per_beat_is_a_slowdown) {
  living_kind k;
  tsanom_diagnosis_normal normal = learn_two_threads(&k);
  for (int t = 0; t < 2; t++) {
    k.thread[t].pace = 2;
    k.thread[t].cpu = 1;
  }
  EXPECT(&normal, &k, TSANOM_HSA_SLOWDOWN, 0, 0);
  uint64_t seed = 6;
  finding f = find_in(&normal, &k, &seed);
  cr_assert(f.cause[0].detail != f.cause[1].detail && f.count == 2);
  k.thread[0].cpu = k.thread[1].cpu = 0.5;
  f = find_in(&normal, &k, &seed);
  cr_assert(f.count == 1 && f.cause[0].detail == TSANOM_DIAGNOSIS_DETAIL_BLOCKED);
  cr_assert(fabs(f.cause[0].lost_s - 2) < 0.3, "%g", f.cause[0].lost_s);
}

/* More processor time, waiting, and beats alone: a run that is not reported is below the limits
 * that are stated of those that are, though the normal ones scatter less. */
Test(diagnosis_causes, less_than_the_stated_limits_is_normal) {
  uint64_t seed = 38;
  for (int kind = 0; kind < 3; kind++) {
    living_kind k = living_normal();
    double least = INFINITY, most = 0;
    k.noise = 1e-3;
    if (kind == 2) k.every = 0;
    tsanom_diagnosis_normal normal = learn_from(&k, RUNS, &seed, TSANOM_OK);
    for (int i = 0; i < 2 * ROUNDS; i++) {
      double more = 0.3 * random_unit(&seed);
      for (int t = 0; t < 2; t++) {
        k.thread[t].pace = 1 + (kind ? more : 0.5 * more);
        k.thread[t].cpu = 0.5 * (kind ? 1 : 1 + more);
      }
      finding f = find_in(&normal, &k, &seed);
      if (!f.count) most = fmax(most, more);
      if (f.count) least = fmin(least, f.cause[0].limit - (kind != 1));
    }
    cr_assert(most > 0 && most < least + 0.01, "%d: %g, %g", kind, most, least);
  }
}

/* Of beats alone, the time of a thread for its beats stands for its processor time. */
Test(diagnosis_causes, slow_beats_without_samples_are_a_slowdown) {
  living_kind k = living_normal();
  uint64_t seed = 16;
  k.every = 0;
  tsanom_diagnosis_normal normal = learn_from(&k, RUNS, &seed, TSANOM_OK);
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  k.thread[0].pace = k.thread[1].pace = 2;
  EXPECT(&normal, &k, TSANOM_HSA_SLOWDOWN, 0, 0);
  k.thread[0].pace = 1;
  EXPECT(&normal, &k, TSANOM_HSA_IMBALANCE, TSANOM_HSA_NORMAL, TSANOM_HSA_IMBALANCE);
  /* While it goes on, the slow thread has fewer beats. */
  tsanom_hsa_run run = living_run(&k, &seed);
  const double *time = run.threads[1].time;
  run.state = TSANOM_RUN_RUNNING;
  run.end = run.threads[0].time[run.threads[0].beats - 1];
  size_t beats = 0;
  while (time[beats] <= run.end) beats++;
  ((tsanom_hsa_series *)run.threads)[1].beats = beats;
  finding f = find(&normal, &run);
  cr_assert(f.status == TSANOM_HSA_IMBALANCE && f.cause[0].thread == 1 &&
                f.cause[0].detail == TSANOM_DIAGNOSIS_DETAIL_BEATS,
            "%s", tsanom_hsa_status_name(f.status));
  char text[512];
  CHECK_STATUS(tsanom_diagnosis_cause_text(&f.cause[0], TSANOM_DIAGNOSIS_CAUSE_EVIDENCE,
                                           text, sizeof text, NULL),
               TSANOM_OK);
  cr_assert(strstr(text, "lack of processors") && !strstr(text, "processor time"), "%s",
            text);
  living_free(&run);
}

/* Nothing follows from what is not known: no thread has a sample, or one beat. */
Test(diagnosis_causes, without_signs_there_is_no_cause) {
  living_kind k;
  uint64_t seed = 11;
  tsanom_diagnosis_normal normal = learn_two_threads(&k);
  k.every = 0;
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  k.every = 0.05;
  tsanom_hsa_run run = living_run(&k, &seed);
  for (size_t t = 0; t < 2; t++) {
    tsanom_hsa_vital *v = (tsanom_hsa_vital *)run.threads[t].vital;
    for (size_t i = 0; i < run.threads[t].vital_count; i++) {
      v[i].cpu_s = v[i].wait_s = v[i].minor_faults = NAN;
    }
  }
  for (size_t i = 0; i < run.vital_count; i++) {
    ((tsanom_hsa_vital *)run.vital)[i].anonymous = NAN;
  }
  cr_assert(find(&normal, &run).count == 0);
  living_free(&run);
}

static void check_text(const tsanom_diagnosis_finding *f, const char *expected,
                       const char *next) {
  char text[512];
  size_t length;
  CHECK_STATUS(tsanom_diagnosis_cause_text(f, TSANOM_DIAGNOSIS_CAUSE_EVIDENCE, text,
                                           sizeof text, &length),
               TSANOM_OK);
  cr_assert_str_eq(text, expected);
  cr_assert(length == strlen(text));
  CHECK_STATUS(tsanom_diagnosis_cause_text(f, TSANOM_DIAGNOSIS_CAUSE_NEXT, text,
                                           sizeof text, &length),
               TSANOM_OK);
  cr_assert_str_eq(text, next);
  cr_assert(length == strlen(text));
}

/* All begin after .5 s, in iteration 120, and cost 310 ms. */
static const struct {
  tsanom_diagnosis_finding finding;
  const char *evidence, *next;
} sentences[] = {
    {{.cause = TSANOM_HSA_SLOWDOWN,
      .thread = -1,
      .sign = TSANOM_DIAGNOSIS_SIGN_SLOWDOWN,
      .value = 1.52,
      .most = 1.02,
      .limit = 1.21,
      .end = 1.5},
     "an iteration takes 1.52 times as much processor time as in normal runs, from 500 "
     "ms until 1.5 s (iteration 120); normal runs: at most 1.02; reported above 1.21; it "
     "cost 310 ms",
     "compare it with a normal run: tsanom compare RUN --against NORMAL"},
    {{.cause = TSANOM_HSA_CONTENTION,
      .thread = -1,
      .sign = TSANOM_DIAGNOSIS_SIGN_CONTENTION,
      .value = 8.18,
      .most = 0.009,
      .limit = 0.15,
      .end = 1.5},
     "waiting for a processor added 8.2 times the time of a normal run, from 500 ms "
     "until 1.5 s (iteration 120); normal runs: at most 0.9 %; reported above 15 %; "
     "it cost 310 ms",
     "look for other programs, the binding of threads, and limits of the processor "
     "time"},
    {{.cause = TSANOM_HSA_SLOWDOWN,
      .detail = TSANOM_DIAGNOSIS_DETAIL_BLOCKED,
      .thread = -1,
      .sign = TSANOM_DIAGNOSIS_SIGN_NOBODY,
      .value = 0.35,
      .most = 0.009,
      .limit = 0.15,
      .end = 1.5},
     "waiting for something else than a processor (asleep, blocked, stopped, or one "
     "thread for another) added 35 % of the time of a normal run, from 500 ms until "
     "1.5 s (iteration 120); normal runs: at most 0.9 %; reported above 15 %; it cost "
     "310 ms",
     "look at what the program waits for: locks, files, connections, sleep"},
    {{.cause = TSANOM_HSA_HANG,
      .thread = 3,
      .sign = TSANOM_DIAGNOSIS_SIGN_GAP,
      .value = 1.52,
      .most = 1.02,
      .limit = 1.21,
      .end = INFINITY,
      .threads = 2},
     "the thread has made no beat for 1.52 s, from 500 ms (iteration 120); normal runs: "
     "at most 1.02 s; reported above 1.21 s; 2 other threads wait for it",
     "see where thread 3 waits or loops, with a debugger (gdb -p PID)"}};

Test(diagnosis_causes, sentences_quote_the_numbers) {
  char text[5];
  tsanom_diagnosis_finding f = {.cause = TSANOM_HSA_MEMORY_LEAK,
                                .thread = 1,
                                .sign = TSANOM_DIAGNOSIS_SIGN_GROWTH,
                                .value = 33554432,
                                .most = NAN,
                                .limit = 3145728,
                                .lost_s = NAN,
                                .begin = NAN,
                                .faults = 0.5,
                                .faults_limit = 0.001};
  check_text(
      &f,
      "the process took 32 MiB of memory after the first fifth of its beats; reported "
      "above 3 MiB; this thread has 0.5 page faults per beat, reported above 0.001",
      "look at the allocations of thread 1 in an iteration");
  CHECK_STATUS(
      tsanom_diagnosis_cause_text(&f, TSANOM_DIAGNOSIS_CAUSE_EVIDENCE, text, 5, NULL),
      TSANOM_PARTIAL);
  cr_assert_str_eq(text, "the ");
  for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++) {
    f = sentences[i].finding;
    f.lost_s = 0.31;
    f.begin = 0.5;
    f.iteration = 120;
    check_text(&f, sentences[i].evidence, sentences[i].next);
  }
  CHECK_STATUS(
      tsanom_diagnosis_cause_text(&f, TSANOM_DIAGNOSIS_CAUSE_NEXT + 1, text, 5, NULL),
      TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_diagnosis_cause_text(&f, -1, text, 5, NULL), TSANOM_E_OPTION);
  f.cause = TSANOM_HSA_NORMAL;
  CHECK_STATUS(
      tsanom_diagnosis_cause_text(&f, TSANOM_DIAGNOSIS_CAUSE_EVIDENCE, text, 5, NULL),
      TSANOM_E_OPTION);
  CHECK_STATUS(
      tsanom_diagnosis_cause_text(&f, TSANOM_DIAGNOSIS_CAUSE_NEXT, text, 5, NULL),
      TSANOM_E_OPTION);
}

/* The table of causes is complete. */
Test(diagnosis_causes, causes_of_the_program_are_alarms) {
  for (int32_t cause = TSANOM_HSA_NORMAL; cause <= TSANOM_HSA_STATUSES; cause++) {
    bool expected = cause == TSANOM_HSA_MEMORY_LEAK || cause == TSANOM_HSA_SHUTDOWN ||
                    cause == TSANOM_HSA_SLOWDOWN || cause == TSANOM_HSA_IMBALANCE ||
                    cause == TSANOM_HSA_HANG;
    tsanom_diagnosis_finding f = {.cause = cause};
    cr_assert(tsanom_diagnosis_cause_is_alarm(&f) == expected, "%d", cause);
    f.detail = TSANOM_DIAGNOSIS_DETAIL_BEATS;
    cr_assert(!tsanom_diagnosis_cause_is_alarm(&f), "%d", cause);
  }
  cr_assert(!tsanom_diagnosis_cause_is_alarm(NULL));
}
