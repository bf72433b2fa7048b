/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks of a job hang and which wait: ranks that never ran, against the rule. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/random.h"
#include "watch_team.h"

enum { RANKS_MOST = 6, THREADS = 2, TRIALS = 2000 };

static const double limit = 1, interval = 0.2, start = 1.7e9;

static watched rank[RANKS_MOST];
static tsanom_hsa_pulse pulse[RANKS_MOST][THREADS];
static tsanom_hsa_anomaly anomaly[RANKS_MOST];

/* Rank i as its own watch judges it: thread 0 beat last at `last`, on the clock of the
 * rank; its hang is in `phase`, -1: it does not hang. */
static void set(size_t i, double last, double now, int32_t phase) {
  int hangs = phase >= 0 && phase != TSANOM_HSA_ANOMALY_RECOVERED;
  pulse[i][0] = (tsanom_hsa_pulse){.status = hangs ? TSANOM_HSA_HANG : TSANOM_HSA_NORMAL,
                                   .last = last,
                                   .limit = limit,
                                   .shortest = interval};
  pulse[i][1] = pulse[i][0];
  if (hangs) pulse[i][1].status = TSANOM_HSA_WAITING;
  anomaly[i] = (tsanom_hsa_anomaly){.cause = {.cause = TSANOM_HSA_HANG,
                                              .value = now - last,
                                              .sign = TSANOM_HSA_SIGN_GAP,
                                              .most = NAN,
                                              .limit = limit,
                                              .begin = last,
                                              .end = INFINITY,
                                              .threads = 1},
                                    .phase = phase};
  pulse[i][0].beats = pulse[i][1].beats = 100 + i;
  rank[i].rank = (int32_t)i;
  rank[i].start = start + (double)i;
  rank[i].now = now - (double)i;
  rank[i].threads = THREADS;
  rank[i].pulse = pulse[i];
  rank[i].anomaly = &anomaly[i];
  rank[i].anomalies = phase >= 0;
}

/* The gap begins with the last beat, at the hanging rank and at those that wait for it;
 * `waiting`: the threads that the hang stops, the second one of its own rank included. */
static void assert_hang(const tsanom_finding *cause, double begin, size_t waiting) {
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
  cr_assert(tsanom_hsa_cause_text(cause, text, sizeof text, &length) == TSANOM_OK);
  cr_assert(waiting ? strstr(text, expected) != NULL : !strstr(text, "for it"), "%s",
            text);
}

/* Their clocks begin one second after each other. */
Test(watch_team, the_rank_that_is_silent_longest_hangs) {
  uint64_t seed = 1;
  for (int trial = 0; trial < TRIALS; trial++) {
    size_t ranks = random_between(&seed, 1, RANKS_MOST), waiting = 0;
    double last[RANKS_MOST], first = INFINITY;
    memset(rank, 0, sizeof rank);
    for (size_t i = 0; i < ranks; i++) {
      last[i] = 10 + 2 * random_unit(&seed);
      int hangs = 12 - last[i] > limit;
      if (hangs) first = fmin(first, last[i]);
      set(i, last[i] - (double)i, 12, hangs ? TSANOM_HSA_ANOMALY_BEGAN : -1);
    }
    for (size_t i = 0; i < ranks; i++) {
      if (12 - last[i] <= limit) continue;
      if (last[i] > first + interval / 2 + 1e-6) waiting += THREADS;
    }
    watch_team_judge(rank, ranks);
    for (size_t i = 0; i < ranks; i++) {
      int silent = 12 - last[i] > limit, hangs = last[i] <= first + interval / 2 + 1e-6;
      int32_t status = hangs ? TSANOM_HSA_HANG : TSANOM_HSA_WAITING;
      cr_assert(pulse[i][0].status == (silent ? status : TSANOM_HSA_NORMAL), "trial %d",
                trial);
      if (!silent) continue;
      cr_assert(anomaly[i].cause.cause == status);
      assert_hang(&anomaly[i].cause, last[i] - (double)i, hangs ? 1 + waiting : 0);
    }
  }
}

/* They are in the same iteration. */
Test(watch_team, ranks_that_beat_equally_often_hang_together) {
  memset(rank, 0, sizeof rank);
  set(0, 10.4, 12, TSANOM_HSA_ANOMALY_BEGAN);
  set(1, 9, 12, TSANOM_HSA_ANOMALY_BEGAN);
  pulse[0][0].beats = pulse[1][0].beats;
  watch_team_judge(rank, 2);
  cr_assert(pulse[0][0].status == TSANOM_HSA_HANG &&
            pulse[1][0].status == TSANOM_HSA_HANG);
}

/* Rank 0 waits for rank 1, and gets its limit when rank 1 has resumed. */
Test(watch_team, ranks_that_waited_have_time_to_beat_again) {
  memset(rank, 0, sizeof rank);
  set(0, 10.4, 12, TSANOM_HSA_ANOMALY_BEGAN);
  set(1, 9, 12, TSANOM_HSA_ANOMALY_BEGAN);
  watch_team_judge(rank, 2);
  cr_assert(pulse[0][0].status == TSANOM_HSA_WAITING &&
            pulse[1][0].status == TSANOM_HSA_HANG);
  set(0, 10.4, 13, TSANOM_HSA_ANOMALY_LASTS);
  set(1, 11.5, 13, TSANOM_HSA_ANOMALY_RECOVERED);
  watch_team_judge(rank, 2);
  cr_assert(pulse[0][0].status == TSANOM_HSA_WAITING &&
            anomaly[0].cause.cause == TSANOM_HSA_WAITING);
  cr_assert(anomaly[1].cause.cause == TSANOM_HSA_HANG);
  set(0, 10.4, 13.6, TSANOM_HSA_ANOMALY_LASTS);
  set(1, 11.5, 13.6, -1);
  watch_team_judge(rank, 2);
  cr_assert(pulse[0][0].status == TSANOM_HSA_HANG);
  cr_assert(anomaly[0].phase == TSANOM_HSA_ANOMALY_BEGAN &&
            anomaly[0].cause.cause == TSANOM_HSA_HANG);
}

/* What was reported as waiting recovers as that. A rank that ended is not judged. */
Test(watch_team, the_end_of_waiting_is_no_end_of_a_hang) {
  memset(rank, 0, sizeof rank);
  set(0, 10.4, 12, TSANOM_HSA_ANOMALY_BEGAN);
  set(1, 9, 12, TSANOM_HSA_ANOMALY_BEGAN);
  watch_team_judge(rank, 2);
  set(0, 12.1, 12.2, TSANOM_HSA_ANOMALY_RECOVERED);
  set(1, 9, 12.2, TSANOM_HSA_ANOMALY_LASTS);
  rank[1].ended = 1;
  watch_team_judge(rank, 2);
  cr_assert(anomaly[0].cause.cause == TSANOM_HSA_WAITING);
  assert_hang(&anomaly[1].cause, 9, 1);
}

/* Rank 1 has no processor; when it beats again, rank 0 needs time to beat. */
Test(watch_team, a_rank_without_a_processor_does_not_hang) {
  memset(rank, 0, sizeof rank);
  set(0, 9.1, 12, TSANOM_HSA_ANOMALY_BEGAN);
  set(1, 8, 12, -1);
  pulse[1][0].status = TSANOM_HSA_CONTENTION;
  pulse[1][0].beats = pulse[0][0].beats - 1;
  watch_team_judge(rank, 2);
  cr_assert(pulse[0][0].status == TSANOM_HSA_WAITING &&
            anomaly[0].cause.cause == TSANOM_HSA_WAITING);
  cr_assert(pulse[1][0].status == TSANOM_HSA_CONTENTION);
  set(0, 9.1, 12.5, TSANOM_HSA_ANOMALY_LASTS);
  set(1, 11.2, 12.5, -1);
  watch_team_judge(rank, 2);
  cr_assert(pulse[0][0].status == TSANOM_HSA_WAITING);
  set(0, 9.1, 13.3, TSANOM_HSA_ANOMALY_LASTS);
  set(1, 11.2, 13.3, -1);
  watch_team_judge(rank, 2);
  cr_assert(pulse[0][0].status == TSANOM_HSA_HANG);
}

/* Nor does another thread of that rank wait for it, by the rule for threads. */
Test(watch_team, a_thread_hangs_beside_one_without_a_processor) {
  memset(rank, 0, sizeof rank);
  set(0, 9.1, 12, TSANOM_HSA_ANOMALY_BEGAN);
  pulse[0][1] = pulse[0][0];
  pulse[0][1].last = 9;
  pulse[0][1].status = TSANOM_HSA_CONTENTION;
  watch_team_judge(rank, 1);
  cr_assert(pulse[0][0].status == TSANOM_HSA_HANG &&
            anomaly[0].cause.cause == TSANOM_HSA_HANG);
}

/* Rank 1 is stopped. Rank 0 got further by at most one iteration for each rank, and
 * became silent before; it waits without a processor, and then with one. */
Test(watch_team, a_rank_does_not_wait_for_the_processor_of_one_that_got_further) {
  for (uint64_t further = 1; further < 4; further++) {
    int32_t expected = further > 2 ? TSANOM_HSA_WAITING : TSANOM_HSA_HANG;
    memset(rank, 0, sizeof rank);
    for (int look = 0; look < 2; look++) {
      set(0, 8.5, 12 + look, TSANOM_HSA_ANOMALY_BEGAN);
      set(1, 8, 12 + look, look ? TSANOM_HSA_ANOMALY_LASTS : TSANOM_HSA_ANOMALY_BEGAN);
      pulse[0][0].beats = pulse[1][0].beats + further;
      if (!look) pulse[0][0].status = pulse[0][1].status = TSANOM_HSA_CONTENTION;
      watch_team_judge(rank, 2);
      cr_assert(pulse[1][0].status == expected && anomaly[1].cause.cause == expected);
    }
    cr_assert(anomaly[0].cause.cause ==
              (further > 2 ? TSANOM_HSA_HANG : TSANOM_HSA_WAITING));
  }
}

/* Rank 0 became silent first, or equally often; rank 1 is silent beyond its limit or half
 * of it. */
Test(watch_team, ranks_in_calls_wait_for_one_that_is_not) {
  static const int32_t calls[][2] = {{1, 0}, {1, 1}, {1, -1}, {-1, 0}, {0, 0}, {0, 1}};
  for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
    for (int variant = 0; variant < 4; variant++) {
      int hangs = variant % 2, waits = k == 0;
      memset(rank, 0, sizeof rank);
      set(0, 9, 12, TSANOM_HSA_ANOMALY_BEGAN);
      set(1, hangs ? 9.4 : 10.4, 12, hangs ? TSANOM_HSA_ANOMALY_BEGAN : -1);
      if (variant / 2) pulse[1][0].beats = pulse[0][0].beats;
      for (size_t i = 0; i < 2; i++) rank[i].in_call = calls[k][i];
      watch_team_judge(rank, 2);
      cr_assert(pulse[0][0].status == (waits ? TSANOM_HSA_WAITING : TSANOM_HSA_HANG));
      cr_assert(anomaly[0].cause.cause == pulse[0][0].status);
      int second = hangs && (waits || (variant / 2 && k != 5));
      cr_assert((pulse[1][0].status == TSANOM_HSA_HANG) == second, "%zu %d", k, variant);
    }
  }
}

/* It has used its processor for longer than in any iteration, but not for its limit; then
 * for its limit; then the limit is one of time. */
Test(watch_team, a_rank_that_may_wait_in_a_call_is_not_named_early) {
  for (int32_t call = -1; call < 2; call++) {
    memset(rank, 0, sizeof rank);
    for (int look = 0; look < 3; look++) {
      set(0, 9, 12, TSANOM_HSA_ANOMALY_BEGAN);
      pulse[0][0].waited = look == 1 ? 1.9 : 2.1;
      rank[0].in_call = call;
      rank[0].hang = look == 2 ? limit : 0;
      watch_team_judge(rank, 1);
      int named = look || call == 0;
      cr_assert(anomaly[0].cause.cause == (named ? TSANOM_HSA_HANG : TSANOM_HSA_WAITING));
      cr_assert(pulse[0][0].status == (named ? TSANOM_HSA_HANG : TSANOM_HSA_WAITING));
    }
  }
}
