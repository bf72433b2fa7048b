/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks of a job hang and which wait: ranks that never ran, against the rule. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diagnosis/watch.h"
#include "support/check.h"
#include "support/random.h"

enum { RANKS_MOST = 6, THREADS = 2, TRIALS = 2000 };

static const double limit = 1, interval = 0.2, start = 1.7e9;

static tsanom_diagnosis_watch *watch[RANKS_MOST];
static tsanom_diagnosis_rank rank[RANKS_MOST];

static void create(void) {
  for (size_t i = 0; i < RANKS_MOST; i++) {
    CHECK_STATUS(tsanom_diagnosis_watch_create(THREADS, NULL, NULL, NULL, &watch[i]),
                 TSANOM_OK);
  }
}

static void destroy(void) {
  for (size_t i = 0; i < RANKS_MOST; i++) tsanom_diagnosis_watch_destroy(watch[i]);
}

TestSuite(diagnosis_job, .init = create, .fini = destroy);

static void forget(void) {
  for (size_t i = 0; i < RANKS_MOST; i++) {
    rank[i] = (tsanom_diagnosis_rank){.watch = watch[i], .start = start};
  }
}

static tsanom_diagnosis_pulse *pulse_of(size_t i, size_t thread) {
  return &watch[i]->thread[thread].pulse;
}

static int32_t status_of(size_t i) {
  tsanom_diagnosis_pulse pulse;
  CHECK_STATUS(tsanom_diagnosis_watch_pulse(watch[i], 0, &pulse), TSANOM_OK);
  return pulse.status;
}

static size_t judge(size_t ranks) {
  size_t slowest = 99;
  CHECK_STATUS(tsanom_diagnosis_judge_job(rank, ranks, NULL, &slowest), TSANOM_OK);
  return slowest;
}

/* Rank i as its own watch judges it: thread 0 beat last at `last`, on the clock of the
 * rank; its hang is in `phase`, -1: it does not hang. */
static void set(size_t i, double last, double now, int32_t phase) {
  int hangs = phase >= 0 && phase != TSANOM_DIAGNOSIS_ANOMALY_RECOVERED;
  tsanom_diagnosis_pulse pulse = {.status = hangs ? TSANOM_HSA_HANG : TSANOM_HSA_NORMAL,
                                  .last = last,
                                  .rate = hangs ? 0 : 5,
                                  .limit = limit,
                                  .shortest = interval,
                                  .beats = 100 + i};
  tsanom_diagnosis_watch *w = watch[i];
  *pulse_of(i, 0) = pulse;
  if (hangs) pulse.status = TSANOM_HSA_WAITING;
  *pulse_of(i, 1) = pulse;
  w->anomaly[0] = (tsanom_diagnosis_anomaly){.cause = {.cause = TSANOM_HSA_HANG,
                                                       .value = now - last,
                                                       .sign = TSANOM_DIAGNOSIS_SIGN_GAP,
                                                       .most = NAN,
                                                       .limit = limit,
                                                       .begin = last,
                                                       .end = INFINITY,
                                                       .threads = 1},
                                             .phase = phase};
  w->anomalies = phase >= 0;
  rank[i].start = start + (double)i;
  w->now = now - (double)i;
  w->threads = THREADS;
  w->waits = false;
}

/* The gap begins with the last beat, at the hanging rank and at those that wait for it;
 * `waiting`: the threads that the hang stops, the second one of its own rank included. */
static void assert_hang(const tsanom_diagnosis_finding *cause, double begin,
                        size_t waiting) {
  char text[256], expected[64] = "";
  size_t length;
  if (waiting) {
    (void)snprintf(expected, sizeof expected,
                   waiting > 1 ? "; %zu other threads wait for it"
                               : "; %zu other thread waits for it",
                   waiting);
  }
  cr_assert(cause->threads == waiting, "%llu, not %zu",
            (unsigned long long)cause->threads, waiting);
  cr_assert(cause->begin == begin && cause->end == INFINITY);
  cr_assert(tsanom_diagnosis_cause_text(cause, TSANOM_DIAGNOSIS_CAUSE_EVIDENCE, text,
                                        sizeof text, &length) == TSANOM_OK);
  cr_assert(waiting ? strstr(text, expected) != NULL : !strstr(text, "for it"), "%s",
            text);
}

/* Their clocks begin one second after each other. */
Test(diagnosis_job, the_rank_that_is_silent_longest_hangs) {
  uint64_t seed = 1;
  for (int trial = 0; trial < TRIALS; trial++) {
    size_t ranks = random_between(&seed, 1, RANKS_MOST), waiting = 0;
    double last[RANKS_MOST], first = INFINITY;
    forget();
    for (size_t i = 0; i < ranks; i++) {
      last[i] = 10 + 2 * random_unit(&seed);
      int hangs = 12 - last[i] > limit;
      if (hangs) first = fmin(first, last[i]);
      set(i, last[i] - (double)i, 12, hangs ? TSANOM_DIAGNOSIS_ANOMALY_BEGAN : -1);
    }
    for (size_t i = 0; i < ranks; i++) {
      if (12 - last[i] <= limit) continue;
      if (last[i] > first + interval / 2 + 1e-6) waiting += THREADS;
    }
    judge(ranks);
    for (size_t i = 0; i < ranks; i++) {
      int silent = 12 - last[i] > limit, hangs = last[i] <= first + interval / 2 + 1e-6;
      int32_t status = hangs ? TSANOM_HSA_HANG : TSANOM_HSA_WAITING;
      cr_assert(status_of(i) == (silent ? status : TSANOM_HSA_NORMAL), "trial %d", trial);
      if (!silent) continue;
      cr_assert(watch[i]->anomaly[0].cause.cause == status);
      assert_hang(&watch[i]->anomaly[0].cause, last[i] - (double)i,
                  hangs ? 1 + waiting : 0);
    }
  }
}

/* They are in the same iteration. */
Test(diagnosis_job, ranks_that_beat_equally_often_hang_together) {
  forget();
  set(0, 10.4, 12, TSANOM_DIAGNOSIS_ANOMALY_BEGAN);
  set(1, 9, 12, TSANOM_DIAGNOSIS_ANOMALY_BEGAN);
  pulse_of(0, 0)->beats = pulse_of(1, 0)->beats;
  judge(2);
  cr_assert(status_of(0) == TSANOM_HSA_HANG && status_of(1) == TSANOM_HSA_HANG);
}

/* Rank 0 waits for rank 1, and gets its limit when rank 1 has resumed. */
Test(diagnosis_job, ranks_that_waited_have_time_to_beat_again) {
  forget();
  set(0, 10.4, 12, TSANOM_DIAGNOSIS_ANOMALY_BEGAN);
  set(1, 9, 12, TSANOM_DIAGNOSIS_ANOMALY_BEGAN);
  judge(2);
  cr_assert(status_of(0) == TSANOM_HSA_WAITING && status_of(1) == TSANOM_HSA_HANG);
  set(0, 10.4, 13, TSANOM_DIAGNOSIS_ANOMALY_LASTS);
  set(1, 11.5, 13, TSANOM_DIAGNOSIS_ANOMALY_RECOVERED);
  judge(2);
  cr_assert(status_of(0) == TSANOM_HSA_WAITING &&
            watch[0]->anomaly[0].cause.cause == TSANOM_HSA_WAITING);
  cr_assert(watch[1]->anomaly[0].cause.cause == TSANOM_HSA_HANG);
  set(0, 10.4, 13.6, TSANOM_DIAGNOSIS_ANOMALY_LASTS);
  set(1, 11.5, 13.6, -1);
  judge(2);
  cr_assert(status_of(0) == TSANOM_HSA_HANG);
  cr_assert(watch[0]->anomaly[0].phase == TSANOM_DIAGNOSIS_ANOMALY_BEGAN &&
            watch[0]->anomaly[0].cause.cause == TSANOM_HSA_HANG);
}

/* What was reported as waiting recovers as that. A rank that ended is not judged. */
Test(diagnosis_job, the_end_of_waiting_is_no_end_of_a_hang) {
  forget();
  set(0, 10.4, 12, TSANOM_DIAGNOSIS_ANOMALY_BEGAN);
  set(1, 9, 12, TSANOM_DIAGNOSIS_ANOMALY_BEGAN);
  judge(2);
  set(0, 12.1, 12.2, TSANOM_DIAGNOSIS_ANOMALY_RECOVERED);
  set(1, 9, 12.2, TSANOM_DIAGNOSIS_ANOMALY_LASTS);
  rank[1].ended = 1;
  judge(2);
  cr_assert(watch[0]->anomaly[0].cause.cause == TSANOM_HSA_WAITING);
  assert_hang(&watch[1]->anomaly[0].cause, 9, 1);
}

/* Rank 1 has no processor; when it beats again, rank 0 needs time to beat. */
Test(diagnosis_job, a_rank_without_a_processor_does_not_hang) {
  forget();
  set(0, 9.1, 12, TSANOM_DIAGNOSIS_ANOMALY_BEGAN);
  set(1, 8, 12, -1);
  pulse_of(1, 0)->status = TSANOM_HSA_CONTENTION;
  pulse_of(1, 0)->beats = pulse_of(0, 0)->beats - 1;
  judge(2);
  cr_assert(status_of(0) == TSANOM_HSA_WAITING &&
            watch[0]->anomaly[0].cause.cause == TSANOM_HSA_WAITING);
  cr_assert(status_of(1) == TSANOM_HSA_CONTENTION);
  set(0, 9.1, 12.5, TSANOM_DIAGNOSIS_ANOMALY_LASTS);
  set(1, 11.2, 12.5, -1);
  judge(2);
  cr_assert(status_of(0) == TSANOM_HSA_WAITING);
  set(0, 9.1, 13.3, TSANOM_DIAGNOSIS_ANOMALY_LASTS);
  set(1, 11.2, 13.3, -1);
  judge(2);
  cr_assert(status_of(0) == TSANOM_HSA_HANG);
}

/* Nor does another thread of that rank wait for it, by the rule for threads. */
Test(diagnosis_job, a_thread_hangs_beside_one_without_a_processor) {
  forget();
  set(0, 9.1, 12, TSANOM_DIAGNOSIS_ANOMALY_BEGAN);
  *pulse_of(0, 1) = *pulse_of(0, 0);
  pulse_of(0, 1)->last = 9;
  pulse_of(0, 1)->status = TSANOM_HSA_CONTENTION;
  judge(1);
  cr_assert(status_of(0) == TSANOM_HSA_HANG &&
            watch[0]->anomaly[0].cause.cause == TSANOM_HSA_HANG);
}

/* Rank 1 is stopped. Rank 0 got further by at most one iteration for each rank, and
 * became silent before; it waits without a processor, and then with one. */
Test(diagnosis_job, a_rank_does_not_wait_for_the_processor_of_one_that_got_further) {
  for (uint64_t further = 1; further < 4; further++) {
    int32_t expected = further > 2 ? TSANOM_HSA_WAITING : TSANOM_HSA_HANG;
    forget();
    for (int look = 0; look < 2; look++) {
      set(0, 8.5, 12 + look, TSANOM_DIAGNOSIS_ANOMALY_BEGAN);
      set(1, 8, 12 + look,
          look ? TSANOM_DIAGNOSIS_ANOMALY_LASTS : TSANOM_DIAGNOSIS_ANOMALY_BEGAN);
      pulse_of(0, 0)->beats = pulse_of(1, 0)->beats + further;
      if (!look) pulse_of(0, 0)->status = pulse_of(0, 1)->status = TSANOM_HSA_CONTENTION;
      judge(2);
      cr_assert(status_of(1) == expected && watch[1]->anomaly[0].cause.cause == expected);
    }
    cr_assert(watch[0]->anomaly[0].cause.cause ==
              (further > 2 ? TSANOM_HSA_HANG : TSANOM_HSA_WAITING));
  }
}

/* Rank 0 became silent first, or equally often; rank 1 is silent beyond its limit or half
 * of it. */
Test(diagnosis_job, ranks_in_calls_wait_for_one_that_is_not) {
  static const int32_t calls[][2] = {{1, 0}, {1, 1}, {1, -1}, {-1, 0}, {0, 0}, {0, 1}};
  for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
    for (int variant = 0; variant < 4; variant++) {
      int hangs = variant % 2, waits = k == 0;
      forget();
      set(0, 9, 12, TSANOM_DIAGNOSIS_ANOMALY_BEGAN);
      set(1, hangs ? 9.4 : 10.4, 12, hangs ? TSANOM_DIAGNOSIS_ANOMALY_BEGAN : -1);
      if (variant / 2) pulse_of(1, 0)->beats = pulse_of(0, 0)->beats;
      for (size_t i = 0; i < 2; i++) rank[i].in_call = calls[k][i];
      judge(2);
      cr_assert(status_of(0) == (waits ? TSANOM_HSA_WAITING : TSANOM_HSA_HANG));
      cr_assert(watch[0]->anomaly[0].cause.cause == status_of(0));
      int second = hangs && (waits || (variant / 2 && k != 5));
      cr_assert((status_of(1) == TSANOM_HSA_HANG) == second, "%zu %d", k, variant);
    }
  }
}

/* It has used its processor for longer than in any iteration, but not for its limit; then
 * for its limit; then the limit is one of time. */
Test(diagnosis_job, a_rank_that_may_wait_in_a_call_is_not_named_early) {
  for (int32_t call = -1; call < 2; call++) {
    forget();
    for (int look = 0; look < 3; look++) {
      set(0, 9, 12, TSANOM_DIAGNOSIS_ANOMALY_BEGAN);
      pulse_of(0, 0)->waited = look == 1 ? 1.9 : 2.1;
      rank[0].in_call = call;
      watch[0]->options.hang = look == 2 ? limit : 0;
      judge(1);
      int named = look || call == 0;
      cr_assert(watch[0]->anomaly[0].cause.cause ==
                (named ? TSANOM_HSA_HANG : TSANOM_HSA_WAITING));
      cr_assert(status_of(0) == (named ? TSANOM_HSA_HANG : TSANOM_HSA_WAITING));
    }
  }
}

/* ---- by updates */

/* What a rank beats between two looks, each interval, unless it stopped. */
static void look(size_t i, double from, double to, double stop) {
  double time[64];
  tsanom_hsa_series s[THREADS];
  const tsanom_diagnosis_anomaly *found;
  size_t count, beats = 0;
  for (double at = interval * ceil(from / interval - 1e-9); at < fmin(to, stop) - 1e-9;
       at += interval) {
    time[beats++] = at;
  }
  for (size_t t = 0; t < THREADS; t++) {
    s[t] = (tsanom_hsa_series){.time = time, .beats = beats};
  }
  const tsanom_hsa_run news = {
      .threads = s, .thread_count = THREADS, .end = to, .state = TSANOM_RUN_RUNNING};
  CHECK_STATUS(tsanom_diagnosis_watch_update(watch[i], &news, NULL, &found, &count),
               TSANOM_OK);
}

/* Rank 1 stops at 5.1 s and rank 0 an iteration later, until rank 1 goes on at 9 s. */
Test(diagnosis_job, ranks_are_judged_look_by_look) {
  static const struct {
    double to;
    int32_t status[2];
    int32_t phase[2]; /* -1: no anomaly */
    size_t slowest;
  } looks[] = {{5, {TSANOM_HSA_NORMAL, TSANOM_HSA_NORMAL}, {-1, -1}, 0},
               {6.1, {TSANOM_HSA_NORMAL, TSANOM_HSA_HANG}, {-1, 0}, 1},
               {7, {TSANOM_HSA_WAITING, TSANOM_HSA_HANG}, {0, 1}, 1},
               {8, {TSANOM_HSA_WAITING, TSANOM_HSA_HANG}, {1, 1}, 1},
               {9.3, {TSANOM_HSA_NORMAL, TSANOM_HSA_NORMAL}, {2, 2}, 1},
               {10, {TSANOM_HSA_NORMAL, TSANOM_HSA_NORMAL}, {-1, -1}, 1}};
  double before = 0;
  forget();
  for (size_t k = 0; k < sizeof looks / sizeof *looks; k++) {
    double to = looks[k].to;
    for (size_t i = 0; i < 2; i++) {
      double stop = to < 9 ? 5.1 + (i ? 0 : interval) : INFINITY;
      look(i, before < 9 && to > 9 ? 9 : before, to, stop);
    }
    cr_assert(judge(2) == looks[k].slowest, "%zu", k);
    for (size_t i = 0; i < 2; i++) {
      const tsanom_diagnosis_watch *w = watch[i];
      int32_t phase = w->anomalies ? w->anomaly[0].phase : -1;
      cr_assert(status_of(i) == looks[k].status[i] && rank[i].status == status_of(i),
                "%zu of %zu: %d, %d", i, k, status_of(i), rank[i].status);
      cr_assert(phase == looks[k].phase[i], "%zu of %zu: %d", i, k, phase);
      if (!w->anomalies) continue;
      cr_assert(w->anomaly[0].cause.cause == (i ? TSANOM_HSA_HANG : TSANOM_HSA_WAITING));
      if (i && to > 6.9 && to < 9) {
        cr_assert(w->anomaly[0].cause.threads == 2, "%zu", k);
      }
    }
    before = to;
  }
}

/* The one whose thread hangs first, wherever it stands; else the slowest thread. Runs that
 * have not begun are none of these, and those of no job do not wait for each other. */
Test(diagnosis_job, the_run_that_holds_up_the_others_is_named) {
  forget();
  for (size_t i = 0; i < 3; i++) {
    set(i, 10 - (double)i, 10, -1);
    pulse_of(i, 1)->rate = 5 - (double)(i == 1);
    rank[i].job = i < 2 ? -1 : 7;
  }
  rank[3].watch = NULL;
  cr_assert(judge(4) == 1 && rank[3].status == TSANOM_HSA_NORMAL);
  set(0, 8, 10, TSANOM_DIAGNOSIS_ANOMALY_BEGAN);
  set(2, 6.5, 10, TSANOM_DIAGNOSIS_ANOMALY_BEGAN);
  cr_assert(judge(4) == 0 && status_of(0) == TSANOM_HSA_HANG);
  set(2, 5.5, 10, TSANOM_DIAGNOSIS_ANOMALY_BEGAN);
  cr_assert(judge(4) == 2 && status_of(0) == TSANOM_HSA_HANG && rank[0].status == 0);
  cr_assert(judge(1) == TSANOM_NONE && judge(0) == TSANOM_NONE);
}

Test(diagnosis_job, misuse_is_rejected) {
  size_t slowest = 5;
  tsanom_diagnosis_remaining r = {.iterations = 5};
  tsanom_hsa_run run = {.thread_count = 0};
  forget();
  CHECK_STATUS(tsanom_diagnosis_judge_job(rank, SIZE_MAX, NULL, &slowest),
               TSANOM_E_OVERFLOW);
  cr_assert(slowest == 5 && r.iterations == 5);
  CHECK_STATUS(tsanom_diagnosis_predict(watch[0], &run, NULL, &r), TSANOM_OK);
  cr_assert(isnan(r.iterations) && isnan(r.seconds) && isnan(r.low) && isnan(r.high));
}
