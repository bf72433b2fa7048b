/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule of tsanom_diagnosis_watch for hangs, against its definition. */
#include <criterion/criterion.h>
#include <math.h>
#include <tsanom/diagnosis.h>

#include "support/check.h"
#include "support/random.h"

enum { TRIALS = 2000, BEATS_MOST = 700, THREADS_MOST = 6 };

static double time_of[THREADS_MOST][BEATS_MOST];

/* The smallest interval that at least the share `q` of the latest ones does not exceed.
 */
static double naive_quantile(size_t beats, double q) {
  size_t count = beats - 1 < TSANOM_DIAGNOSIS_WATCH_INTERVALS
                     ? beats - 1
                     : TSANOM_DIAGNOSIS_WATCH_INTERVALS;
  const double *time = time_of[0];
  double best = INFINITY;
  for (size_t i = beats - count; i < beats; i++) {
    double candidate = time[i] - time[i - 1];
    size_t below = 0;
    for (size_t k = beats - count; k < beats; k++) {
      below += time[k] - time[k - 1] <= candidate;
    }
    if ((double)below >= q * (double)count) best = fmin(best, candidate);
  }
  return best;
}

static tsanom_diagnosis_watch *create(size_t threads, double hang) {
  tsanom_diagnosis_watch *watch;
  tsanom_diagnosis_watch_options options;
  CHECK_STATUS(tsanom_diagnosis_watch_options_init(&options, sizeof options), TSANOM_OK);
  options.hang = hang;
  CHECK_STATUS(tsanom_diagnosis_watch_create(threads, NULL, &options, NULL, &watch),
               TSANOM_OK);
  return watch;
}

static size_t update(tsanom_diagnosis_watch *watch, const tsanom_hsa_series *series,
                     size_t threads, double now) {
  const tsanom_diagnosis_anomaly *found;
  size_t count;
  tsanom_hsa_run news = {.threads = series,
                         .thread_count = threads,
                         .end = now,
                         .state = TSANOM_RUN_RUNNING};
  CHECK_STATUS(tsanom_diagnosis_watch_update(watch, &news, NULL, &found, &count),
               TSANOM_OK);
  return count;
}

static tsanom_diagnosis_pulse pulse_of(const tsanom_diagnosis_watch *watch,
                                       size_t thread) {
  tsanom_diagnosis_pulse pulse;
  CHECK_STATUS(tsanom_diagnosis_watch_pulse(watch, thread, &pulse), TSANOM_OK);
  return pulse;
}

/* The limit and the rate after all beats of thread 0 in one piece. */
static tsanom_diagnosis_pulse pulse_after(size_t beats, double hang) {
  tsanom_diagnosis_watch *watch = create(1, hang);
  tsanom_hsa_series s = {.time = time_of[0], .beats = beats};
  (void)update(watch, &s, 1, beats ? time_of[0][beats - 1] : 1);
  tsanom_diagnosis_pulse pulse = pulse_of(watch, 0);
  tsanom_diagnosis_watch_destroy(watch);
  return pulse;
}

Test(diagnosis_watch_hang, the_limit_is_three_quantiles_or_a_second) {
  uint64_t seed = 1;
  for (int trial = 0; trial < TRIALS / 10; trial++) {
    size_t beats = random_between(&seed, 2, BEATS_MOST), window = beats - 1;
    double scale = pow(10, 3 * random_unit(&seed) - 2), now = 0;
    for (size_t i = 0; i < beats; i++) {
      time_of[0][i] = now;
      now += scale * (random_unit(&seed) < 0.02 ? 10 : random_unit(&seed));
    }
    tsanom_diagnosis_pulse pulse = pulse_after(beats, 0);
    double limit = fmax(1, 3 * naive_quantile(beats, 0.99));
    if (beats - 1 < TSANOM_DIAGNOSIS_WATCH_FEW_INTERVALS) limit = INFINITY;
    cr_assert(pulse.limit == limit, "%zu beats: %g, not %g", beats, pulse.limit, limit);
    if (window > TSANOM_DIAGNOSIS_WATCH_RATE_BEATS)
      window = TSANOM_DIAGNOSIS_WATCH_RATE_BEATS;
    double taken = time_of[0][beats - 1] - time_of[0][beats - 1 - window];
    cr_assert(pulse.rate == (double)window / taken && pulse.beats == beats);
    cr_assert(pulse_after(beats, 0.25).limit == 0.25);
  }
}

/* One checkpoint in 200 iterations is ignored, one in 50 is usual. */
Test(diagnosis_watch_hang, rare_long_iterations_do_not_count) {
  static const size_t period[] = {200, 50};
  static const double limit[] = {1.5, 60};
  for (int k = 0; k < 2; k++) {
    double now = 0;
    for (size_t i = 0; i < BEATS_MOST; i++) {
      time_of[0][i] = now;
      now += i % period[k] == 7 ? 20 : 0.5;
    }
    tsanom_diagnosis_pulse pulse = pulse_after(BEATS_MOST, 0);
    cr_assert(fabs(pulse.limit - limit[k]) < 1e-9, "%g", pulse.limit);
  }
}

Test(diagnosis_watch_hang, without_beats_there_is_no_limit) {
  tsanom_diagnosis_pulse pulse = pulse_after(0, 0.5);
  cr_assert(isinf(pulse.limit) && isnan(pulse.last) && isnan(pulse.rate));
  cr_assert(pulse.status == TSANOM_HSA_NORMAL);
  time_of[0][0] = 1;
  cr_assert(pulse_after(1, 0.5).limit == 0.5 && isnan(pulse_after(1, 0).rate));
  time_of[0][1] = 1;
  cr_assert(isnan(pulse_after(2, 0).rate));
}

/* The thread that is silent longest hangs; so do silent threads whose silence began
 * within half an interval, or that made as many beats. Others wait that are silent for
 * half the limit, and the rest are normal. */
Test(diagnosis_watch_hang, the_thread_that_is_silent_longest_hangs) {
  enum { BEATS = 20 };
  uint64_t seed = 2;
  for (int trial = 0; trial < TRIALS; trial++) {
    size_t count = random_between(&seed, 1, THREADS_MOST), first = THREADS_MOST,
           hangs = 0;
    tsanom_hsa_series s[THREADS_MOST];
    double since[THREADS_MOST];
    for (size_t i = 0; i < count; i++) {
      size_t beats = random_between(&seed, BEATS, 2 * BEATS);
      since[i] = 10 + 2 * random_unit(&seed);
      for (size_t k = 0; k < beats; k++) {
        time_of[i][k] = since[i] - 0.2 * (double)(beats - 1 - k);
      }
      s[i] = (tsanom_hsa_series){.time = time_of[i], .beats = beats};
      int silent = 12 - since[i] > 1;
      if (silent && (first == THREADS_MOST || since[i] < since[first])) first = i;
    }
    tsanom_diagnosis_watch *watch = create(count, 0);
    size_t found = update(watch, s, count, 12);
    for (size_t i = 0; i < count; i++) {
      int32_t expected = TSANOM_HSA_NORMAL;
      if (first != THREADS_MOST && 12 - since[i] > 0.5) {
        bool same = since[i] <= since[first] + 0.1 || s[i].beats == s[first].beats;
        bool hang = 12 - since[i] > 1 && same;
        expected = hang ? TSANOM_HSA_HANG : TSANOM_HSA_WAITING;
      }
      hangs += expected == TSANOM_HSA_HANG;
      cr_assert(pulse_of(watch, i).status == expected, "trial %d, thread %zu", trial, i);
    }
    cr_assert(found == hangs);
    tsanom_diagnosis_watch_destroy(watch);
  }
}

/* Thread 0 waited for thread 1: its silence begins anew when thread 1 has resumed. */
Test(diagnosis_watch_hang, threads_that_waited_have_time_to_beat_again) {
  enum { BEATS = 20 };
  tsanom_diagnosis_watch *watch = create(2, 0);
  tsanom_hsa_series s[2];
  for (size_t i = 0; i < 2; i++) {
    size_t beats = BEATS + (i == 0);
    for (size_t k = 0; k < beats; k++) time_of[i][k] = 0.5 * (double)k;
    s[i] = (tsanom_hsa_series){.time = time_of[i], .beats = beats};
  }
  cr_assert(update(watch, s, 2, 12.1) == 1);
  cr_assert(pulse_of(watch, 0).status == TSANOM_HSA_WAITING);
  cr_assert(pulse_of(watch, 1).status == TSANOM_HSA_HANG);
  time_of[1][0] = 12.2;
  s[0].beats = 0;
  s[1].beats = 1;
  cr_assert(update(watch, s, 2, 12.3) == 1);
  s[1].beats = 0;
  cr_assert(update(watch, s, 2, 13.5) == 0);
  cr_assert(pulse_of(watch, 0).status == TSANOM_HSA_NORMAL);
  tsanom_diagnosis_watch_destroy(watch);
}

/* Most intervals are long, as on a busy machine. In a short one thread 0 beats once more,
 * before the barrier that thread 1 does not reach. */
Test(diagnosis_watch_hang, the_first_is_named_although_most_intervals_are_longer) {
  enum { BEATS = 40 };
  tsanom_diagnosis_watch *watch = create(2, 0);
  double now = 0;
  for (size_t k = 0; k < BEATS; k++) {
    time_of[0][k] = time_of[1][k] = now;
    now += k % 10 == 8 ? 0.002 : 0.005;
  }
  tsanom_hsa_series s[2] = {{.time = time_of[0], .beats = BEATS},
                            {.time = time_of[1], .beats = BEATS - 1}};
  cr_assert(update(watch, s, 2, now + 2) == 1);
  cr_assert(pulse_of(watch, 0).status == TSANOM_HSA_WAITING);
  cr_assert(pulse_of(watch, 1).status == TSANOM_HSA_HANG);
  tsanom_diagnosis_watch_destroy(watch);
}

/* Both threads are silent from the same beat on, or thread 0 from an earlier one, which
 * sleeps for a thread or its team; the other one as given, by a recorder that knows nothing
 * of teams if `spun` is NaN. */
static void check_sleepers(size_t ahead, int32_t waits_0, int32_t waits, int32_t state,
                           double spun, int32_t expected) {
  enum { BEATS = 40 };
  tsanom_diagnosis_watch *watch = create(2, 0);
  tsanom_hsa_series s[2];
  tsanom_hsa_vital sample[2];
  double last = 0.01 * BEATS;
  for (size_t t = 0; t < 2; t++) {
    size_t beats = BEATS - (t == 0 ? ahead : 0);
    for (size_t i = 0; i < beats; i++) time_of[t][i] = 0.01 * (double)(i + 1);
    sample[t] = (tsanom_hsa_vital){.time = last + 0.05,
                                   .cpu_s = 0.1,
                                   .wait_s = 0,
                                   .thread = (int32_t)t,
                                   .task = 7 + (int32_t)t,
                                   .state = t ? state : 'S',
                                   .waits = t ? waits : waits_0,
                                   .spun_s = spun};
    s[t] = (tsanom_hsa_series){
        .time = time_of[t], .beats = beats, .vital = &sample[t], .vital_count = 1};
  }
  (void)update(watch, s, 2, last + 0.1);
  for (size_t t = 0; t < 2; t++) s[t].beats = s[t].vital_count = 0;
  (void)update(watch, s, 2, last + 2);
  cr_assert(pulse_of(watch, 0).status == expected, "%d", pulse_of(watch, 0).status);
  int32_t other =
      expected == TSANOM_HSA_WAITING || !ahead ? TSANOM_HSA_HANG : TSANOM_HSA_WAITING;
  cr_assert(pulse_of(watch, 1).status == other, "%d", pulse_of(watch, 1).status);
  tsanom_diagnosis_watch_destroy(watch);
}

Test(diagnosis_watch_hang, a_thread_that_sleeps_for_another_one_waits) {
  enum { OTHER = TSANOM_HSA_WAITS_OTHER, THREAD = TSANOM_HSA_WAITS_THREAD };
  enum { UNKNOWN = TSANOM_HSA_WAITS_UNKNOWN, TEAM = TSANOM_HSA_WAITS_TEAM };
  for (size_t ahead = 0; ahead < 3; ahead += 2) {
    check_sleepers(ahead, THREAD, OTHER, 'S', NAN, TSANOM_HSA_WAITING);
    check_sleepers(ahead, THREAD, UNKNOWN, 'D', NAN, TSANOM_HSA_WAITING);
    check_sleepers(ahead, THREAD, THREAD, 'S', NAN, TSANOM_HSA_HANG);
    check_sleepers(ahead, THREAD, UNKNOWN, 'S', NAN, TSANOM_HSA_HANG);
    check_sleepers(ahead, THREAD, UNKNOWN, 'R', NAN, TSANOM_HSA_HANG);
    check_sleepers(ahead, THREAD, UNKNOWN, 'R', 0, TSANOM_HSA_WAITING);
    check_sleepers(ahead, TEAM, THREAD, 'S', 0, TSANOM_HSA_WAITING); /* a lock */
    check_sleepers(ahead, TEAM, TEAM, 'S', 0, TSANOM_HSA_HANG);
  }
}
