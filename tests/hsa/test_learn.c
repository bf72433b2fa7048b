/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/hsa.h>

#include "support/allocator.h"
#include "support/check.h"
#include "support/random.h"
#include "hsa/synthetic.h"

enum { MOST_RUNS = 40 };

typedef struct {
  tsanom_hsa_model *model;
  size_t bytes;
} memory;

static memory model_memory(size_t threads, const tsanom_hsa_options *options) {
  memory m;
  CHECK_STATUS(tsanom_hsa_model_size(threads, options, &m.bytes), TSANOM_OK);
  m.model = calloc(1, m.bytes);
  return m;
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
  *thread = (tsanom_hsa_series){time, beats};
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
    memory m = model_memory(1, &options);
    CHECK_STATUS(tsanom_hsa_learn(runs, n, &options, NULL, NULL, 0, m.model, m.bytes),
                 TSANOM_OK);

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
    CHECK_STATUS(tsanom_hsa_model_get(m.model, 0, &r), TSANOM_OK);
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
    free(m.model);
  }
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
  memory m = model_memory(1, &options);
  tsanom_hsa_reference r;
  /* With 39 samples the extremes hold 95 % of the next: (39 - 1) / (39 + 1). */
  options.coverage = 0.95;
  CHECK_STATUS(tsanom_hsa_learn(runs, 39, &options, NULL, NULL, 0, m.model, m.bytes),
               TSANOM_OK);
  tsanom_hsa_model_get(m.model, 0, &r);
  tsanom_hsa_range extremes = r.range[TSANOM_HSA_GTR];
  CHECK_STATUS(tsanom_hsa_learn(runs, 38, &options, NULL, NULL, 0, m.model, m.bytes),
               TSANOM_PARTIAL);
  options.coverage = 0.9;
  CHECK_STATUS(tsanom_hsa_learn(runs, 39, &options, NULL, NULL, 0, m.model, m.bytes),
               TSANOM_OK);
  tsanom_hsa_model_get(m.model, 0, &r);
  cr_assert(r.range[TSANOM_HSA_GTR].low > extremes.low);
  cr_assert(r.range[TSANOM_HSA_GTR].high < extremes.high);
  free_runs(runs, 39);
  free(m.model);
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
    memory m = model_memory(1, &options);
    int inside[TSANOM_HSA_FEATURES] = {0};
    enum { TRIALS = 300, NORMAL = 9 };
    for (int trial = 0; trial < TRIALS; trial++) {
      tsanom_hsa_run runs[NORMAL + 1];
      make_runs(runs, NORMAL + 1, &kind, &seed);
      tsanom_status status =
          tsanom_hsa_learn(runs, NORMAL, &options, NULL, NULL, 0, m.model, m.bytes);
      CHECK_STATUS(status, TSANOM_OK);
      tsanom_hsa_verdict verdict;
      tsanom_hsa_reference r;
      CHECK_STATUS(tsanom_hsa_diagnose(m.model, m.bytes, &runs[NORMAL], NULL, NULL, 0,
                                       &verdict, 1),
                   TSANOM_OK);
      tsanom_hsa_model_get(m.model, 0, &r);
      for (int f = 0; f < TSANOM_HSA_FEATURES; f++) {
        double value = verdict.features.value[f];
        inside[f] += value >= r.range[f].low && value <= r.range[f].high;
      }
      free_runs(runs, NORMAL + 1);
    }
    for (int f = 0; f < TSANOM_HSA_BEAT_RATIO; f++) {
      double share = (double)inside[f] / TRIALS;
      cr_assert(share > 0.72 && share < 0.95, "%s: %g", tsanom_hsa_feature_name(f),
                share);
    }
    free(m.model);
  }
}

Test(hsa_learn, one_run_gives_the_documented_margins) {
  uint64_t seed = 34;
  synthetic_kind kind = synthetic_steady();
  tsanom_hsa_run run = synthetic_run(&kind, &seed);
  tsanom_hsa_options options;
  tsanom_hsa_options_init(&options, sizeof options);
  options.single_run_margin = 0.5;
  memory m = model_memory(2, &options);
  CHECK_STATUS(tsanom_hsa_learn(&run, 1, &options, NULL, NULL, 0, m.model, m.bytes),
               TSANOM_PARTIAL);
  for (size_t t = 0; t < 2; t++) {
    tsanom_hsa_reference r;
    tsanom_hsa_model_get(m.model, t, &r);
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
  CHECK_STATUS(tsanom_hsa_diagnose(m.model, m.bytes, &run, NULL, NULL, 0, verdict, 2),
               TSANOM_OK);
  cr_assert(verdict[0].status == TSANOM_HSA_NORMAL &&
            verdict[1].status == TSANOM_HSA_NORMAL);
  synthetic_free(&run);
  free(m.model);
}

/* --- diagnosis of synthetic families --- */

/* Share of the threads of `trials` runs that get `status`. */
static double share_of(const memory *m, const synthetic_kind *kind, int32_t status,
                       int trials, uint64_t *seed) {
  size_t hits = 0, all = 0;
  for (int i = 0; i < trials; i++) {
    tsanom_hsa_run run = synthetic_run(kind, seed);
    tsanom_hsa_verdict verdict[2];
    CHECK_STATUS(tsanom_hsa_diagnose(m->model, m->bytes, &run, NULL, NULL, 0, verdict, 2),
                 TSANOM_OK);
    for (int t = 0; t < 2; t++) hits += verdict[t].status == status;
    all += 2;
    synthetic_free(&run);
  }
  return (double)hits / (double)all;
}

static memory learn_family(const synthetic_kind *kind, int32_t rule, size_t count,
                           uint64_t *seed) {
  tsanom_hsa_run runs[MOST_RUNS];
  tsanom_hsa_options options;
  tsanom_hsa_options_init(&options, sizeof options);
  options.rule = rule;
  options.coverage = 0.99;
  memory m = model_memory(kind->threads, &options);
  make_runs(runs, count, kind, seed);
  CHECK_STATUS(tsanom_hsa_learn(runs, count, &options, NULL, NULL, 0, m.model, m.bytes),
               TSANOM_OK);
  free_runs(runs, count);
  return m;
}

Test(hsa_learn, tells_the_families_apart) {
  uint64_t seed = 35;
  static const double noise[] = {0.02, 0.2, 0.5}, depth[] = {0, 0.3};
  for (int32_t rule = 0; rule < 2; rule++) {
    for (int k = 0; k < 6; k++) {
      synthetic_kind normal = synthetic_steady();
      normal.noise = noise[k / 2];
      normal.phase_depth = depth[k % 2];
      memory m = learn_family(&normal, rule, 12, &seed);
      synthetic_kind leaking = normal, killed = normal;
      leaking.leak = 1;
      double share = share_of(&m, &normal, TSANOM_HSA_NORMAL, 100, &seed);
      cr_assert(share > 0.9, "rule %d family %d normal: %g", rule, k, share);
      share = share_of(&m, &leaking, TSANOM_HSA_MEMORY_LEAK, 50, &seed);
      cr_assert(share > 0.98, "rule %d family %d leak: %g", rule, k, share);
      for (int step = 1; step < 8; step++) {
        killed.shutdown_at = step / 10.0;
        share = share_of(&m, &killed, TSANOM_HSA_SHUTDOWN, 20, &seed);
        cr_assert(share > 0.95, "rule %d family %d kill at %g: %g", rule, k,
                  killed.shutdown_at, share);
      }
      free(m.model);
    }
  }
}

Test(hsa_learn, completion_sees_a_kill_near_the_end_and_a_fast_run_as_what_they_are) {
  uint64_t seed = 36;
  synthetic_kind normal = synthetic_steady(), killed = normal, fast = normal;
  memory m = learn_family(&normal, TSANOM_HSA_RULE_COMPLETION, 8, &seed);
  killed.shutdown_at = 0.99;
  fast.period *= 0.5;
  cr_assert(share_of(&m, &killed, TSANOM_HSA_SHUTDOWN, 50, &seed) == 1);
  cr_assert(share_of(&m, &fast, TSANOM_HSA_NORMAL, 50, &seed) == 1);
  free(m.model);
  m = learn_family(&normal, TSANOM_HSA_RULE_PAPER, 8, &seed);
  cr_assert(share_of(&m, &killed, TSANOM_HSA_SHUTDOWN, 50, &seed) < 0.5);
  cr_assert(share_of(&m, &fast, TSANOM_HSA_SHUTDOWN, 50, &seed) == 1);
  free(m.model);
}

/* --- threads that differ between runs --- */

static tsanom_hsa_series no_beats(void) {
  return (tsanom_hsa_series){NULL, 0};
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
  memory m = model_memory(4, NULL);
  CHECK_STATUS(tsanom_hsa_learn(normal, 5, NULL, NULL, NULL, 0, m.model, m.bytes),
               TSANOM_OK);
  tsanom_hsa_reference r;
  tsanom_hsa_model_get(m.model, 3, &r);
  cr_assert(r.beats == 0 && r.sample_runs == 0 && r.silent_runs == 5);
  tsanom_hsa_model_get(m.model, 2, &r);
  cr_assert(r.beats == 1000 && r.sample_runs == 4 && r.silent_runs == 1);

  tsanom_hsa_series changed[5];
  memcpy(changed, full.threads, 4 * sizeof *changed);
  changed[4] = full.threads[0];
  changed[1] = changed[2] = no_beats();
  tsanom_hsa_run target = {changed, 5, full.start};
  tsanom_hsa_verdict v[5];
  CHECK_STATUS(tsanom_hsa_diagnose(m.model, m.bytes, &target, NULL, NULL, 0, v, 5),
               TSANOM_OK);
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
  target = (tsanom_hsa_run){full.threads, 1, full.start};
  CHECK_STATUS(tsanom_hsa_diagnose(m.model, m.bytes, &target, NULL, NULL, 0, v, 4),
               TSANOM_OK);
  cr_assert(v[0].status == TSANOM_HSA_NORMAL && v[1].status == TSANOM_HSA_SHUTDOWN);
  changed[0].beats = 3;
  target.threads = changed;
  CHECK_STATUS(tsanom_hsa_diagnose(m.model, m.bytes, &target, NULL, NULL, 0, v, 4),
               TSANOM_OK);
  cr_assert(v[0].status == TSANOM_HSA_SHUTDOWN);
  cr_assert(v[0].step[0].question == TSANOM_HSA_ASK_WINDOW);
  cr_assert(v[0].features.defined == (1 << TSANOM_HSA_GTR | 1 << TSANOM_HSA_BEAT_RATIO |
                                      1 << TSANOM_HSA_INTERVAL_RATIO));
  CHECK_STATUS(tsanom_hsa_diagnose(m.model, m.bytes, &target, NULL, NULL, 0, v, 3),
               TSANOM_E_COUNT);
  free_runs(runs, 5);
  synthetic_free(&full);
  free(m.model);
}

/* --- the contract --- */

Test(hsa_learn, bad_input_is_refused_and_leaves_the_outputs) {
  uint64_t seed = 38;
  synthetic_kind kind = synthetic_steady();
  tsanom_hsa_run runs[3];
  make_runs(runs, 3, &kind, &seed);
  memory m = model_memory(2, NULL), before = model_memory(2, NULL);
  double bad[1000];
  tsanom_hsa_series threads[2] = {runs[2].threads[0], {bad, 1000}};
  tsanom_hsa_run spoiled[3] = {runs[0], runs[1], {threads, 2, runs[2].start}};
#define LEARN(count) \
  tsanom_hsa_learn(spoiled, count, NULL, NULL, NULL, 0, m.model, m.bytes)
  memcpy(bad, runs[2].threads[1].time, sizeof bad);
  bad[999] = NAN;
  CHECK_STATUS(LEARN(3), TSANOM_E_NONFINITE);
  bad[999] = bad[997];
  CHECK_STATUS(LEARN(3), TSANOM_E_ORDER);
  for (int i = 0; i < 12; i++) bad[988 + i] = bad[988];
  CHECK_STATUS(LEARN(3), TSANOM_E_VALUE);
  spoiled[2].start = bad[0] + 1;
  CHECK_STATUS(LEARN(3), TSANOM_E_ORDER);
  spoiled[2].start = INFINITY;
  CHECK_STATUS(LEARN(3), TSANOM_E_NONFINITE);
  spoiled[2].thread_count = 0;
  CHECK_STATUS(LEARN(3), TSANOM_E_COUNT);
  CHECK_STATUS(LEARN(0), TSANOM_E_COUNT);
  spoiled[2] = (tsanom_hsa_run){NULL, 2, 0};
  CHECK_STATUS(LEARN(3), TSANOM_E_NULL);
  tsanom_hsa_series hollow[1] = {{NULL, 10}};
  spoiled[2] = (tsanom_hsa_run){hollow, 1, 0};
  CHECK_STATUS(LEARN(3), TSANOM_E_NULL);
  hollow[0] = no_beats();
  CHECK_STATUS(tsanom_hsa_learn(&spoiled[2], 1, NULL, NULL, NULL, 0, m.model, m.bytes),
               TSANOM_E_COUNT);
  tsanom_hsa_options options;
  tsanom_hsa_options_init(&options, sizeof options);
  options.window = 1000;
  CHECK_STATUS(tsanom_hsa_learn(runs, 3, &options, NULL, NULL, 0, m.model, m.bytes),
               TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_hsa_learn(NULL, 3, NULL, NULL, NULL, 0, m.model, m.bytes),
               TSANOM_E_NULL);
  CHECK_STATUS(tsanom_hsa_learn(runs, 3, NULL, NULL, NULL, 0, NULL, m.bytes),
               TSANOM_E_NULL);
  CHECK_STATUS(tsanom_hsa_learn(runs, 3, NULL, NULL, NULL, 0, m.model, m.bytes - 1),
               TSANOM_E_WORKSPACE);
  cr_assert(memcmp(m.model, before.model, m.bytes) == 0);

  CHECK_STATUS(tsanom_hsa_learn(runs, 3, NULL, NULL, NULL, 0, m.model, m.bytes),
               TSANOM_OK);
  tsanom_hsa_verdict v[2] = {{.status = 77}, {.status = 77}};
  threads[1].time = bad;
  bad[999] = NAN;
  spoiled[2] = (tsanom_hsa_run){threads, 2, runs[2].start};
#define DIAGNOSE(run) tsanom_hsa_diagnose(m.model, m.bytes, run, NULL, NULL, 0, v, 2)
  CHECK_STATUS(DIAGNOSE(&spoiled[2]), TSANOM_E_NONFINITE);
  CHECK_STATUS(DIAGNOSE(NULL), TSANOM_E_NULL);
  spoiled[2].thread_count = 0;
  CHECK_STATUS(DIAGNOSE(&spoiled[2]), TSANOM_E_COUNT);
  spoiled[2].threads = NULL;
  CHECK_STATUS(DIAGNOSE(&spoiled[2]), TSANOM_E_NULL);
  cr_assert(v[0].status == 77 && v[1].status == 77);
  free_runs(runs, 3);
  free(m.model);
  free(before.model);
}

Test(hsa_learn, workspaces_allocators_levels_and_threads_change_nothing) {
  uint64_t seed = 39;
  synthetic_kind kind = synthetic_steady();
  tsanom_hsa_run runs[6];
  make_runs(runs, 6, &kind, &seed);
  memory m = model_memory(2, NULL), other = model_memory(2, NULL);
  test_allocator allocator = {0};
  tsanom_exec exec = test_exec(&allocator);
  size_t bytes = 0;
  CHECK_STATUS(tsanom_hsa_learn_workspace(5, NULL, &exec, &bytes), TSANOM_OK);
  unsigned char *block = malloc(bytes + 1);
  CHECK_STATUS(tsanom_hsa_learn(runs, 5, NULL, &exec, block, bytes - 1, m.model, m.bytes),
               TSANOM_E_WORKSPACE);
  CHECK_STATUS(tsanom_hsa_learn(runs, 5, NULL, &exec, block + 1, bytes, m.model, m.bytes),
               TSANOM_OK);
  free(block);
  cr_assert(allocator.calls == 0);
  allocator.fail_at = 1;
  CHECK_STATUS(tsanom_hsa_learn(runs, 5, NULL, &exec, NULL, 0, other.model, other.bytes),
               TSANOM_E_MEMORY);
  FOR_EACH_ISA (isa) {
    for (int32_t threads = 0; threads < 4; threads++) {
      exec.isa = isa;
      exec.threads = threads;
      CHECK_STATUS(
          tsanom_hsa_learn(runs, 5, NULL, &exec, NULL, 0, other.model, other.bytes),
          TSANOM_OK);
      cr_assert(memcmp(m.model, other.model, m.bytes) == 0);
    }
  }
  cr_assert(allocator.live == 0);

  tsanom_hsa_verdict v[2], w[2] = {{.status = 77}, {.status = 77}};
  allocator = (test_allocator){0};
  CHECK_STATUS(tsanom_hsa_diagnose_workspace(m.model, &exec, &bytes), TSANOM_OK);
  block = malloc(bytes + 1);
  CHECK_STATUS(
      tsanom_hsa_diagnose(m.model, m.bytes, &runs[5], &exec, block, bytes - 1, w, 2),
      TSANOM_E_WORKSPACE);
  cr_assert(w[0].status == 77);
  CHECK_STATUS(
      tsanom_hsa_diagnose(m.model, m.bytes, &runs[5], &exec, block + 1, bytes, v, 2),
      TSANOM_OK);
  free(block);
  cr_assert(allocator.calls == 0);
  allocator.fail_at = 1;
  CHECK_STATUS(tsanom_hsa_diagnose(m.model, m.bytes, &runs[5], &exec, NULL, 0, w, 2),
               TSANOM_E_MEMORY);
  cr_assert(w[0].status == 77);
  CHECK_STATUS(tsanom_hsa_diagnose(m.model, m.bytes, &runs[5], &exec, NULL, 0, w, 2),
               TSANOM_OK);
  /* NOLINTNEXTLINE: bits are what is asked */
  cr_assert(memcmp(v, w, sizeof v) == 0 && allocator.live == 0);
  free_runs(runs, 6);
  free(m.model);
  free(other.model);
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
  memory m = model_memory(2, NULL);
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  exec.poll = stop_later;
  for (int calls = 0; calls < 6; calls++) {
    int left = calls;
    exec.poll_user = &left;
    CHECK_STATUS(tsanom_hsa_learn(runs, 3, NULL, &exec, NULL, 0, m.model, m.bytes),
                 TSANOM_STOPPED);
    CHECK_STATUS(tsanom_hsa_model_check(m.model, m.bytes), TSANOM_E_FORMAT);
  }
  int left = 6;
  exec.poll_user = &left;
  CHECK_STATUS(tsanom_hsa_learn(runs, 3, NULL, &exec, NULL, 0, m.model, m.bytes),
               TSANOM_OK);
  tsanom_hsa_verdict v[2] = {{.status = 77}, {.status = 77}};
  left = 1;
  CHECK_STATUS(tsanom_hsa_diagnose(m.model, m.bytes, &runs[0], &exec, NULL, 0, v, 2),
               TSANOM_STOPPED);
  cr_assert(v[0].status == TSANOM_HSA_NORMAL && v[1].status == 77);
  free_runs(runs, 3);
  free(m.model);
}
