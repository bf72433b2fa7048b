/* SPDX-License-Identifier: BSD-3-Clause */
/* The analysis: the paper's example, the definition, families of runs. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tsanom/optics.h>
#include <tsanom/roughset.h>
#include <tsanom/spmd.h>

#include "reference.h"
#include "support/check.h"
#include "support/random.h"

enum { PROCESSES = 64, REGIONS = 24, METRICS = 5, DECISIONS = 4096 };

/* A run and its report. */
typedef struct {
  double time[PROCESSES * REGIONS], metric[METRICS * PROCESSES * REGIONS];
  int32_t parent[REGIONS];
  tsanom_spmd_data data;
  tsanom_spmd_report report;
  int32_t class_of[PROCESSES], code[PROCESSES * METRICS];
  tsanom_spmd_region region[REGIONS];
  tsanom_spmd_decision decision[DECISIONS];
  size_t member[8 * DECISIONS];
  uint64_t core, reduct[8];
} run;

static void prepare(run *r, size_t processes, size_t regions, size_t metrics) {
  memset(r, 0, sizeof *r);
  tsanom_spmd_data_init(&r->data, sizeof r->data);
  tsanom_spmd_report_init(&r->report, sizeof r->report);
  r->data.processes = processes;
  r->data.regions = regions;
  r->data.metrics = metrics;
  r->data.time = r->time;
  r->data.time_stride = REGIONS;
  r->data.metric = r->metric;
  r->data.metric_stride = REGIONS;
  r->data.parent = r->parent;
  for (size_t k = 0; k < regions; k++) r->parent[k] = TSANOM_SPMD_NONE;
  r->report.class_of = r->class_of;
  r->report.region = r->region;
  r->report.decision = r->decision;
  r->report.decision_capacity = DECISIONS;
  r->report.member = r->member;
  r->report.member_capacity = sizeof r->member / sizeof *r->member;
  r->report.code = r->code;
  r->report.core = &r->core;
  r->report.reduct = r->reduct;
  r->report.reduct_capacity = 8;
}

static double *time_of(run *r, size_t i, size_t k) {
  return &r->time[i * REGIONS + k];
}

static double *metric_of(run *r, size_t m, size_t i, size_t k) {
  return &r->metric[(m * r->data.processes + i) * REGIONS + k];
}

/* Geo-ST (figures 4 to 6, table 2). The times are constructed: the paper prints
 * none. Region k of the paper is number k - 1; 11 and 10 are nested in 14. Rows 6 and 7
 * of the table follow from figure 5. */
static void geo_st(run *r) {
  static const double region11[8] = {10, 20, 20.2, 32, 46, 62, 46.3, 61.8};
  static const double share[4][8] = {
      {.02, .02, .02, .06, .02, .06, .06, .06},  /* L1 miss rate */
      {.01, .01, .01, .01, .05, .05, .09, .09},  /* L2 miss rate */
      {4e6, 4e6, 4e6, 4e6, 4e6, 4e6, 4e6, 4e6},  /* disk I/O */
      {1e5, 1e5, 1e5, 1e5, 1e5, 3e5, 3e5, 1e5}}; /* network I/O */
  prepare(r, 8, 14, 5);
  r->parent[10] = r->parent[9] = 13;
  for (size_t i = 0; i < 8; i++) {
    for (size_t k = 0; k < 14; k++) *time_of(r, i, k) = 1 + 0.1 * (double)k;
    *time_of(r, i, 10) = region11[i];
    *time_of(r, i, 13) = region11[i] + *time_of(r, i, 9) + 0.5;
    for (size_t m = 0; m < 4; m++) *metric_of(r, m, i, 10) = share[m][i];
    *metric_of(r, 4, i, 10) = 1e9 * region11[i];
  }
}

Test(spmd, geo_st) {
  static const int32_t class_of[8] = {0, 1, 1, 2, 3, 4, 3, 4};
  static const int32_t code[8][5] = {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 1}, {0, 0, 0, 0, 1},
                                     {1, 0, 0, 0, 2}, {0, 1, 0, 0, 3}, {1, 1, 0, 1, 4},
                                     {1, 2, 0, 1, 3}, {1, 2, 0, 0, 4}};
  static run r;
  geo_st(&r);
  CHECK_STATUS(tsanom_spmd_analyse(&r.data, NULL, NULL, NULL, 0, &r.report), TSANOM_OK);
  cr_assert_eq(r.report.classes, 5);
  cr_assert_arr_eq(r.class_of, class_of, sizeof class_of);
  cr_assert_eq(r.report.search, TSANOM_SPMD_DESCENT);
  for (size_t k = 0; k < 14; k++) {
    cr_assert_eq(r.region[k].ccr, k == 10 || k == 13, "region %zu", k + 1);
    cr_assert_eq(r.region[k].cccr, k == 10, "region %zu", k + 1);
    cr_assert_eq(r.region[k].level, k == 10 || k == 9 ? 2 : 1);
  }
  cr_assert_arr_eq(r.code, code, sizeof code);
  cr_assert_eq(r.core, 1u << 4);
  cr_assert_eq(r.report.reducts, 1);
  cr_assert_eq(r.reduct[0], 1u << 4);
  cr_assert_eq(r.report.dependency, 1);
  cr_assert_eq(r.report.verdict_region, 10);
  cr_assert_eq(r.report.verdict_metric, 4);
  cr_assert_eq(r.report.verdict_class, 4);
  cr_assert_eq(r.report.decisions, 1 + 12 + 2, "steps 1, 2 and 4");
  cr_assert_gt(r.report.severity, 0.7);
}

/* The repair of the paper: work dealt out by the instructions makes one class. */
Test(spmd, geo_st_repaired) {
  static run r;
  geo_st(&r);
  for (size_t i = 0; i < 8; i++) {
    *time_of(&r, i, 10) = 37.3 + 0.1 * (double)(i % 3);
    *time_of(&r, i, 13) = *time_of(&r, i, 10) + 2.4;
  }
  CHECK_STATUS(tsanom_spmd_analyse(&r.data, NULL, NULL, NULL, 0, &r.report), TSANOM_OK);
  cr_assert_eq(r.report.classes, 1);
  cr_assert_eq(r.report.search, TSANOM_SPMD_SIMILAR);
  cr_assert_eq(r.report.ccrs + r.report.cccrs + r.report.reducts, 0);
  cr_assert_eq(r.report.verdict_region, TSANOM_SPMD_NONE);
  cr_assert_lt(r.report.severity, 0.05);
}

/* A random tree, parents first; times of a region lie at a few levels. */
static void random_run(run *r, uint64_t *state) {
  size_t processes = random_between(state, 1, 12), regions = random_between(state, 1, 9);
  prepare(r, processes, regions, 0);
  for (size_t k = 1; k < regions; k++) {
    r->parent[k] = (int32_t)random_between(state, 0, k) - 1;
  }
  double noise = random_unit(state) * 0.05;
  for (size_t k = 0; k < regions; k++) {
    double step = random_unit(state) < 0.5 ? 0 : random_unit(state);
    double base = random_unit(state) < 0.1 ? 0 : 1;
    for (size_t i = 0; i < processes; i++) {
      double level = (double)random_between(state, 0, 2);
      *time_of(r, i, k) = base * (1 + level * step + noise * random_unit(state));
    }
  }
  for (size_t k = regions; k-- > 1;) { /* times include those of nested regions */
    if (r->parent[k] < 0 || random_unit(state) < 0.1) continue;
    for (size_t i = 0; i < processes; i++) {
      *time_of(r, i, (size_t)r->parent[k]) += *time_of(r, i, k);
    }
  }
}

static void check_balance(run *r) {
  double mean_total = 0, max_total = 0, region_total = 0;
  size_t n = r->data.processes;
  for (size_t i = 0; i < n; i++) {
    double total = 0;
    for (size_t k = 0; k < r->data.regions; k++) {
      if (r->parent[k] < 0) total += *time_of(r, i, k);
    }
    mean_total += total / (double)n;
    max_total = fmax(max_total, total);
  }
  for (size_t k = 0; k < r->data.regions; k++) {
    const tsanom_spmd_region *g = &r->region[k];
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
      sum += *time_of(r, i, k);
      cr_assert(g->min <= *time_of(r, i, k) && g->max >= *time_of(r, i, k));
    }
    cr_assert_float_eq(g->mean, sum / (double)n, 1e-12);
    cr_assert_eq(*time_of(r, g->min_process, k), g->min);
    cr_assert_eq(*time_of(r, g->max_process, k), g->max);
    if (r->parent[k] < 0) region_total += g->max;
  }
  cr_assert_float_eq(r->report.mean_total, mean_total, 1e-9);
  cr_assert_float_eq(r->report.max_total, max_total, 1e-9);
  cr_assert_float_eq(r->report.region_total, region_total, 1e-9);
  cr_assert_float_eq(r->report.efficiency,
                     r->report.load_balance * r->report.serialisation, 1e-9);
}

Test(spmd, agrees_with_the_definition) {
  static run r;
  uint64_t state = 9;
  size_t ended[6] = {0};
  for (int trial = 0; trial < 6000; trial++) {
    random_run(&r, &state);
    reference_answer want;
    reference_analyse(&r.data, 0.05, &want);
    CHECK_STATUS(tsanom_spmd_analyse(&r.data, NULL, NULL, NULL, 0, &r.report), TSANOM_OK);
    cr_assert_eq(r.report.classes, want.classes, "trial %d", trial);
    cr_assert_arr_eq(r.class_of, want.class_of, r.data.processes * sizeof *r.class_of);
    cr_assert_eq(r.report.search, want.search, "trial %d: %d, not %d", trial,
                 r.report.search, want.search);
    if (want.combination) cr_assert_eq(r.report.combination, want.combination);
    for (size_t k = 0; k < r.data.regions; k++) {
      cr_assert_eq(r.region[k].ccr, want.ccr[k], "trial %d region %zu", trial, k);
      cr_assert_eq(r.region[k].cccr, want.cccr[k], "trial %d region %zu", trial, k);
    }
    cr_assert_float_eq(r.report.severity, want.severity, 1e-12);
    check_balance(&r);
    ended[r.report.search]++;
  }
  for (int e = TSANOM_SPMD_SIMILAR; e <= TSANOM_SPMD_DISJOINT; e++) {
    cr_assert_gt(ended[e], 0, "no trial ended by %d", e);
  }
}

/* What was decided is what the roles say, and members are regions. */
Test(spmd, decisions_explain_the_roles) {
  static run r;
  uint64_t state = 99;
  for (int trial = 0; trial < 2000; trial++) {
    random_run(&r, &state);
    CHECK_STATUS(tsanom_spmd_analyse(&r.data, NULL, NULL, NULL, 0, &r.report), TSANOM_OK);
    int32_t ccr[REGIONS] = {0};
    cr_assert_eq(r.decision[0].step, 1);
    cr_assert_eq(r.decision[0].classes, r.report.classes);
    for (size_t d = 0; d < r.report.decisions; d++) {
      const tsanom_spmd_decision *made = &r.decision[d];
      cr_assert_eq(made->critical, made->step == 4 ? !made->changed : made->changed);
      for (size_t m = 0; m < made->count; m++) {
        size_t k = r.member[made->first + m];
        cr_assert_lt(k, r.data.regions);
        cr_assert_eq(r.region[k].level, made->level);
        ccr[k] |= made->critical;
      }
    }
    for (size_t k = 0; k < r.data.regions; k++) cr_assert_eq(ccr[k], r.region[k].ccr);
  }
}

/* Two regions that separate the same processes: neither alone changes the classes, and
 * both are the core (step 3). */
Test(spmd, two_bad_regions) {
  static run r;
  prepare(&r, 6, 5, 1);
  for (size_t i = 0; i < 6; i++) {
    for (size_t k = 0; k < 5; k++) *time_of(&r, i, k) = 2;
    if (i >= 3) *time_of(&r, i, 1) = *time_of(&r, i, 3) = 3;
    *metric_of(&r, 0, i, 1) = i >= 3 ? 7 : 4;
  }
  CHECK_STATUS(tsanom_spmd_analyse(&r.data, NULL, NULL, NULL, 0, &r.report), TSANOM_OK);
  cr_assert_eq(r.report.search, TSANOM_SPMD_COMBINED);
  cr_assert_eq(r.report.combination, 2);
  for (size_t k = 0; k < 5; k++) cr_assert_eq(r.region[k].cccr, k == 1 || k == 3);
  cr_assert_eq(r.reduct[0], 1);
  cr_assert_eq(r.report.reducts, 1);

  tsanom_spmd_options o;
  tsanom_spmd_options_init(&o, sizeof o);
  o.combination_limit = 0;
  CHECK_STATUS(tsanom_spmd_analyse(&r.data, &o, NULL, NULL, 0, &r.report),
               TSANOM_PARTIAL);
  cr_assert_eq(r.report.search, TSANOM_SPMD_NOT_FOUND);
  cr_assert_eq(r.report.limited, 1);
  o.combination_limit = 100;
  o.combination_size = 1;
  CHECK_STATUS(tsanom_spmd_analyse(&r.data, &o, NULL, NULL, 0, &r.report), TSANOM_OK);
  cr_assert_eq(r.report.search, TSANOM_SPMD_NOT_FOUND);
}

/* Three regions of which any two separate: combinations share none. */
Test(spmd, disjoint_combinations) {
  static run r;
  prepare(&r, 4, 3, 0);
  for (size_t i = 0; i < 4; i++) {
    for (size_t k = 0; k < 3; k++) *time_of(&r, i, k) = i < 2 ? 10 : 10.7;
  }
  CHECK_STATUS(tsanom_spmd_analyse(&r.data, NULL, NULL, NULL, 0, &r.report), TSANOM_OK);
  cr_assert_eq(r.report.search, TSANOM_SPMD_DISJOINT);
  cr_assert_eq(r.report.cccrs, 3);
}

/* Families. A region's own work is 1 ... 3, with noise of 1 %; nested in chains. */
static void family(run *r, uint64_t *state, size_t processes, size_t regions,
                   size_t depth) {
  prepare(r, processes, regions, METRICS);
  for (size_t k = 0; k < regions; k++) {
    if (k % depth) r->parent[k] = (int32_t)k - 1;
    double base = 1 + 2 * random_unit(state);
    for (size_t i = 0; i < processes; i++) {
      double noise = 1 + 0.01 * (2 * random_unit(state) - 1);
      *time_of(r, i, k) = base * noise;
      for (size_t m = 0; m < METRICS; m++) {
        *metric_of(r, m, i, k) =
            (double)(m + 1) * base * (1 + 0.01 * (2 * random_unit(state) - 1));
      }
    }
  }
}

/* Add work to a region of some processes, before the times are made inclusive. */
static void burden(run *r, size_t k, size_t begin, double work) {
  for (size_t i = begin; i < r->data.processes; i++) *time_of(r, i, k) += work;
}

static void include_nested(run *r) {
  for (size_t k = r->data.regions; k-- > 1;) {
    if (r->parent[k] < 0) continue;
    for (size_t i = 0; i < r->data.processes; i++) {
      *time_of(r, i, (size_t)r->parent[k]) += *time_of(r, i, k);
    }
  }
}

Test(spmd, balanced_runs_raise_no_alarm) {
  static run r;
  uint64_t state = 1;
  for (int trial = 0; trial < 500; trial++) {
    family(&r, &state, random_between(&state, 2, PROCESSES),
           random_between(&state, 1, REGIONS), random_between(&state, 1, 4));
    include_nested(&r);
    CHECK_STATUS(tsanom_spmd_analyse(&r.data, NULL, NULL, NULL, 0, &r.report), TSANOM_OK);
    cr_assert_eq(r.report.classes, 1, "trial %d", trial);
  }
}

Test(spmd, one_bad_region_is_found_at_every_depth) {
  static run r;
  uint64_t state = 2;
  for (int trial = 0; trial < 500; trial++) {
    size_t depth = random_between(&state, 1, 4), roots = random_between(&state, 1, 5);
    size_t processes = random_between(&state, 4, PROCESSES), regions = depth * roots;
    family(&r, &state, processes, regions, depth);
    size_t bad = random_between(&state, 0, regions - 1);
    size_t cause = random_between(&state, 0, METRICS - 1);
    size_t begin = random_between(&state, 1, processes - 1);
    burden(&r, bad, begin, 20);
    include_nested(&r);
    for (size_t i = begin; i < processes; i++) *metric_of(&r, cause, i, bad) *= 3;
    CHECK_STATUS(tsanom_spmd_analyse(&r.data, NULL, NULL, NULL, 0, &r.report), TSANOM_OK);
    cr_assert_eq(r.report.classes, 2);
    cr_assert_eq(r.report.cccrs, 1, "trial %d", trial);
    cr_assert_eq(r.report.verdict_region, (int32_t)bad, "trial %d", trial);
    cr_assert_eq(r.report.verdict_class, 1);
    cr_assert_eq(r.report.reducts, 1);
    cr_assert_eq(r.reduct[0], (uint64_t)1 << cause);
  }
}

/* Four classes that two metrics tell apart only together. */
Test(spmd, cause_in_a_pair) {
  static run r;
  uint64_t state = 3;
  for (int trial = 0; trial < 200; trial++) {
    family(&r, &state, 16, 6, 2);
    for (size_t i = 0; i < 16; i++) {
      *time_of(&r, i, 3) += 20 * (double)(i % 4);
      if (i & 1) *metric_of(&r, 1, i, 3) *= 2;
      if (i & 2) *metric_of(&r, 4, i, 3) *= 2;
    }
    include_nested(&r);
    CHECK_STATUS(tsanom_spmd_analyse(&r.data, NULL, NULL, NULL, 0, &r.report), TSANOM_OK);
    cr_assert_eq(r.report.classes, 4);
    cr_assert_eq(r.report.verdict_region, 3);
    cr_assert_eq(r.report.reducts, 1);
    cr_assert_eq(r.reduct[0], 1u << 1 | 1u << 4);
    cr_assert_eq(r.core, 1u << 1 | 1u << 4);
  }
}

Test(spmd, absent_metrics_are_absent) {
  static run r;
  geo_st(&r);
  for (size_t i = 0; i < 8; i++) *metric_of(&r, 1, i, 10) = NAN;
  *metric_of(&r, 0, 0, 10) = NAN;
  CHECK_STATUS(tsanom_spmd_analyse(&r.data, NULL, NULL, NULL, 0, &r.report), TSANOM_OK);
  for (size_t i = 0; i < 8; i++) {
    cr_assert_eq(r.code[i * 5 + 1], TSANOM_ROUGHSET_MISSING);
    cr_assert_eq(r.code[5 * i] == TSANOM_ROUGHSET_MISSING, i == 0);
  }
  cr_assert_eq(r.code[5], 0, "codes are closed up");
  cr_assert_eq(r.reduct[0], 1u << 4);
}

Test(spmd, scale_does_not_matter) {
  static run r;
  geo_st(&r);
  CHECK_STATUS(tsanom_spmd_analyse(&r.data, NULL, NULL, NULL, 0, &r.report), TSANOM_OK);
  double severity = r.report.severity;
  static const int exponents[] = {-1000, -500, 500, 1000};
  for (size_t e = 0; e < 4; e++) {
    geo_st(&r);
    for (size_t t = 0; t < sizeof r.time / sizeof *r.time; t++) {
      r.time[t] = ldexp(r.time[t], exponents[e]);
    }
    CHECK_STATUS(tsanom_spmd_analyse(&r.data, NULL, NULL, NULL, 0, &r.report), TSANOM_OK);
    cr_assert_eq(r.report.severity, severity);
    cr_assert_eq(r.report.classes, 5);
    cr_assert_eq(r.report.verdict_region, 10);
  }
}

Test(spmd, one_process_and_no_time) {
  static run r;
  prepare(&r, 1, 3, 2);
  *time_of(&r, 0, 1) = 4;
  CHECK_STATUS(tsanom_spmd_analyse(&r.data, NULL, NULL, NULL, 0, &r.report), TSANOM_OK);
  cr_assert_eq(r.report.classes, 1);
  cr_assert_eq(r.report.severity, 0);
  cr_assert_eq(r.report.load_balance, 1);
  prepare(&r, 5, 3, 2);
  CHECK_STATUS(tsanom_spmd_analyse(&r.data, NULL, NULL, NULL, 0, &r.report), TSANOM_OK);
  cr_assert_eq(r.report.classes, 1);
  cr_assert_eq(r.report.severity, 0);
  cr_assert_eq(r.report.efficiency, 1);
}

Test(spmd, factors_with_elapsed_time) {
  static run r;
  prepare(&r, 2, 2, 0);
  *time_of(&r, 0, 0) = 4;
  *time_of(&r, 1, 0) = 2;
  *time_of(&r, 0, 1) = 1;
  *time_of(&r, 1, 1) = 3;
  r.data.elapsed = 10;
  CHECK_STATUS(tsanom_spmd_analyse(&r.data, NULL, NULL, NULL, 0, &r.report), TSANOM_OK);
  cr_assert_eq(r.report.load_balance, 1);
  cr_assert_float_eq(r.report.serialisation, 5.0 / 7, 1e-15);
  cr_assert_float_eq(r.report.scheduling, 0.7, 1e-15);
  cr_assert_float_eq(r.report.efficiency, 0.5, 1e-15);
  cr_assert_float_eq(r.report.verdict_saving, 2.0 / 7, 1e-15);
}

/* The classes are the cut of OPTICS at eps', by the room of that name. */
Test(spmd, classes_are_those_of_optics) {
  static run r;
  uint64_t state = 4;
  size_t order[PROCESSES], clusters;
  double reachability[PROCESSES], core[PROCESSES] = {0};
  int32_t label[PROCESSES];
  for (int trial = 0; trial < 2000; trial++) {
    tsanom_spmd_options o;
    tsanom_spmd_options_init(&o, sizeof o);
    o.cut = trial % 2 ? TSANOM_SPMD_CUT_AUTOMATIC : TSANOM_SPMD_CUT_TOLERANCE;
    random_run(&r, &state);
    r.report.order = order;
    r.report.reachability = reachability;
    CHECK_STATUS(tsanom_spmd_analyse(&r.data, &o, NULL, NULL, 0, &r.report), TSANOM_OK);
    CHECK_STATUS(tsanom_optics_cut(order, reachability, core, r.data.processes,
                                   r.report.eps, label, &clusters),
                 TSANOM_OK);
    cr_assert_eq(clusters, r.report.classes, "trial %d", trial);
    for (size_t i = 0; i < r.data.processes; i++) {
      for (size_t j = 0; j < i; j++) {
        cr_assert_eq(label[i] == label[j], r.class_of[i] == r.class_of[j]);
      }
    }
  }
}

/* Noise far above the tolerance, and two kinds far apart in it. */
Test(spmd, the_automatic_cut_forgives_noise) {
  static run r;
  uint64_t state = 5;
  tsanom_spmd_options o;
  tsanom_spmd_options_init(&o, sizeof o);
  o.cut = TSANOM_SPMD_CUT_AUTOMATIC;
  int right[2] = {0};
  for (int trial = 0; trial < 200; trial++) {
    prepare(&r, 32, 3, 1);
    for (size_t i = 0; i < 32; i++) {
      for (size_t k = 0; k < 3; k++) *time_of(&r, i, k) = 1 + random_unit(&state);
      if (trial % 2 && i >= 16) *time_of(&r, i, 1) += 40;
      *metric_of(&r, 0, i, 1) = (trial % 2 && i >= 16 ? 90 : 1) + random_unit(&state);
    }
    CHECK_STATUS(tsanom_spmd_analyse(&r.data, &o, NULL, NULL, 0, &r.report), TSANOM_OK);
    if (trial % 2) {
      right[1] += r.report.classes == 2 && r.report.verdict_region == 1 &&
                  r.report.verdict_metric == 0;
    } else {
      right[0] += r.report.classes == 1;
    }
  }
  cr_assert_geq(right[0], 90, "%d", right[0]);
  cr_assert_geq(right[1], 90, "%d", right[1]);
}
