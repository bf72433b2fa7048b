/* SPDX-License-Identifier: BSD-3-Clause */
/* Many processes: polls within a classification, sampled severity, classes that remain
 * apart. Each run takes fractions of a second. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/optics.h>
#include <tsanom/spmd.h>

#include "support/check.h"
#include "support/polls.h"
#include "support/random.h"

typedef struct {
  tsanom_spmd_data data;
  tsanom_spmd_report report;
  double *time;
  int32_t *parent, *class_of;
} large;

/* Times around 1, of every second process `more` longer in region 0. */
static void make(large *l, size_t processes, size_t regions, double noise, double more) {
  uint64_t seed = 7;
  l->time = malloc(processes * regions * sizeof *l->time);
  l->parent = malloc(regions * sizeof *l->parent);
  l->class_of = malloc(processes * sizeof *l->class_of);
  for (size_t i = 0; i < processes; i++) {
    double *row = l->time + i * regions;
    for (size_t k = 0; k < regions; k++) row[k] = 1 + noise * random_unit(&seed);
    if (i % 2) row[0] += more;
  }
  for (size_t k = 0; k < regions; k++) l->parent[k] = TSANOM_SPMD_NONE;
  l->data = (tsanom_spmd_data){.struct_size = sizeof l->data};
  l->report = (tsanom_spmd_report){.struct_size = sizeof l->report};
  l->data.processes = processes;
  l->data.regions = regions;
  l->data.time = l->time;
  l->data.parent = l->parent;
  l->report.class_of = l->class_of;
}

static void release(large *l) {
  free(l->time);
  free(l->parent);
  free(l->class_of);
}

/* 2.4 million times, which are read some 30 times: polls also between those of the
 * re-clusterings. After the poll that stops there is no other. */
Test(spmd_large, polls_between_the_regions) {
  large l;
  make(&l, 60000, 40, 0.01, 20);
  tsanom_spmd_options options;
  tsanom_spmd_options_init(&options, sizeof options);
  options.cut = TSANOM_SPMD_CUT_NOISE;
  test_polls c = {0};
  tsanom_exec exec = exec_polled(test_poll, &c);
  CHECK_STATUS(tsanom_spmd_analyze(&l.data, &options, &exec, &l.report), TSANOM_OK);
  uint64_t calls = c.calls;
  cr_assert_gt(calls, 40 + 10);
  cr_assert_gt(c.done, 0);
  cr_assert_eq(l.report.classes, 2);
  for (uint64_t stop = 1; stop < calls; stop += 13) {
    c = (test_polls){.stop_at = stop};
    CHECK_STATUS(tsanom_spmd_analyze(&l.data, &options, &exec, &l.report),
                 TSANOM_STOPPED);
    cr_assert_eq(c.calls, stop);
    cr_assert_eq(l.report.search, TSANOM_SPMD_UNFINISHED);
    cr_assert(l.report.classes == 1 || l.report.classes == 2);
    cr_assert(l.class_of[0] == 0 && l.class_of[1] == (int32_t)l.report.classes - 1);
  }
  release(&l);
}

/* Pairs of classes are sought in trees of all processes, larger than that of step 1, which has those
 * without one of the first classes. The poll may stop before a tree is complete. */
Test(spmd_large, a_tree_that_is_not_complete_is_not_searched) {
  enum { PROCESSES = 150000, REGIONS = 20, KINDS = 16, FIRST = 16, LAST = 24 };
  large l;
  size_t bytes;
  uint64_t seed = 9;
  make(&l, PROCESSES, REGIONS, 1, 0);
  for (size_t i = 0; i < 2 * PROCESSES / 3 * REGIONS; i++) {
    size_t kind = i / REGIONS % KINDS, region = i % REGIONS;
    l.time[i] = (double)(kind * 7919 * (region + 3) % 97) / 97;
  }
  for (size_t i = 2 * PROCESSES / 3 * REGIONS; i < (size_t)PROCESSES * REGIONS; i++) {
    l.time[i] = random_unit(&seed);
  }
  tsanom_spmd_options options;
  tsanom_spmd_options_init(&options, sizeof options);
  options.tolerance = 0.02;
  options.combination_limit = 200;
  test_polls c = {.stop_at = LAST + 1};
  tsanom_exec exec = exec_polled(test_poll, &c);
  exec.work = &bytes;
  exec.work_needed = &bytes;
  CHECK_STATUS(tsanom_spmd_analyze(&l.data, &options, &exec, &l.report),
               TSANOM_E_WORKSPACE);
  exec.work = malloc(bytes);
  exec.work_bytes = bytes;
  exec.work_needed = NULL;
  for (uint64_t stop = FIRST; stop <= LAST; stop++) {
    c = (test_polls){.stop_at = stop, .restarts = 1};
    memset(exec.work, UINT8_MAX, bytes);
    CHECK_STATUS(tsanom_spmd_analyze(&l.data, &options, &exec, &l.report),
                 TSANOM_STOPPED);
    cr_assert_eq(l.report.search, TSANOM_SPMD_UNFINISHED);
  }
  free(exec.work);
  release(&l);
}

/* Whether the decisions and classes of `threads` are those of one thread, and where a poll of
 * these stops the call. */
static void check_threads(large *l, const tsanom_spmd_options *options, int threads) {
  enum { DECISIONS = 4096 };
  static tsanom_spmd_decision one[DECISIONS], several[DECISIONS];
  size_t processes = l->data.processes;
  int32_t *class_of = malloc(processes * sizeof *class_of);
  test_polls c = {.restarts = 1};
  tsanom_exec exec = exec_polled(test_poll, &c);
  l->report.decision_capacity = DECISIONS;
  l->report.decision = one;
  cr_assert_geq(tsanom_spmd_analyze(&l->data, options, NULL, &l->report), 0);
  size_t decisions = l->report.decisions;
  cr_assert(l->report.classes > processes / 2 && decisions < DECISIONS);
  memcpy(class_of, l->class_of, processes * sizeof *class_of);
  l->report.decision = several;
  exec.threads = threads;
  cr_assert_geq(tsanom_spmd_analyze(&l->data, options, &exec, &l->report), 0);
  cr_assert_eq(l->report.decisions, decisions);
  cr_assert_eq(memcmp(one, several, decisions * sizeof *one), 0);
  cr_assert_eq(memcmp(class_of, l->class_of, processes * sizeof *class_of), 0);
  for (uint64_t stop = c.calls; stop > 0; stop /= 7) {
    uint64_t at = stop;
    c = (test_polls){.stop_at = at, .restarts = 1};
    tsanom_status status = tsanom_spmd_analyze(&l->data, options, &exec, &l->report);
    cr_assert(c.calls < at || (status == TSANOM_STOPPED && c.calls == at));
  }
  free(class_of);
}

Test(spmd_large, threads_decide_the_same) {
  uint64_t seed = 13;
  tsanom_spmd_options options;
  tsanom_spmd_options_init(&options, sizeof options);
  options.combination_limit = 200;
  for (int trial = 0; trial < 4; trial++) {
    large l;
    make(&l, random_between(&seed, 4000, 5000), random_between(&seed, 14, 20), 1e6, 0);
    check_threads(&l, &options, trial < 3 ? 2 + trial : 20);
    release(&l);
  }
}

/* The largest distance of every `step`th process from others of these. */
static double largest_distance(const large *l, size_t step) {
  size_t regions = l->data.regions;
  double largest = 0;
  for (size_t i = 0; i < l->data.processes; i += step) {
    for (size_t j = 0; j < i; j += step) {
      double sum = 0;
      for (size_t k = 0; k < regions; k++) {
        double difference = l->time[i * regions + k] - l->time[j * regions + k];
        sum += difference * difference;
      }
      largest = fmax(largest, sum);
    }
  }
  return sqrt(largest);
}

Test(spmd_large, severity_of_fewer_is_exact) {
  for (size_t regions = 1; regions <= 40; regions += 13) {
    large l;
    make(&l, 2000, regions, 0.01, 0);
    CHECK_STATUS(tsanom_spmd_analyze(&l.data, NULL, NULL, &l.report), TSANOM_OK);
    double largest = largest_distance(&l, 1);
    cr_assert_float_eq(l.report.largest_distance, largest, 1e-12 * largest);
    release(&l);
  }
}

/* 78 processes are farther from the mean than the two that are farthest apart. */
Test(spmd_large, farthest_are_not_outermost) {
  enum { REGIONS = 40, PROCESSES = 2 * REGIONS };
  large l;
  make(&l, PROCESSES, REGIONS, 0, 0);
  for (size_t i = 0; i < PROCESSES; i++) {
    for (size_t k = 0; k < REGIONS; k++) l.time[i * REGIONS + k] = 20;
    double outer = i < REGIONS ? 10 : 9.9, inner = i < REGIONS ? 9 : -9;
    size_t own = i % REGIONS;
    l.time[i * REGIONS + own] += own ? outer : inner;
  }
  CHECK_STATUS(tsanom_spmd_analyze(&l.data, NULL, NULL, &l.report), TSANOM_OK);
  cr_assert_float_eq(l.report.largest_distance, 18, 1e-12);
  release(&l);
}

/* Too many to compare all pairs. */
Test(spmd_large, severity_of_many_is_nearly_exact) {
  large l;
  make(&l, 12000, 100, 0.01, 0);
  CHECK_STATUS(tsanom_spmd_analyze(&l.data, NULL, NULL, &l.report), TSANOM_OK);
  cr_assert_geq(l.report.largest_distance, 0.99 * largest_distance(&l, 4));
  cr_assert_leq(l.report.largest_distance, 0.01 * sqrt(100));
  release(&l);
}

/* Kinds whose noise is normal, lognormal, uniform or rounded; of one kind in half of the runs,
 * some processes far away. */
static void make_noisy(large *l, uint64_t *seed) {
  make(l, random_between(seed, 1024, 1500), random_between(seed, 1, 6), 0, 0);
  int noise = (int)random_between(seed, 0, 3);
  size_t kinds = random_between(seed, 0, 1) ? 1 : random_between(seed, 2, 5);
  size_t far = random_between(seed, 0, 5);
  double width = exp(log(0.01) + log(50) * random_unit(seed));
  double away = 20 * width * random_unit(seed);
  for (size_t i = 0; i < l->data.processes; i++) {
    double *row = l->time + i * l->data.regions;
    for (size_t k = 0; k < l->data.regions; k++) {
      double x = random_unit(seed) - 0.5;
      for (int term = 1; noise < 2 && term < 12; term++) x += random_unit(seed) - 0.5;
      row[k] = noise == 1 ? exp(width * x) : fmax(0, 1 + width * x);
      if (noise == 3) row[k] = rint(row[k] * 40) / 40;
    }
    size_t kind = i % kinds;
    row[kind % l->data.regions] += away * (double)kind;
    if (i < far) row[0] += away * random_unit(seed);
  }
}

/* By the split of the order of all processes. */
static double cut_by_order(const large *l, double resolution) {
  size_t clusters = 0;
  double cut = INFINITY;
  double *core = calloc(l->data.processes, sizeof *core);
  int32_t *label = malloc(l->data.processes * sizeof *label);
  tsanom_optics_split_options split;
  tsanom_optics_split_options_init(&split, sizeof split);
  split.resolution = resolution;
  tsanom_optics_ordering ordering = {.struct_size = sizeof ordering,
                                     .n = l->data.processes,
                                     .order = l->report.order,
                                     .reachability = l->report.reachability,
                                     .core_distance = core};
  CHECK_STATUS(tsanom_optics_split(&ordering, &split, NULL, label, &clusters, &cut, NULL),
               TSANOM_OK);
  free(core);
  free(label);
  return clusters > 1 ? cut : INFINITY;
}

static tsanom_spmd_options automatic_options(void) {
  tsanom_spmd_options options;
  tsanom_spmd_options_init(&options, sizeof options);
  options.cut = TSANOM_SPMD_CUT_AUTOMATIC;
  options.combination_limit = 0;
  return options;
}

/* Analyzes, and returns the cut, which must be that of the order. */
static double analyze_cut(large *l, const tsanom_spmd_options *options, int trial) {
  l->report.order = malloc(l->data.processes * sizeof *l->report.order);
  l->report.reachability = malloc(l->data.processes * sizeof *l->report.reachability);
  cr_assert_geq(tsanom_spmd_analyze(&l->data, options, NULL, &l->report), 0);
  double cut = cut_by_order(l, options->tolerance * l->report.largest_norm);
  cr_assert_eq(cut, l->report.eps, "trial %d: %g, not %g", trial, l->report.eps, cut);
  free(l->report.order);
  free(l->report.reachability);
  return cut;
}

/* Kinds far apart, of which the nearest processes are not nearest to the other kind in each
 * region, and some between them. */
Test(spmd_large, the_automatic_cut_of_kinds_is_that_of_the_order) {
  enum { TRIALS = 40 };
  uint64_t seed = 12;
  const tsanom_spmd_options options = automatic_options();
  for (int trial = 0; trial < TRIALS; trial++) {
    large l;
    size_t regions = random_between(&seed, 2, 6), kinds = random_between(&seed, 2, 4);
    double noise = exp(log(0.003) + log(10) * random_unit(&seed));
    make(&l, random_between(&seed, 1500, 3000), regions, 0, 0);
    for (size_t i = 0; i < l.data.processes; i++) {
      double *row = l.time + i * regions;
      for (size_t k = 0; k < regions; k++) row[k] += noise * random_normal(&seed);
      row[i % kinds % regions] += 0.7 * (double)(i % kinds);
      if (i < random_between(&seed, 0, 2)) row[0] += random_unit(&seed);
    }
    (void)analyze_cut(&l, &options, trial);
    release(&l);
  }
}

/* Mostly the automatic cut finds out without an order that there is no gap. A metric that is
 * the time, in the same regions, has the same classes. */
Test(spmd_large, the_automatic_cut_is_that_of_the_order) {
  enum { TRIALS = 200 };
  uint64_t seed = 11;
  int cuts = 0;
  const tsanom_spmd_options options = automatic_options();
  for (int trial = 0; trial < TRIALS; trial++) {
    large l;
    make_noisy(&l, &seed);
    l.report.code = malloc(l.data.processes * sizeof *l.report.code);
    l.data.metrics = 1;
    l.data.metric = l.time;
    cuts += isfinite(analyze_cut(&l, &options, trial));
    for (size_t i = 0; i < l.data.processes; i++) {
      if (l.report.cccrs > 0 && l.data.regions > 1) break;
      cr_assert_eq(l.report.code[i], l.report.class_of[i], "trial %d: %zu", trial, i);
    }
    free(l.report.code);
    release(&l);
  }
  cr_assert(cuts > TRIALS / 10 && cuts < TRIALS / 2, "%d", cuts);
}
