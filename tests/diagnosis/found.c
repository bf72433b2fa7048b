/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of causes: learns from runs that were made up, diagnoses others, and
 * compares the status of the run and of each thread with what was planted. Each finding
 * must be beyond its limit and have sentences without NaN or infinities. */
#include "diagnosis/found.h"

#include <criterion/criterion.h>
#include <string.h>

#include "support/check.h"

static tsanom_hsa_range ranges[RANGES];
static double ledger[NUMBERS];

tsanom_diagnosis_normal learn_from(const living_kind *kind, size_t count, uint64_t *seed,
                                   tsanom_status expected) {
  tsanom_hsa_run runs[RUNS];
  tsanom_diagnosis_normal normal;
  for (size_t i = 0; i < count; i++) runs[i] = living_run(kind, seed);
  normal = (tsanom_diagnosis_normal){.struct_size = sizeof normal};
  normal.range = ranges;
  normal.range_count = RANGES;
  normal.ledger = ledger;
  normal.ledger_count = NUMBERS;
  CHECK_STATUS(tsanom_diagnosis_learn_normal(runs, count, 0.99, NULL, &normal), expected);
  for (size_t i = 0; i < count; i++) living_free(&runs[i]);
  return normal;
}

tsanom_diagnosis_normal learn_two_threads(living_kind *kind) {
  uint64_t seed = 1;
  *kind = living_normal();
  return learn_from(kind, RUNS, &seed, TSANOM_OK);
}

void learn_again(tsanom_diagnosis_normal *normal, tsanom_hsa_run *runs) {
  CHECK_STATUS(tsanom_diagnosis_learn_normal(runs, RUNS, 0.99, NULL, normal), TSANOM_OK);
  for (int i = 0; i < RUNS; i++) living_free(&runs[i]);
}

finding find(const tsanom_diagnosis_normal *normal, const tsanom_hsa_run *run) {
  static tsanom_diagnosis_signs signs[LIVING_THREADS];
  finding f = {.count = 99};
  CHECK_STATUS(
      tsanom_diagnosis_find_causes(normal, run, NULL, signs, f.cause, CAPACITY, &f.count),
      TSANOM_OK);
  CHECK_STATUS(
      tsanom_diagnosis_cause_status(f.cause, f.count, TSANOM_HSA_PROCESS, &f.status),
      TSANOM_OK);
  for (int32_t t = 0; t < (int32_t)run->thread_count; t++) {
    CHECK_STATUS(tsanom_diagnosis_cause_status(f.cause, f.count, t, &f.thread[t]),
                 TSANOM_OK);
  }
  for (size_t i = 0; i < f.count; i++) {
    char text[512] = "";
    cr_assert(!(f.cause[i].value <= f.cause[i].limit), "%s: %g, %g",
              tsanom_hsa_status_name(f.cause[i].cause), f.cause[i].value,
              f.cause[i].limit);
    CHECK_STATUS(tsanom_diagnosis_cause_text(&f.cause[i], TSANOM_DIAGNOSIS_CAUSE_EVIDENCE,
                                             text, sizeof text, NULL),
                 TSANOM_OK);
    cr_assert(!strstr(text, "nan") && !strstr(text, "inf"), "%s", text);
    CHECK_STATUS(tsanom_diagnosis_cause_text(&f.cause[i], TSANOM_DIAGNOSIS_CAUSE_NEXT,
                                             text, sizeof text, NULL),
                 TSANOM_OK);
    cr_assert(strlen(text) > 10 && !strchr(text, '%'), "%s", text);
  }
  return f;
}

finding find_in(const tsanom_diagnosis_normal *normal, const living_kind *kind,
                uint64_t *seed) {
  tsanom_hsa_run run = living_run(kind, seed);
  finding f = find(normal, &run);
  living_free(&run);
  return f;
}

double confidence_in(const tsanom_diagnosis_normal *normal, const tsanom_hsa_run *run) {
  tsanom_diagnosis_watch *watch;
  const tsanom_diagnosis_anomaly *anomaly;
  size_t count;
  CHECK_STATUS(
      tsanom_diagnosis_watch_create(run->thread_count, normal, NULL, NULL, &watch),
      TSANOM_OK);
  CHECK_STATUS(tsanom_diagnosis_watch_update(watch, run, NULL, &anomaly, &count),
               TSANOM_OK);
  cr_assert(count > 0);
  double confidence = anomaly->confidence;
  tsanom_diagnosis_watch_destroy(watch);
  return confidence;
}

void expect(const tsanom_diagnosis_normal *normal, const living_kind *kind,
            int32_t status, const int32_t *threads, size_t count) {
  uint64_t seed = 1000;
  cr_assert(count == kind->threads);
  for (int i = 0; i < ROUNDS; i++) {
    finding f = find_in(normal, kind, &seed);
    cr_assert(f.status == status, "round %d: %s, not %s", i,
              tsanom_hsa_status_name(f.status), tsanom_hsa_status_name(status));
    for (size_t t = 0; t < count; t++) {
      cr_assert(f.thread[t] == threads[t], "round %d, thread %zu: %s, not %s", i, t,
                tsanom_hsa_status_name(f.thread[t]), tsanom_hsa_status_name(threads[t]));
    }
  }
}
