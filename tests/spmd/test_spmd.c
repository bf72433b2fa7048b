/* SPDX-License-Identifier: BSD-3-Clause */
/* The analysis: the paper's example, the definition, degenerate runs. */
#include <math.h>
#include <string.h>
#include <tsanom/roughset.h>
#include <tsanom/spmd.h>

#include "reference.h"
#include "runs.h"
#include "support/check.h"
#include "support/random.h"

Test(spmd, geo_st) {
  static const int32_t class_of[8] = {0, 1, 1, 2, 3, 4, 3, 4};
  static const int32_t code[8][5] = {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 1}, {0, 0, 0, 0, 1},
                                     {1, 0, 0, 0, 2}, {0, 1, 0, 0, 3}, {1, 1, 0, 1, 4},
                                     {1, 2, 0, 1, 3}, {1, 2, 0, 0, 4}};
  static spmd_run r;
  geo_st(&r);
  CHECK_STATUS(tsanom_spmd_analyze(&r.data, NULL, NULL, &r.report), TSANOM_OK);
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
  static spmd_run r;
  geo_st(&r);
  for (size_t i = 0; i < 8; i++) {
    *time_of(&r, i, 10) = 37.3 + 0.1 * (double)(i % 3);
    *time_of(&r, i, 13) = *time_of(&r, i, 10) + 2.4;
  }
  CHECK_STATUS(tsanom_spmd_analyze(&r.data, NULL, NULL, &r.report), TSANOM_OK);
  cr_assert_eq(r.report.classes, 1);
  cr_assert_eq(r.report.search, TSANOM_SPMD_SIMILAR);
  cr_assert_eq(r.report.ccrs + r.report.cccrs + r.report.reducts, 0);
  cr_assert_eq(r.report.verdict_region, TSANOM_SPMD_NONE);
  cr_assert_lt(r.report.severity, 0.05);
}

/* The last process takes longer in both regions. The excess of the second one is larger, and
 * within its error. */
Test(spmd, the_verdict_is_about_what_an_error_does_not_explain) {
  static spmd_run r;
  static double error[4 * REGIONS];
  prepare(&r, 4, 2, 0);
  for (size_t i = 0; i < 4; i++) {
    *time_of(&r, i, 0) = i == 3 ? 14 : 10;
    *time_of(&r, i, 1) = i == 3 ? 16 : 10;
    error[i * r.data.time_ld] = i == 0 ? 4 : 0.1;
    error[i * r.data.time_ld + 1] = i == 1 ? NAN : 3;
  }
  CHECK_STATUS(tsanom_spmd_analyze(&r.data, NULL, NULL, &r.report), TSANOM_OK);
  cr_assert(r.report.classes == 2 && r.report.verdict_region == 1);
  r.data.error = error;
  CHECK_STATUS(tsanom_spmd_analyze(&r.data, NULL, NULL, &r.report), TSANOM_OK);
  cr_assert(r.report.verdict_region == 0 && r.report.verdict_class == 1);
}

/* One process takes longest in all, another one in a small region, by more times and with
 * less doubt. */
Test(spmd, the_verdict_is_about_what_takes_longest_in_all) {
  static spmd_run r;
  static double error[4 * REGIONS];
  prepare(&r, 4, 2, 0);
  for (size_t i = 0; i < 4; i++) {
    *time_of(&r, i, 0) = i == 2 ? 3 : .5;
    *time_of(&r, i, 1) = i == 3 ? 16 : 10;
    error[i * r.data.time_ld] = 0.01;
    error[i * r.data.time_ld + 1] = 3;
  }
  r.data.error = error;
  CHECK_STATUS(tsanom_spmd_analyze(&r.data, NULL, NULL, &r.report), TSANOM_OK);
  cr_assert(r.report.classes == 3 && r.report.region[0].cccr && r.report.region[1].cccr);
  cr_assert_eq(r.report.verdict_class, r.report.class_of[3]);
  cr_assert_eq(r.report.verdict_region, 1);
}

static void check_balance(spmd_run *r) {
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
                     r->report.load_balance * r->report.serialization, 1e-9);
}

Test(spmd, agrees_with_the_definition) {
  static spmd_run r;
  uint64_t state = 9;
  size_t ended[6] = {0};
  tsanom_spmd_options o;
  tsanom_spmd_options_init(&o, sizeof o);
  for (int trial = 0; trial < CASES(12000); trial++) {
    random_run(&r, &state);
    reference_answer want;
    o.deep = trial % 2;
    reference_analyse(&r.data, 0.05, o.deep, &want);
    CHECK_STATUS(tsanom_spmd_analyze(&r.data, &o, NULL, &r.report), TSANOM_OK);
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

/* Each process goes on from an earlier one by a step in one region: chains that are long
 * compared with eps', branches, equal processes. */
static void random_walk(spmd_run *r, uint64_t *state) {
  static const double steps[] = {0, 0, 0.6, 1.8, 1.8, 2.4};
  size_t processes = random_between(state, 2, REFERENCE_PROCESSES);
  size_t regions = random_between(state, 2, 10), branches = random_bits(state) % 2;
  prepare(r, processes, regions, 0);
  *time_of(r, 0, 0) = 40; /* eps' is 2 or more */
  for (size_t i = 2; i < processes; i++) {
    size_t from = branches ? random_between(state, 1, i - 1) : i - 1;
    for (size_t k = 0; k < regions; k++) *time_of(r, i, k) = *time_of(r, from, k);
    *time_of(r, i, random_between(state, 0, regions - 1)) +=
        steps[random_between(state, 0, 5)];
  }
}

Test(spmd, chains_and_equal_processes_agree_with_the_definition) {
  static spmd_run r;
  uint64_t state = 31;
  size_t many = 0;
  for (int trial = 0; trial < CASES(2000); trial++) {
    random_walk(&r, &state);
    reference_answer want;
    reference_analyse(&r.data, 0.05, 0, &want);
    CHECK_STATUS(tsanom_spmd_analyze(&r.data, NULL, NULL, &r.report), TSANOM_OK);
    cr_assert_eq(r.report.classes, want.classes, "trial %d", trial);
    cr_assert_arr_eq(r.class_of, want.class_of, r.data.processes * sizeof *r.class_of);
    cr_assert_float_eq(r.report.severity, want.severity, 1e-12);
    many += r.report.classes > 4;
  }
  cr_assert_gt(many, 0);
}

/* A chain leads away from the first process in region 0, then in region 7, whose times
 * are the 8th coordinate; the last process continues it at less than 3 eps' in region 0.
 */
Test(spmd, a_chain_is_followed_around_a_corner) {
  static spmd_run r;
  prepare(&r, 24, 8, 0);
  for (size_t i = 1; i < 16; i++) {
    *time_of(&r, i, 0) = i < 4 ? 0.9 * (double)i : 3.5;
    *time_of(&r, i, 7) = i > 4 ? 0.9 * (double)(i - 4) : 0;
  }
  *time_of(&r, 16, 0) = 2.9;
  *time_of(&r, 16, 7) = 9.9;
  for (size_t k = 0; k < 7; k++) *time_of(&r, 17 + k, k) = 20; /* eps' is 1 */
  CHECK_STATUS(tsanom_spmd_analyze(&r.data, NULL, NULL, &r.report), TSANOM_OK);
  cr_assert_eq(r.report.classes, 8);
  cr_assert_eq(r.class_of[16], 0);
}

/* What was decided is what the roles say, and members are regions. */
Test(spmd, decisions_explain_the_roles) {
  static spmd_run r;
  uint64_t state = 99;
  size_t combined_inside = 0;
  tsanom_spmd_options o;
  tsanom_spmd_options_init(&o, sizeof o);
  for (int trial = 0; trial < CASES(4000); trial++) {
    random_run(&r, &state);
    o.deep = trial % 2;
    CHECK_STATUS(tsanom_spmd_analyze(&r.data, &o, NULL, &r.report), TSANOM_OK);
    int32_t ccr[REGIONS] = {0};
    cr_assert_eq(r.decision[0].step, 1);
    cr_assert_eq(r.decision[0].classes, r.report.classes);
    for (size_t d = 0; d < r.report.decisions; d++) {
      const tsanom_spmd_decision *made = &r.decision[d];
      int is_put_in = made->step == 4 || made->level > 1;
      cr_assert_eq(made->critical, is_put_in ? !made->changed : made->changed);
      combined_inside += made->step == 3 && made->level > 1 && made->critical;
      for (size_t m = 0; m < made->count; m++) {
        size_t k = r.member[made->first + m];
        cr_assert_lt(k, r.data.regions);
        cr_assert_eq(r.region[k].level, made->level);
        ccr[k] |= made->critical;
      }
    }
    for (size_t k = 0; k < r.data.regions; k++) cr_assert_eq(ccr[k], r.region[k].ccr);
  }
  cr_assert_gt(combined_inside, 0);
}

/* Two regions that separate the same processes: neither alone changes the classes, and
 * both are the core (step 3). */
Test(spmd, two_bad_regions) {
  static spmd_run r;
  prepare(&r, 6, 5, 1);
  for (size_t i = 0; i < 6; i++) {
    for (size_t k = 0; k < 5; k++) *time_of(&r, i, k) = 2;
    if (i >= 3) *time_of(&r, i, 1) = *time_of(&r, i, 3) = 3;
    *metric_of(&r, 0, i, 1) = i >= 3 ? 7 : 4;
  }
  CHECK_STATUS(tsanom_spmd_analyze(&r.data, NULL, NULL, &r.report), TSANOM_OK);
  cr_assert_eq(r.report.search, TSANOM_SPMD_COMBINED);
  cr_assert_eq(r.report.combination, 2);
  for (size_t k = 0; k < 5; k++) cr_assert_eq(r.region[k].cccr, k == 1 || k == 3);
  cr_assert_eq(r.reduct[0], 1);
  cr_assert_eq(r.report.reducts, 1);

  tsanom_spmd_options o;
  tsanom_spmd_options_init(&o, sizeof o);
  o.combination_limit = 0;
  CHECK_STATUS(tsanom_spmd_analyze(&r.data, &o, NULL, &r.report), TSANOM_PARTIAL);
  cr_assert_eq(r.report.search, TSANOM_SPMD_NOT_FOUND);
  cr_assert_eq(r.report.limited, 1);
  cr_assert_eq(r.report.verdict_region, TSANOM_SPMD_NONE);
  cr_assert_eq(r.report.verdict_class, 1);
  o.combination_limit = 100;
  o.combination_size = 1;
  CHECK_STATUS(tsanom_spmd_analyze(&r.data, &o, NULL, &r.report), TSANOM_OK);
  cr_assert_eq(r.report.search, TSANOM_SPMD_NOT_FOUND);
}

Test(spmd, absent_metrics_are_absent) {
  static spmd_run r;
  geo_st(&r);
  for (size_t i = 0; i < 8; i++) *metric_of(&r, 1, i, 10) = NAN;
  *metric_of(&r, 0, 0, 10) = NAN;
  CHECK_STATUS(tsanom_spmd_analyze(&r.data, NULL, NULL, &r.report), TSANOM_OK);
  for (size_t i = 0; i < 8; i++) {
    cr_assert_eq(r.code[i * 5 + 1], TSANOM_ROUGHSET_MISSING);
    cr_assert_eq(r.code[5 * i] == TSANOM_ROUGHSET_MISSING, i == 0);
  }
  cr_assert_eq(r.code[5], 0, "codes are closed up");
  cr_assert_eq(r.reduct[0], 1u << 4);
}

Test(spmd, scale_does_not_matter) {
  static spmd_run r;
  geo_st(&r);
  CHECK_STATUS(tsanom_spmd_analyze(&r.data, NULL, NULL, &r.report), TSANOM_OK);
  double severity = r.report.severity;
  static const int exponents[] = {-1000, -500, 500, 1000};
  for (size_t e = 0; e < 4; e++) {
    geo_st(&r);
    for (size_t t = 0; t < sizeof r.time / sizeof *r.time; t++) {
      r.time[t] = ldexp(r.time[t], exponents[e]);
    }
    CHECK_STATUS(tsanom_spmd_analyze(&r.data, NULL, NULL, &r.report), TSANOM_OK);
    cr_assert_eq(r.report.severity, severity);
    cr_assert_eq(r.report.classes, 5);
    cr_assert_eq(r.report.verdict_region, 10);
  }
}

Test(spmd, one_process_and_no_time) {
  static spmd_run r;
  prepare(&r, 1, 3, 2);
  *time_of(&r, 0, 1) = 4;
  CHECK_STATUS(tsanom_spmd_analyze(&r.data, NULL, NULL, &r.report), TSANOM_OK);
  cr_assert_eq(r.report.classes, 1);
  cr_assert_eq(r.report.severity, 0);
  cr_assert_eq(r.report.load_balance, 1);
  prepare(&r, 5, 3, 2);
  CHECK_STATUS(tsanom_spmd_analyze(&r.data, NULL, NULL, &r.report), TSANOM_OK);
  cr_assert_eq(r.report.classes, 1);
  cr_assert_eq(r.report.severity, 0);
  cr_assert_eq(r.report.efficiency, 1);
}

Test(spmd, factors_with_elapsed_time) {
  static spmd_run r;
  prepare(&r, 2, 2, 0);
  *time_of(&r, 0, 0) = 4;
  *time_of(&r, 1, 0) = 2;
  *time_of(&r, 0, 1) = 1;
  *time_of(&r, 1, 1) = 3;
  r.data.elapsed = 10;
  CHECK_STATUS(tsanom_spmd_analyze(&r.data, NULL, NULL, &r.report), TSANOM_OK);
  cr_assert_eq(r.report.load_balance, 1);
  cr_assert_float_eq(r.report.serialization, 5.0 / 7, 1e-15);
  cr_assert_float_eq(r.report.scheduling, 0.7, 1e-15);
  cr_assert_float_eq(r.report.efficiency, 0.5, 1e-15);
  cr_assert_float_eq(r.report.verdict_saving, 2.0 / 7, 1e-15);
}

/* Each array in turn has exactly the space that is needed, or one element less. */
Test(spmd, arrays_that_just_suffice) {
  static spmd_run all, r;
  uint64_t state = 77;
  for (int trial = 0; trial < 60; trial++) {
    if (trial) random_run(&all, &state);
    if (!trial) geo_st(&all); /* which has metrics */
    CHECK_STATUS(tsanom_spmd_analyze(&all.data, NULL, NULL, &all.report), TSANOM_OK);
    cr_assert(trial || all.report.reducts);
    const size_t count[] = {all.report.decisions, all.report.members, all.report.reducts};
    for (int which = 0; which < 6; which++) {
      size_t less = (size_t)which / 3, array = (size_t)which % 3;
      if (count[array] < less + 1) continue;
      r = all;
      size_t *const capacity[] = {&r.report.decision_capacity, &r.report.member_capacity,
                                  &r.report.reduct_capacity};
      *capacity[array] = count[array] - less;
      memset(r.decision, 0x5a, sizeof r.decision);
      memset(r.member, 0x5a, sizeof r.member);
      memset(r.reduct, 0x5a, sizeof r.reduct);
      r.report.decision = r.decision;
      r.report.member = r.member;
      r.report.reduct = r.reduct;
      CHECK_STATUS(tsanom_spmd_analyze(&all.data, NULL, NULL, &r.report),
                   less ? TSANOM_PARTIAL : TSANOM_OK);
      cr_assert(r.report.decisions == count[0] && r.report.members == count[1] &&
                r.report.reducts == count[2]);
      const void *const first[] = {r.decision, r.member, r.reduct},
                        *expected[] = {all.decision, all.member, all.reduct};
      const size_t size[] = {sizeof *r.decision, sizeof *r.member, sizeof *r.reduct};
      for (size_t k = 0; k < 3; k++) {
        size_t written = count[k] - (k == array ? less : 0);
        cr_assert_arr_eq(first[k], expected[k], written * size[k]);
        cr_assert(((const unsigned char *)first[k])[written * size[k]] == 0x5a);
      }
    }
  }
}
