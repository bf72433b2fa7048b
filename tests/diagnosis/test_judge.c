/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings in runs whose truth is known; what the entries of the ledger add up to; limits
 * against their definition. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnosis/judge.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/random.h"
#include "team.h"

enum { RUNS = 6, CAPACITY = 20 * TEAM_THREADS };

static team_run normal_run[RUNS], tested;

static tsanom_diagnosis_model *learn(const team_kind *kind, uint64_t *seed) {
  tsanom_hsa_run runs[RUNS];
  tsanom_diagnosis_model *model = NULL;
  for (int i = 0; i < RUNS; i++) {
    team_make(&normal_run[i], kind, seed);
    runs[i] = normal_run[i].run;
  }
  CHECK_STATUS(tsanom_diagnosis_learn(runs, RUNS, NULL, &model), TSANOM_OK);
  return model;
}

static size_t judge(const tsanom_diagnosis_model *model, const team_kind *kind,
                    uint64_t *seed, tsanom_finding *found) {
  size_t count = 99;
  team_make(&tested, kind, seed);
  CHECK_STATUS(
      tsanom_diagnosis_judge(model, &tested.run, 0.01, NULL, found, CAPACITY, &count),
      TSANOM_OK);
  for (size_t i = 1; i < count; i++) cr_assert(found[i].lost_s <= found[i - 1].lost_s);
  return count;
}

/* The first finding of each of 20 runs. */
static void expect(const team_kind *base, const team_kind *kind, int32_t cause,
                   int32_t thread) {
  uint64_t seed = 31;
  tsanom_finding found[CAPACITY];
  tsanom_diagnosis_model *model = learn(base, &seed);
  for (int i = 0; i < 20; i++) {
    size_t count = judge(model, kind, &seed, found);
    if (!cause) {
      cr_assert(count == 0, "%d: %s", i, tsanom_hsa_status_name(found[0].cause));
      continue;
    }
    cr_assert(count > 0, "%d: nothing", i);
    cr_assert(found[0].cause == cause && found[0].thread == thread, "%d: %s of %d", i,
              tsanom_hsa_status_name(found[0].cause), (int)found[0].thread);
    cr_assert(found[0].value > found[0].limit && found[0].begin < found[0].end);
  }
  tsanom_diagnosis_model_destroy(model);
}

Test(diagnosis_judge, each_kind_of_lost_time_is_named) {
  for (size_t threads = 2; threads <= TEAM_THREADS; threads++) {
    team_kind base = team_normal(), k;
    base.threads = threads;
    base.who = threads - 1;
    k = base;
    expect(&base, &k, 0, 0);
    k.beats /= 2;
    expect(&base, &k, 0, 0);
    k = base;
    k.work *= 1.6;
    expect(&base, &k, TSANOM_HSA_SLOWDOWN, TSANOM_HSA_PROCESS);
    k = base;
    k.blocked += 0.006;
    expect(&base, &k, TSANOM_HSA_SLOWDOWN, TSANOM_HSA_PROCESS);
    k = base;
    k.ready += 0.006;
    expect(&base, &k, TSANOM_HSA_CONTENTION, TSANOM_HSA_PROCESS);
    k = base;
    k.heavy = 1.6;
    expect(&base, &k, TSANOM_HSA_IMBALANCE, (int32_t)base.who);
  }
}

/* Threads that lack processors in normal runs, too, lack no more of them. */
Test(diagnosis_judge, normal_contention_is_not_blamed) {
  team_kind base = team_normal(), k;
  base.ready = base.blocked = 0.002;
  k = base;
  k.blocked += 0.006;
  expect(&base, &k, TSANOM_HSA_SLOWDOWN, TSANOM_HSA_PROCESS);
}

Test(diagnosis_judge, the_most_lost_seconds_come_first) {
  uint64_t seed = 6;
  team_kind base = team_normal(), k = base;
  tsanom_finding found[CAPACITY];
  tsanom_diagnosis_model *model = learn(&base, &seed);
  k.work *= 1.4;
  k.ready += 0.008;
  cr_assert(judge(model, &k, &seed, found) == 2);
  cr_assert(found[0].cause == TSANOM_HSA_CONTENTION && !found[1].is_blocked);
  k.work *= 1.6;
  k.ready = base.ready + 0.005;
  cr_assert(judge(model, &k, &seed, found) == 2);
  cr_assert(found[0].cause == TSANOM_HSA_SLOWDOWN);
  tsanom_diagnosis_model_destroy(model);
}

/* A thread that waits for the one that stopped or ran on is not named, whoever it is. */
Test(diagnosis_judge, the_thread_that_others_waited_for_hangs) {
  for (size_t who = 0; who < 2; who++) {
    team_kind base = team_normal(), k = base;
    k.who = who;
    k.pause = 2;
    expect(&base, &k, TSANOM_HSA_HANG, (int32_t)who);
    k.pause = 0;
    k.run_loop = 2;
    expect(&base, &k, TSANOM_HSA_HANG, (int32_t)who);
  }
}

/* Half of a run is compared with the half of the normal runs. */
Test(diagnosis_judge, a_part_of_a_run_is_judged_alike) {
  uint64_t seed = 5;
  team_kind base = team_normal(), slow = base;
  tsanom_finding found[CAPACITY];
  size_t count;
  tsanom_diagnosis_model *model = learn(&base, &seed);
  slow.work *= 1.6;
  for (int i = 0; i < 40; i++) {
    team_make(&tested, i % 2 ? &slow : &base, &seed);
    tested.run.state = TSANOM_HSA_STATE_RUNNING;
    size_t beats = random_between(&seed, 80, 290), t;
    tested.run.end = tested.time[0][beats - 1] + 1e-4;
    for (t = 0; t < 2; t++) {
      tested.series[t].beats = beats;
      while (tested.vital[t][tested.series[t].vital_count - 1].time > tested.run.end) {
        tested.series[t].vital_count--;
      }
    }
    CHECK_STATUS(
        tsanom_diagnosis_judge(model, &tested.run, 0.01, NULL, found, CAPACITY, &count),
        TSANOM_OK);
    cr_assert((count > 0) == (i % 2), "%d: %zu findings after %zu beats", i, count,
              beats);
    if (count) cr_assert(found[0].cause == TSANOM_HSA_SLOWDOWN);
  }
  tsanom_diagnosis_model_destroy(model);
}

/* Slowdown, the largest imbalance, contention and blocked time are what the run took
 * longer than the normal runs. */
Test(diagnosis_judge, the_entries_add_up_to_the_lost_time) {
  for (int round = 0; round < 60; round++) {
    uint64_t seed = 100 + (uint64_t)round;
    team_kind base = team_normal(), k;
    base.threads = 2 + (size_t)round % 3;
    k = base;
    k.work *= 1 + random_unit(&seed);
    k.heavy = 1 + (round % 2 ? random_unit(&seed) : 0);
    k.who = random_between(&seed, 0, base.threads - 1);
    k.ready += 0.004 * random_unit(&seed);
    k.blocked += 0.004 * random_unit(&seed);
    tsanom_diagnosis_model *m = learn(&base, &seed);
    team_make(&tested, &k, &seed);
    static double numbers[3][TEAM_THREADS * TSN_EDGES], rows[5][TEAM_THREADS + 6];
    tsn_grid grid = {.cpu = numbers[0], .ready = numbers[1], .beats = numbers[2]};
    tsn_sign_scratch scratch = {.sums = {.cpu = rows[0], .ready = rows[1]},
                                .expected = rows[2],
                                .ratio = rows[3],
                                .sorted = rows[4]};
    tsn_sign sign[TSN_IMBALANCE + TEAM_THREADS];
    tsn_grid_begin(&grid, &tested.run, (double)k.beats);
    tsn_grid_fill(&grid);
    double normal = tsn_measure_signs(m, &grid, 1, 0, &scratch, sign), most = 0;
    for (size_t t = 0; t < base.threads; t++) {
      most = fmax(most, sign[TSN_IMBALANCE + t].lost);
    }
    double sum = sign[TSN_SLOWDOWN].lost + sign[TSN_CONTENTION].lost +
                 sign[TSN_BLOCKED].lost + most;
    double lost = scratch.sums.wall - normal;
    cr_assert(fabs(sum - lost) < 0.04 * normal, "%d: %g of %g, normally %g", round, sum,
              lost, normal);
    tsanom_diagnosis_model_destroy(m);
  }
}

/* ---- limits */

Test(diagnosis_judge, limits_are_prediction_limits) {
  double v[2][RUNS] = {{1, 2, 3, 4, 5, 6}, {2, 2.5, 3, 3.5, 4, 4.5}};
  tsn_limit l[2];
  tsn_learn_limits(v[0], 2, RUNS, 0.5, l);
  double s = sqrt((17.5 + 4.375 + 3 * 0.25) / 13);
  cr_assert(l[0].freedom == 13 && l[0].most == 6 && fabs(l[0].mean - 3.5) < 1e-12);
  cr_assert(fabs(l[1].scale - s * sqrt(1 + 1.0 / 6)) < 1e-12);
  /* t(13, 0.975) = 2.160369 */
  cr_assert(fabs(tsn_limit_at(&l[0], 0.025) - (3.5 + 2.160369 * l[0].scale)) < 1e-5);
}

/* One disturbed run of six neither raises the limits nor the limit of gaps. */
Test(diagnosis_judge, a_disturbed_training_run_is_dropped) {
  uint64_t seed = 8;
  team_kind base = team_normal(), k = base;
  tsanom_finding found[CAPACITY];
  tsanom_hsa_run runs[RUNS];
  tsanom_diagnosis_model *model;
  k.ready += 0.008;
  for (int i = 0; i < RUNS; i++) {
    team_make(&normal_run[i], i == 2 ? &k : &base, &seed);
    runs[i] = normal_run[i].run;
  }
  CHECK_STATUS(tsanom_diagnosis_learn(runs, RUNS, NULL, &model), TSANOM_OK);
  for (int i = 0; i < RUNS; i++) cr_assert(model->is_disturbed[i] == (i == 2), "%d", i);
  for (int i = 0; i < 10; i++) {
    cr_assert(judge(model, &k, &seed, found) > 0);
    cr_assert(found[0].cause == TSANOM_HSA_CONTENTION);
    cr_assert(judge(model, &base, &seed, found) == 0);
  }
  tsanom_diagnosis_model_destroy(model);
}

/* Its gap lasts until the last beat of any thread. */
Test(diagnosis_judge, the_gap_of_a_thread_that_stopped) {
  enum { BEATS = 10, STOPPED = 3 };
  double time[BEATS];
  for (int i = 0; i < BEATS; i++) time[i] = i;
  const tsanom_hsa_series thread[] = {{.time = time, .beats = STOPPED},
                                      {.time = time, .beats = BEATS},
                                      {.time = time, .beats = 1}};
  const tsanom_hsa_run run = {
      .threads = thread, .thread_count = 3, .state = TSANOM_HSA_STATE_FINISHED};
  tsn_gap scratch[3 * TSN_GAPS_EACH], gaps[TSN_GAPS];
  cr_assert(tsn_find_gaps(&run, scratch, gaps) > 0);
  cr_assert(gaps[0].thread == 2 && gaps[0].begin == 0 && gaps[0].end == BEATS - 1);
}

Test(diagnosis_judge, gaps_of_checkpoints_are_normal) {
  double v[] = {1, 1.2, 0.9, 1.1, 1.05, 1.15, 0.95, 1, 0.01, 0.02, 0.01, 0.03};
  double few[] = {1, 0};
  cr_assert(fabs(tsn_gap_limit(v, 12, 4) - 2.4) < 1e-12, "%g", tsn_gap_limit(v, 12, 4));
  cr_assert(isinf(tsn_gap_limit(few, 2, 2)));
}

/* ---- memory and invalid input */

Test(diagnosis_judge, every_failed_allocation_is_reported) {
  uint64_t seed = 9;
  team_kind base = team_normal();
  tsanom_diagnosis_model *model = learn(&base, &seed), *other = NULL;
  tsanom_finding found[CAPACITY];
  tsanom_hsa_run runs[RUNS];
  size_t count = 7;
  for (int i = 0; i < RUNS; i++) runs[i] = normal_run[i].run;
  test_allocator allocator = {0};
  tsanom_exec exec = test_exec(&allocator);
  for (size_t fail = 1; fail <= 2; fail++) {
    allocator = (test_allocator){.fail_at = fail};
    CHECK_STATUS(tsanom_diagnosis_learn(runs, RUNS, &exec, &other), TSANOM_E_MEMORY);
    cr_assert(other == NULL && allocator.live == 0);
  }
  allocator = (test_allocator){.fail_at = 1};
  CHECK_STATUS(
      tsanom_diagnosis_judge(model, &runs[0], 0.01, &exec, found, CAPACITY, &count),
      TSANOM_E_MEMORY);
  cr_assert(count == 7 && allocator.live == 0);
  allocator = (test_allocator){0};
  CHECK_STATUS(tsanom_diagnosis_learn(runs, RUNS, &exec, &other), TSANOM_OK);
  cr_assert(allocator.live == 1);
  tsanom_diagnosis_model_destroy(other);
  cr_assert(allocator.live == 0);
#define REJECTED(status, ...) CHECK_STATUS(tsanom_diagnosis_judge(__VA_ARGS__), status)
  REJECTED(TSANOM_E_NULL, NULL, runs, 0.01, NULL, found, CAPACITY, &count);
  REJECTED(TSANOM_E_NULL, model, NULL, 0.01, NULL, found, CAPACITY, &count);
  REJECTED(TSANOM_E_NULL, model, runs, 0.01, NULL, NULL, CAPACITY, &count);
  REJECTED(TSANOM_E_NULL, model, runs, 0.01, NULL, found, CAPACITY, NULL);
  REJECTED(TSANOM_E_OPTION, model, runs, 0, NULL, found, CAPACITY, &count);
  REJECTED(TSANOM_E_OPTION, model, runs, NAN, NULL, found, CAPACITY, &count);
  REJECTED(TSANOM_E_COUNT, model, runs, 0.01, NULL, found, 39, &count);
  runs[1].thread_count = 1;
  CHECK_STATUS(tsanom_diagnosis_learn(runs, RUNS, NULL, &other), TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_diagnosis_learn(runs, 0, NULL, &other), TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_diagnosis_learn(NULL, 1, NULL, &other), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_diagnosis_learn(runs, 1, NULL, NULL), TSANOM_E_NULL);
  tsanom_diagnosis_model_destroy(model);
  tsanom_diagnosis_model_destroy(NULL);
}
