/* SPDX-License-Identifier: BSD-3-Clause */
/* Power, workspaces and invalid input of causes. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <tsanom/diagnosis.h>

#include "diagnosis/found.h"
#include "support/check.h"
#include "support/faults.h"
#include "support/workspace.h"

/* The power is where leaks begin to be found; test_judge.c has that of the ledger. */
Test(diagnosis_causes, the_power_is_the_smallest_leak_that_is_found) {
  living_kind k;
  tsanom_diagnosis_power power;
  tsanom_diagnosis_normal normal = learn_two_threads(&k);
  CHECK_STATUS(tsanom_diagnosis_normal_power(&normal, &power), TSANOM_OK);
  cr_assert(power.leak >= 3 << 20 && power.leak < 4 << 20, "%g", power.leak);
  size_t whole =
      (TSANOM_DIAGNOSIS_PARTS - 1) * normal.thread_count * TSANOM_DIAGNOSIS_SIGNS;
  cr_assert(power.early == normal.range[whole + TSANOM_DIAGNOSIS_SIGN_EARLY].high);
  k = living_normal();
  k.thread[0].leak = 1.1 * power.leak / (0.8 * (double)k.beats);
  uint64_t seed = 12;
  cr_assert(find_in(&normal, &k, &seed).status == TSANOM_HSA_MEMORY_LEAK);
  k.thread[0].leak *= 0.8;
  cr_assert(find_in(&normal, &k, &seed).status == TSANOM_HSA_NORMAL);
  normal.ledger = NULL;
  normal.ledger_count = 0;
  CHECK_STATUS(tsanom_diagnosis_normal_power(&normal, &power), TSANOM_OK);
  cr_assert(isinf(power.slowdown) && isinf(power.contention) && isinf(power.hang));
}

Test(diagnosis_causes, two_runs_have_limits) {
  living_kind k = living_normal();
  uint64_t seed = 13;
  tsanom_diagnosis_normal normal = learn_from(&k, 2, &seed, TSANOM_PARTIAL);
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  for (int t = 0; t < 2; t++) k.thread[t].cpu = 1;
  for (int t = 0; t < 2; t++) k.thread[t].pace = 1.5;
  EXPECT(&normal, &k, TSANOM_HSA_SLOWDOWN, 0, 0);
}

static tsanom_hsa_run given[3];
static tsanom_diagnosis_normal normal_of_given;

/* The arrays of the result are compared. */
typedef struct {
  tsanom_hsa_range range[RANGES];
  double ledger[NUMBERS];
} learned;

static tsanom_status learn_normal(const tsanom_exec *exec, void *result) {
  learned *l = result;
  tsanom_diagnosis_normal normal = {.struct_size = sizeof normal};
  if (l) {
    normal.range = l->range;
    normal.range_count = RANGES;
    normal.ledger = l->ledger;
    normal.ledger_count = NUMBERS;
  }
  return tsanom_diagnosis_learn_normal(given, 3, 0.9, exec, &normal);
}

typedef struct {
  tsanom_diagnosis_signs signs[2];
  tsanom_diagnosis_finding cause[CAPACITY];
  size_t count;
} causes;

static tsanom_status find_causes(const tsanom_exec *exec, void *result) {
  causes *c = result;
  tsanom_diagnosis_normal asked = normal_of_given;
  tsanom_hsa_run run = given[0];
  tsanom_hsa_series hollow[2] = {{.beats = 100}, {.beats = 100}};
  run.threads = hollow;
  asked.range = NULL;
  asked.ledger = NULL;
  return c ? tsanom_diagnosis_find_causes(&normal_of_given, given, exec, c->signs,
                                          c->cause, CAPACITY, &c->count)
           : tsanom_diagnosis_find_causes(&asked, &run, exec, NULL, NULL, 0, NULL);
}

static tsanom_status summarize(const tsanom_exec *exec, void *result) {
  tsanom_diagnosis_summary s = {0};
  tsanom_status status =
      tsanom_diagnosis_summarize(given, -1, 0, NULL, 0, exec, result ? &s : NULL);
  if (status >= 0) memcpy(result, &s, sizeof s);
  return status;
}

/* Runs that go on need the most memory. */
Test(diagnosis_causes, memory_is_the_callers_or_one_block) {
  const workspace_case cases[] = {
      {"learn_normal", learn_normal, sizeof(learned)},
      {"find_causes", find_causes, sizeof(causes)},
      {"summarize", summarize, sizeof(tsanom_diagnosis_summary)}};
  living_kind k;
  uint64_t seed = 14;
  normal_of_given = learn_two_threads(&k);
  k.thread[0].cpu = k.thread[1].cpu = 1;
  k.state = TSANOM_RUN_RUNNING;
  for (int i = 0; i < 3; i++) given[i] = living_run(&k, &seed);
  check_workspaces(cases, sizeof cases / sizeof *cases);
  for (int i = 0; i < 3; i++) living_free(&given[i]);
}

Test(diagnosis_causes, learning_rejects_invalid_arguments) {
  living_kind k = living_normal();
  uint64_t seed = 14;
  tsanom_diagnosis_normal normal = learn_from(&k, 3, &seed, TSANOM_OK);
  tsanom_hsa_run runs[3];
  for (int i = 0; i < 3; i++) runs[i] = living_run(&k, &seed);
  CHECK_STATUS(tsanom_diagnosis_learn_normal(runs, 3, 1, NULL, &normal), TSANOM_E_OPTION);
  normal.range_count = 7;
  CHECK_STATUS(tsanom_diagnosis_learn_normal(runs, 3, 0.9, NULL, &normal),
               TSANOM_E_COUNT);
  normal.range_count = RANGES;
  test_report report;
  test_report_init(&report);
  ((tsanom_hsa_vital *)runs[2].threads[1].vital)[5].cpu_s = INFINITY;
  CHECK_STATUS(tsanom_diagnosis_learn_normal(runs, 3, 0.9, &report.exec, &normal),
               TSANOM_E_NONFINITE);
  CHECK_FAULT(report, "runs[2].threads.vital", 1, 5);
  for (int i = 0; i < 3; i++) living_free(&runs[i]);
}

Test(diagnosis_causes, damaged_ranges_are_rejected) {
  living_kind k;
  uint64_t seed = 15;
  size_t count = 77;
  tsanom_diagnosis_signs signs[2];
  tsanom_diagnosis_finding cause[16];
  tsanom_diagnosis_normal normal = learn_two_threads(&k), bad = normal;
  tsanom_hsa_run run = living_run(&k, &seed);
#define REJECTS(status)                                                                  \
  CHECK_STATUS(tsanom_diagnosis_find_causes(&bad, &run, NULL, signs, cause, 16, &count), \
               status)
  memset(bad.program, 'x', sizeof bad.program);
  REJECTS(TSANOM_E_FORMAT);
  bad = normal;
  bad.range_count = 3;
  REJECTS(TSANOM_E_COUNT);
  bad.range_count = SIZE_MAX;
  bad.thread_count = SIZE_MAX / 4;
  REJECTS(TSANOM_E_COUNT);
  bad = normal;
  normal.range[40].low = NAN;
  REJECTS(TSANOM_E_NONFINITE);
  normal.range[40] = (tsanom_hsa_range){2, 1};
  REJECTS(TSANOM_E_FORMAT);
  normal.range[40] = (tsanom_hsa_range){1, 2};
  REJECTS(TSANOM_OK);
  CHECK_STATUS(tsanom_diagnosis_find_causes(&bad, &run, NULL, signs, cause, 15, &count),
               TSANOM_E_COUNT);
  living_free(&run);
}
