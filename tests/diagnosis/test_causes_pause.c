/* SPDX-License-Identifier: BSD-3-Clause */
/* Hangs and pauses, and which of the threads waited for another one. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "diagnosis/found.h"
#include "support/check.h"

/* Two threads that pause for a second after PAUSE_AT beats, at the same time. */
enum { PAUSE_AT = 800 };
static tsanom_hsa_normal learn_to_pause(living_kind *k) {
  tsanom_hsa_normal normal = learn_two_threads(k);
  k->noise = 1e-4;
  k->pause = 1;
  k->pause_at = (double)PAUSE_AT / 2000;
  return normal;
}

/* A share of the pause in which a thread has a processor, or is ready. */
static void be_active(tsanom_hsa_run *run, size_t thread, double cpu, double wait) {
  tsanom_hsa_vital *v = (tsanom_hsa_vital *)run->threads[thread].vital;
  for (size_t i = 0; i < run->threads[thread].vital_count; i++) {
    double over = fmax(0, fmin(1, v[i].time - 0.85));
    v[i].cpu_s += cpu * over;
    v[i].wait_s += wait * over;
  }
}

Test(diagnosis_causes, a_program_that_does_not_go_on_hangs) {
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

/* The other thread beats once more, and waits for it: asleep, or using its processor. */
Test(diagnosis_causes, the_thread_that_paused_first_is_named) {
  living_kind k;
  uint64_t seed = 26;
  char text[512];
  tsanom_hsa_normal normal = learn_to_pause(&k);
  for (int i = 0; i < 4; i++) {
    size_t waiting = (size_t)(i % 2);
    tsanom_hsa_run run = living_run(&k, &seed);
    ((double *)run.threads[waiting].time)[PAUSE_AT] -= i < 2 ? k.pause : 0;
    if (i >= 2) be_active(&run, waiting, 1, 0);
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

/* Thread 0 paused first. It wrote and computed meanwhile, so that thread 1, which waited
 * for it, was blocked for longer. */
Test(diagnosis_causes, the_first_of_all_does_not_wait) {
  living_kind k;
  uint64_t seed = 33;
  tsanom_hsa_normal normal = learn_to_pause(&k);
  tsanom_hsa_run run = living_run(&k, &seed);
  ((double *)run.threads[1].time)[PAUSE_AT] -= k.pause;
  be_active(&run, 0, 0.7, 0);
  finding f = find(&normal, &run);
  cr_assert(f.thread[0] == TSANOM_HSA_HANG && f.thread[1] == TSANOM_HSA_WAITING, "%s, %s",
            tsanom_hsa_status_name(f.thread[0]), tsanom_hsa_status_name(f.thread[1]));
  living_free(&run);
}

/* What a thread waits for in its pause, or after its last beat; it runs in two of three
 * samples. */
static void sleep_for(tsanom_hsa_run *run, size_t thread, int32_t state, int32_t waits) {
  const tsanom_hsa_series *s = &run->threads[thread];
  tsanom_hsa_vital *v = (tsanom_hsa_vital *)s->vital;
  for (size_t i = 0; i < s->vital_count; i += 3) {
    size_t before = 0;
    while (before < s->beats && s->time[before] <= v[i].time) before++;
    double until = before < s->beats ? s->time[before] : INFINITY;
    if (before && until - s->time[before - 1] < 0.5) continue;
    v[i].state = state;
    v[i].waits = waits;
  }
}

/* Threads that pause at the same time, or no longer beat: those that sleep until another
 * one wakes them waited for the one that does not, whatever the order. */
Test(diagnosis_causes, a_thread_that_sleeps_for_another_one_waits) {
  static const struct {
    int32_t state, waits, waiter;
  } others[] = {{'S', TSANOM_HSA_WAITS_OTHER, TSANOM_HSA_WAITING},
                {'D', TSANOM_HSA_WAITS_UNKNOWN, TSANOM_HSA_WAITING},
                {0, TSANOM_HSA_WAITS_UNKNOWN, TSANOM_HSA_WAITING},   /* it has ended */
                {'R', TSANOM_HSA_WAITS_UNKNOWN, TSANOM_HSA_WAITING}, /* an endless loop */
                {'S', TSANOM_HSA_WAITS_UNKNOWN, TSANOM_HSA_HANG},
                {'S', TSANOM_HSA_WAITS_THREAD, TSANOM_HSA_HANG}};
  living_kind pausing, silent;
  uint64_t seed = 41;
  tsanom_hsa_normal normal = learn_to_pause(&pausing);
  silent = pausing;
  silent.pause = 0;
  silent.cut = 900;
  silent.silence = 3;
  silent.state = TSANOM_HSA_STATE_RUNNING;
  for (size_t i = 0; i < 4 * sizeof others / sizeof *others; i++) {
    size_t waiting = i % 2, kind = i / 4;
    tsanom_hsa_run run = living_run(i / 2 % 2 ? &silent : &pausing, &seed);
    sleep_for(&run, waiting, 'S', TSANOM_HSA_WAITS_THREAD);
    sleep_for(&run, 1 - waiting, others[kind].state, others[kind].waits);
    finding f = find(&normal, &run);
    cr_assert(f.thread[1 - waiting] == TSANOM_HSA_HANG, "%zu", i);
    cr_assert(f.thread[waiting] == others[kind].waiter, "%zu: %s", i,
              tsanom_hsa_status_name(f.thread[waiting]));
    living_free(&run);
  }
}

/* Thread 0 beat once more before thread 1 paused: it began to wait first. */
Test(diagnosis_causes, the_first_of_all_may_sleep_for_another_one) {
  living_kind k;
  uint64_t seed = 42;
  tsanom_hsa_normal normal = learn_to_pause(&k);
  tsanom_hsa_run run = living_run(&k, &seed);
  ((double *)run.threads[1].time)[PAUSE_AT] -= k.pause;
  sleep_for(&run, 0, 'S', TSANOM_HSA_WAITS_THREAD);
  sleep_for(&run, 1, 'D', TSANOM_HSA_WAITS_OTHER);
  finding f = find(&normal, &run);
  cr_assert(f.thread[0] == TSANOM_HSA_WAITING && f.thread[1] == TSANOM_HSA_HANG, "%s, %s",
            tsanom_hsa_status_name(f.thread[0]), tsanom_hsa_status_name(f.thread[1]));
  living_free(&run);
}

/* Thread 0 slept for a second until thread 1 woke it, which beat and ran all the time, or
 * was blocked, too. */
Test(diagnosis_causes, a_thread_that_sleeps_for_one_that_runs_does_not_hang) {
  living_kind k;
  uint64_t seed = 43;
  tsanom_hsa_normal normal = learn_to_pause(&k);
  for (int blocked = 0; blocked < 2; blocked++) {
    tsanom_hsa_run run = living_run(&k, &seed);
    tsanom_hsa_series *s = (tsanom_hsa_series *)&run.threads[1];
    for (size_t i = PAUSE_AT; i < s->beats; i++) ((double *)s->time)[i] -= k.pause / 1.01;
    tsanom_hsa_vital *v = (tsanom_hsa_vital *)s->vital;
    for (size_t i = 0; blocked && i < s->vital_count; i += 2) v[i].state = 'D';
    sleep_for(&run, 0, 'S', TSANOM_HSA_WAITS_THREAD);
    finding f = find(&normal, &run);
    cr_assert(f.thread[0] == (blocked ? TSANOM_HSA_HANG : TSANOM_HSA_NORMAL), "%s",
              tsanom_hsa_status_name(f.thread[0]));
    living_free(&run);
  }
}

/* Thread 1 waits for a processor for a second, and thread 0 for it. */
Test(diagnosis_causes, a_thread_that_waits_for_a_processor_makes_none_hang) {
  living_kind k;
  uint64_t seed = 29;
  tsanom_hsa_normal normal = learn_to_pause(&k);
  for (int first = 0; first < 2; first++) {
    tsanom_hsa_run run = living_run(&k, &seed);
    ((double *)run.threads[!first].time)[PAUSE_AT] -= k.pause;
    be_active(&run, (size_t)first, 0, 1);
    finding f = find(&normal, &run);
    cr_assert(f.count == 1 && f.thread[first] == TSANOM_HSA_CONTENTION, "%zu: %s",
              f.count, tsanom_hsa_status_name(f.status));
    living_free(&run);
  }
}

/* Or several times for a quarter of a second, between which it beats. */
Test(diagnosis_causes, a_thread_that_often_waits_for_a_processor_makes_none_hang) {
  living_kind k;
  uint64_t seed = 30;
  tsanom_hsa_normal normal = learn_to_pause(&k);
  for (size_t first = 0; first < 2; first++) {
    tsanom_hsa_run run = living_run(&k, &seed);
    double *time = (double *)run.threads[first].time;
    for (size_t i = 0; i < 3; i++) {
      time[PAUSE_AT + i] = time[PAUSE_AT - 1] + 0.25 * (double)(i + 1);
    }
    be_active(&run, first, 0, 1);
    finding f = find(&normal, &run);
    cr_assert(f.count == 1 && f.thread[first] == TSANOM_HSA_CONTENTION, "%zu: %s",
              f.count, tsanom_hsa_status_name(f.status));
    living_free(&run);
  }
}

/* Thread 1 is deadlocked; thread 0 beats until it waits for it. */
Test(diagnosis_causes, the_thread_that_became_silent_first_is_named) {
  living_kind k;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  k.noise = 1e-4;
  k.silence = 3;
  k.state = TSANOM_HSA_STATE_RUNNING;
  k.cut = 901;
  k.thread[1].stop = 900;
  EXPECT(&normal, &k, TSANOM_HSA_HANG, TSANOM_HSA_WAITING, TSANOM_HSA_HANG);
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
Test(diagnosis_causes, a_gap_without_a_processor_is_contention) {
  living_kind k;
  uint64_t seed = 18;
  tsanom_hsa_normal normal = learn_to_pause(&k);
  k.thread[0].wait = k.thread[1].wait = 0.5;
  EXPECT(&normal, &k, TSANOM_HSA_HANG, TSANOM_HSA_HANG, TSANOM_HSA_HANG);
  tsanom_hsa_run run = living_run(&k, &seed);
  for (size_t t = 0; t < 2; t++) be_active(&run, t, 0, 1);
  finding f = find(&normal, &run);
  cr_assert(f.count == 2 && f.thread[0] == TSANOM_HSA_CONTENTION);
  tsanom_hsa_series *series = (tsanom_hsa_series *)run.threads;
  series[0].vital_count = 3; /* may have waited for thread 1 */
  f = find(&normal, &run);
  cr_assert(f.thread[0] != TSANOM_HSA_HANG && f.thread[1] == TSANOM_HSA_CONTENTION);
  series[1].vital_count = 3;
  f = find(&normal, &run);
  cr_assert(f.thread[0] == TSANOM_HSA_HANG && f.thread[1] == TSANOM_HSA_HANG);
  living_free(&run);
}

/* The normal runs wait for a processor for 2 s before their second beat. */
Test(diagnosis_causes, a_pause_shorter_than_normal_waiting_is_found) {
  living_kind k = living_normal();
  tsanom_hsa_run runs[RUNS];
  uint64_t seed = 25;
  char text[512];
  tsanom_hsa_normal normal = learn_from(&k, RUNS, &seed, TSANOM_OK);
  for (int i = 0; i < RUNS; i++) runs[i] = busy_start(&k, &seed);
  learn_again(&normal, runs);
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

/* A running program whose threads were ready since their last beat does not hang. */
Test(diagnosis_causes, a_silent_thread_without_a_processor_does_not_hang) {
  living_kind k;
  uint64_t seed = 51;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  k.cut = 900;
  k.silence = 3;
  k.state = TSANOM_HSA_STATE_RUNNING;
  for (int waits = 0; waits < 2; waits++) {
    tsanom_hsa_run run = living_run(&k, &seed);
    for (size_t t = 0; t < 2; t++) {
      const tsanom_hsa_series *s = &run.threads[t];
      for (size_t i = 0; waits && i < s->vital_count; i++) {
        tsanom_hsa_vital *v = (tsanom_hsa_vital *)&s->vital[i];
        v->wait_s += fmax(0, v->time - s->time[s->beats - 1]);
      }
    }
    finding f = find(&normal, &run);
    cr_assert(f.status == (waits ? TSANOM_HSA_CONTENTION : TSANOM_HSA_HANG), "%s",
              tsanom_hsa_status_name(f.status));
    living_free(&run);
  }
}
