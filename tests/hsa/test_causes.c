/* SPDX-License-Identifier: BSD-3-Clause */
/* Causes on runs that never happened, of each kind, with ranges learned from six normal
 * runs of the same program. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tsanom/vital.h>

#include "hsa/living.h"
#include "support/check.h"
#include "support/random.h"

enum { RUNS = 6, ROUNDS = 40, CAPACITY = 4 * LIVING_THREADS + 4 };
enum { RANGES = TSANOM_HSA_PARTS * TSANOM_HSA_SIGNS * LIVING_THREADS };

static tsanom_hsa_range ranges[RANGES];

static tsanom_hsa_normal learn_from(const living_kind *kind, size_t count, uint64_t *seed,
                                    tsanom_status expected) {
  tsanom_hsa_run runs[RUNS];
  tsanom_hsa_normal normal;
  for (size_t i = 0; i < count; i++) runs[i] = living_run(kind, seed);
  CHECK_STATUS(tsanom_hsa_normal_init(&normal, sizeof normal), TSANOM_OK);
  normal.range = ranges;
  normal.range_count = RANGES;
  CHECK_STATUS(tsanom_hsa_learn_normal(runs, count, 0.99, NULL, &normal), expected);
  for (size_t i = 0; i < count; i++) living_free(&runs[i]);
  return normal;
}

/* What was found in one run. */
typedef struct {
  size_t count;
  int32_t status, thread[LIVING_THREADS];
  tsanom_hsa_cause cause[CAPACITY];
} finding;

static finding find(const tsanom_hsa_normal *normal, const tsanom_hsa_run *run) {
  static tsanom_hsa_signs signs[LIVING_THREADS];
  finding f = {.count = 99};
  CHECK_STATUS(
      tsanom_hsa_find_causes(normal, run, NULL, signs, f.cause, CAPACITY, &f.count),
      TSANOM_OK);
  CHECK_STATUS(tsanom_hsa_cause_status(f.cause, f.count, TSANOM_HSA_PROCESS, &f.status),
               TSANOM_OK);
  for (int32_t t = 0; t < (int32_t)run->thread_count; t++) {
    CHECK_STATUS(tsanom_hsa_cause_status(f.cause, f.count, t, &f.thread[t]), TSANOM_OK);
  }
  for (size_t t = 0; t < run->thread_count; t++) cr_assert(signs[t].reserved[0] == 0);
  for (size_t i = 0; i < f.count; i++) {
    char text[512] = "";
    cr_assert(f.cause[i].strength > 1, "%s: %g", tsanom_hsa_status_name(f.cause[i].cause),
              f.cause[i].strength);
    CHECK_STATUS(tsanom_hsa_cause_text(&f.cause[i], text, sizeof text, NULL), TSANOM_OK);
    cr_assert(!strstr(text, "nan") && !strstr(text, "inf"), "%s", text);
  }
  return f;
}

static finding find_in(const tsanom_hsa_normal *normal, const living_kind *kind,
                       uint64_t *seed) {
  tsanom_hsa_run run = living_run(kind, seed);
  finding f = find(normal, &run);
  living_free(&run);
  return f;
}

/* All rounds have the status, and the threads theirs. */
static void expect(const tsanom_hsa_normal *normal, const living_kind *kind,
                   int32_t status, const int32_t *threads, size_t count) {
  uint64_t seed = 1000;
  cr_assert(count == kind->threads);
  for (int i = 0; i < ROUNDS; i++) {
    finding f = find_in(normal, kind, &seed);
    cr_assert(f.status == status, "round %d: %s, not %s", i,
              tsanom_hsa_status_name(f.status), tsanom_hsa_status_name(status));
    for (size_t t = 0; t < count; t++) {
      cr_assert(f.thread[t] == threads[t], "round %d, thread %zu: %s, not %s", i, t,
                tsanom_hsa_status_name(f.thread[t]), tsanom_hsa_status_name(threads[t]));
    }
  }
}

#define EXPECT(normal, kind, status, ...)                      \
  expect(normal, kind, status, (const int32_t[]){__VA_ARGS__}, \
         sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

static tsanom_hsa_normal learn_two_threads(living_kind *kind) {
  uint64_t seed = 1;
  *kind = living_normal();
  return learn_from(kind, RUNS, &seed, TSANOM_OK);
}

Test(hsa_causes, normal_runs_of_any_length_have_none) {
  living_kind k;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  k.beats = 700;
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  k.beats = 9000;
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
}

/* 8 MB are allocated in the first tenth: the growth of a short prefix is compared with
 * that of the same prefix. */
Test(hsa_causes, a_healthy_running_program_is_normal) {
  living_kind k;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  k.state = TSANOM_HSA_STATE_RUNNING;
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

Test(hsa_causes, the_leaking_thread_is_named_and_the_others_wait) {
  living_kind k;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  k.thread[1].leak = 5000;
  k.thread[1].faults = 1.2;
  EXPECT(&normal, &k, TSANOM_HSA_MEMORY_LEAK, TSANOM_HSA_NORMAL, TSANOM_HSA_MEMORY_LEAK);
  k.thread[0].pace = k.thread[1].pace = 2;
  k.thread[1].cpu = 1.5;
  EXPECT(&normal, &k, TSANOM_HSA_MEMORY_LEAK, TSANOM_HSA_WAITING, TSANOM_HSA_MEMORY_LEAK);
  /* Both leak; one more. */
  k.thread[0].faults = 0.5;
  EXPECT(&normal, &k, TSANOM_HSA_MEMORY_LEAK, TSANOM_HSA_MEMORY_LEAK,
         TSANOM_HSA_MEMORY_LEAK);
  /* The threads that take it do not beat. */
  k.thread[0].faults = k.thread[1].faults = 0.001;
  uint64_t seed = 4;
  finding f = find_in(&normal, &k, &seed);
  cr_assert(f.status == TSANOM_HSA_MEMORY_LEAK && f.cause[0].thread == -1);
}

/* Growth in proportion to the beats is normal if it was in the normal runs. */
Test(hsa_causes, growth_is_compared_with_the_normal_growth) {
  living_kind k = living_normal();
  uint64_t seed = 2;
  k.thread[0].leak = 20000;
  tsanom_hsa_normal normal = learn_from(&k, RUNS, &seed, TSANOM_OK);
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  k.beats = 8000;
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  k.thread[0].leak = 40000;
  uint64_t other = 3;
  cr_assert(find_in(&normal, &k, &other).status == TSANOM_HSA_MEMORY_LEAK);
}

/* The scatter of normal growth is added to the greatest. */
Test(hsa_causes, growth_that_scatters_has_a_wider_range) {
  living_kind k = living_normal();
  tsanom_hsa_run runs[RUNS];
  tsanom_hsa_power power;
  uint64_t seed = 20;
  tsanom_hsa_normal normal = learn_from(&k, RUNS, &seed, TSANOM_OK);
  for (int i = 0; i < RUNS; i++) {
    k.thread[0].leak = i % 2 ? 2500 : 0;
    runs[i] = living_run(&k, &seed);
  }
  CHECK_STATUS(tsanom_hsa_learn_normal(runs, RUNS, 0.99, NULL, &normal), TSANOM_OK);
  CHECK_STATUS(tsanom_hsa_normal_power(&normal, &power), TSANOM_OK);
  cr_assert(fabs(power.leak - (2 * 0.8 * 2000 * 2500 + (3 << 20))) < 4e5, "%g",
            power.leak);
  for (int i = 0; i < RUNS; i++) living_free(&runs[i]);
}

Test(hsa_causes, the_stronger_of_equal_causes_comes_first) {
  living_kind k;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  uint64_t seed = 21;
  k.thread[0].wait = 0.3;
  k.thread[1].wait = 0.9;
  finding f = find_in(&normal, &k, &seed);
  cr_assert(f.count == 2 && f.cause[0].thread == 1 && f.cause[1].thread == 0);
  cr_assert(f.cause[0].strength > f.cause[1].strength);
}

Test(hsa_causes, waiting_for_a_processor_is_contention) {
  living_kind k;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  k.thread[0].wait = 0.5;
  k.thread[0].pace = k.thread[1].pace = 2;
  EXPECT(&normal, &k, TSANOM_HSA_CONTENTION, TSANOM_HSA_CONTENTION, TSANOM_HSA_WAITING);
  k.thread[1].wait = 0.5;
  EXPECT(&normal, &k, TSANOM_HSA_CONTENTION, TSANOM_HSA_CONTENTION,
         TSANOM_HSA_CONTENTION);
  /* A leak on a busy machine. */
  k.thread[0].leak = 20000;
  k.thread[0].faults = 5;
  uint64_t seed = 5;
  finding f = find_in(&normal, &k, &seed);
  cr_assert(f.count == 3 && f.cause[0].cause == TSANOM_HSA_MEMORY_LEAK);
  cr_assert(f.cause[1].cause == TSANOM_HSA_CONTENTION && f.cause[1].thread >= 0);
  /* Learned on a machine that is always that busy. */
  living_kind busy = living_normal();
  busy.thread[0].wait = busy.thread[1].wait = 0.3;
  normal = learn_from(&busy, RUNS, &seed, TSANOM_OK);
  EXPECT(&normal, &busy, TSANOM_HSA_NORMAL, 0, 0);
  cr_assert(fabs(normal.load - 0.375) < 0.01, "%g", normal.load);
}

Test(hsa_causes, more_processor_time_per_beat_is_a_slowdown) {
  living_kind k;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  for (int t = 0; t < 2; t++) {
    k.thread[t].pace = 2;
    k.thread[t].cpu = 1;
  }
  EXPECT(&normal, &k, TSANOM_HSA_SLOWDOWN, TSANOM_HSA_SLOWDOWN, TSANOM_HSA_SLOWDOWN);
  uint64_t seed = 6;
  finding f = find_in(&normal, &k, &seed);
  cr_assert(f.cause[0].detail == TSANOM_HSA_DETAIL_NONE);
  k.thread[0].faults = k.thread[1].faults = 0.1;
  f = find_in(&normal, &k, &seed);
  cr_assert(f.cause[0].detail == TSANOM_HSA_DETAIL_FAULTS);
  k.thread[0].cpu = k.thread[1].cpu = 0.5;
  f = find_in(&normal, &k, &seed);
  cr_assert(f.cause[0].detail == TSANOM_HSA_DETAIL_BLOCKED);
  k.every = 0;
  f = find_in(&normal, &k, &seed);
  cr_assert(f.status == TSANOM_HSA_SLOWDOWN);
  cr_assert(f.cause[0].detail == TSANOM_HSA_DETAIL_NO_CPU);
}

/* A slow thread of a team is found by its team even if runs scatter by 15 %. */
Test(hsa_causes, a_thread_with_more_work_than_its_team_is_an_imbalance) {
  living_kind k = living_normal();
  uint64_t seed = 7;
  k.threads = 5;
  tsanom_hsa_normal normal = learn_from(&k, RUNS, &seed, TSANOM_OK);
  for (int t = 0; t < 5; t++) k.thread[t].pace = 1.6;
  k.thread[3].cpu = 0.8;
  EXPECT(&normal, &k, TSANOM_HSA_IMBALANCE, TSANOM_HSA_WAITING, TSANOM_HSA_WAITING,
         TSANOM_HSA_WAITING, TSANOM_HSA_IMBALANCE, TSANOM_HSA_WAITING);
  k.every = 0;
  k.thread[3].pace = 2;
  for (int t = 0; t < 5; t++) {
    if (t != 3) k.thread[t].pace = 1;
  }
  finding f = find_in(&normal, &k, &seed);
  cr_assert(f.thread[3] == TSANOM_HSA_IMBALANCE && f.thread[1] == TSANOM_HSA_NORMAL);
}

/* Samples that are taken within beats, of which each takes as long as the time between
 * samples. */
static tsanom_hsa_run long_beats(const living_kind *k, uint64_t *seed) {
  tsanom_hsa_run run = living_run(k, seed);
  for (size_t t = 0; t < k->threads; t++) {
    tsanom_hsa_vital *v = (tsanom_hsa_vital *)run.threads[t].vital;
    for (size_t i = 0; i < run.threads[t].vital_count; i++) {
      v[i].cpu_s += 0.9 * random_unit(seed) * k->period * k->thread[t].cpu;
    }
  }
  return run;
}

Test(hsa_causes, an_imbalance_of_few_beats_is_found) {
  living_kind k = living_normal();
  tsanom_hsa_run runs[RUNS];
  uint64_t seed = 24;
  k.beats = 44;
  k.period = 0.05;
  tsanom_hsa_normal normal = learn_from(&k, RUNS, &seed, TSANOM_OK);
  for (int i = 0; i < RUNS; i++) runs[i] = long_beats(&k, &seed);
  CHECK_STATUS(tsanom_hsa_learn_normal(runs, RUNS, 0.99, NULL, &normal), TSANOM_OK);
  for (int i = 0; i < RUNS; i++) living_free(&runs[i]);
  for (int i = 0; i < 2 * ROUNDS; i++) {
    k.thread[1].cpu = i % 2 ? 0.75 : 0.5;
    tsanom_hsa_run run = long_beats(&k, &seed);
    finding f = find(&normal, &run);
    cr_assert(f.thread[1] == (i % 2 ? TSANOM_HSA_IMBALANCE : TSANOM_HSA_NORMAL),
              "round %d: %s", i, tsanom_hsa_status_name(f.thread[1]));
    cr_assert(f.thread[0] == TSANOM_HSA_NORMAL);
    living_free(&run);
  }
}

Test(hsa_causes, a_program_that_does_not_go_on_hangs) {
  living_kind k;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  k.noise = 1e-4; /* the threads stop at the same time */
  k.pause = 10;
  k.pause_at = 0.4;
  EXPECT(&normal, &k, TSANOM_HSA_HANG, TSANOM_HSA_HANG, TSANOM_HSA_HANG);
  k.pause = 0;
  k.cut = 900;
  k.state = TSANOM_HSA_STATE_RUNNING;
  k.silence = 3;
  EXPECT(&normal, &k, TSANOM_HSA_HANG, TSANOM_HSA_HANG, TSANOM_HSA_HANG);
  /* One thread of a running program. */
  k.cut = 0;
  k.silence = 0;
  k.thread[1].stop = 500;
  EXPECT(&normal, &k, TSANOM_HSA_HANG, TSANOM_HSA_NORMAL, TSANOM_HSA_HANG);
  /* Killed after it hung. */
  k.thread[1].stop = 0;
  k.cut = 900;
  k.silence = 3;
  k.state = TSANOM_HSA_STATE_KILLED;
  uint64_t seed = 8;
  finding f = find_in(&normal, &k, &seed);
  cr_assert(f.count == 3 && f.status == TSANOM_HSA_HANG);
  cr_assert(f.cause[2].cause == TSANOM_HSA_SHUTDOWN);
  tsanom_hsa_run run = living_run(&k, &seed);
  f = find(&normal, &run);
  const tsanom_hsa_series *s = &run.threads[f.cause[0].thread];
  cr_assert(f.cause[0].number[0] == s->time[s->beats - 1]);
  cr_assert(isinf(f.cause[0].number[1]));
  living_free(&run);
}

/* A run of half a second has a handful of samples: too few for a quartile. */
Test(hsa_causes, an_imbalance_of_a_short_run_is_found) {
  living_kind k = living_normal();
  uint64_t seed = 34;
  k.every = 0.6;
  tsanom_hsa_normal normal = learn_from(&k, RUNS, &seed, TSANOM_OK);
  k.thread[1].cpu = 0.75;
  EXPECT(&normal, &k, TSANOM_HSA_IMBALANCE, TSANOM_HSA_NORMAL, TSANOM_HSA_IMBALANCE);
}

/* The other thread beats once more, and waits for it: asleep, or using its processor. */
Test(hsa_causes, the_thread_that_paused_first_is_named) {
  enum { AT = 800 };
  living_kind k;
  uint64_t seed = 26;
  char text[512];
  tsanom_hsa_normal normal = learn_two_threads(&k);
  k.noise = 1e-4;
  k.pause = 1;
  k.pause_at = (double)AT / 2000;
  for (int i = 0; i < 4; i++) {
    size_t waiting = (size_t)(i % 2);
    tsanom_hsa_run run = living_run(&k, &seed);
    ((double *)run.threads[waiting].time)[AT] -= i < 2 ? k.pause : 0;
    tsanom_hsa_vital *v = (tsanom_hsa_vital *)run.threads[waiting].vital;
    for (size_t j = 0; i >= 2 && j < run.threads[waiting].vital_count; j++) {
      v[j].cpu_s += fmax(0, fmin(k.pause, v[j].time - 0.85));
    }
    finding f = find(&normal, &run);
    cr_assert(f.status == TSANOM_HSA_HANG && f.count >= 2);
    cr_assert(f.thread[1 - waiting] == TSANOM_HSA_HANG, "%d", i);
    cr_assert(f.thread[waiting] == TSANOM_HSA_WAITING, "%d", i);
    tsanom_hsa_cause_text(&f.cause[f.count - 1], text, sizeof text, NULL);
    cr_assert(strstr(text, "while another thread has a cause"), "%s", text);
    /* Beginning and end of the gap are not a number of threads. */
    for (size_t c = 0; c < f.count; c++) {
      tsanom_hsa_cause_text(&f.cause[c], text, sizeof text, NULL);
      cr_assert(!strstr(text, " for it"), "%s", text);
    }
    living_free(&run);
  }
}

/* As LULESH, which allocates and frees in each iteration. The leak adds a tenth; thread 0
 * has a few faults more than normally. */
Test(hsa_causes, a_leaking_thread_is_named_beside_normal_page_faults) {
  living_kind k = living_normal();
  uint64_t seed = 35;
  k.thread[0].faults = 200;
  k.thread[1].faults = 220;
  tsanom_hsa_normal normal = learn_from(&k, RUNS, &seed, TSANOM_OK);
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  k.thread[1].leak = 90000;
  k.thread[1].faults = 242;
  k.thread[0].faults = 201;
  EXPECT(&normal, &k, TSANOM_HSA_MEMORY_LEAK, TSANOM_HSA_NORMAL, TSANOM_HSA_MEMORY_LEAK);
}

/* A third of the active time, but only a tenth of a second. */
Test(hsa_causes, a_disturbance_of_a_short_run_is_not_contention) {
  living_kind k;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  k.thread[0].wait = 0.25;
  EXPECT(&normal, &k, TSANOM_HSA_CONTENTION, TSANOM_HSA_CONTENTION, TSANOM_HSA_NORMAL);
  k.beats = 400;
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, TSANOM_HSA_NORMAL, TSANOM_HSA_NORMAL);
}

/* Thread 0 paused first. It wrote and computed meanwhile, so that thread 1, which waited
 * for it, was blocked for longer. */
Test(hsa_causes, the_first_of_all_does_not_wait) {
  enum { AT = 800 };
  living_kind k;
  uint64_t seed = 33;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  k.noise = 1e-4;
  k.pause = 1;
  k.pause_at = (double)AT / 2000;
  tsanom_hsa_run run = living_run(&k, &seed);
  ((double *)run.threads[1].time)[AT] -= k.pause;
  tsanom_hsa_vital *v = (tsanom_hsa_vital *)run.threads[0].vital;
  for (size_t j = 0; j < run.threads[0].vital_count; j++) {
    v[j].cpu_s += 0.7 * fmax(0, fmin(k.pause, v[j].time - 0.85));
  }
  finding f = find(&normal, &run);
  cr_assert(f.thread[0] == TSANOM_HSA_HANG && f.thread[1] == TSANOM_HSA_WAITING, "%s, %s",
            tsanom_hsa_status_name(f.thread[0]), tsanom_hsa_status_name(f.thread[1]));
  living_free(&run);
}

/* Thread 1 waits for a processor for a second, and thread 0 for it. */
Test(hsa_causes, a_thread_that_waits_for_a_processor_makes_none_hang) {
  enum { AT = 800 };
  living_kind k;
  uint64_t seed = 29;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  k.noise = 1e-4;
  k.pause = 1;
  k.pause_at = (double)AT / 2000;
  for (int first = 0; first < 2; first++) {
    tsanom_hsa_run run = living_run(&k, &seed);
    ((double *)run.threads[!first].time)[AT] -= k.pause;
    tsanom_hsa_vital *v = (tsanom_hsa_vital *)run.threads[first].vital;
    for (size_t j = 0; j < run.threads[first].vital_count; j++) {
      v[j].wait_s += fmax(0, fmin(k.pause, v[j].time - 0.85));
    }
    finding f = find(&normal, &run);
    cr_assert(f.count == 1 && f.thread[first] == TSANOM_HSA_CONTENTION, "%zu: %s",
              f.count, tsanom_hsa_status_name(f.status));
    living_free(&run);
  }
}

/* Thread 1 is deadlocked; thread 0 beats until it waits for it. */
Test(hsa_causes, the_thread_that_became_silent_first_is_named) {
  living_kind k;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  k.noise = 1e-4;
  k.silence = 3;
  k.state = TSANOM_HSA_STATE_RUNNING;
  k.cut = 901;
  k.thread[1].stop = 900;
  EXPECT(&normal, &k, TSANOM_HSA_HANG, TSANOM_HSA_WAITING, TSANOM_HSA_HANG);
}

static finding find_end(const tsanom_hsa_normal *normal, const living_kind *k,
                        int32_t exit_code, char text[512]) {
  uint64_t seed = 27;
  tsanom_hsa_run run = living_run(k, &seed);
  run.exit_code = exit_code;
  finding f = find(normal, &run);
  text[0] = '\0';
  if (f.count) tsanom_hsa_cause_text(&f.cause[0], text, 512, NULL);
  living_free(&run);
  return f;
}

Test(hsa_causes, the_end_of_the_program_is_named) {
  living_kind k;
  tsanom_hsa_run runs[RUNS];
  uint64_t seed = 28;
  char text[512];
  tsanom_hsa_normal normal = learn_two_threads(&k);
  cr_assert(find_end(&normal, &k, 0, text).count == 0);
  finding f = find_end(&normal, &k, 1, text);
  cr_assert(f.count == 1 && f.status == TSANOM_HSA_SHUTDOWN);
  cr_assert(f.cause[0].detail == TSANOM_HSA_DETAIL_EXIT &&
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
  k.state = TSANOM_HSA_STATE_KILLED;
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
  CHECK_STATUS(tsanom_hsa_learn_normal(runs, RUNS, 0.99, NULL, &normal), TSANOM_OK);
  for (int i = 0; i < RUNS; i++) living_free(&runs[i]);
  cr_assert(find_end(&normal, &k, 3, text).count == 0);
  cr_assert(find_end(&normal, &k, 4, text).status == TSANOM_HSA_SHUTDOWN);
}

static tsanom_hsa_run busy_start(const living_kind *k, uint64_t *seed) {
  enum { LATE = 2 }; /* seconds */
  tsanom_hsa_run run = living_run(k, seed);
  run.end += LATE;
  for (size_t t = 0; t < k->threads; t++) {
    const tsanom_hsa_series *s = &run.threads[t];
    tsanom_hsa_vital *v = (tsanom_hsa_vital *)s->vital;
    for (size_t i = 1; i < s->beats; i++) ((double *)s->time)[i] += LATE;
    v[0].time = 0;
    v[0].cpu_s = v[0].wait_s = 0;
    v[0].beats = 0;
    for (size_t i = 1; i < s->vital_count; i++) {
      v[i].time += LATE;
      v[i].wait_s += LATE;
    }
  }
  for (size_t i = 1; i < run.vital_count; i++) {
    ((tsanom_hsa_vital *)run.vital)[i].time += LATE;
  }
  return run;
}

/* Time without a processor is none in which the thread hangs. Without samples around the
 * gap, what it did there is not known. */
Test(hsa_causes, a_gap_without_a_processor_is_contention) {
  living_kind k;
  uint64_t seed = 18;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  k.noise = 1e-4;
  k.pause = 1;
  k.pause_at = 0.4;
  k.thread[0].wait = k.thread[1].wait = 0.5;
  EXPECT(&normal, &k, TSANOM_HSA_HANG, TSANOM_HSA_HANG, TSANOM_HSA_HANG);
  tsanom_hsa_run run = living_run(&k, &seed);
  for (size_t t = 0; t < 2; t++) {
    tsanom_hsa_vital *v = (tsanom_hsa_vital *)run.threads[t].vital;
    for (size_t i = 0; i < run.threads[t].vital_count; i++) {
      v[i].wait_s += fmax(0, fmin(k.pause, v[i].time - 0.85));
    }
  }
  finding f = find(&normal, &run);
  cr_assert(f.count == 2 && f.thread[0] == TSANOM_HSA_CONTENTION);
  ((tsanom_hsa_series *)run.threads)[0].vital_count = 3;
  f = find(&normal, &run);
  cr_assert(f.thread[0] == TSANOM_HSA_HANG && f.thread[1] == TSANOM_HSA_CONTENTION);
  living_free(&run);
}

/* The normal runs wait for a processor for 2 s before their second beat. */
Test(hsa_causes, a_pause_shorter_than_normal_waiting_is_found) {
  living_kind k = living_normal();
  tsanom_hsa_run runs[RUNS];
  uint64_t seed = 25;
  char text[512];
  tsanom_hsa_normal normal = learn_from(&k, RUNS, &seed, TSANOM_OK);
  for (int i = 0; i < RUNS; i++) runs[i] = busy_start(&k, &seed);
  CHECK_STATUS(tsanom_hsa_learn_normal(runs, RUNS, 0.99, NULL, &normal), TSANOM_OK);
  for (int i = 0; i < RUNS; i++) living_free(&runs[i]);
  tsanom_hsa_power power;
  CHECK_STATUS(tsanom_hsa_normal_power(&normal, &power), TSANOM_OK);
  cr_assert(power.hang == 0.4, "%g", power.hang);
  for (int i = 0; i < 2 * ROUNDS; i++) {
    k.pause = i % 2 ? 1 : 0.2;
    k.pause_at = 0.4;
    tsanom_hsa_run run = busy_start(&k, &seed);
    finding f = find(&normal, &run);
    cr_assert(f.status == (i % 2 ? TSANOM_HSA_HANG : TSANOM_HSA_NORMAL), "%d: %s", i,
              tsanom_hsa_status_name(f.status));
    if (i % 2) {
      cr_assert(f.cause[0].detail == TSANOM_HSA_DETAIL_PAUSED);
      tsanom_hsa_cause_text(&f.cause[0], text, sizeof text, NULL);
      cr_assert(strstr(text, "blocked for"), "%s", text);
    }
    living_free(&run);
  }
}

Test(hsa_causes, what_ends_early_is_shut_down) {
  living_kind k;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  k.thread[0].stop = 400;
  EXPECT(&normal, &k, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_NORMAL);
  /* The rest of the team has nothing to be compared with. */
  k.thread[1].cpu = 0.68;
  EXPECT(&normal, &k, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_NORMAL);
  k.thread[1].cpu = 0.5;
  k.thread[0].stop = 0;
  k.cut = 1900;
  k.state = TSANOM_HSA_STATE_KILLED;
  EXPECT(&normal, &k, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_SHUTDOWN);
  k.cut = 3;
  EXPECT(&normal, &k, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_SHUTDOWN);
  /* A file does not say whether its program ended it. */
  k.cut = 1900;
  k.state = TSANOM_HSA_STATE_UNKNOWN;
  EXPECT(&normal, &k, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_SHUTDOWN);
  k.state = TSANOM_HSA_STATE_FINISHED;
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  uint64_t seed = 9;
  k = living_normal();
  tsanom_hsa_run run = living_run(&k, &seed);
  ((tsanom_hsa_series *)run.threads)[1].beats = 0;
  finding f = find(&normal, &run);
  cr_assert(f.thread[1] == TSANOM_HSA_SHUTDOWN && f.thread[0] == TSANOM_HSA_NORMAL);
  cr_assert(f.cause[0].detail == TSANOM_HSA_DETAIL_NEVER);
  living_free(&run);
}

/* Alone, the other thread makes its last fifth of the beats in 3 ms of 1.6 s. */
Test(hsa_causes, a_thread_that_stops_late_is_shut_down) {
  living_kind k;
  uint64_t seed = 22;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  k.thread[1].stop = 1600;
  tsanom_hsa_run run = living_run(&k, &seed);
  double *time = (double *)run.threads[0].time;
  for (size_t i = 1600; i < 2000; i++) time[i] = time[i - 1] + 7.5e-6;
  finding f = find(&normal, &run);
  cr_assert(f.thread[1] == TSANOM_HSA_SHUTDOWN && f.thread[0] == TSANOM_HSA_NORMAL);
  cr_assert(f.cause[0].detail == TSANOM_HSA_DETAIL_STOPPED);
  cr_assert(fabs(f.cause[0].value - 0.2) < 0.05, "%g", f.cause[0].value);
  living_free(&run);
}

/* One normal run was four times slower at first. What has a third of the beats may be at
 * that point, unless it has finished. */
Test(hsa_causes, a_finished_run_is_compared_with_whole_runs) {
  living_kind k = living_normal();
  tsanom_hsa_run runs[RUNS];
  uint64_t seed = 23;
  tsanom_hsa_normal normal = learn_from(&k, RUNS, &seed, TSANOM_OK);
  for (int i = 0; i < RUNS; i++) runs[i] = living_run(&k, &seed);
  for (size_t t = 0; t < 2; t++) {
    tsanom_hsa_vital *v = (tsanom_hsa_vital *)runs[0].threads[t].vital;
    for (size_t i = 0; i < runs[0].threads[t].vital_count; i++) {
      v[i].cpu_s += 3 * k.period * k.thread[t].cpu * fmin(800, (double)v[i].beats);
    }
  }
  CHECK_STATUS(tsanom_hsa_learn_normal(runs, RUNS, 0.99, NULL, &normal), TSANOM_OK);
  for (int i = 0; i < RUNS; i++) living_free(&runs[i]);
  k.beats = 700;
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  k.thread[0].cpu = k.thread[1].cpu = 1;
  EXPECT(&normal, &k, TSANOM_HSA_SLOWDOWN, TSANOM_HSA_SLOWDOWN, TSANOM_HSA_SLOWDOWN);
  k.state = TSANOM_HSA_STATE_RUNNING;
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
}

static void expect_incomparable(const tsanom_hsa_normal *normal,
                                const tsanom_hsa_run *run, int32_t detail) {
  finding f = find(normal, run);
  cr_assert(f.count == 1 && f.status == TSANOM_HSA_NOT_COMPARABLE);
  cr_assert(f.cause[0].detail == detail && f.thread[0] == TSANOM_HSA_NOT_COMPARABLE);
}

Test(hsa_causes, a_run_of_something_else_is_not_comparable) {
  living_kind k;
  uint64_t seed = 10;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  cr_assert_str_eq(normal.program, "living");
  cr_assert_str_eq(normal.machine, "here");
  cr_assert(normal.beats == 2000 && normal.fewest == 2000 && normal.run_count == RUNS);
  tsanom_hsa_run run = living_run(&k, &seed), other = run;
  other.program = "other";
  expect_incomparable(&normal, &other, TSANOM_HSA_DETAIL_PROGRAM);
  other = run;
  other.machine = "there";
  expect_incomparable(&normal, &other, TSANOM_HSA_DETAIL_MACHINE);
  other = run;
  other.thread_count = 1;
  expect_incomparable(&normal, &other, TSANOM_HSA_DETAIL_THREADS);
  other = run;
  other.program = other.machine = NULL;
  cr_assert(find(&normal, &other).count == 0);
  for (size_t i = 0; i < RANGES; i++) {
    ranges[i] = (tsanom_hsa_range){-INFINITY, INFINITY};
  }
  expect_incomparable(&normal, &run, TSANOM_HSA_DETAIL_NO_POWER);
  living_free(&run);
}

/* Nothing follows from what is not known: no thread has a sample, or one beat. */
Test(hsa_causes, without_signs_there_is_no_cause) {
  living_kind k;
  uint64_t seed = 11;
  tsanom_hsa_normal normal = learn_two_threads(&k);
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

/* The power is where causes begin to be found. */
Test(hsa_causes, the_power_is_the_smallest_effect_that_is_found) {
  living_kind k;
  tsanom_hsa_power power;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  CHECK_STATUS(tsanom_hsa_normal_power(&normal, &power), TSANOM_OK);
  cr_assert(power.slowdown >= 1.4 && power.slowdown < 1.45, "%g", power.slowdown);
  cr_assert(power.imbalance >= 1.25 && power.imbalance < 1.3, "%g", power.imbalance);
  cr_assert(power.contention == 0.15 && power.hang == 0.25);
  cr_assert(power.leak >= 3 << 20 && power.leak < 4 << 20, "%g", power.leak);
  for (int t = 0; t < 2; t++) k.thread[t].cpu = 0.5 * power.slowdown * 1.05;
  EXPECT(&normal, &k, TSANOM_HSA_SLOWDOWN, TSANOM_HSA_SLOWDOWN, TSANOM_HSA_SLOWDOWN);
  for (int t = 0; t < 2; t++) k.thread[t].cpu = 0.5 * power.slowdown * 0.95;
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  k = living_normal();
  k.thread[0].leak = 1.1 * power.leak / (0.8 * (double)k.beats);
  uint64_t seed = 12;
  cr_assert(find_in(&normal, &k, &seed).status == TSANOM_HSA_MEMORY_LEAK);
  k.thread[0].leak *= 0.8;
  cr_assert(find_in(&normal, &k, &seed).status == TSANOM_HSA_NORMAL);
  /* Scattered runs have none. */
  k = living_normal();
  k.noise = 0.5;
  k.every = 0;
  normal = learn_from(&k, 3, &seed, TSANOM_OK);
  CHECK_STATUS(tsanom_hsa_normal_power(&normal, &power), TSANOM_OK);
  cr_assert(power.slowdown > 10 && isinf(power.leak) && isinf(power.contention));
}

Test(hsa_causes, two_runs_have_the_least_widths) {
  living_kind k = living_normal();
  uint64_t seed = 13;
  tsanom_hsa_normal normal = learn_from(&k, 2, &seed, TSANOM_PARTIAL);
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  for (int t = 0; t < 2; t++) k.thread[t].cpu = 1;
  EXPECT(&normal, &k, TSANOM_HSA_SLOWDOWN, TSANOM_HSA_SLOWDOWN, TSANOM_HSA_SLOWDOWN);
}

Test(hsa_causes, learning_allocates_nothing_in_a_workspace) {
  living_kind k = living_normal();
  uint64_t seed = 14;
  tsanom_hsa_run runs[3];
  tsanom_hsa_normal normal, again;
  tsanom_exec exec;
  size_t bytes;
  for (int i = 0; i < 3; i++) runs[i] = living_run(&k, &seed);
  normal = learn_from(&k, 3, &seed, TSANOM_OK);
  CHECK_STATUS(tsanom_hsa_learn_normal(runs, 3, 0.9, NULL, &normal), TSANOM_OK);
  static tsanom_hsa_range other[RANGES];
  again = normal;
  again.range = other;
  tsanom_exec_init(&exec, sizeof exec);
  CHECK_STATUS(tsanom_hsa_learn_normal_workspace(3, 2, &exec, &bytes), TSANOM_OK);
  exec.work = malloc(bytes);
  exec.work_bytes = bytes;
  CHECK_STATUS(tsanom_hsa_learn_normal(runs, 3, 0.9, &exec, &again), TSANOM_OK);
  size_t used = (size_t)TSANOM_HSA_PARTS * 2 * TSANOM_HSA_SIGNS;
  cr_assert(memcmp(other, ranges, used * sizeof *other) == 0);
  exec.work_bytes = bytes / 2;
  CHECK_STATUS(tsanom_hsa_learn_normal(runs, 3, 0.9, &exec, &again), TSANOM_E_WORKSPACE);
  free(exec.work);
  CHECK_STATUS(tsanom_hsa_learn_normal(runs, 3, 1, NULL, &again), TSANOM_E_OPTION);
  again.range_count = used - 1;
  CHECK_STATUS(tsanom_hsa_learn_normal(runs, 3, 0.9, NULL, &again), TSANOM_E_COUNT);
  for (int i = 0; i < 3; i++) living_free(&runs[i]);
}

Test(hsa_causes, damaged_ranges_are_rejected) {
  living_kind k;
  uint64_t seed = 15;
  size_t count = 77;
  tsanom_hsa_signs signs[2];
  tsanom_hsa_cause cause[12];
  tsanom_hsa_normal normal = learn_two_threads(&k), bad = normal;
  tsanom_hsa_run run = living_run(&k, &seed);
#define REJECTED(status) \
  CHECK_STATUS(tsanom_hsa_find_causes(&bad, &run, NULL, signs, cause, 12, &count), status)
  memset(bad.program, 'x', sizeof bad.program);
  REJECTED(TSANOM_E_FORMAT);
  bad = normal;
  bad.range_count = 3;
  REJECTED(TSANOM_E_COUNT);
  bad.range_count = SIZE_MAX;
  bad.thread_count = SIZE_MAX / 4;
  REJECTED(TSANOM_E_COUNT);
  bad = normal;
  ranges[40].low = NAN;
  REJECTED(TSANOM_E_NONFINITE);
  ranges[40] = (tsanom_hsa_range){2, 1};
  REJECTED(TSANOM_E_FORMAT);
  ranges[40] = (tsanom_hsa_range){1, 2};
  REJECTED(TSANOM_OK);
  CHECK_STATUS(tsanom_hsa_find_causes(&bad, &run, NULL, signs, cause, 11, &count),
               TSANOM_E_COUNT);
  living_free(&run);
}

Test(hsa_causes, sentences_quote_the_numbers) {
  char text[512];
  size_t length;
  tsanom_hsa_cause c = {.cause = TSANOM_HSA_MEMORY_LEAK,
                        .thread = 1,
                        .sign = TSANOM_HSA_SIGN_GROWTH,
                        .value = 33554432,
                        .range = {0, 3145728},
                        .number = {0.5, 0.001}};
  CHECK_STATUS(tsanom_hsa_cause_text(&c, text, sizeof text, &length), TSANOM_OK);
  cr_assert_str_eq(
      text,
      "the process took 32 MiB of memory after the first fifth of its beats, "
      "normally at most 3 MiB; this thread has 0.5 page faults per beat, "
      "normally at most 0.001");
  cr_assert(length == strlen(text));
  CHECK_STATUS(tsanom_hsa_cause_text(&c, text, 5, NULL), TSANOM_PARTIAL);
  cr_assert_str_eq(text, "the ");
  c.cause = TSANOM_HSA_NORMAL;
  CHECK_STATUS(tsanom_hsa_cause_text(&c, text, 5, NULL), TSANOM_E_OPTION);
}
