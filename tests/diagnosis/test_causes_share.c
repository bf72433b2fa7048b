/* SPDX-License-Identifier: BSD-3-Clause */
/* Causes that follow from how threads share processors and work. */
#include <criterion/criterion.h>
#include <math.h>

#include "diagnosis/found.h"
#include "support/check.h"
#include "support/random.h"

Test(diagnosis_causes, the_stronger_of_equal_causes_comes_first) {
  living_kind k;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  uint64_t seed = 21;
  k.thread[0].wait = 0.3;
  k.thread[1].wait = 0.9;
  finding f = find_in(&normal, &k, &seed);
  cr_assert(f.count == 2 && f.cause[0].thread == 1 && f.cause[1].thread == 0);
  cr_assert(f.cause[0].strength > f.cause[1].strength);
}

/* The same processors, but fewer: a program that lacks them has contention, and one that
 * does not is normal. */
Test(diagnosis_causes, fewer_processors_than_normal) {
  living_kind k = living_normal();
  tsanom_hsa_run runs[RUNS];
  uint64_t seed = 6;
  char text[512];
  tsanom_hsa_normal normal = learn_two_threads(&k);
  for (int i = 0; i < RUNS; i++) {
    runs[i] = living_run(&k, &seed);
    runs[i].machine = "2 x processor";
  }
  learn_again(&normal, runs);
  tsanom_hsa_run run = living_run(&k, &seed);
  run.machine = "1 x processor";
  cr_assert(find(&normal, &run).count == 0);
  run.machine = "2 x another";
  cr_assert(find(&normal, &run).cause[0].detail == TSANOM_HSA_DETAIL_MACHINE);
  living_free(&run);
  k.thread[0].wait = k.thread[1].wait = 0.5;
  k.thread[0].pace = k.thread[1].pace = 2;
  run = living_run(&k, &seed);
  run.machine = "1 x processor";
  finding f = find(&normal, &run);
  cr_assert(f.status == TSANOM_HSA_CONTENTION && f.count == 3);
  cr_assert(f.cause[0].detail == TSANOM_HSA_DETAIL_PROCESSORS && f.cause[0].thread < 0);
  CHECK_STATUS(tsanom_hsa_cause_text(&f.cause[0], text, sizeof text, NULL), TSANOM_OK);
  cr_assert_str_eq(text, "the program may use 1 processor, in the normal runs 2");
  run.machine = "3 x processor";
  cr_assert(find(&normal, &run).count == 2);
  living_free(&run);
}

/* Each tenth beat takes 15 ms more, in which no thread runs, and the quartiles of the beats
 * stay. If one thread runs meanwhile, the other waits for it. */
Test(diagnosis_causes, rare_beats_in_which_nobody_runs_are_a_slowdown) {
  living_kind k;
  uint64_t seed = 7;
  char text[512];
  tsanom_hsa_normal normal = learn_two_threads(&k);
  for (int runs = 0; runs < 2; runs++) {
    tsanom_hsa_run run = living_run(&k, &seed);
    for (size_t t = 0; t < 2; t++) {
      const tsanom_hsa_series *s = &run.threads[t];
      tsanom_hsa_vital *v = (tsanom_hsa_vital *)s->vital;
      for (size_t i = 0; i < s->beats; i++) {
        ((double *)s->time)[i] += 0.015 * (double)(i / 10);
      }
      for (size_t i = 0; i < s->vital_count; i++) {
        double late = 0.015 * (double)(v[i].beats / 10);
        v[i].time += late;
        if (t == 1 && runs) v[i].cpu_s += 0.5 * late;
      }
    }
    run.end += 0.015 * 200;
    finding f = find(&normal, &run);
    if (runs) {
      cr_assert(f.thread[0] != TSANOM_HSA_SLOWDOWN);
    } else {
      cr_assert(f.status == TSANOM_HSA_SLOWDOWN && f.count == 2, "%s",
                tsanom_hsa_status_name(f.status));
      cr_assert(f.cause[0].sign == TSANOM_HSA_SIGN_BLOCKED);
      tsanom_hsa_cause_text(&f.cause[0], text, sizeof text, NULL);
      cr_assert(strstr(text, "asleep, blocked or stopped for 79"), "%s", text);
      run.state = TSANOM_HSA_STATE_RUNNING; /* it may wait in what comes */
      cr_assert(find(&normal, &run).status == TSANOM_HSA_NORMAL);
    }
    living_free(&run);
  }
}

Test(diagnosis_causes, waiting_for_a_processor_is_contention) {
  living_kind k;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  k.thread[0].wait = 0.5;
  k.thread[0].pace = k.thread[1].pace = 2;
  EXPECT(&normal, &k, TSANOM_HSA_CONTENTION, TSANOM_HSA_CONTENTION, TSANOM_HSA_WAITING);
  k.thread[1].wait = 0.5;
  EXPECT(&normal, &k, TSANOM_HSA_CONTENTION, TSANOM_HSA_CONTENTION,
         TSANOM_HSA_CONTENTION);
  /* A leak on a busy machine. */
  k.thread[0].leak = 20000;
  k.thread[0].faults = 5;
  uint64_t seed = 5;
  finding f = find_in(&normal, &k, &seed);
  cr_assert(f.count == 3 && f.cause[0].cause == TSANOM_HSA_MEMORY_LEAK);
  cr_assert(f.cause[1].cause == TSANOM_HSA_CONTENTION && f.cause[1].thread >= 0);
  /* Learned on a machine that is always that busy. */
  living_kind busy = living_normal();
  busy.thread[0].wait = busy.thread[1].wait = 0.3;
  normal = learn_from(&busy, RUNS, &seed, TSANOM_OK);
  EXPECT(&normal, &busy, TSANOM_HSA_NORMAL, 0, 0);
  cr_assert(fabs(normal.load - 0.375) < 0.01, "%g", normal.load);
}

/* A third of the active time, but only a tenth of a second. */
Test(diagnosis_causes, a_disturbance_of_a_short_run_is_not_contention) {
  living_kind k;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  k.thread[0].wait = 0.25;
  EXPECT(&normal, &k, TSANOM_HSA_CONTENTION, TSANOM_HSA_CONTENTION, TSANOM_HSA_NORMAL);
  k.beats = 400;
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, TSANOM_HSA_NORMAL, TSANOM_HSA_NORMAL);
}

/* For a tenth of a second each thread lacks a processor, together for half of the run. */
Test(diagnosis_causes, what_the_team_lacks_for_a_third_of_a_short_run_is_contention) {
  living_kind k;
  tsanom_hsa_normal normal = learn_two_threads(&k);
  k.beats = 400;
  k.thread[0].wait = k.thread[1].wait = 0.25;
  EXPECT(&normal, &k, TSANOM_HSA_CONTENTION, TSANOM_HSA_CONTENTION,
         TSANOM_HSA_CONTENTION);
  k.state = TSANOM_HSA_STATE_RUNNING;
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, TSANOM_HSA_NORMAL, TSANOM_HSA_NORMAL);
  k.state = TSANOM_HSA_STATE_FINISHED;
  /* One thread alone for more than a third. */
  k.thread[1].wait = 0.01;
  k.thread[0].wait = 0.35;
  EXPECT(&normal, &k, TSANOM_HSA_CONTENTION, TSANOM_HSA_CONTENTION, TSANOM_HSA_NORMAL);
  /* For half of the run, but for some milliseconds only. */
  k.beats = 80;
  k.thread[0].wait = k.thread[1].wait = 0.25;
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, TSANOM_HSA_NORMAL, TSANOM_HSA_NORMAL);
}

/* A slow thread of a team is found by its team even if runs scatter by 15 %. */
Test(diagnosis_causes, a_thread_with_more_work_than_its_team_is_an_imbalance) {
  living_kind k = living_normal();
  uint64_t seed = 7;
  k.threads = 5;
  tsanom_hsa_normal normal = learn_from(&k, RUNS, &seed, TSANOM_OK);
  for (int t = 0; t < 5; t++) k.thread[t].pace = 1.6;
  k.thread[3].cpu = 0.8;
  EXPECT(&normal, &k, TSANOM_HSA_IMBALANCE, TSANOM_HSA_WAITING, TSANOM_HSA_WAITING,
         TSANOM_HSA_WAITING, TSANOM_HSA_IMBALANCE, TSANOM_HSA_WAITING);
  k.every = 0;
  k.thread[3].pace = 2;
  for (int t = 0; t < 5; t++) {
    if (t != 3) k.thread[t].pace = 1;
  }
  finding f = find_in(&normal, &k, &seed);
  cr_assert(f.thread[3] == TSANOM_HSA_IMBALANCE && f.thread[1] == TSANOM_HSA_NORMAL);
}

/* Samples that are taken within beats, of which each takes as long as the time between
 * samples. */
static tsanom_hsa_run long_beats(const living_kind *k, uint64_t *seed) {
  tsanom_hsa_run run = living_run(k, seed);
  for (size_t t = 0; t < k->threads; t++) {
    tsanom_hsa_vital *v = (tsanom_hsa_vital *)run.threads[t].vital;
    for (size_t i = 0; i < run.threads[t].vital_count; i++) {
      v[i].cpu_s += 0.9 * random_unit(seed) * k->period * k->thread[t].cpu;
    }
  }
  return run;
}

Test(diagnosis_causes, an_imbalance_of_few_beats_is_found) {
  living_kind k = living_normal();
  tsanom_hsa_run runs[RUNS];
  uint64_t seed = 24;
  k.beats = 44;
  k.period = 0.05;
  tsanom_hsa_normal normal = learn_from(&k, RUNS, &seed, TSANOM_OK);
  for (int i = 0; i < RUNS; i++) runs[i] = long_beats(&k, &seed);
  learn_again(&normal, runs);
  for (int i = 0; i < 2 * ROUNDS; i++) {
    k.thread[1].cpu = i % 2 ? 0.75 : 0.5;
    tsanom_hsa_run run = long_beats(&k, &seed);
    finding f = find(&normal, &run);
    cr_assert(f.thread[1] == (i % 2 ? TSANOM_HSA_IMBALANCE : TSANOM_HSA_NORMAL),
              "round %d: %s", i, tsanom_hsa_status_name(f.thread[1]));
    cr_assert(f.thread[0] == TSANOM_HSA_NORMAL);
    living_free(&run);
  }
}

/* A run of half a second has a handful of samples: too few for a quartile. */
Test(diagnosis_causes, an_imbalance_of_a_short_run_is_found) {
  living_kind k = living_normal();
  uint64_t seed = 34;
  k.every = 0.6;
  tsanom_hsa_normal normal = learn_from(&k, RUNS, &seed, TSANOM_OK);
  k.thread[1].cpu = 0.75;
  EXPECT(&normal, &k, TSANOM_HSA_IMBALANCE, TSANOM_HSA_NORMAL, TSANOM_HSA_IMBALANCE);
}
