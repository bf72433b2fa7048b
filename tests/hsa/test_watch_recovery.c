/* SPDX-License-Identifier: BSD-3-Clause */
/* When an anomaly of tsanom_hsa_watch ends: a sign crosses its limit at random. */
#include <criterion/criterion.h>
#include <math.h>
#include <tsanom/watch.h>

#include "support/check.h"
#include "support/random.h"

enum { BEATS = 20, UPDATES = 4000, RANGES = TSANOM_HSA_PARTS * TSANOM_HSA_SIGNS };

static const double limit = 0.5;

/* Of one thread, whose share of time without a processor is at most `limit`. */
static tsanom_hsa_watch *create(void) {
  static tsanom_hsa_range ranges[RANGES];
  tsanom_hsa_normal normal;
  tsanom_hsa_watch *watch;
  CHECK_STATUS(tsanom_hsa_normal_init(&normal, sizeof normal), TSANOM_OK);
  for (size_t i = 0; i < RANGES; i++) {
    bool bounded = i % TSANOM_HSA_SIGNS == TSANOM_HSA_SIGN_WAIT;
    ranges[i] = (tsanom_hsa_range){0, bounded ? limit : INFINITY};
  }
  normal.thread_count = 1;
  normal.run_count = 3;
  normal.beats = BEATS;
  normal.range = ranges;
  normal.range_count = RANGES;
  CHECK_STATUS(tsanom_hsa_watch_create(1, &normal, NULL, NULL, &watch), TSANOM_OK);
  return watch;
}

/* One more sample, after which the share is `share` of all time. */
static size_t update(tsanom_hsa_watch *watch, size_t i, double share, int32_t state,
                     const tsanom_hsa_anomaly **found) {
  double time[BEATS], seconds = 100 * (double)(i + 1);
  for (size_t k = 0; k < BEATS; k++) time[k] = (double)k;
  tsanom_hsa_vital vital = {.time = (double)(i + 1),
                            .task = 1,
                            .cpu_s = (1 - share) * seconds,
                            .wait_s = share * seconds};
  tsanom_hsa_vital first = {.time = 0, .task = 1};
  tsanom_hsa_vital both[2] = {first, vital};
  tsanom_hsa_series s = {.time = time,
                         .beats = i ? 0 : BEATS,
                         .vital = i ? &both[1] : both,
                         .vital_count = i ? 1 : 2};
  tsanom_hsa_run news = {.threads = &s, .thread_count = 1, .state = state};
  size_t count;
  CHECK_STATUS(tsanom_hsa_watch_update(watch, &news, NULL, found, &count), TSANOM_OK);
  return count;
}

Test(hsa_watch_recovery, eight_updates_in_a_row_end_an_anomaly) {
  uint64_t seed = 1;
  int lasts = 0, missed = 0, began = 0, recovered = 0, crossed = 0;
  tsanom_hsa_watch *watch = create();
  for (size_t i = 0; i < UPDATES; i++) {
    const tsanom_hsa_anomaly *found;
    bool above = random_unit(&seed) < (i % 100 < 50 ? 0.5 : 0.05);
    size_t count =
        update(watch, i, above ? 0.501 : 0.499, TSANOM_HSA_STATE_RUNNING, &found);
    crossed += above && missed;
    missed = above ? 0 : missed + 1;
    bool ends = lasts && missed == TSANOM_HSA_WATCH_RECOVERY;
    cr_assert(count == (size_t)(lasts || above), "update %zu: %zu", i, count);
    if (!count) continue;
    int32_t phase = !lasts ? TSANOM_HSA_ANOMALY_BEGAN : TSANOM_HSA_ANOMALY_LASTS;
    if (ends) phase = TSANOM_HSA_ANOMALY_RECOVERED;
    cr_assert(found->phase == phase && found->cause.cause == TSANOM_HSA_CONTENTION,
              "update %zu: %d, not %d", i, found->phase, phase);
    began += phase == TSANOM_HSA_ANOMALY_BEGAN;
    recovered += ends;
    lasts = !ends;
  }
  cr_assert(began > 10 && recovered > 10 && 4 * began < crossed, "%d of %d", began,
            crossed);
  tsanom_hsa_watch_destroy(watch);
}

/* Its last update is the verdict. */
Test(hsa_watch_recovery, an_anomaly_does_not_outlast_the_run) {
  const tsanom_hsa_anomaly *found;
  tsanom_hsa_watch *watch = create();
  cr_assert(update(watch, 0, 0.501, TSANOM_HSA_STATE_RUNNING, &found) == 1);
  cr_assert(update(watch, 1, 0.499, TSANOM_HSA_STATE_FINISHED, &found) == 1);
  cr_assert(found->phase == TSANOM_HSA_ANOMALY_RECOVERED);
  cr_assert(update(watch, 2, 0.499, TSANOM_HSA_STATE_FINISHED, &found) == 0);
  tsanom_hsa_watch_destroy(watch);
}
