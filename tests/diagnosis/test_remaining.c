/* SPDX-License-Identifier: BSD-3-Clause */
/* The remaining time of a watched program, from beats that never happened. */
#include <criterion/criterion.h>
#include <math.h>

#include "diagnosis/watch.h"
#include "support/check.h"
#include "support/random.h"

enum { BEATS_MOST = 5000, TRIALS = 400 };

static double beat[BEATS_MOST];

static tsanom_diagnosis_remaining of(size_t beats, double left, double now) {
  tsanom_diagnosis_remaining r = {
      .iterations = left, .seconds = NAN, .low = NAN, .high = NAN};
  tsn_watch_predict(&(tsanom_hsa_series){.time = beat, .beats = beats}, left, now, &r);
  return r;
}

Test(diagnosis_remaining, equal_iterations_take_as_long_as_before) {
  for (size_t i = 0; i < BEATS_MOST; i++) beat[i] = 3 + 0.25 * (double)i;
  for (size_t beats = 3; beats < BEATS_MOST; beats += beats / 3) {
    double last = beat[beats - 1];
    tsanom_diagnosis_remaining r = of(beats, 1000, last + 10);
    cr_assert(r.iterations == 1000 && fabs(r.seconds - 240) < 1e-6 && !r.drifts,
              "%zu: %g", beats, r.seconds);
    cr_assert(of(beats, 0, last).seconds == 0 && of(beats, 4, last + 2).seconds == 0);
    if (beats < 5) cr_assert(isnan(r.low) && isnan(r.high));
    if (beats < 25) continue;
    cr_assert(fabs(r.low - 240) < 1e-3 && fabs(r.high - 240) < 1e-3, "%zu: %g %g", beats,
              r.low, r.high);
  }
}

Test(diagnosis_remaining, too_few_beats_predict_nothing) {
  beat[0] = 1;
  beat[1] = 2;
  for (size_t beats = 0; beats < 3; beats++) {
    tsanom_diagnosis_remaining r = of(beats, 10, 3);
    cr_assert(r.iterations == 10 && isnan(r.seconds) && isnan(r.low) && isnan(r.high));
  }
}

/* The interval contains the end in at least 95 % of the runs, and on average is
 * narrower than half of what is left. */
Test(diagnosis_remaining, the_interval_contains_the_end) {
  uint64_t seed = 1;
  int within = 0, unknown = 0;
  double width = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    size_t now = random_between(&seed, 400, BEATS_MOST - 200);
    for (size_t i = 1; i < BEATS_MOST; i++) beat[i] = beat[i - 1] + random_unit(&seed);
    double left = beat[BEATS_MOST - 1] - beat[now - 1];
    tsanom_diagnosis_remaining r = of(now, (double)(BEATS_MOST - now), beat[now - 1]);
    unknown += isnan(r.low);
    if (isnan(r.low)) continue;
    cr_assert(!r.drifts && r.low <= r.seconds && r.seconds <= r.high, "%zu: %g, %g to %g",
              now, r.seconds, r.low, r.high);
    within += left >= r.low && left <= r.high;
    width += (r.high - r.low) / left / TRIALS;
  }
  cr_assert(
      unknown <= TRIALS / 20 && within >= (TRIALS - unknown) * 93 / 100 && width < 0.5,
      "%d of %d, width %g", within, TRIALS, width);
}

Test(diagnosis_remaining, iterations_that_drift_predict_nothing) {
  for (size_t i = 1; i < BEATS_MOST; i++) beat[i] = beat[i - 1] + 1 + (double)i / 500;
  tsanom_diagnosis_remaining r = of(BEATS_MOST, 100, beat[BEATS_MOST - 1]);
  cr_assert(r.drifts && isnan(r.seconds) && isnan(r.low) && isnan(r.high));
}

enum { ITERATIONS = 3000, RUNS = 3 };
enum { NUMBERS = TSANOM_DIAGNOSIS_LEDGER_RUN + 2 * TSANOM_DIAGNOSIS_LEDGER_THREAD };
enum { RANGES = 2 * TSANOM_DIAGNOSIS_PARTS * TSANOM_DIAGNOSIS_SIGNS };

/* Thread 1 beats in each `each`-th iteration, of 10 ms; its are `pace` times as long. */
typedef struct {
  double time[2][ITERATIONS];
  tsanom_hsa_series thread[2];
} seldom;

static tsanom_hsa_run make(seldom *s, size_t each, double pace, uint64_t *seed) {
  double now[2] = {0, 0};
  s->thread[0] = s->thread[1] = (tsanom_hsa_series){.beats = 0};
  for (size_t i = 0; i < ITERATIONS; i++) {
    for (size_t t = 0; t < 2; t++) {
      now[t] += 0.01 * (t ? pace : 1) * (0.9 + 0.2 * random_unit(seed));
      if (!t || i % each == each - 1) s->time[t][s->thread[t].beats++] = now[t];
    }
  }
  for (size_t t = 0; t < 2; t++) s->thread[t].time = s->time[t];
  return (tsanom_hsa_run){
      .threads = s->thread, .thread_count = 2, .state = TSANOM_RUN_FINISHED};
}

/* What is left until `now` seconds. */
static tsanom_diagnosis_remaining left_at(const tsanom_diagnosis_normal *normal,
                                          tsanom_hsa_run run, seldom *s, double now) {
  tsanom_diagnosis_watch *watch;
  const tsanom_diagnosis_anomaly *anomaly;
  tsanom_diagnosis_remaining r;
  size_t count;
  for (size_t t = 0; t < 2; t++) {
    s->thread[t].beats = 0;
    while (s->time[t][s->thread[t].beats] <= now) s->thread[t].beats++;
  }
  run.state = TSANOM_RUN_RUNNING;
  run.end = now;
  CHECK_STATUS(tsanom_diagnosis_watch_create(2, normal, NULL, NULL, &watch), TSANOM_OK);
  CHECK_STATUS(tsanom_diagnosis_watch_update(watch, &run, NULL, &anomaly, &count),
               TSANOM_OK);
  CHECK_STATUS(tsanom_diagnosis_predict(watch, &run, NULL, &r), TSANOM_OK);
  tsanom_diagnosis_watch_destroy(watch);
  return r;
}

/* With and without the shares of a model; a thread may be slower than in normal runs. */
Test(diagnosis_remaining, a_thread_has_its_share_of_the_iterations) {
  static seldom made[RUNS];
  static tsanom_hsa_range range[RANGES];
  static double ledger[NUMBERS];
  uint64_t seed = 2;
  for (int trial = 0; trial < 60; trial++) {
    tsanom_hsa_run run[RUNS];
    tsanom_diagnosis_normal normal = {.struct_size = sizeof normal,
                                      .range = range,
                                      .range_count = RANGES,
                                      .ledger = trial % 3 ? ledger : NULL,
                                      .ledger_count = trial % 3 ? NUMBERS : 0};
    size_t each = random_between(&seed, 1, 12);
    double pace = trial % 3 == 1 ? 1 + random_unit(&seed) : 1;
    for (int i = 0; i < RUNS; i++) run[i] = make(&made[i], each, 1, &seed);
    CHECK_STATUS(tsanom_diagnosis_learn_normal(run, RUNS, 0.99, NULL, &normal),
                 TSANOM_OK);
    run[0] = make(&made[0], each, pace, &seed);
    double end = made[0].time[1][made[0].thread[1].beats - 1];
    double now = end * (0.2 + 0.2 * random_unit(&seed));
    tsanom_diagnosis_remaining r = left_at(&normal, run[0], &made[0], now);
    cr_assert(fabs(r.seconds / (end - now) - 1) < 0.05, "%zu, %g: %g, not %g", each, pace,
              r.seconds, end - now);
  }
}
