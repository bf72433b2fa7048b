/* SPDX-License-Identifier: BSD-3-Clause */
/* Power, workspaces and invalid input of causes. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnosis/found.h"
#include "support/allocator.h"
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

Test(diagnosis_causes, learning_allocates_nothing_in_a_workspace) {
  living_kind k = living_normal();
  uint64_t seed = 14;
  tsanom_hsa_run runs[3];
  tsanom_hsa_normal normal, again;
  tsanom_exec exec;
  size_t bytes;
  for (int i = 0; i < 3; i++) runs[i] = living_run(&k, &seed);
  normal = learn_from(&k, 3, &seed, TSANOM_OK);
  CHECK_STATUS(tsanom_hsa_learn_normal(runs, 3, 0.9, NULL, &normal), TSANOM_OK);
  static tsanom_hsa_range other[RANGES];
  again = normal;
  static double numbers[NUMBERS];
  again.range = other;
  again.ledger = numbers;
  tsanom_exec_init(&exec, sizeof exec);
  CHECK_STATUS(tsanom_hsa_learn_normal_workspace(3, 2, &exec, &bytes), TSANOM_OK);
  exec.work = malloc(bytes);
  exec.work_bytes = bytes;
  CHECK_STATUS(tsanom_hsa_learn_normal(runs, 3, 0.9, &exec, &again), TSANOM_OK);
  size_t used = (size_t)TSANOM_HSA_PARTS * 2 * TSANOM_HSA_SIGNS;
  cr_assert(memcmp(other, normal.range, used * sizeof *other) == 0);
  used = TSANOM_HSA_LEDGER_RUN + 2 * TSANOM_HSA_LEDGER_THREAD;
  cr_assert(memcmp(numbers, normal.ledger, used * sizeof *numbers) == 0);
  exec.work_bytes = bytes / 2;
  CHECK_STATUS(tsanom_hsa_learn_normal(runs, 3, 0.9, &exec, &again), TSANOM_E_WORKSPACE);
  free(exec.work);
  CHECK_STATUS(tsanom_hsa_learn_normal(runs, 3, 1, NULL, &again), TSANOM_E_OPTION);
  again.range_count = 7;
  CHECK_STATUS(tsanom_hsa_learn_normal(runs, 3, 0.9, NULL, &again), TSANOM_E_COUNT);
  for (int i = 0; i < 3; i++) living_free(&runs[i]);
}

Test(diagnosis_causes, finding_allocates_nothing_in_a_workspace) {
  living_kind k;
  uint64_t seed = 17;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  k.thread[0].cpu = k.thread[1].cpu = 1;
  k.state = TSANOM_RUN_RUNNING;
  tsanom_hsa_run run = living_run(&k, &seed);
  finding expected = find(&normal, &run);
  test_allocator allocator = {.fail_at = 1};
  tsanom_exec exec = test_exec(&allocator);
  tsanom_hsa_signs signs[2];
  tsanom_finding cause[CAPACITY];
  size_t count = 7, bytes;
  CHECK_STATUS(
      tsanom_hsa_find_causes(&normal, &run, &exec, signs, cause, CAPACITY, &count),
      TSANOM_E_MEMORY);
  cr_assert(count == 7 && allocator.live == 0);
  CHECK_STATUS(tsanom_hsa_find_causes_workspace(2, &exec, &bytes), TSANOM_OK);
  exec.work = malloc(bytes);
  exec.work_bytes = bytes;
  CHECK_STATUS(
      tsanom_hsa_find_causes(&normal, &run, &exec, signs, cause, CAPACITY, &count),
      TSANOM_OK);
  cr_assert(count == expected.count && count > 0);
  exec.work_bytes = 100;
  CHECK_STATUS(
      tsanom_hsa_find_causes(&normal, &run, &exec, signs, cause, CAPACITY, &count),
      TSANOM_E_WORKSPACE);
  CHECK_STATUS(tsanom_hsa_find_causes_workspace(0, NULL, &bytes), TSANOM_E_COUNT);
  free(exec.work);
  living_free(&run);
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
