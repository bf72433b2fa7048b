/* SPDX-License-Identifier: BSD-3-Clause */
/* When anomalies of tsanom_hsa_watch end: a sign of each of two threads crosses its limit
 * at random. */
#include <criterion/criterion.h>

#include "hsa/bounded.h"
#include "support/check.h"
#include "support/random.h"

enum { THREADS = BOUNDED_THREADS, UPDATES = 4000 };

static const double limit = 0.5;

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

Test(hsa_watch_recovery, eight_updates_in_a_row_end_an_anomaly) {
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
Test(hsa_watch_recovery, an_anomaly_does_not_outlast_the_run) {
  static const bool above[THREADS] = {true, false}, below[THREADS] = {false, false};
  const tsanom_hsa_anomaly *found;
  tsanom_hsa_watch *watch = bounded_watch(THREADS, TSANOM_HSA_SIGN_WAIT, limit);
  cr_assert(update(watch, 0, above, TSANOM_HSA_STATE_RUNNING, &found) == 1);
  cr_assert(update(watch, 1, below, TSANOM_HSA_STATE_FINISHED, &found) == 1);
  cr_assert(found->phase == TSANOM_HSA_ANOMALY_RECOVERED);
  cr_assert(update(watch, 2, below, TSANOM_HSA_STATE_FINISHED, &found) == 0);
  tsanom_hsa_watch_destroy(watch);
}
