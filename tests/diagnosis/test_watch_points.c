/* SPDX-License-Identifier: BSD-3-Clause */
/* When a watch judges: at points of the data, whatever the updates are. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "diagnosis/bounded.h"
#include "support/check.h"

enum { BEATS = 4000 };

static double beat[BEATS];
static tsanom_hsa_vital sample[BEATS];

/* Feed single beats with a sample each, of which the process grows all the time; returns
 * after which beat the leak was found, was reported as lasting, and so on: the beats after
 * which the value changed, at most `most`. */
static size_t judged_at(size_t beats, size_t *at, size_t most) {
  tsanom_diagnosis_watch *watch = bounded_watch(1, TSANOM_DIAGNOSIS_SIGN_GROWTH, 1);
  size_t changes = 0;
  double value = 0;
  for (size_t i = 0; i < beats && changes < most; i++) {
    tsanom_hsa_series s = {.time = beat + i, .beats = 1};
    tsanom_hsa_run news = {.threads = &s,
                           .thread_count = 1,
                           .vital = sample + i,
                           .vital_count = 1,
                           .state = TSANOM_RUN_RUNNING};
    const tsanom_diagnosis_anomaly *found;
    size_t count;
    CHECK_STATUS(tsanom_diagnosis_watch_update(watch, &news, NULL, &found, &count),
                 TSANOM_OK);
    if (!count || found->cause.value == value) continue;
    value = found->cause.value;
    at[changes++] = i + 1;
  }
  tsanom_diagnosis_watch_destroy(watch);
  return changes;
}

static void make(double interval) {
  for (size_t i = 0; i < BEATS; i++) {
    beat[i] = interval * (double)(i + 1);
    sample[i] = (tsanom_hsa_vital){
        .time = beat[i], .cpu_s = NAN, .task = 1, .anonymous = 1e6 * (double)i};
  }
}

/* The points 16 and 18 are in the first eighth of the normal beats: programs begin. */
Test(diagnosis_watch_points, a_tenth_more_beats_is_a_point) {
  size_t at[8];
  make(0.01);
  cr_assert(judged_at(BEATS, at, 8) == 8);
  static const size_t expected[] = {16, 18, 20, 22, 25, 28, 31, 35};
  for (size_t i = 0; i < 8; i++) cr_assert(at[i] == expected[i], "%zu: %zu", i, at[i]);
}

/* A tenth of 100 beats takes 400 s. */
Test(diagnosis_watch_points, five_minutes_of_data_are_a_point) {
  size_t at[40], count;
  make(40);
  count = judged_at(200, at, 40);
  for (size_t i = 1; i < count; i++) {
    cr_assert(at[i] - at[i - 1] <= 9 && at[i] > at[i - 1], "%zu", at[i]);
  }
  cr_assert(at[count - 1] > 190 && at[count - 1] - at[count - 2] == 8, "%zu",
            at[count - 1] - at[count - 2]);
}
