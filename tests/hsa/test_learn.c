/* SPDX-License-Identifier: BSD-3-Clause */
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/hsa.h>

#include "hsa/synthetic.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/faults.h"
#include "support/random.h"

enum { MOST_RUNS = 40 };

static tsanom_hsa_model *learn(const tsanom_hsa_run *runs, size_t count,
                               const tsanom_hsa_options *options,
                               tsanom_status expected) {
  tsanom_hsa_model *model = NULL;
  CHECK_STATUS(tsanom_hsa_learn(runs, count, options, NULL, &model), expected);
  return model;
}

static const tsanom_hsa_reference *reference_of(const tsanom_hsa_model *model,
                                                size_t thread) {
  tsanom_hsa_model_data data;
  tsanom_hsa_model_data_init(&data, sizeof data);
  CHECK_STATUS(tsanom_hsa_model_read(model, &data), TSANOM_OK);
  cr_assert(thread < data.thread_count);
  return &data.references[thread];
}

static tsanom_status diagnose(const tsanom_hsa_model *model, const tsanom_hsa_run *run,
                              tsanom_hsa_verdict *verdicts, size_t count) {
  tsanom_hsa_verdict_init(verdicts, sizeof *verdicts);
  return tsanom_hsa_diagnose(model, run, NULL, verdicts, count, NULL);
}

static void make_runs(tsanom_hsa_run *runs, size_t count, const synthetic_kind *kind,
                      uint64_t *seed) {
  for (size_t i = 0; i < count; i++) runs[i] = synthetic_run(kind, seed);
}

static void free_runs(tsanom_hsa_run *runs, size_t count) {
  for (size_t i = 0; i < count; i++) synthetic_free(&runs[i]);
}

/* --- ranges against quantiles from the literature and brute force --- */

/* Two-sided 95 % points of Student's t, from any table, to 4 digits. */
static double t_975(size_t freedom) {
  static const double table[] = {0,      12.7062, 4.3027, 3.1824, 2.7764, 2.5706,
                                 2.4469, 2.3646,  2.3060, 2.2622, 2.2281};
  return table[freedom];
}

/* GTR of beats that come exactly every p_i seconds is known: p_i / p_j. */
static tsanom_hsa_run metronome(double period, size_t beats) {
  double *time = malloc(beats * sizeof *time);
  for (size_t i = 0; i < beats; i++) time[i] = period * (double)(i + 1);
  tsanom_hsa_series *thread = malloc(sizeof *thread);
  *thread = (tsanom_hsa_series){.time = time, .beats = beats};
  return (tsanom_hsa_run){.threads = thread, .thread_count = 1, .start = 0};
}

/* With all series metronomes, GTR, DTW and the medoid follow from the periods;
 * leaving one out is done here by the definition. */
Test(hsa_learn, student_ranges_come_from_leaving_each_run_out) {
  uint64_t seed = 31;
  for (int trial = 0; trial < 100; trial++) {
    /* Of three runs, two are left, each as good a medoid as the other. */
    size_t n = random_between(&seed, 4, 11), beats = 200;
    tsanom_hsa_run runs[MOST_RUNS];
    double period[MOST_RUNS];
    for (size_t i = 0; i < n; i++) {
      period[i] = 0.01 * (1 + 0.2 * random_unit(&seed));
      runs[i] = metronome(period[i], beats);
    }
    tsanom_hsa_options options;
    tsanom_hsa_options_init(&options, sizeof options);
    options.coverage = 0.95;
    options.margin = 0;
    tsanom_hsa_model *model = learn(runs, n, &options, TSANOM_OK);

    size_t medoid = 0, rival[MOST_RUNS];
    double least = INFINITY;
    for (size_t j = 0; j < n; j++) {
      double sum = 0;
      for (size_t i = 0; i < n; i++) {
        double ratio = period[i] / period[j];
        sum += fabs(log(ratio)) + fabs(1 / sqrt(ratio) - sqrt(ratio));
      }
      if (sum < least) least = sum, medoid = j;
    }
    for (size_t out = 0; out < n; out++) {
      least = INFINITY;
      for (size_t j = 0; j < n; j++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
          double ratio = period[i] / period[j];
          if (i != out) sum += fabs(log(ratio)) + fabs(1 / sqrt(ratio) - sqrt(ratio));
        }
        if (j != out && sum < least) least = sum, rival[out] = j;
      }
    }
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) sum += log(period[i] / period[rival[i]]);
    for (size_t i = 0; i < n; i++) {
      squares += pow(log(period[i] / period[rival[i]]) - sum / (double)n, 2);
    }
    double reach =
        t_975(n - 1) * sqrt(squares / (double)(n - 1)) * sqrt(1 + 1 / (double)n);
    tsanom_hsa_reference r;
    r = *reference_of(model, 0);
    cr_assert(r.run == medoid, "trial %d: run %zu, not %zu", trial, r.run, medoid);
    cr_assert(r.sample_runs == n && r.silent_runs == 0);
    double low = exp(sum / (double)n - reach), high = exp(sum / (double)n + reach);
    cr_assert(fabs(r.range[TSANOM_HSA_GTR].low - low) < 1e-4);
    cr_assert(fabs(r.range[TSANOM_HSA_GTR].high - high) < 1e-4);
    cr_assert(r.range[TSANOM_HSA_DTW].low == 0);
    /* All beat equally often: that is a law until a run breaks it. */
    cr_assert(fabs(r.range[TSANOM_HSA_BEAT_RATIO].low - 1) < 1e-11);
    cr_assert(r.range[TSANOM_HSA_BEAT_RATIO].low <= 1);
    cr_assert(r.range[TSANOM_HSA_BEAT_RATIO].high >= 1);
    free_runs(runs, n);
    tsanom_hsa_model_destroy(model);
  }
}

/* Of runs that are equally close to the others, the first is chosen: as the medoid, and
 * as that of the others, of which the second run here has an equal and a slower one. */
Test(hsa_learn, ties_are_broken_by_the_number_of_the_run) {
  const double period[] = {0.01, 0.01, 0.02};
  tsanom_hsa_run runs[3];
  for (size_t i = 0; i < 3; i++) runs[i] = metronome(period[i], 200);
  tsanom_hsa_options options;
  tsanom_hsa_options_init(&options, sizeof options);
  options.coverage = 0.95;
  options.margin = 0;
  tsanom_hsa_model *model = learn(runs, 3, &options, TSANOM_OK);
  tsanom_hsa_reference r;
  r = *reference_of(model, 0);
  cr_assert(r.run == 0);
  /* The logarithms of the ratios are 0, 0 and log 2. */
  double mean = log(2) / 3, deviation = log(2) / sqrt(3);
  double high = exp(mean + t_975(2) * deviation * sqrt(1 + 1.0 / 3));
  cr_assert(fabs(r.range[TSANOM_HSA_GTR].high - high) < 1e-3 * high, "%g, not %g",
            r.range[TSANOM_HSA_GTR].high, high);
  free_runs(runs, 3);
  tsanom_hsa_model_destroy(model);
}

Test(hsa_learn, order_ranges_are_order_statistics_and_say_when_runs_are_few) {
  uint64_t seed = 32;
  tsanom_hsa_run runs[MOST_RUNS];
  for (size_t i = 0; i < 39; i++) {
    runs[i] = metronome(0.01 * (1 + 0.2 * random_unit(&seed)), 200);
  }
  tsanom_hsa_options options;
  tsanom_hsa_options_init(&options, sizeof options);
  options.range = TSANOM_HSA_RANGE_ORDER;
  options.margin = 0;
  tsanom_hsa_reference r;
  /* With 39 samples the extremes hold 95 % of the next: (39 - 1) / (39 + 1). */
  options.coverage = 0.95;
  tsanom_hsa_model *model = learn(runs, 39, &options, TSANOM_OK);
  r = *reference_of(model, 0);
  tsanom_hsa_range extremes = r.range[TSANOM_HSA_GTR];
  tsanom_hsa_model_destroy(model);
  tsanom_hsa_model_destroy(learn(runs, 38, &options, TSANOM_PARTIAL));
  options.coverage = 0.9;
  model = learn(runs, 39, &options, TSANOM_OK);
  r = *reference_of(model, 0);
  cr_assert(r.range[TSANOM_HSA_GTR].low > extremes.low);
  cr_assert(r.range[TSANOM_HSA_GTR].high < extremes.high);
  free_runs(runs, 39);
  tsanom_hsa_model_destroy(model);
}

/* The promise of a prediction interval, tried out: of new normal runs about the
 * share asked for falls in the range, for each feature. */
Test(hsa_learn, ranges_hold_the_share_of_new_normal_runs_they_promise) {
  uint64_t seed = 33;
  synthetic_kind kind = synthetic_steady();
  kind.threads = 1;
  kind.beats = 300;
  for (int32_t range = 0; range < 2; range++) {
    tsanom_hsa_options options;
    tsanom_hsa_options_init(&options, sizeof options);
    options.range = range;
    options.coverage = 0.8;
    options.margin = 0;
    int inside[TSANOM_HSA_FEATURES] = {0};
    enum { TRIALS = 300, NORMAL = 9 };
    for (int trial = 0; trial < TRIALS; trial++) {
      tsanom_hsa_run runs[NORMAL + 1];
      make_runs(runs, NORMAL + 1, &kind, &seed);
      tsanom_hsa_model *model = learn(runs, NORMAL, &options, TSANOM_OK);
      tsanom_hsa_verdict verdict;
      tsanom_hsa_reference r;
      CHECK_STATUS(diagnose(model, &runs[NORMAL], &verdict, 1), TSANOM_OK);
      r = *reference_of(model, 0);
      for (int f = 0; f < TSANOM_HSA_FEATURES; f++) {
        double value = verdict.features.value[f];
        inside[f] += value >= r.range[f].low && value <= r.range[f].high;
      }
      tsanom_hsa_model_destroy(model);
      free_runs(runs, NORMAL + 1);
    }
    for (int f = 0; f < TSANOM_HSA_BEAT_RATIO; f++) {
      double share = (double)inside[f] / TRIALS;
      cr_assert(share > 0.72 && share < 0.95, "%s: %g", tsanom_hsa_feature_name(f),
                share);
    }
  }
}

/* Series of more beats than there are places for rates of the regression. */
Test(hsa_learn, series_of_any_length_have_a_polynomial) {
  const size_t beats[] = {4100, 4200, 6500, 8400, 13000};
  for (size_t i = 0; i < sizeof beats / sizeof *beats; i++) {
    tsanom_hsa_run run = metronome(0.01, beats[i]);
    tsanom_hsa_model *model = learn(&run, 1, NULL, TSANOM_PARTIAL);
    tsanom_hsa_model_destroy(model);
    free_runs(&run, 1);
  }
}

Test(hsa_learn, one_run_gives_the_documented_margins) {
  uint64_t seed = 34;
  synthetic_kind kind = synthetic_steady();
  tsanom_hsa_run run = synthetic_run(&kind, &seed);
  tsanom_hsa_options options;
  tsanom_hsa_options_init(&options, sizeof options);
  options.single_run_margin = 0.5;
  tsanom_hsa_model *model = learn(&run, 1, &options, TSANOM_PARTIAL);
  for (size_t t = 0; t < 2; t++) {
    tsanom_hsa_reference r;
    r = *reference_of(model, t);
    for (int f = 0; f < TSANOM_HSA_FEATURES; f++) {
      double low = 2.0 / 3, high = 1.5;
      if (f == TSANOM_HSA_DTW) low = 0, high = 0.5;
      if (f == TSANOM_HSA_LB_KEOGH) low = 0, high = 0.25;
      cr_assert(
          fabs(r.range[f].low - low) < 1e-15 && fabs(r.range[f].high - high) < 1e-15,
          "%s", tsanom_hsa_feature_name(f));
    }
  }
  tsanom_hsa_verdict verdict[2];
  CHECK_STATUS(diagnose(model, &run, verdict, 2), TSANOM_OK);
  cr_assert(verdict[0].status == TSANOM_HSA_NORMAL &&
            verdict[1].status == TSANOM_HSA_NORMAL);
  synthetic_free(&run);
  tsanom_hsa_model_destroy(model);
}

/* --- diagnosis of synthetic families --- */

/* Share of the threads of `trials` runs that get `status`. */
static double share_of(const tsanom_hsa_model *model, const synthetic_kind *kind,
                       int32_t status, int trials, uint64_t *seed) {
  size_t hits = 0, all = 0;
  for (int i = 0; i < trials; i++) {
    tsanom_hsa_run run = synthetic_run(kind, seed);
    tsanom_hsa_verdict verdict[2];
    CHECK_STATUS(diagnose(model, &run, verdict, 2), TSANOM_OK);
    for (int t = 0; t < 2; t++) hits += verdict[t].status == status;
    all += 2;
    synthetic_free(&run);
  }
  return (double)hits / (double)all;
}

static tsanom_hsa_model *learn_family(const synthetic_kind *kind, int32_t rule,
                                      size_t count, uint64_t *seed) {
  tsanom_hsa_run runs[MOST_RUNS];
  tsanom_hsa_options options;
  tsanom_hsa_options_init(&options, sizeof options);
  options.rule = rule;
  options.coverage = 0.99;
  make_runs(runs, count, kind, seed);
  tsanom_hsa_model *model = learn(runs, count, &options, TSANOM_OK);
  free_runs(runs, count);
  return model;
}

Test(hsa_learn, distinguishes_the_families) {
  uint64_t seed = 35;
  static const double noise[] = {0.02, 0.2, 0.5}, depth[] = {0, 0.3};
  for (int32_t rule = 0; rule < 2; rule++) {
    for (int k = 0; k < 6; k++) {
      synthetic_kind normal = synthetic_steady();
      normal.noise = noise[k / 2];
      normal.phase_depth = depth[k % 2];
      tsanom_hsa_model *model = learn_family(&normal, rule, 12, &seed);
      synthetic_kind leaking = normal, killed = normal;
      leaking.leak = 1;
      double share = share_of(model, &normal, TSANOM_HSA_NORMAL, 100, &seed);
      cr_assert(share > 0.9, "rule %d family %d normal: %g", rule, k, share);
      share = share_of(model, &leaking, TSANOM_HSA_MEMORY_LEAK, 50, &seed);
      cr_assert(share > 0.98, "rule %d family %d leak: %g", rule, k, share);
      for (int step = 1; step < 8; step++) {
        killed.shutdown_at = step / 10.0;
        share = share_of(model, &killed, TSANOM_HSA_SHUTDOWN, 20, &seed);
        cr_assert(share > 0.95, "rule %d family %d kill at %g: %g", rule, k,
                  killed.shutdown_at, share);
      }
      tsanom_hsa_model_destroy(model);
    }
  }
}

Test(hsa_learn, completion_sees_a_kill_near_the_end_and_a_fast_run_as_what_they_are) {
  uint64_t seed = 36;
  synthetic_kind normal = synthetic_steady(), killed = normal, fast = normal;
  tsanom_hsa_model *model = learn_family(&normal, TSANOM_HSA_RULE_COMPLETION, 8, &seed);
  killed.shutdown_at = 0.99;
  fast.period *= 0.5;
  cr_assert(share_of(model, &killed, TSANOM_HSA_SHUTDOWN, 50, &seed) == 1);
  cr_assert(share_of(model, &fast, TSANOM_HSA_NORMAL, 50, &seed) == 1);
  tsanom_hsa_model_destroy(model);
  model = learn_family(&normal, TSANOM_HSA_RULE_PAPER, 8, &seed);
  cr_assert(share_of(model, &killed, TSANOM_HSA_SHUTDOWN, 50, &seed) < 0.5);
  cr_assert(share_of(model, &fast, TSANOM_HSA_SHUTDOWN, 50, &seed) == 1);
  tsanom_hsa_model_destroy(model);
}

/* --- threads that differ between runs --- */

static tsanom_hsa_series no_beats(void) {
  return (tsanom_hsa_series){.time = NULL, .beats = 0};
}

Test(hsa_learn, threads_that_are_missing_silent_or_new_have_their_answers) {
  uint64_t seed = 37;
  synthetic_kind kind = synthetic_steady();
  kind.threads = 4;
  tsanom_hsa_run runs[5];
  make_runs(runs, 5, &kind, &seed);
  tsanom_hsa_run full = synthetic_run(&kind, &seed);
  tsanom_hsa_series threads[5][4];
  for (int i = 0; i < 5; i++) {
    memcpy(threads[i], runs[i].threads, sizeof threads[i]);
    threads[i][3] = no_beats(); /* thread 3 never beats */
  }
  threads[0][2] = no_beats(); /* thread 2 is silent now and then */
  tsanom_hsa_run normal[5];
  for (int i = 0; i < 5; i++) {
    normal[i] = runs[i];
    normal[i].threads = threads[i];
  }
  tsanom_hsa_model *model = learn(normal, 5, NULL, TSANOM_OK);
  tsanom_hsa_reference r;
  r = *reference_of(model, 3);
  cr_assert(r.beats == 0 && r.sample_runs == 0 && r.silent_runs == 5);
  r = *reference_of(model, 2);
  cr_assert(r.beats == 1000 && r.sample_runs == 4 && r.silent_runs == 1);

  tsanom_hsa_series changed[5];
  memcpy(changed, full.threads, 4 * sizeof *changed);
  changed[4] = full.threads[0];
  changed[1] = changed[2] = no_beats();
  tsanom_hsa_run target = {.threads = changed, .thread_count = 5, .start = full.start};
  tsanom_hsa_verdict v[5];
  CHECK_STATUS(diagnose(model, &target, v, 5), TSANOM_OK);
  cr_assert(v[0].status == TSANOM_HSA_NORMAL);
  cr_assert(v[1].status == TSANOM_HSA_SHUTDOWN && v[1].step_count == 2);
  cr_assert(v[1].step[0].question == TSANOM_HSA_ASK_BEATS && v[1].step[0].answer == 0);
  cr_assert(v[1].step[1].question == TSANOM_HSA_ASK_SILENT && v[1].step[1].answer == 0);
  cr_assert(v[2].status == TSANOM_HSA_NORMAL);
  cr_assert(v[2].step[1].question == TSANOM_HSA_ASK_SILENT && v[2].step[1].answer == 1);
  for (int t = 3; t < 5; t++) {
    cr_assert(v[t].status == TSANOM_HSA_NORMAL && v[t].step_count == 1);
    cr_assert(v[t].step[0].question == TSANOM_HSA_ASK_KNOWN && v[t].step[0].answer == 0);
  }
  /* A run that lost threads, and one whose thread died within a window. */
  target =
      (tsanom_hsa_run){.threads = full.threads, .thread_count = 1, .start = full.start};
  CHECK_STATUS(diagnose(model, &target, v, 4), TSANOM_OK);
  cr_assert(v[0].status == TSANOM_HSA_NORMAL && v[1].status == TSANOM_HSA_SHUTDOWN);
  changed[0].beats = 3;
  target.threads = changed;
  CHECK_STATUS(diagnose(model, &target, v, 4), TSANOM_OK);
  cr_assert(v[0].status == TSANOM_HSA_SHUTDOWN);
  cr_assert(v[0].step[0].question == TSANOM_HSA_ASK_WINDOW);
  cr_assert(v[0].features.defined == (1 << TSANOM_HSA_GTR | 1 << TSANOM_HSA_BEAT_RATIO |
                                      1 << TSANOM_HSA_INTERVAL_RATIO));
  CHECK_STATUS(diagnose(model, &target, v, 3), TSANOM_E_COUNT);
  free_runs(runs, 5);
  synthetic_free(&full);
  tsanom_hsa_model_destroy(model);
}

/* --- the contract --- */

Test(hsa_learn, bad_input_is_rejected_with_its_place_and_leaves_the_outputs) {
  uint64_t seed = 38;
  synthetic_kind kind = synthetic_steady();
  tsanom_hsa_run runs[3];
  make_runs(runs, 3, &kind, &seed);
  double bad[1000];
  tsanom_hsa_series threads[2] = {runs[2].threads[0], {.time = bad, .beats = 1000}};
  tsanom_hsa_run spoiled[3] = {
      runs[0], runs[1], {.threads = threads, .thread_count = 2, .start = runs[2].start}};
  tsanom_hsa_model *model = NULL;
  test_report report;
  test_report_init(&report);
  const size_t none = TSANOM_NONE;
#define REJECT(count, status, argument, element, second)                                \
  do {                                                                                  \
    CHECK_STATUS(tsanom_hsa_learn(spoiled, count, NULL, &report.exec, &model), status); \
    CHECK_FAULT(report, argument, element, second);                                     \
  } while (0)
  memcpy(bad, runs[2].threads[1].time, sizeof bad);
  bad[999] = bad[998] = NAN;
  REJECT(3, TSANOM_E_NONFINITE, "runs[2].threads.time", 1, 998);
  bad[999] = bad[997];
  bad[998] = nextafter(bad[997], INFINITY);
  REJECT(3, TSANOM_E_ORDER, "runs[2].threads.time", 1, 999);
  for (int i = 0; i < 12; i++) bad[988 + i] = bad[988];
  REJECT(3, TSANOM_E_VALUE, "runs[2].threads.time", 1, 998);
  threads[1].reserved[3] = 1;
  REJECT(3, TSANOM_E_VERSION, "runs[2].threads.reserved", 1, none);
  threads[1].reserved[3] = 0;
  spoiled[2].start = bad[0] + 1;
  spoiled[1].start = spoiled[1].threads[0].time[999];
  REJECT(3, TSANOM_E_ORDER, "runs[1].threads.time", 0, 0);
  spoiled[2].start = INFINITY;
  REJECT(3, TSANOM_E_NONFINITE, "runs.start", 2, none);
  spoiled[2].reserved[0] = 1;
  REJECT(3, TSANOM_E_VERSION, "runs.reserved", 2, none);
  spoiled[2].reserved[0] = 0;
  spoiled[2].thread_count = 0;
  REJECT(3, TSANOM_E_COUNT, "runs.thread_count", 2, none);
  spoiled[2].thread_count = SIZE_MAX / 32;
  REJECT(3, TSANOM_E_OVERFLOW, "runs.thread_count", 2, none);
  REJECT(0, TSANOM_E_COUNT, "run_count", none, none);
  REJECT(SIZE_MAX, TSANOM_E_OVERFLOW, "run_count", none, none);
  spoiled[2] = (tsanom_hsa_run){.threads = NULL, .thread_count = 2, .start = 0};
  REJECT(3, TSANOM_E_NULL, "runs.threads", 2, none);
  tsanom_hsa_series hollow[1] = {{.time = NULL, .beats = 10}};
  spoiled[1] = runs[1];
  spoiled[2] = (tsanom_hsa_run){.threads = hollow, .thread_count = 1, .start = 0};
  REJECT(3, TSANOM_E_NULL, "runs[2].threads.time", 0, none);
  hollow[0] = no_beats();
  spoiled[0] = spoiled[2];
  REJECT(1, TSANOM_E_COUNT, "runs", none, none);
  CHECK_STATUS(tsanom_hsa_learn(NULL, 3, NULL, &report.exec, &model), TSANOM_E_NULL);
  CHECK_FAULT(report, "runs", none, none);
  CHECK_STATUS(tsanom_hsa_learn(runs, 3, NULL, &report.exec, NULL), TSANOM_E_NULL);
  CHECK_FAULT(report, "model", none, none);
  cr_assert(model == NULL);
  free_runs(runs, 3);
}

Test(hsa_learn, bad_runs_are_rejected_by_diagnosis) {
  uint64_t seed = 41;
  synthetic_kind kind = synthetic_steady();
  tsanom_hsa_run runs[3];
  make_runs(runs, 3, &kind, &seed);
  tsanom_hsa_model *model = learn(runs, 3, NULL, TSANOM_OK);
  double bad[1000];
  memcpy(bad, runs[2].threads[1].time, sizeof bad);
  bad[999] = NAN;
  tsanom_hsa_series threads[2] = {runs[2].threads[0], {.time = bad, .beats = 1000}};
  tsanom_hsa_run run = {.threads = threads, .thread_count = 2, .start = runs[2].start};
  test_report report;
  test_report_init(&report);
  const size_t none = TSANOM_NONE;
  size_t done = 77;
  tsanom_hsa_verdict v[2];
  tsanom_hsa_verdict_init(v, sizeof *v);
  v[0].status = v[1].status = 77;
#define REJECT_RUN(run, count, status, argument, element, second)                \
  do {                                                                           \
    CHECK_STATUS(tsanom_hsa_diagnose(model, run, &report.exec, v, count, &done), \
                 status);                                                        \
    CHECK_FAULT(report, argument, element, second);                              \
  } while (0)
  REJECT_RUN(&run, 2, TSANOM_E_NONFINITE, "run.threads.time", 1, 999);
  REJECT_RUN(&run, 3, TSANOM_E_COUNT, "verdict_count", none, none);
  REJECT_RUN(NULL, 2, TSANOM_E_NULL, "run", none, none);
  run.start = NAN;
  REJECT_RUN(&run, 2, TSANOM_E_NONFINITE, "run.start", none, none);
  run.thread_count = 0;
  REJECT_RUN(&run, 2, TSANOM_E_COUNT, "run.thread_count", none, none);
  CHECK_STATUS(tsanom_hsa_diagnose(NULL, runs, &report.exec, v, 2, &done), TSANOM_E_NULL);
  CHECK_FAULT(report, "model", none, none);
  v[0].struct_size = sizeof *v - 1;
  REJECT_RUN(runs, 2, TSANOM_E_VERSION, "verdicts", none, none);
  v[0].struct_size = sizeof *v + 1;
  REJECT_RUN(runs, 2, TSANOM_E_VERSION, "verdicts", none, none);
  cr_assert(v[0].status == 77 && v[1].status == 77 && done == 77);
  free_runs(runs, 3);
  tsanom_hsa_model_destroy(model);
}

/* A caller built against a later header has larger verdicts. */
Test(hsa_learn, verdicts_follow_at_the_distance_of_the_callers_struct) {
  uint64_t seed = 42;
  synthetic_kind kind = synthetic_steady();
  tsanom_hsa_run runs[3];
  make_runs(runs, 3, &kind, &seed);
  tsanom_hsa_model *model = learn(runs, 3, NULL, TSANOM_OK);
  struct {
    tsanom_hsa_verdict known;
    uint64_t later[3];
  } large[2];
  memset(large, 0xA5, sizeof large);
  tsanom_hsa_verdict small[2];
  CHECK_STATUS(tsanom_hsa_verdict_init(&large[0].known, sizeof *large), TSANOM_OK);
  size_t done = 0;
  CHECK_STATUS(tsanom_hsa_diagnose(model, &runs[1], NULL, &large[0].known, 2, &done),
               TSANOM_OK);
  CHECK_STATUS(diagnose(model, &runs[1], small, 2), TSANOM_OK);
  cr_assert(done == 2);
  for (int t = 0; t < 2; t++) {
    cr_assert(large[t].known.struct_size == sizeof *large && large[t].later[2] == 0);
    cr_assert(small[t].struct_size == sizeof *small);
    large[t].known.struct_size = sizeof *small;
    /* NOLINTNEXTLINE: bits are compared */
    cr_assert(memcmp(&large[t].known, &small[t], sizeof *small) == 0);
    large[t].known.struct_size = sizeof *large;
  }
  int32_t status = -1;
  large[1].known.status = TSANOM_HSA_SHUTDOWN;
  CHECK_STATUS(tsanom_hsa_run_status(&large[0].known, 2, &status), TSANOM_OK);
  cr_assert(status == TSANOM_HSA_SHUTDOWN);
  cr_assert(tsanom_hsa_verdict_size() == sizeof *small);
  free_runs(runs, 3);
  tsanom_hsa_model_destroy(model);
}

static void check_same(const tsanom_hsa_model *a, const tsanom_hsa_model *b) {
  for (size_t t = 0; t < 2; t++) {
    tsanom_hsa_reference r = *reference_of(a, t), s = *reference_of(b, t);
    cr_assert(memcmp(r.time, s.time, (r.windows + 1) * sizeof *r.time) == 0);
    cr_assert(memcmp(r.rate, s.rate, (r.windows + 1) * sizeof *r.rate) == 0);
    cr_assert(memcmp(r.window_rate, s.window_rate, r.windows * sizeof *r.rate) == 0);
    cr_assert(memcmp(r.coefficient, s.coefficient,
                     (r.degree + 1) * sizeof *r.coefficient) == 0);
    s.time = r.time;
    s.rate = r.rate;
    s.window_rate = r.window_rate;
    s.coefficient = r.coefficient;
    /* NOLINTNEXTLINE: bits are compared */
    cr_assert(memcmp(&r, &s, sizeof r) == 0);
  }
}

Test(hsa_learn, memory_levels_and_threads_do_not_change_a_model) {
  uint64_t seed = 39;
  synthetic_kind kind = synthetic_steady();
  tsanom_hsa_run runs[5];
  make_runs(runs, 5, &kind, &seed);
  tsanom_hsa_model *first = learn(runs, 5, NULL, TSANOM_OK), *model = NULL;
  test_allocator allocator = {0};
  tsanom_exec exec = test_exec(&allocator);
  size_t bytes = 0, work = 0;
  CHECK_STATUS(tsanom_hsa_learn_size(runs, 5, NULL, &bytes), TSANOM_OK);
  CHECK_STATUS(tsanom_hsa_learn_workspace(5, NULL, &exec, &work), TSANOM_OK);
  unsigned char *memory = malloc(bytes + 1), *block = malloc(work + 1);
  exec.work = block + 1;
  exec.work_bytes = work - 1;
#define LEARN(size) tsanom_hsa_learn_init(memory + 1, size, runs, 5, NULL, &exec, &model)
  CHECK_STATUS(LEARN(bytes), TSANOM_E_WORKSPACE);
  exec.work_bytes = work;
  CHECK_STATUS(LEARN(bytes - 1), TSANOM_E_WORKSPACE);
  CHECK_STATUS(tsanom_hsa_learn_init(NULL, bytes, runs, 5, NULL, &exec, &model),
               TSANOM_E_NULL);
  cr_assert(model == NULL);
  CHECK_STATUS(LEARN(bytes), TSANOM_OK);
  cr_assert(allocator.calls == 0);
  check_same(first, model);
  tsanom_hsa_model_destroy(model);
  tsanom_hsa_model_destroy(NULL);
  free(memory);
  free(block);
  exec.work = NULL;
  exec.work_bytes = 0;
  model = NULL;
  for (size_t fail = 1; fail <= 2; fail++) {
    allocator = (test_allocator){.fail_at = fail};
    CHECK_STATUS(tsanom_hsa_learn(runs, 5, NULL, &exec, &model), TSANOM_E_MEMORY);
    cr_assert(model == NULL && allocator.live == 0);
  }
  FOR_EACH_ISA (isa) {
    for (int32_t threads = 0; threads < 4; threads++) {
      exec.isa = isa;
      exec.threads = threads;
      CHECK_STATUS(tsanom_hsa_learn(runs, 5, NULL, &exec, &model), TSANOM_OK);
      cr_assert(allocator.live == 1);
      check_same(first, model);
      tsanom_hsa_model_destroy(model);
      cr_assert(allocator.live == 0);
    }
  }
  free_runs(runs, 5);
  tsanom_hsa_model_destroy(first);
}

Test(hsa_learn, diagnosis_needs_no_allocation_with_a_workspace) {
  uint64_t seed = 43;
  synthetic_kind kind = synthetic_steady();
  tsanom_hsa_run runs[6];
  make_runs(runs, 6, &kind, &seed);
  tsanom_hsa_model *model = learn(runs, 5, NULL, TSANOM_OK);
  tsanom_hsa_verdict v[2] = {{0}}, w[2] = {{0}};
  tsanom_hsa_verdict_init(v, sizeof *v);
  tsanom_hsa_verdict_init(w, sizeof *w);
  w[0].status = 77;
  test_allocator allocator = {0};
  tsanom_exec exec = test_exec(&allocator);
  size_t bytes;
  CHECK_STATUS(tsanom_hsa_diagnose_workspace(model, &exec, &bytes), TSANOM_OK);
  CHECK_STATUS(tsanom_hsa_diagnose_workspace(NULL, &exec, &bytes), TSANOM_E_NULL);
  unsigned char *block = malloc(bytes + 1);
  exec.work = block + 1;
  exec.work_bytes = bytes - 1;
  CHECK_STATUS(tsanom_hsa_diagnose(model, &runs[5], &exec, w, 2, NULL),
               TSANOM_E_WORKSPACE);
  cr_assert(w[0].status == 77);
  exec.work_bytes = bytes;
  CHECK_STATUS(tsanom_hsa_diagnose(model, &runs[5], &exec, v, 2, NULL), TSANOM_OK);
  free(block);
  cr_assert(allocator.calls == 0);
  exec.work = NULL;
  exec.work_bytes = 0;
  allocator.fail_at = 1;
  CHECK_STATUS(tsanom_hsa_diagnose(model, &runs[5], &exec, w, 2, NULL), TSANOM_E_MEMORY);
  cr_assert(w[0].status == 77);
  CHECK_STATUS(tsanom_hsa_diagnose(model, &runs[5], &exec, w, 2, NULL), TSANOM_OK);
  /* NOLINTNEXTLINE: bits are compared */
  cr_assert(memcmp(v, w, sizeof v) == 0 && allocator.live == 0);
  free_runs(runs, 6);
  tsanom_hsa_model_destroy(model);
}

/* Flushing subnormal numbers to zero, or another rounding mode, belongs to the caller. */
Test(hsa_learn, the_callers_floating_point_environment_does_not_matter) {
  uint64_t seed = 44;
  synthetic_kind kind = synthetic_steady();
  tsanom_hsa_run runs[4];
  make_runs(runs, 4, &kind, &seed);
  tsanom_hsa_model *model = learn(runs, 4, NULL, TSANOM_OK);
  fesetround(FE_UPWARD);
  tsanom_hsa_model *other = learn(runs, 4, NULL, TSANOM_OK);
  cr_assert(fegetround() == FE_UPWARD);
  fesetround(FE_TONEAREST);
  check_same(model, other);
  free_runs(runs, 4);
  tsanom_hsa_model_destroy(model);
  tsanom_hsa_model_destroy(other);
}

static int32_t stop_later(void *user, uint64_t done, uint64_t total) {
  int *left = user;
  cr_assert(done <= total);
  return (*left)-- == 0;
}

Test(hsa_learn, the_poll_stops_learning_and_diagnosis) {
  uint64_t seed = 40;
  synthetic_kind kind = synthetic_steady();
  tsanom_hsa_run runs[3];
  make_runs(runs, 3, &kind, &seed);
  tsanom_hsa_model *model = NULL;
  test_allocator allocator = {0};
  tsanom_exec exec = test_exec(&allocator);
  exec.poll = stop_later;
  for (int calls = 0; calls < 6; calls++) {
    int left = calls;
    exec.poll_user = &left;
    CHECK_STATUS(tsanom_hsa_learn(runs, 3, NULL, &exec, &model), TSANOM_STOPPED);
    cr_assert(model == NULL && allocator.live == 0);
  }
  int left = 6;
  exec.poll_user = &left;
  CHECK_STATUS(tsanom_hsa_learn(runs, 3, NULL, &exec, &model), TSANOM_OK);
  tsanom_hsa_verdict v[2] = {{.status = 77}, {.status = 77}};
  size_t done = 77;
  tsanom_hsa_verdict_init(v, sizeof *v);
  left = 1;
  CHECK_STATUS(tsanom_hsa_diagnose(model, &runs[0], &exec, v, 2, &done), TSANOM_STOPPED);
  cr_assert(v[0].status == TSANOM_HSA_NORMAL && v[1].status == 77 && done == 1);
  free_runs(runs, 3);
  tsanom_hsa_model_destroy(model);
}
