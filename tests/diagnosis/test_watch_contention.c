/* SPDX-License-Identifier: BSD-3-Clause */
/* Silences of threads without a processor: contention, and what hangs beside it. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "scheduled.h"

/* Time passes, with samples, until a thread has another status; seconds since then. */
static double seconds_until(size_t i, int32_t status, double most) {
  double first = now;
  while (status_of(i) != status && now - first < most) {
    pass(every);
    sample_all();
    look();
  }
  return now - first;
}

static const tsanom_diagnosis_anomaly *find(int32_t cause, int32_t number) {
  for (size_t i = 0; i < anomalies; i++) {
    if (found[i].cause.cause == cause && found[i].cause.thread == number) {
      return &found[i];
    }
  }
  return NULL;
}

/* The barrier lets thread 0 go on when thread 1 has reached it. */
Test(diagnosis_watch_contention, without_a_processor_no_thread_hangs) {
  for (size_t ahead = 0; ahead <= THREADS; ahead += THREADS) {
    start(0);
    begin(ahead);
    set_state(&of[0], ASLEEP);
    set_state(&of[1], QUEUED);
    double took = seconds_until(1, TSANOM_HSA_CONTENTION, 5);
    cr_assert(took > limit && took < limit + 3 * every, "%g", took);
    cr_assert(seconds_until(0, TSANOM_HSA_HANG, 5) >= 5);
    cr_assert(status_of(0) == TSANOM_HSA_WAITING);
    const tsanom_diagnosis_anomaly *a = find(TSANOM_HSA_CONTENTION, 1);
    cr_assert(a && anomalies == 1 && a->phase == TSANOM_DIAGNOSIS_ANOMALY_LASTS);
    cr_assert(a->iteration == BEATS / 2 && a->cause.ready_s > 5);
    char text[512];
    tsanom_diagnosis_cause_text(&a->cause, TSANOM_DIAGNOSIS_CAUSE_EVIDENCE, text,
                                sizeof text, NULL);
    cr_assert(
        strstr(text, "has made no beat for 6.") && strstr(text, "without a processor"),
        "%s", text);
    stop();
  }
}

/* Thread 1 beats; thread 0, which waited for it, has not run yet. If it does not beat
 * then, or thread 1 goes on without it, it hangs. */
Test(diagnosis_watch_contention, threads_that_waited_have_time_to_beat_again) {
  for (size_t beats = 1; beats < 4; beats++) {
    start(0);
    begin(THREADS);
    set_state(&of[0], ASLEEP);
    set_state(&of[1], QUEUED);
    for (int k = 0; k < 40; k++) {
      pass(every);
      sample_all();
      if (k == 18) look();
    }
    set_state(&of[1], RUNS);
    for (size_t k = 0; k < beats; k++) {
      pass(step);
      beat(1);
    }
    set_state(&of[1], ASLEEP);
    sample_all();
    look();
    cr_assert(status_of(0) == (beats > 1 ? TSANOM_HSA_HANG : TSANOM_HSA_WAITING));
    double took = seconds_until(0, TSANOM_HSA_HANG, 5);
    cr_assert(beats > 1 || (took > limit && took < limit + 2 * every), "%g", took);
    stop();
  }
}

/* One thread is named at its limit, and the other keeps its own status. */
Test(diagnosis_watch_contention, a_hang_is_found_at_the_limit_beside_any_other) {
  static const struct {
    double hang; /* a given limit is one of time */
    size_t ahead, hanging;
    int state[THREADS];
    int32_t other;
  } cases[] = {
      {0, 0, 1, {ASLEEP, ASLEEP}, TSANOM_HSA_WAITING},
      /* Thread 0 beat once more, does not sleep at the barrier, and has no processor. */
      {0, 0, 1, {QUEUED, ASLEEP}, TSANOM_HSA_CONTENTION},
      /* Both became silent at once. */
      {0, THREADS, 0, {ASLEEP, QUEUED}, TSANOM_HSA_CONTENTION},
      {0.5, 0, 1, {ASLEEP, QUEUED}, TSANOM_HSA_WAITING},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    size_t hanging = cases[c].hanging;
    start(cases[c].hang);
    begin(cases[c].ahead);
    if (hanging == 0) of[1].beat[of[1].beats++] = now - 0.7 * interval;
    for (size_t i = 0; i < THREADS; i++) set_state(&of[i], cases[c].state[i]);
    double took = seconds_until(hanging, TSANOM_HSA_HANG, 5);
    double most = cases[c].hang > 0 ? cases[c].hang : limit;
    cr_assert(took < most + 2 * every, "%zu: %g", c, took);
    cr_assert(status_of(1 - hanging) == cases[c].other, "%zu", c);
    stop();
  }
}

static void let_thread_0_beat(int beats) {
  for (int k = 0; k < beats; k++) {
    pass(0.1);
    sample_all();
    beat(0);
    look();
  }
}

/* One that had no processor before, but has one now, explains no silence. Thread 1 needs a
 * second for each 0.25 s. */
Test(diagnosis_watch_contention, what_another_thread_waited_before_does_not_count) {
  start(0);
  begin(THREADS);
  set_state(&of[1], QUEUED);
  let_thread_0_beat(20);
  set_state(&of[1], RUNS);
  let_thread_0_beat(20);
  cr_assert(pulse_of(1).waited > 1.9 && status_of(1) == TSANOM_HSA_HANG);
  set_state(&of[0], ASLEEP);
  set_state(&of[1], ASLEEP);
  beat(1);
  double took = seconds_until(1, TSANOM_HSA_HANG, 5);
  cr_assert(took < limit + 2 * every, "%g", took);
  stop();
}

/* Thread 1 beat for a while before it had no processor: thread 0 has caught up with it.
 */
Test(diagnosis_watch_contention, only_waiting_during_the_silence_counts) {
  enum { MORE = 18 };
  start(0);
  begin(THREADS);
  for (int k = 0; k < MORE; k++) beat(1);
  set_state(&of[1], QUEUED);
  let_thread_0_beat(MORE);
  set_state(&of[1], RUNS);
  set_state(&of[0], ASLEEP);
  set_state(&of[1], ASLEEP);
  double took = seconds_until(0, TSANOM_HSA_HANG, 5);
  cr_assert(took < limit + 2 * every, "%g", took);
  stop();
}

/* An endless loop on a quarter of a processor hangs after four times the limit. */
Test(diagnosis_watch_contention, a_loop_hangs_by_its_processor_time) {
  start(0);
  begin(0);
  set_state(&of[0], ASLEEP);
  double first = now;
  for (int k = 0; status_of(1) != TSANOM_HSA_HANG && k < 1000; k++) {
    set_state(&of[1], k % 4 ? QUEUED : RUNS);
    pass(every / 3);
    if (k % 3 == 0) sample_all();
    look();
  }
  cr_assert(fabs(now - first - 4 * limit) < 4 * every, "%g", now - first);
  stop();
}

/* It was without a processor for a moment; then the sampler is stopped with the program,
 * or has no processor either. */
Test(diagnosis_watch_contention,
     without_samples_a_thread_waits_for_another_limit_at_most) {
  start(0);
  begin(THREADS);
  set_state(&of[0], QUEUED);
  set_state(&of[1], QUEUED);
  pass(every);
  sample_all();
  pass(1.8 * limit);
  look();
  cr_assert(status_of(0) == TSANOM_HSA_CONTENTION);
  pass(0.3 * limit);
  look();
  cr_assert(status_of(0) == TSANOM_HSA_HANG);
  stop();
}

/* It had no processor for a part of its silence, which is not long without that. */
Test(diagnosis_watch_contention, a_moment_without_a_processor_is_no_contention) {
  start(0);
  begin(THREADS);
  set_state(&of[0], QUEUED);
  pass(every);
  sample_all();
  pass(every);
  sample_all();
  set_state(&of[0], RUNS);
  pass(limit - every);
  sample_all();
  look();
  cr_assert(status_of(0) == TSANOM_HSA_NORMAL && pulse_of(0).waited > every);
  stop();
}
