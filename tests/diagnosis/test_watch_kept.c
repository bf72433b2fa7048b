/* SPDX-License-Identifier: BSD-3-Clause */
/* What tsanom_diagnosis_watch keeps of beats and samples, by what follows from it. */
#include <criterion/criterion.h>
#include <math.h>

#include "diagnosis/bounded.h"
#include "support/check.h"

enum { SAMPLES = 8 * TSANOM_DIAGNOSIS_WATCH_SAMPLES, BEATS = 1000 };

static double beat[BEATS];
static tsanom_hsa_vital sample[SAMPLES];

static size_t update(tsanom_diagnosis_watch *watch, const tsanom_hsa_run *news,
                     const tsanom_diagnosis_anomaly **found) {
  size_t count;
  CHECK_STATUS(tsanom_diagnosis_watch_update(watch, news, NULL, found, &count),
               TSANOM_OK);
  return count;
}

static size_t count_after(tsanom_diagnosis_watch *watch, const tsanom_hsa_run *news) {
  const tsanom_diagnosis_anomaly *found;
  return update(watch, news, &found);
}

static tsanom_diagnosis_pulse pulse_of(const tsanom_diagnosis_watch *watch,
                                       size_t thread) {
  tsanom_diagnosis_pulse pulse;
  CHECK_STATUS(tsanom_diagnosis_watch_pulse(watch, thread, &pulse), TSANOM_OK);
  return pulse;
}

/* ---- beats */

Test(diagnosis_watch_kept, beats_before_the_last_one_count_as_at_its_time) {
  tsanom_diagnosis_watch *watch = bounded_watch(1, TSANOM_DIAGNOSIS_SIGN_GROWTH, 1e9);
  double first[] = {1, 2, 3}, again[] = {2.5, 2.6};
  tsanom_hsa_series s = {.time = first, .beats = 3};
  tsanom_hsa_run news = {.threads = &s, .thread_count = 1, .end = 3};
  cr_assert(count_after(watch, &news) == 0);
  s = (tsanom_hsa_series){.time = again, .beats = 2};
  cr_assert(count_after(watch, &news) == 0);
  cr_assert(pulse_of(watch, 0).last == 3 && pulse_of(watch, 0).rate == 2);
  tsanom_diagnosis_watch_destroy(watch);
}

/* 512 intervals are kept: the limit follows again when 64 are new. */
Test(diagnosis_watch_kept, the_limit_follows_when_an_eighth_is_new) {
  tsanom_diagnosis_watch *watch = bounded_watch(1, TSANOM_DIAGNOSIS_SIGN_GROWTH, 1e9);
  for (size_t i = 1; i < BEATS; i++) beat[i] = beat[i - 1] + (i < 600 ? 0.5 : 10);
  tsanom_hsa_series s = {.time = beat, .beats = 600};
  tsanom_hsa_run news = {.threads = &s, .thread_count = 1, .end = 1};
  (void)count_after(watch, &news);
  s = (tsanom_hsa_series){.time = beat + 600, .beats = 63};
  (void)count_after(watch, &news);
  cr_assert(pulse_of(watch, 0).limit == 1.5, "%g", pulse_of(watch, 0).limit);
  s = (tsanom_hsa_series){.time = beat + 663, .beats = 1};
  (void)count_after(watch, &news);
  cr_assert(pulse_of(watch, 0).limit == 30, "%g", pulse_of(watch, 0).limit);
  tsanom_diagnosis_watch_destroy(watch);
}

Test(diagnosis_watch_kept, eight_intervals_have_a_limit) {
  for (size_t beats = 8; beats < 10; beats++) {
    tsanom_diagnosis_watch *watch = bounded_watch(1, TSANOM_DIAGNOSIS_SIGN_GROWTH, 1e9);
    for (size_t i = 0; i < beats; i++) beat[i] = (double)i;
    tsanom_hsa_series s = {.time = beat, .beats = beats};
    (void)count_after(watch, &(tsanom_hsa_run){.threads = &s, .thread_count = 1});
    cr_assert(pulse_of(watch, 0).limit == (beats < 9 ? INFINITY : 3));
    tsanom_diagnosis_watch_destroy(watch);
  }
}

/* ---- the time of an update */

/* The other thread beat until 100. */
Test(diagnosis_watch_kept, hangs_need_the_time_of_the_look) {
  tsanom_diagnosis_watch *watch = bounded_watch(2, TSANOM_DIAGNOSIS_SIGN_GROWTH, 1e9);
  for (size_t i = 0; i <= 100; i++) beat[i] = (double)i;
  tsanom_hsa_series s[2] = {{.time = beat, .beats = 20}, {.time = beat, .beats = 101}};
  tsanom_hsa_run news = {.threads = s, .thread_count = 2};
  cr_assert(count_after(watch, &news) == 0);
  s[0].beats = s[1].beats = 0;
  news.end = 100;
  cr_assert(count_after(watch, &news) == 1);
  tsanom_diagnosis_watch_destroy(watch);
}

/* The last update does not say when it is. */
Test(diagnosis_watch_kept, time_does_not_go_back) {
  tsanom_diagnosis_watch *watch = bounded_watch(1, TSANOM_DIAGNOSIS_SIGN_GROWTH, 1e9);
  for (size_t i = 0; i < 20; i++) beat[i] = (double)i;
  tsanom_hsa_series s = {.time = beat, .beats = 20};
  tsanom_hsa_run news = {.threads = &s, .thread_count = 1, .end = 20};
  const tsanom_diagnosis_anomaly *found;
  cr_assert(count_after(watch, &news) == 0);
  s.beats = 0;
  news.end = 0;
  news.state = TSANOM_RUN_KILLED;
  cr_assert(update(watch, &news, &found) == 1 && found->onset == 20);
  tsanom_diagnosis_watch_destroy(watch);
}

Test(diagnosis_watch_kept, threads_begin_one_after_the_other) {
  tsanom_diagnosis_watch *watch = bounded_watch(2, TSANOM_DIAGNOSIS_SIGN_GROWTH, 1e9);
  for (size_t i = 0; i < 20; i++) beat[i] = (double)i;
  tsanom_hsa_series s = {.time = beat, .beats = 15};
  tsanom_hsa_run news = {.threads = &s, .thread_count = 1};
  const tsanom_diagnosis_anomaly *found;
  cr_assert(count_after(watch, &news) == 0);
  s = (tsanom_hsa_series){.time = beat + 15, .beats = 1};
  cr_assert(update(watch, &news, &found) == 1);
  cr_assert(found->cause.cause == TSANOM_HSA_NOT_COMPARABLE);
  tsanom_diagnosis_watch_destroy(watch);
}

/* ---- samples */

/* A beat at each sample; thread and process have the same samples. */
static tsanom_hsa_run all_samples(tsanom_hsa_series *s, double *time) {
  for (size_t i = 0; i < SAMPLES; i++) time[i] = sample[i].time;
  *s = (tsanom_hsa_series){
      .time = time, .beats = SAMPLES, .vital = sample, .vital_count = SAMPLES};
  return (tsanom_hsa_run){
      .threads = s, .thread_count = 1, .vital = sample, .vital_count = SAMPLES};
}

/* Memory may grow by 5 MB in that number of beats. */
static tsanom_diagnosis_watch *watch_growth(size_t beats) {
  return bounded_watch(1, TSANOM_DIAGNOSIS_SIGN_GROWTH,
                       5e6 * BOUNDED_BEATS / (double)beats);
}

/* Memory grows once, behind 22 % of the samples: the growth counts from 20 % on. */
Test(diagnosis_watch_kept, samples_are_spread_evenly) {
  static double time[SAMPLES];
  tsanom_hsa_series s;
  tsanom_diagnosis_watch *watch = watch_growth(SAMPLES);
  for (size_t i = 0; i < SAMPLES; i++) {
    sample[i] = (tsanom_hsa_vital){
        .time = (double)i, .task = 1, .anonymous = (double)i > 0.22 * SAMPLES ? 1e7 : 1};
  }
  tsanom_hsa_run news = all_samples(&s, time);
  const tsanom_diagnosis_anomaly *found;
  cr_assert(update(watch, &news, &found) == 1);
  cr_assert(found->cause.cause == TSANOM_HSA_MEMORY_LEAK);
  tsanom_diagnosis_watch_destroy(watch);
}

/* The process takes memory and frees more: no line that falls is the onset of a leak. */
Test(diagnosis_watch_kept, a_leak_that_was_freed_has_no_onset) {
  tsanom_diagnosis_watch *watch = watch_growth(100);
  for (size_t i = 0; i < 100; i++) {
    beat[i] = (double)i;
    double freed = i > 50 ? 2e7 * (double)(i - 50) : 0;
    sample[i] = (tsanom_hsa_vital){
        .time = (double)i, .task = 1, .anonymous = 1e10 + (i == 50 ? 1e7 : 0) - freed};
  }
  tsanom_hsa_series s = {.time = beat, .beats = 100};
  tsanom_hsa_run news = {
      .threads = &s, .thread_count = 1, .vital = sample, .vital_count = 100, .end = 100};
  const tsanom_diagnosis_anomaly *found;
  cr_assert(update(watch, &news, &found) == 1);
  cr_assert(found->cause.cause == TSANOM_HSA_MEMORY_LEAK && found->onset == 100);
  tsanom_diagnosis_watch_destroy(watch);
}
