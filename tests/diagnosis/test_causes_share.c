/* SPDX-License-Identifier: BSD-3-Clause */
/* Causes that follow from how threads share processors and work. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "diagnosis/found.h"
#include "support/check.h"

/* The same processors, but fewer: a program that lacks them has contention, and one that
 * does not is normal. */
Test(diagnosis_causes, fewer_processors_than_normal) {
  living_kind k = living_normal();
  tsanom_hsa_run runs[RUNS];
  uint64_t seed = 6;
  char text[512];
  tsanom_diagnosis_normal normal = learn_two_threads(&k);
  for (int i = 0; i < RUNS; i++) {
    runs[i] = living_run(&k, &seed);
    runs[i].machine = "2 x processor";
  }
  learn_again(&normal, runs);
  tsanom_hsa_run run = living_run(&k, &seed);
  run.machine = "1 x processor";
  cr_assert(find(&normal, &run).count == 0);
  run.machine = "2 x another";
  cr_assert(find(&normal, &run).cause[0].detail == TSANOM_DIAGNOSIS_DETAIL_MACHINE);
  living_free(&run);
  k.thread[0].wait = k.thread[1].wait = 0.8;
  k.thread[0].pace = k.thread[1].pace = 2;
  run = living_run(&k, &seed);
  run.machine = "1 x processor";
  finding f = find(&normal, &run);
  cr_assert(f.status == TSANOM_HSA_CONTENTION && f.cause[0].thread < 0);
  cr_assert(f.cause[0].detail == TSANOM_DIAGNOSIS_DETAIL_PROCESSORS);
  CHECK_STATUS(tsanom_diagnosis_cause_text(&f.cause[0], TSANOM_DIAGNOSIS_CAUSE_EVIDENCE,
                                           text, sizeof text, NULL),
               TSANOM_OK);
  cr_assert(strstr(text, "; the program may use 1 processor, in the normal runs 2"), "%s",
            text);
  run.machine = "3 x processor";
  cr_assert(find(&normal, &run).cause[0].detail == TSANOM_DIAGNOSIS_DETAIL_NONE);
  living_free(&run);
}

/* Normal runs that lack processors more or less do not hide a lack whose reason is known. */
Test(diagnosis_causes, fewer_processors_need_no_limit) {
  living_kind k = living_normal(), late = k;
  tsanom_hsa_run runs[RUNS];
  uint64_t seed = 7;
  tsanom_diagnosis_normal normal = learn_two_threads(&k);
  late.thread[0].wait = late.thread[1].wait = 0.8;
  late.thread[0].pace = late.thread[1].pace = 2;
  for (int i = 0; i < RUNS; i++) {
    runs[i] = living_run(i % 2 ? &late : &k, &seed);
    runs[i].machine = "2 x processor";
  }
  learn_again(&normal, runs);
  tsanom_hsa_run run = living_run(&late, &seed);
  run.machine = "2 x processor";
  cr_assert(find(&normal, &run).count == 0);
  run.machine = "1 x processor";
  finding f = find(&normal, &run);
  cr_assert(f.count == 1 && f.cause[0].detail == TSANOM_DIAGNOSIS_DETAIL_PROCESSORS);
  living_free(&run);
}

Test(diagnosis_causes, waiting_for_a_processor_is_contention) {
  living_kind k;
  uint64_t seed = 5;
  tsanom_diagnosis_normal normal = learn_two_threads(&k);
  k.thread[0].wait = k.thread[1].wait = 0.8;
  k.thread[0].pace = k.thread[1].pace = 1.8;
  EXPECT(&normal, &k, TSANOM_HSA_CONTENTION, 0, 0);
  /* A leak on a busy machine. */
  k.thread[0].leak = 20000;
  k.thread[0].faults = 5;
  finding f = find_in(&normal, &k, &seed);
  cr_assert(f.count == 2 && f.cause[0].cause == TSANOM_HSA_MEMORY_LEAK);
  cr_assert(f.cause[1].cause == TSANOM_HSA_CONTENTION);
  /* Learned on a machine that is always that busy. */
  living_kind busy = living_normal();
  busy.thread[0].wait = busy.thread[1].wait = 0.3;
  normal = learn_from(&busy, RUNS, &seed, TSANOM_OK);
  EXPECT(&normal, &busy, TSANOM_HSA_NORMAL, 0, 0);
  tsanom_diagnosis_power power;
  CHECK_STATUS(tsanom_diagnosis_normal_power(&normal, &power), TSANOM_OK);
  cr_assert(fabs(power.load - 0.375) < 0.01, "%g", power.load);
}

/* A slow thread of a team is found by its team even if runs scatter by 15 %. */
Test(diagnosis_causes, a_thread_with_more_work_than_its_team_is_an_imbalance) {
  living_kind k = living_normal();
  uint64_t seed = 7;
  k.threads = 5;
  tsanom_diagnosis_normal normal = learn_from(&k, RUNS, &seed, TSANOM_OK);
  for (int t = 0; t < 5; t++) k.thread[t].pace = 1.6;
  k.thread[3].cpu = 1;
  uint64_t other = 8;
  for (int i = 0; i < ROUNDS; i++) {
    finding f = find_in(&normal, &k, &other);
    cr_assert(f.thread[3] == TSANOM_HSA_IMBALANCE && f.thread[1] == TSANOM_HSA_NORMAL);
  }
}
