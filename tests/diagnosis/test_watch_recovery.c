/* SPDX-License-Identifier: BSD-3-Clause */
/* When anomalies of tsanom_hsa_watch begin and end: signs cross their limits. */
#include <criterion/criterion.h>

#include "diagnosis/bounded.h"
#include "support/check.h"
#include "support/random.h"

enum { THREADS = BOUNDED_THREADS, UPDATES = 4000 };

static const double limit = 0.5;

/* ---- the end: a sign of each of two threads crosses its limit at random */

/* One more sample, after which a thread that is `above` was without a processor for more
 * than the limit. */
static size_t update(tsanom_hsa_watch *watch, size_t i, const bool *above, int32_t state,
                     const tsanom_hsa_anomaly **found) {
  double time[BOUNDED_BEATS], seconds = 100 * (double)(i + 1);
  tsanom_hsa_vital vital[THREADS][2];
  tsanom_hsa_series s[THREADS];
  size_t count;
  for (size_t k = 0; k < BOUNDED_BEATS; k++) time[k] = (double)k;
  for (size_t t = 0; t < THREADS; t++) {
    double share = above[t] ? limit + 0.001 : limit - 0.001;
    vital[t][0] = (tsanom_hsa_vital){.time = 0, .task = 1};
    vital[t][1] = (tsanom_hsa_vital){.time = (double)(i + 1),
                                     .task = 1,
                                     .cpu_s = (1 - share) * seconds,
                                     .wait_s = share * seconds};
    s[t] = (tsanom_hsa_series){.time = time,
                               .beats = i ? 0 : BOUNDED_BEATS,
                               .vital = vital[t] + (i > 0),
                               .vital_count = i ? 1 : 2};
  }
  tsanom_hsa_run news = {.threads = s, .thread_count = THREADS, .state = state};
  CHECK_STATUS(tsanom_hsa_watch_update(watch, &news, NULL, found, &count), TSANOM_OK);
  return count;
}

static const tsanom_hsa_anomaly *find(const tsanom_hsa_anomaly *found, size_t count,
                                      size_t thread) {
  for (size_t i = 0; i < count; i++) {
    cr_assert(found[i].cause.cause == TSANOM_HSA_CONTENTION);
    if (found[i].cause.thread == (int32_t)thread) return &found[i];
  }
  return NULL;
}

/* What the definition knows of a thread. */
typedef struct {
  int lasts, missed, began, recovered, crossed;
} history;

static void check(history *h, bool above, const tsanom_hsa_anomaly *a) {
  h->crossed += above && h->missed;
  h->missed = above ? 0 : h->missed + 1;
  bool ends = h->lasts && h->missed == TSANOM_HSA_WATCH_RECOVERY;
  cr_assert((a != NULL) == (h->lasts || above));
  if (!a) return;
  int32_t phase = !h->lasts ? TSANOM_HSA_ANOMALY_BEGAN : TSANOM_HSA_ANOMALY_LASTS;
  if (ends) phase = TSANOM_HSA_ANOMALY_RECOVERED;
  cr_assert(a->phase == phase, "%d, not %d", a->phase, phase);
  h->began += phase == TSANOM_HSA_ANOMALY_BEGAN;
  h->recovered += ends;
  h->lasts = !ends;
}

Test(diagnosis_watch_recovery, eight_updates_in_a_row_end_an_anomaly) {
  uint64_t seed = 1;
  history of[THREADS] = {{0}};
  tsanom_hsa_watch *watch = bounded_watch(THREADS, TSANOM_HSA_SIGN_WAIT, limit);
  for (size_t i = 0; i < UPDATES; i++) {
    const tsanom_hsa_anomaly *found;
    bool above[THREADS];
    for (size_t t = 0; t < THREADS; t++) {
      above[t] = random_unit(&seed) < ((i + 30 * t) % 100 < 50 ? 0.5 : 0.05);
    }
    size_t count = update(watch, i, above, TSANOM_HSA_STATE_RUNNING, &found);
    for (size_t t = 0; t < THREADS; t++) check(&of[t], above[t], find(found, count, t));
  }
  for (size_t t = 0; t < THREADS; t++) {
    cr_assert(of[t].began > 10 && of[t].recovered > 10 && 4 * of[t].began < of[t].crossed,
              "%d of %d", of[t].began, of[t].crossed);
  }
  tsanom_hsa_watch_destroy(watch);
}

/* Its last update is the verdict. */
Test(diagnosis_watch_recovery, an_anomaly_does_not_outlast_the_run) {
  static const bool above[THREADS] = {true, false}, below[THREADS] = {false, false};
  const tsanom_hsa_anomaly *found;
  tsanom_hsa_watch *watch = bounded_watch(THREADS, TSANOM_HSA_SIGN_WAIT, limit);
  cr_assert(update(watch, 0, above, TSANOM_HSA_STATE_RUNNING, &found) == 1);
  cr_assert(update(watch, 1, below, TSANOM_HSA_STATE_FINISHED, &found) == 1);
  cr_assert(found->phase == TSANOM_HSA_ANOMALY_RECOVERED);
  cr_assert(update(watch, 2, below, TSANOM_HSA_STATE_FINISHED, &found) == 0);
  tsanom_hsa_watch_destroy(watch);
}

/* ---- the beginning: beats that are longer than the limit from some update on */

/* A piece of beats at equal distances. */
static size_t beat_on(tsanom_hsa_watch *watch, size_t beats, double interval,
                      int32_t state, double *now, const tsanom_hsa_anomaly **found) {
  double time[100];
  size_t count;
  for (size_t i = 0; i < beats; i++) time[i] = *now += interval;
  tsanom_hsa_series s = {.time = time, .beats = beats};
  tsanom_hsa_run news = {.threads = &s, .thread_count = 1, .end = *now, .state = state};
  CHECK_STATUS(tsanom_hsa_watch_update(watch, &news, NULL, found, &count), TSANOM_OK);
  return count;
}

/* `before` beats, which are short if the run is not slow from the start; then pieces of
 * long ones. The update that reports the slowdown; 0: none of 40 did. */
static int reported_at(size_t before, size_t beats, int32_t state,
                       tsanom_hsa_anomaly *anomaly) {
  double now = 0;
  const tsanom_hsa_anomaly *found = NULL;
  tsanom_hsa_watch *watch = bounded_watch(1, TSANOM_HSA_SIGN_INTERVAL, 0.1);
  int update = 1;
  size_t count = beat_on(watch, before, 0.2, TSANOM_HSA_STATE_RUNNING, &now, &found);
  while (!count && update++ < 40) count = beat_on(watch, beats, 0.2, state, &now, &found);
  if (count) *anomaly = *found;
  tsanom_hsa_watch_destroy(watch);
  return count ? update : 0;
}

Test(diagnosis_watch_recovery, a_slowdown_begins_when_it_lasts) {
  tsanom_hsa_anomaly a;
  cr_assert(reported_at(80, 2, TSANOM_HSA_STATE_RUNNING, &a) == 8);
  cr_assert(a.cause.cause == TSANOM_HSA_SLOWDOWN && a.phase == TSANOM_HSA_ANOMALY_BEGAN);
  cr_assert(a.iteration == 80 && a.onset > 15.9 && a.onset < 16.1);
  cr_assert(reported_at(80, 1, TSANOM_HSA_STATE_RUNNING, &a) == 11);
  cr_assert(reported_at(80, 0, TSANOM_HSA_STATE_RUNNING, &a) == 0);
  cr_assert(reported_at(80, 1, TSANOM_HSA_STATE_FINISHED, &a) == 2);
}

/* It is found by seven updates twice, and not by one between them. */
Test(diagnosis_watch_recovery, a_slowdown_that_passes_is_none) {
  enum { ROW = TSANOM_HSA_WATCH_RECOVERY - 1 };
  const int32_t running = TSANOM_HSA_STATE_RUNNING;
  const tsanom_hsa_anomaly *found;
  double now = 0;
  tsanom_hsa_watch *watch = bounded_watch(1, TSANOM_HSA_SIGN_INTERVAL, 0.1);
  for (int i = 0; i < ROW; i++) {
    cr_assert(beat_on(watch, 20, 0.2, running, &now, &found) == 0);
  }
  cr_assert(beat_on(watch, 100, 0.01, running, &now, &found) == 0);
  for (int i = 0; i < 2; i++) {
    cr_assert(beat_on(watch, 100, 0.2, running, &now, &found) == 0);
  }
  for (int i = 1; i < ROW; i++) {
    cr_assert(beat_on(watch, 100, 0.2, running, &now, &found) == 0);
  }
  cr_assert(beat_on(watch, 100, 0.2, running, &now, &found) == 1);
  tsanom_hsa_watch_destroy(watch);
}

/* When it has begun, the updates that find it need not be in a row: the interval of rank
 * (beats - 2) / 4 is a short one after each other update. */
Test(diagnosis_watch_recovery, a_slowdown_lasts_while_it_is_found_now_and_then) {
  const int32_t running = TSANOM_HSA_STATE_RUNNING;
  const tsanom_hsa_anomaly *found = NULL;
  double now = 0;
  size_t beats = 17, small = 16;
  tsanom_hsa_watch *watch = bounded_watch(1, TSANOM_HSA_SIGN_INTERVAL, 0.1);
  (void)beat_on(watch, beats, 0.01, running, &now, &found);
  while (beat_on(watch, 10, 0.2, running, &now, &found) == 0) beats += 10;
  beats += 10;
  for (int i = 0; i < 40; i++) {
    size_t more = 1;
    if (i % 2) {
      while ((beats + more - 2) / 4 < small) more++;
    } else {
      while ((beats + more - 2) / 4 >= small + more) more++;
      small += more;
    }
    beats += more;
    size_t count = beat_on(watch, more, i % 2 ? 0.2 : 0.01, running, &now, &found);
    cr_assert(count == 1 && found->phase == TSANOM_HSA_ANOMALY_LASTS, "%d", i);
  }
  tsanom_hsa_watch_destroy(watch);
}
