/* SPDX-License-Identifier: BSD-3-Clause */
/* Power, workspaces and invalid input of causes. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <tsanom/diagnosis.h>

#include "diagnosis/found.h"
#include "hsa/memory.h"
#include "support/check.h"

/* The power is where leaks begin to be found; test_judge.c has that of the ledger. */
Test(diagnosis_causes, the_power_is_the_smallest_leak_that_is_found) {
  living_kind k;
  tsanom_hsa_power power;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  CHECK_STATUS(tsanom_hsa_normal_power(&normal, &power), TSANOM_OK);
  cr_assert(power.leak >= 3 << 20 && power.leak < 4 << 20, "%g", power.leak);
  size_t whole = (TSANOM_HSA_PARTS - 1) * normal.thread_count * TSANOM_HSA_SIGNS;
  cr_assert(power.early == normal.range[whole + TSANOM_HSA_SIGN_EARLY].high);
  k = living_normal();
  k.thread[0].leak = 1.1 * power.leak / (0.8 * (double)k.beats);
  uint64_t seed = 12;
  cr_assert(find_in(&normal, &k, &seed).status == TSANOM_HSA_MEMORY_LEAK);
  k.thread[0].leak *= 0.8;
  cr_assert(find_in(&normal, &k, &seed).status == TSANOM_HSA_NORMAL);
  normal.ledger = NULL;
  normal.ledger_count = 0;
  CHECK_STATUS(tsanom_hsa_normal_power(&normal, &power), TSANOM_OK);
  cr_assert(isinf(power.slowdown) && isinf(power.contention) && isinf(power.hang));
}

Test(diagnosis_causes, two_runs_have_limits) {
  living_kind k = living_normal();
  uint64_t seed = 13;
  tsanom_hsa_normal normal = learn_from(&k, 2, &seed, TSANOM_PARTIAL);
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  for (int t = 0; t < 2; t++) k.thread[t].cpu = 1;
  for (int t = 0; t < 2; t++) k.thread[t].pace = 1.5;
  EXPECT(&normal, &k, TSANOM_HSA_SLOWDOWN, 0, 0);
}

/* What calls read and write; with the arrays of their results, so that these are compared. */
typedef struct {
  tsanom_hsa_run run[3];
  tsanom_hsa_normal normal;
} diagnosed;

typedef struct {
  tsanom_hsa_normal normal;
  tsanom_hsa_range range[RANGES];
  double ledger[NUMBERS];
} learned;

typedef struct {
  tsanom_hsa_signs signs[2];
  tsanom_finding cause[CAPACITY];
  size_t count;
} causes;

static tsanom_status learn_normal(const void *input, const tsanom_exec *exec,
                                  void *output) {
  const diagnosed *d = input;
  tsanom_hsa_normal asked = {.struct_size = sizeof asked};
  learned *l = output;
  if (!l) return tsanom_hsa_learn_normal(d->run, 3, 0.9, exec, &asked);
  l->normal = (tsanom_hsa_normal){.struct_size = sizeof l->normal,
                                  .range = l->range,
                                  .range_count = RANGES,
                                  .ledger = l->ledger,
                                  .ledger_count = NUMBERS};
  tsanom_status status = tsanom_hsa_learn_normal(d->run, 3, 0.9, exec, &l->normal);
  memset(&l->normal, 0, sizeof l->normal); /* it has pointers */
  return status;
}

static tsanom_status find_causes(const void *input, const tsanom_exec *exec,
                                 void *output) {
  const diagnosed *d = input;
  causes *c = output;
  tsanom_hsa_normal asked = d->normal;
  tsanom_hsa_run run = d->run[0];
  tsanom_hsa_series hollow[2] = {{.beats = 100}, {.beats = 100}};
  run.threads = hollow;
  asked.range = NULL;
  asked.ledger = NULL;
  return c ? tsanom_hsa_find_causes(&d->normal, d->run, exec, c->signs, c->cause,
                                    CAPACITY, &c->count)
           : tsanom_hsa_find_causes(&asked, &run, exec, NULL, NULL, 0, NULL);
}

/* A run that goes on needs the most memory. */
static tsanom_status summarize(const void *input, const tsanom_exec *exec, void *output) {
  const diagnosed *d = input;
  return tsanom_diagnosis_summarize(d->run, -1, 0, NULL, 0, exec, output);
}

Test(diagnosis_causes, memory_is_the_callers_or_one_block) {
  living_kind k;
  uint64_t seed = 14;
  diagnosed d = {.normal = learn_two_threads(&k)};
  k.thread[0].cpu = k.thread[1].cpu = 1;
  k.state = TSANOM_RUN_RUNNING;
  for (int i = 0; i < 3; i++) d.run[i] = living_run(&k, &seed);
  static const learned no_ranges;
  static const causes no_causes;
  static const tsanom_diagnosis_summary no_summary;
  const computing_call calls[] = {{learn_normal, &d, &no_ranges, sizeof no_ranges},
                                  {find_causes, &d, &no_causes, sizeof no_causes},
                                  {summarize, &d, &no_summary, sizeof no_summary}};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) check_workspace(&calls[i]);
  for (int i = 0; i < 3; i++) living_free(&d.run[i]);
}

Test(diagnosis_causes, learning_rejects_invalid_arguments) {
  living_kind k = living_normal();
  uint64_t seed = 14;
  tsanom_hsa_normal normal = learn_from(&k, 3, &seed, TSANOM_OK);
  tsanom_hsa_run runs[3];
  for (int i = 0; i < 3; i++) runs[i] = living_run(&k, &seed);
  CHECK_STATUS(tsanom_hsa_learn_normal(runs, 3, 1, NULL, &normal), TSANOM_E_OPTION);
  normal.range_count = 7;
  CHECK_STATUS(tsanom_hsa_learn_normal(runs, 3, 0.9, NULL, &normal), TSANOM_E_COUNT);
  for (int i = 0; i < 3; i++) living_free(&runs[i]);
}

Test(diagnosis_causes, damaged_ranges_are_rejected) {
  living_kind k;
  uint64_t seed = 15;
  size_t count = 77;
  tsanom_hsa_signs signs[2];
  tsanom_finding cause[16];
  tsanom_hsa_normal normal = learn_two_threads(&k), bad = normal;
  tsanom_hsa_run run = living_run(&k, &seed);
#define REJECTED(status) \
  CHECK_STATUS(tsanom_hsa_find_causes(&bad, &run, NULL, signs, cause, 16, &count), status)
  memset(bad.program, 'x', sizeof bad.program);
  REJECTED(TSANOM_E_FORMAT);
  bad = normal;
  bad.range_count = 3;
  REJECTED(TSANOM_E_COUNT);
  bad.range_count = SIZE_MAX;
  bad.thread_count = SIZE_MAX / 4;
  REJECTED(TSANOM_E_COUNT);
  bad = normal;
  normal.range[40].low = NAN;
  REJECTED(TSANOM_E_NONFINITE);
  normal.range[40] = (tsanom_hsa_range){2, 1};
  REJECTED(TSANOM_E_FORMAT);
  normal.range[40] = (tsanom_hsa_range){1, 2};
  REJECTED(TSANOM_OK);
  CHECK_STATUS(tsanom_hsa_find_causes(&bad, &run, NULL, signs, cause, 15, &count),
               TSANOM_E_COUNT);
  living_free(&run);
}
