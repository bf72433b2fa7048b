/* SPDX-License-Identifier: BSD-3-Clause */
/* Seconds without a processor of a silent thread, by its samples. */
#include <criterion/criterion.h>
#include <math.h>

#include "scheduled.h"
#include "support/random.h"

enum { TRIALS = 300 };

/* Random times on and without a processor, and asleep for longer than two samples are
 * apart: at each look after a sample, the error is that of one sample for each sleep. */
Test(diagnosis_watch_wait, waiting_is_measured_between_samples) {
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
Test(diagnosis_watch_wait, no_time_counts_twice) {
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
Test(diagnosis_watch_wait, sleep_is_not_waiting) {
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

Test(diagnosis_watch_wait, waiting_before_the_beat_does_not_count) {
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

Test(diagnosis_watch_wait, a_beat_ends_the_waiting) {
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

/* The thread number is that of another task from then on. */
Test(diagnosis_watch_wait, samples_of_two_tasks_are_no_pair) {
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
