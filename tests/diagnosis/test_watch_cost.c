/* SPDX-License-Identifier: BSD-3-Clause */
/* An endless loop beside other programs: named at its limit if it has used more processor
 * time than iterations do. */
#include <criterion/criterion.h>
#include <math.h>

#include "scheduled.h"

/* Samples and looks in the time that passes. */
static void pass_sampled(double seconds) {
  for (double end = now + seconds - step / 2; now < end;) {
    pass(fmin(every / 2, end - now));
    sample_all();
    look();
  }
}

/* Iterations of both threads, which have a processor for `cost` seconds, and wait for one
 * for the rest of `length`. Samples are `apart`. */
static void iterate(size_t beats, double length, double cost, double apart) {
  double sampled = now;
  for (size_t k = 0; k < beats; k++) {
    for (size_t i = 0; i < THREADS; i++) beat(i);
    for (double t = 0; t < length - step / 2; t += step) {
      for (size_t i = 0; i < THREADS; i++) set_state(&of[i], t < cost ? RUNS : QUEUED);
      pass(step);
      if (now - sampled < apart - step / 2) continue;
      sampled = now;
      sample_all();
      look();
    }
  }
  for (size_t i = 0; i < THREADS; i++) set_state(&of[i], RUNS);
  sample_all();
  look();
}

/* Thread 0 beats and sleeps, thread 1 has one of `parts` of a processor and does not beat
 * again; seconds until it hangs. */
static double seconds_of_loop(int parts) {
  double first = now;
  beat(0);
  set_state(&of[0], ASLEEP);
  for (int k = 0; status_of(1) != TSANOM_HSA_HANG && k < 500; k++) {
    set_state(&of[1], k % parts ? QUEUED : RUNS);
    pass_sampled(every / 2);
  }
  cr_assert(status_of(0) != TSANOM_HSA_HANG);
  return now - first;
}

/* At the limit with a fourth of a processor; later with less. */
Test(diagnosis_watch_cost, a_loop_hangs_by_the_processor_time_of_iterations) {
  start(0);
  iterate(BEATS / 2, interval, interval, every);
  double took = seconds_of_loop(3);
  cr_assert(fabs(took - limit) < 3 * every, "%g", took);
  stop();
  start(0);
  iterate(BEATS / 2, interval, interval, every);
  took = seconds_of_loop(8);
  cr_assert(fabs(took - 2 * limit) < 0.4, "%g", took);
  stop();
}

/* Of few samples it is their duration, of long iterations the time between samples. */
Test(diagnosis_watch_cost, an_iteration_costs_at_most_what_both_bounds_allow) {
  start(0);
  iterate(2 * BEATS, interval, interval, 15 * interval);
  double took = seconds_of_loop(3);
  cr_assert(fabs(took - limit) < 3 * every, "%g", took);
  stop();
  start(0);
  iterate(BEATS / 2, 0.3, interval, every);
  took = seconds_of_loop(3) + 0.3;
  cr_assert(fabs(took - limit) < 3 * every, "%g", took);
  stop();
}

/* Iterations of 0.2 s explain 0.6 s. A sample is near the end of the last one. */
Test(diagnosis_watch_cost, long_iterations_need_a_processor) {
  for (int last = 0; last < 2; last++) {
    start(0);
    iterate(BEATS / 2, last ? interval : 0.2, 0.2, every);
    if (last) {
      for (size_t i = 0; i < THREADS; i++) beat(i);
      pass(0.2 - step);
      sample_all();
      look();
      pass(step);
      for (size_t i = 0; i < THREADS; i++) beat(i);
      pass(interval);
      sample_all();
      look();
    }
    double took = seconds_of_loop(3);
    double expected = last ? 1.8 : 1.2; /* the silence began 0.2 s before */
    cr_assert(fabs(took - expected) < 4 * every, "%d: %g", last, took);
    stop();
  }
}

/* It may be the one that it waits for. One that sleeps until another one wakes it is not.
 */
Test(diagnosis_watch_cost, a_thread_that_may_wait_for_another_one_does_not_hang) {
  for (int sleeps = 0; sleeps < 2; sleeps++) {
    start(0);
    iterate(BEATS / 2, interval, interval, every);
    set_state(&of[0], sleeps ? ASLEEP : QUEUED);
    double first = now;
    for (int k = 0; status_of(1) != TSANOM_HSA_HANG && k < 100; k++) {
      set_state(&of[1], k % 3 ? QUEUED : RUNS);
      pass(every / 2);
      sample_all();
      for (size_t i = 0; i < THREADS; i++) {
        of[i].sample[of[i].samples - 1].waits =
            i || !sleeps ? TSANOM_HSA_WAITS_UNKNOWN : TSANOM_HSA_WAITS_THREAD;
      }
      look();
    }
    cr_assert(sleeps ? now - first < limit + 3 * every : now - first > 2 * limit, "%g",
              now - first);
    stop();
  }
}

/* A thread that sleeps does not compute; and what it computed before its beat is not of
 * its silence, also if there was no sample between. */
Test(diagnosis_watch_cost, only_a_thread_that_computes_in_its_silence_hangs_early) {
  for (int variant = 0; variant < 2; variant++) {
    start(0);
    iterate(BEATS / 2, interval, interval, every);
    beat(0);
    set_state(&of[0], ASLEEP);
    if (variant) {
      for (int k = 0; k < BEATS / 2; k++) {
        pass(interval);
        beat(1);
      }
      set_state(&of[1], QUEUED);
    } else {
      pass_sampled(0.3);
      set_state(&of[1], QUEUED);
      pass_sampled(0.4);
      set_state(&of[1], RUNS);
      set_state(&of[1], ASLEEP);
    }
    pass_sampled(limit - (variant ? 0 : 0.5));
    pass_sampled(2 * every);
    cr_assert(status_of(1) != TSANOM_HSA_HANG, "%d", variant);
    stop();
  }
}

/* It computes again, and then has no processor. */
Test(diagnosis_watch_cost, a_beat_ends_the_loop) {
  start(0);
  iterate(BEATS / 2, interval, interval, every);
  (void)seconds_of_loop(3);
  set_state(&of[1], RUNS);
  beat(1);
  beat(0);
  pass_sampled(every);
  set_state(&of[1], QUEUED);
  pass_sampled(limit + 3 * every);
  cr_assert(status_of(1) == TSANOM_HSA_CONTENTION, "%d", status_of(1));
  stop();
}
