/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranges of normal runs, beside leaving out each run by the definition, and by the share
 * of new normal runs that lie in them. Verdicts on synthetic runs whose truth is known:
 * normal, leaking, killed, with threads that are missing or silent. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/hsa.h>

#include "hsa/synthetic.h"
#include "learned.h"
#include "support/check.h"
#include "support/random.h"

enum { MOST_RUNS = 40 };

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

/* The metronome that is closest to the others, but for number `out`. */
static size_t naive_medoid(const double *period, size_t n, size_t out) {
  size_t medoid = 0;
  double least = INFINITY;
  for (size_t j = 0; j < n; j++) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
      double ratio = period[i] / period[j];
      if (i != out) sum += fabs(log(ratio)) + fabs(1 / sqrt(ratio) - sqrt(ratio));
    }
    if (j != out && sum < least) least = sum, medoid = j;
  }
  return medoid;
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

    size_t medoid = naive_medoid(period, n, n), rival[MOST_RUNS];
    for (size_t out = 0; out < n; out++) rival[out] = naive_medoid(period, n, out);
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

/* The promise of a prediction interval, tried out: of new normal runs about the
 * share asked for falls in the range, for each feature. */
Test(hsa_learn, ranges_hold_the_share_of_new_normal_runs_they_promise) {
  uint64_t seed = 33;
  synthetic_kind kind = synthetic_steady();
  kind.threads = 1;
  kind.beats = 300;
  tsanom_hsa_options options;
  tsanom_hsa_options_init(&options, sizeof options);
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
    cr_assert(share > 0.72 && share < 0.95, "%s: %g", tsanom_hsa_feature_name(f), share);
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

/* A clock of two beats per tick leaves features unknown, in as many runs as there are. */
Test(hsa_learn, a_coarse_clock_is_no_lack_of_runs) {
  enum { RUNS = 5 };
  tsanom_hsa_run runs[RUNS];
  for (int i = 0; i < RUNS; i++) {
    runs[i] = metronome(0.01, 400);
    for (size_t t = 0; t < runs[i].thread_count; t++) {
      double *time = (double *)runs[i].threads[t].time;
      for (size_t k = 0; k < 400; k++) time[k] = 0.02 * (double)(k / 2);
    }
  }
  tsanom_hsa_options options;
  tsanom_hsa_options_init(&options, sizeof options);
  options.local_rate = TSANOM_HSA_LOCAL_RATE_LITERAL;
  tsanom_hsa_model_destroy(learn(runs, RUNS, NULL, TSANOM_OK));
  tsanom_hsa_model_destroy(learn(runs, RUNS, &options, TSANOM_OK));
  free_runs(runs, RUNS);
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
