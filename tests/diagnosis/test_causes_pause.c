/* SPDX-License-Identifier: BSD-3-Clause */
/* Hangs and pauses; test_judge.c has which of the threads waited for another one. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "diagnosis/found.h"
#include "support/check.h"
#include "support/random.h"

Test(diagnosis_causes, a_program_that_does_not_go_on_hangs) {
  living_kind k;
  tsanom_diagnosis_normal normal = learn_two_threads(&k);
  k.noise = 1e-4; /* the threads stop at the same time */
  k.pause = 10;
  k.pause_at = 0.4;
  EXPECT(&normal, &k, TSANOM_HSA_HANG, TSANOM_HSA_HANG, TSANOM_HSA_HANG);
  k.pause = 0;
  k.cut = 900;
  k.state = TSANOM_RUN_RUNNING;
  k.silence = 3;
  EXPECT(&normal, &k, TSANOM_HSA_HANG, TSANOM_HSA_HANG, TSANOM_HSA_HANG);
  /* One thread of a running program. */
  k.cut = 0;
  k.silence = 0;
  k.thread[1].stop = 500;
  EXPECT(&normal, &k, TSANOM_HSA_HANG, TSANOM_HSA_NORMAL, TSANOM_HSA_HANG);
  /* Killed after it hung. */
  k.thread[1].stop = 0;
  k.cut = 900;
  k.silence = 3;
  k.state = TSANOM_RUN_KILLED;
  uint64_t seed = 8;
  finding f = find_in(&normal, &k, &seed);
  cr_assert(f.count == 3 && f.status == TSANOM_HSA_SHUTDOWN);
  cr_assert(f.cause[1].cause == TSANOM_HSA_HANG && f.cause[2].cause == TSANOM_HSA_HANG);
  tsanom_hsa_run run = living_run(&k, &seed);
  f = find(&normal, &run);
  const tsanom_hsa_series *s = &run.threads[f.cause[1].thread];
  cr_assert(fabs(f.cause[1].begin - s->time[s->beats - 1]) < 1e-3);
  cr_assert(isinf(f.cause[1].end));
  living_free(&run);
}

/* What a model finds of pauses is what is found, and stated as the limit. */
Test(diagnosis_causes, a_shorter_pause_than_the_power_is_normal) {
  uint64_t seed = 53;
  for (int round = 0; round < 30; round++) {
    living_kind k = living_normal();
    tsanom_diagnosis_power power;
    k.noise = 1e-4;
    k.period = 0.0006 + 0.0015 * random_unit(&seed);
    tsanom_diagnosis_normal normal = learn_from(&k, RUNS, &seed, TSANOM_OK);
    CHECK_STATUS(tsanom_diagnosis_normal_power(&normal, &power), TSANOM_OK);
    k.pause_at = 0.4;
    k.pause = 0.95 * power.hang;
    finding f = find_in(&normal, &k, &seed);
    cr_assert(f.status != TSANOM_HSA_HANG, "%g", power.hang);
    k.pause = 1.05 * power.hang;
    f = find_in(&normal, &k, &seed);
    cr_assert(f.status == TSANOM_HSA_HANG && fabs(f.cause[0].limit - power.hang) < 1e-9,
              "%g: %g", power.hang, f.cause[0].limit);
  }
}

/* Thread 1 is deadlocked; thread 0 beats until it waits for it. */
Test(diagnosis_causes, the_thread_that_became_silent_first_is_named) {
  living_kind k;
  tsanom_diagnosis_normal normal = learn_two_threads(&k);
  k.noise = 1e-4;
  k.silence = 3;
  k.state = TSANOM_RUN_RUNNING;
  k.cut = 901;
  k.thread[1].stop = 900;
  EXPECT(&normal, &k, TSANOM_HSA_HANG, TSANOM_HSA_NORMAL, TSANOM_HSA_HANG);
}

/* A running program whose threads were ready since their last beat does not hang. */
Test(diagnosis_causes, a_silent_thread_without_a_processor_does_not_hang) {
  living_kind k;
  uint64_t seed = 51;
  tsanom_diagnosis_normal normal = learn_two_threads(&k);
  k.cut = 900;
  k.silence = 3;
  k.state = TSANOM_RUN_RUNNING;
  for (int waits = 0; waits < 2; waits++) {
    tsanom_hsa_run run = living_run(&k, &seed);
    for (size_t t = 0; t < 2; t++) {
      const tsanom_hsa_series *s = &run.threads[t];
      for (size_t i = 0; waits && i < s->vital_count; i++) {
        tsanom_hsa_vital *v = (tsanom_hsa_vital *)&s->vital[i];
        v->wait_s += fmax(0, v->time - s->time[s->beats - 1]);
      }
    }
    finding f = find(&normal, &run);
    cr_assert(f.status == (waits ? TSANOM_HSA_CONTENTION : TSANOM_HSA_HANG), "%s",
              tsanom_hsa_status_name(f.status));
    living_free(&run);
  }
}

/* Before the first beat: for less, and for more, than a quarter of a second longer than in
 * normal runs. It says nothing of how long the pauses between beats may be. */
Test(diagnosis_causes, a_program_that_begins_late_has_paused) {
  living_kind k;
  tsanom_diagnosis_normal normal = learn_two_threads(&k);
  uint64_t seed = 31;
  k.pause = 0.2;
  k.pause_at = 0;
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  k.pause = 0.4;
  finding f = find_in(&normal, &k, &seed);
  cr_assert(f.count == 1 && f.cause[0].cause == TSANOM_HSA_HANG);
  cr_assert(f.cause[0].thread == TSANOM_HSA_PROCESS);
  cr_assert(f.cause[0].detail == TSANOM_DIAGNOSIS_DETAIL_PAUSED);
  cr_assert(fabs(f.cause[0].lost_s - 0.4) < 0.01, "%g", f.cause[0].lost_s);
  living_kind late = k;
  late.pause = 3;
  normal = learn_from(&late, 6, &seed, TSANOM_OK);
  EXPECT(&normal, &k, TSANOM_HSA_NORMAL, 0, 0);
  k.pause = 2;
  k.pause_at = 0.4;
  k.noise = 1e-4;
  EXPECT(&normal, &k, TSANOM_HSA_HANG, TSANOM_HSA_HANG, TSANOM_HSA_HANG);
}

/* On a busy machine the first sample of a thread may be behind its first beat; what it counts from
 * the beginning of the thread shows whether processors were missing. */
Test(diagnosis_causes, a_program_without_a_processor_begins_late) {
  living_kind k;
  tsanom_diagnosis_normal normal = learn_two_threads(&k);
  uint64_t seed = 32;
  k.pause_at = 0;
  for (int round = 0; round < 40; round++) {
    bool lacks = round % 2;
    k.pause = 0.4 + 2 * random_unit(&seed);
    tsanom_hsa_run run = living_run(&k, &seed);
    for (size_t t = 0; t < 2; t++) {
      tsanom_hsa_series *s = (tsanom_hsa_series *)&run.threads[t];
      tsanom_hsa_vital *v = (tsanom_hsa_vital *)s->vital;
      size_t first = 0, count = s->vital_count;
      double share = lacks ? 0.9 + 0.2 * random_unit(&seed) : 0.1 * random_unit(&seed);
      while (v[first].time < s->time[0]) first++;
      s->vital_count = count - first;
      memmove(v, v + first, s->vital_count * sizeof *v);
      for (size_t n = 0; n < s->vital_count; n++) v[n].wait_s += share * k.pause;
    }
    finding f = find(&normal, &run);
    cr_assert(f.status == (lacks ? TSANOM_HSA_NORMAL : TSANOM_HSA_HANG), "%d: %s", round,
              tsanom_hsa_status_name(f.status));
    living_free(&run);
  }
}
