/* SPDX-License-Identifier: BSD-3-Clause */
/* Silences of threads without a processor: threads that never ran, on a scheduler whose
 * decisions are known. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <tsanom/watch.h>

#include "support/check.h"
#include "support/random.h"

enum { THREADS = 2, BEATS = 40, SAMPLES = 4000, TRIALS = 300 };
enum { ASLEEP, QUEUED, RUNS };

static const double interval = 0.01, step = 0.001, every = 0.05, limit = 1;

/* What the scheduler knows of a thread. */
typedef struct {
  double beat[BEATS];
  tsanom_hsa_vital sample[SAMPLES];
  size_t beats, samples;
  double cpu, wait, queued; /* `queued`: not in `wait` yet */
  double waited;            /* since the latest beat */
  int state;
} thread;

static thread of[THREADS];
static double now;
static tsanom_hsa_watch *watch;
static const tsanom_hsa_anomaly *found;
static size_t anomalies;

static void start(double hang) {
  tsanom_hsa_watch_options options;
  CHECK_STATUS(tsanom_hsa_watch_options_init(&options, sizeof options), TSANOM_OK);
  options.hang = hang;
  CHECK_STATUS(tsanom_hsa_watch_create(THREADS, NULL, &options, NULL, &watch), TSANOM_OK);
  memset(of, 0, sizeof of);
  now = 0;
}

static void stop(void) {
  tsanom_hsa_watch_destroy(watch);
}

/* The kernel counts waiting when the thread gets a processor. */
static void set_state(thread *t, int state) {
  if (state == RUNS) {
    t->wait += t->queued;
    t->queued = 0;
  }
  t->state = state;
}

static void pass(double seconds) {
  now += seconds;
  for (size_t i = 0; i < THREADS; i++) {
    if (of[i].state == RUNS) of[i].cpu += seconds;
    if (of[i].state != QUEUED) continue;
    of[i].queued += seconds;
    of[i].waited += seconds;
  }
}

static void beat(size_t i) {
  of[i].beat[of[i].beats++] = now;
  of[i].waited = 0;
}

static void take_sample(size_t i, int letter) {
  of[i].sample[of[i].samples++] = (tsanom_hsa_vital){.time = now,
                                                     .cpu_s = of[i].cpu,
                                                     .wait_s = of[i].wait,
                                                     .beats = of[i].beats,
                                                     .thread = (int32_t)i,
                                                     .task = 100 + (int32_t)i,
                                                     .state = letter};
}

static void sample_all(void) {
  for (size_t i = 0; i < THREADS; i++) take_sample(i, of[i].state == ASLEEP ? 'S' : 'R');
}

/* Give the watch what is new. */
static void look(void) {
  tsanom_hsa_series news[THREADS];
  for (size_t i = 0; i < THREADS; i++) {
    news[i] = (tsanom_hsa_series){.time = of[i].beat,
                                  .beats = of[i].beats,
                                  .vital = of[i].sample,
                                  .vital_count = of[i].samples};
    of[i].beats = of[i].samples = 0;
  }
  tsanom_hsa_run run = {.threads = news,
                        .thread_count = THREADS,
                        .end = now,
                        .state = TSANOM_HSA_STATE_RUNNING};
  CHECK_STATUS(tsanom_hsa_watch_update(watch, &run, NULL, &found, &anomalies), TSANOM_OK);
}

static tsanom_hsa_pulse pulse_of(size_t i) {
  tsanom_hsa_pulse pulse;
  CHECK_STATUS(tsanom_hsa_watch_pulse(watch, i, &pulse), TSANOM_OK);
  return pulse;
}

static int32_t status_of(size_t i) {
  return pulse_of(i).status;
}

/* Both threads beat on processors of their own; thread `ahead` beats once more. */
static void begin(size_t ahead) {
  for (size_t k = 0; k < BEATS / 2; k++) {
    for (size_t i = 0; i < THREADS; i++) {
      set_state(&of[i], RUNS);
      beat(i);
    }
    pass(interval);
  }
  if (ahead < THREADS) beat(ahead);
  sample_all();
  look();
}

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

static const tsanom_hsa_anomaly *find(int32_t cause, int32_t number) {
  for (size_t i = 0; i < anomalies; i++) {
    if (found[i].cause.cause == cause && found[i].cause.thread == number) {
      return &found[i];
    }
  }
  return NULL;
}

/* Random times on and without a processor, and asleep for longer than two samples are
 * apart: at each look after a sample, the error is that of one sample for each sleep. */
Test(hsa_watch_wait, waiting_is_measured_between_samples) {
  uint64_t seed = 1;
  for (int trial = 0; trial < TRIALS; trial++) {
    size_t sleeps = 0;
    double until = 0;
    start(0);
    begin(THREADS);
    for (int i = 0; i < 3000; i++) {
      if (now >= until) {
        int state = (int)random_between(&seed, trial % 2 ? QUEUED : ASLEEP, RUNS);
        if (of[0].state == QUEUED) state = RUNS;
        double least = state == ASLEEP ? 3 * every : step;
        until = now + least + random_unit(&seed) * (state == ASLEEP ? 0.5 : 0.2);
        if (state == ASLEEP) sleeps++;
        set_state(&of[0], state);
      }
      pass(step);
      if (random_between(&seed, 0, (uint64_t)(every / step)) == 0) sample_all();
      if (i % 50) continue;
      sample_all();
      look();
      double error = fabs(pulse_of(0).waited - of[0].waited);
      cr_assert(error <= 2 * every * (double)(sleeps + 1), "%g, not %g", error,
                of[0].waited);
      if (trial % 2) cr_assert(error < 1e-9, "%g", error);
    }
    stop();
  }
}

/* The kernel counts a time without a processor when it is over, which samples in it have
 * shown before. */
Test(hsa_watch_wait, no_time_counts_twice) {
  start(0);
  begin(THREADS);
  for (int state = RUNS; state >= QUEUED; state--) {
    set_state(&of[0], state);
    for (int k = 0; k < 20; k++) {
      pass(every);
      sample_all();
    }
  }
  set_state(&of[0], RUNS);
  set_state(&of[0], ASLEEP);
  pass(every);
  sample_all();
  look();
  cr_assert(fabs(pulse_of(0).waited - 20 * every) < 1e-9, "%g", pulse_of(0).waited);
  stop();
}

/* It is ready at each other sample, and asleep before. */
Test(hsa_watch_wait, sleep_is_not_waiting) {
  start(0);
  begin(THREADS);
  for (int k = 0; k < 20; k++) {
    set_state(&of[0], ASLEEP);
    sample_all();
    pass(every);
    set_state(&of[0], RUNS);
    sample_all();
  }
  look();
  cr_assert(pulse_of(0).waited < 1e-9, "%g", pulse_of(0).waited);
  stop();
}

Test(hsa_watch_wait, waiting_before_the_beat_does_not_count) {
  start(0);
  begin(THREADS);
  set_state(&of[0], ASLEEP);
  sample_all();
  set_state(&of[0], QUEUED);
  pass(1);
  set_state(&of[0], RUNS);
  beat(0);
  pass(every);
  set_state(&of[0], ASLEEP);
  sample_all();
  look();
  cr_assert(pulse_of(0).waited <= every + 1e-9, "%g", pulse_of(0).waited);
  stop();
}

Test(hsa_watch_wait, a_beat_ends_the_waiting) {
  start(0);
  begin(THREADS);
  set_state(&of[0], QUEUED);
  pass(0.3);
  sample_all();
  look();
  cr_assert(pulse_of(0).waited > 0.2);
  set_state(&of[0], RUNS);
  beat(0);
  set_state(&of[0], ASLEEP);
  pass(1);
  sample_all();
  look();
  cr_assert(pulse_of(0).waited < 1e-9, "%g", pulse_of(0).waited);
  stop();
}

/* The barrier lets thread 0 go on when thread 1 has reached it. */
Test(hsa_watch_wait, without_a_processor_no_thread_hangs) {
  for (size_t ahead = 0; ahead <= THREADS; ahead += THREADS) {
    start(0);
    begin(ahead);
    set_state(&of[0], ASLEEP);
    set_state(&of[1], QUEUED);
    double took = seconds_until(1, TSANOM_HSA_CONTENTION, 5);
    cr_assert(took > limit && took < limit + 3 * every, "%g", took);
    cr_assert(seconds_until(0, TSANOM_HSA_HANG, 5) >= 5);
    cr_assert(status_of(0) == TSANOM_HSA_WAITING);
    const tsanom_hsa_anomaly *a = find(TSANOM_HSA_CONTENTION, 1);
    cr_assert(a && anomalies == 1 && a->phase == TSANOM_HSA_ANOMALY_LASTS);
    cr_assert(a->iteration == BEATS / 2 && a->cause.number[0] > 5 &&
              isnan(a->cause.number[1]));
    char text[512];
    tsanom_hsa_cause_text(&a->cause, text, sizeof text, NULL);
    cr_assert(
        strstr(text, "has not beaten for 6.") && strstr(text, "without a processor"),
        "%s", text);
    stop();
  }
}

/* Thread 1 beats; thread 0, which waited for it, has not run yet. If it does not beat
 * then, or thread 1 goes on without it, it hangs. */
Test(hsa_watch_wait, threads_that_waited_have_time_to_beat_again) {
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

/* The same silences, but thread 1 is asleep. */
Test(hsa_watch_wait, a_deadlock_is_found_at_the_limit) {
  start(0);
  begin(0);
  set_state(&of[0], ASLEEP);
  set_state(&of[1], ASLEEP);
  double took = seconds_until(1, TSANOM_HSA_HANG, 5);
  cr_assert(took < limit + 2 * every, "%g", took);
  cr_assert(status_of(0) == TSANOM_HSA_WAITING);
  stop();
}

/* Thread 0 does not sleep at the barrier, and has no processor; it beat once more than
 * the one that hangs. */
Test(hsa_watch_wait, a_thread_that_got_further_explains_no_silence) {
  start(0);
  begin(0);
  set_state(&of[0], QUEUED);
  set_state(&of[1], ASLEEP);
  double took = seconds_until(1, TSANOM_HSA_HANG, 5);
  cr_assert(took < limit + 2 * every, "%g", took);
  cr_assert(status_of(0) == TSANOM_HSA_CONTENTION);
  stop();
}

static void let_thread_0_beat(void) {
  for (int k = 0; k < 20; k++) {
    pass(0.1);
    sample_all();
    beat(0);
    look();
  }
}

/* Nor does one that had no processor before, but has one now: thread 1 needs a second for
 * each 0.25 s. */
Test(hsa_watch_wait, what_another_thread_waited_before_does_not_count) {
  start(0);
  begin(THREADS);
  set_state(&of[1], QUEUED);
  let_thread_0_beat();
  set_state(&of[1], RUNS);
  let_thread_0_beat();
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
Test(hsa_watch_wait, only_waiting_during_the_silence_counts) {
  enum { MORE = 18 };
  start(0);
  begin(THREADS);
  for (int k = 0; k < MORE; k++) beat(1);
  set_state(&of[1], QUEUED);
  for (int k = 0; k < MORE; k++) {
    pass(0.1);
    sample_all();
    beat(0);
    look();
  }
  set_state(&of[1], RUNS);
  set_state(&of[0], ASLEEP);
  set_state(&of[1], ASLEEP);
  double took = seconds_until(0, TSANOM_HSA_HANG, 5);
  cr_assert(took < limit + 2 * every, "%g", took);
  stop();
}

/* Both became silent at once, but thread 1 has no processor. */
Test(hsa_watch_wait, contention_beside_a_hang) {
  start(0);
  begin(THREADS);
  of[1].beat[of[1].beats++] = now - 0.7 * interval;
  set_state(&of[0], ASLEEP);
  set_state(&of[1], QUEUED);
  double took = seconds_until(0, TSANOM_HSA_HANG, 5);
  cr_assert(took < limit + 2 * every, "%g", took);
  cr_assert(status_of(1) == TSANOM_HSA_CONTENTION);
  stop();
}

/* An endless loop on a quarter of a processor hangs after four times the limit. */
Test(hsa_watch_wait, a_loop_hangs_by_its_processor_time) {
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
Test(hsa_watch_wait, without_samples_a_thread_waits_for_another_limit_at_most) {
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
Test(hsa_watch_wait, a_moment_without_a_processor_is_no_contention) {
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

/* A limit that was given is one of time. */
Test(hsa_watch_wait, a_given_limit_includes_waiting) {
  start(0.5);
  begin(0);
  set_state(&of[0], ASLEEP);
  set_state(&of[1], QUEUED);
  cr_assert(seconds_until(1, TSANOM_HSA_HANG, 5) < 0.5 + 2 * every);
  stop();
}

/* The thread number is that of another task from then on. */
Test(hsa_watch_wait, samples_of_two_tasks_are_no_pair) {
  start(0);
  begin(THREADS);
  set_state(&of[0], QUEUED);
  pass(every);
  take_sample(0, 'R');
  of[0].sample[of[0].samples - 1].task = 7;
  of[0].sample[of[0].samples - 1].wait_s = 50;
  look();
  cr_assert(pulse_of(0).waited == 0);
  pass(every);
  take_sample(0, 'R');
  of[0].sample[of[0].samples - 1].task = 7;
  of[0].sample[of[0].samples - 1].wait_s = 50;
  look();
  cr_assert(fabs(pulse_of(0).waited - every) < 1e-9, "%g", pulse_of(0).waited);
  stop();
}
