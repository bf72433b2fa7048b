/* SPDX-License-Identifier: BSD-3-Clause */
/* Families of runs of which the right answer is known. */
#include <tsanom/spmd.h>

#include "runs.h"
#include "support/check.h"
#include "support/random.h"

Test(spmd_families, balanced_runs_raise_no_alarm) {
  static spmd_run r;
  uint64_t state = 1;
  for (int trial = 0; trial < CASES(500); trial++) {
    size_t depth = random_between(&state, 1, 4);
    size_t regions = random_between(&state, 1, REGIONS);
    family(&r, &state, random_between(&state, 2, PROCESSES), regions, depth, 0.01);
    include_nested(&r);
    CHECK_STATUS(tsanom_spmd_analyze(&r.data, NULL, NULL, &r.report), TSANOM_OK);
    cr_assert_eq(r.report.classes, 1, "trial %d", trial);
  }
}

Test(spmd_families, one_bad_region_is_found_at_every_depth) {
  static spmd_run r;
  uint64_t state = 2;
  for (int trial = 0; trial < CASES(500); trial++) {
    size_t depth = random_between(&state, 1, 4), roots = random_between(&state, 1, 5);
    size_t processes = random_between(&state, 4, PROCESSES), regions = depth * roots;
    family(&r, &state, processes, regions, depth, 0.01);
    size_t bad = random_between(&state, 0, regions - 1);
    size_t cause = random_between(&state, 0, METRICS - 1);
    size_t begin = random_between(&state, 1, processes - 1);
    burden(&r, bad, begin, 20);
    include_nested(&r);
    for (size_t i = begin; i < processes; i++) *metric_of(&r, cause, i, bad) *= 3;
    CHECK_STATUS(tsanom_spmd_analyze(&r.data, NULL, NULL, &r.report), TSANOM_OK);
    cr_assert_eq(r.report.classes, 2);
    cr_assert_eq(r.report.cccrs, 1, "trial %d", trial);
    cr_assert_eq(r.report.verdict_region, (int32_t)bad, "trial %d", trial);
    cr_assert_eq(r.report.verdict_class, 1);
    cr_assert_eq(r.report.reducts, 1);
    cr_assert_eq(r.reduct[0], (uint64_t)1 << cause);
  }
}

/* Four classes that two metrics tell apart only together. */
Test(spmd_families, cause_in_a_pair) {
  static spmd_run r;
  uint64_t state = 3;
  for (int trial = 0; trial < CASES(200); trial++) {
    family(&r, &state, 16, 6, 2, 0.01);
    for (size_t i = 0; i < 16; i++) {
      *time_of(&r, i, 3) += 20 * (double)(i % 4);
      if (i & 1) *metric_of(&r, 1, i, 3) *= 2;
      if (i & 2) *metric_of(&r, 4, i, 3) *= 2;
    }
    include_nested(&r);
    CHECK_STATUS(tsanom_spmd_analyze(&r.data, NULL, NULL, &r.report), TSANOM_OK);
    cr_assert_eq(r.report.classes, 4);
    cr_assert_eq(r.report.verdict_region, 3);
    cr_assert_eq(r.report.reducts, 1);
    cr_assert_eq(r.reduct[0], 1u << 1 | 1u << 4);
    cr_assert_eq(r.core, 1u << 1 | 1u << 4);
  }
}

/* Two regions in different outermost ones make the same two kinds: the paper's search
 * ends at the outermost. */
Test(spmd_families, two_nested_regions_are_found_by_the_deep_search) {
  static spmd_run r;
  uint64_t state = 4;
  tsanom_spmd_options o;
  tsanom_spmd_options_init(&o, sizeof o);
  for (int trial = 0; trial < CASES(300); trial++) {
    size_t depth = random_between(&state, 2, 4), roots = random_between(&state, 2, 5);
    family(&r, &state, 16, depth * roots, depth, 0.01);
    size_t one = random_between(&state, 0, roots - 2) * depth;
    size_t other = one + depth;
    size_t in_one = one + random_between(&state, 1, depth - 1);
    size_t in_other = other + random_between(&state, 1, depth - 1);
    burden(&r, in_one, 8, 20);
    burden(&r, in_other, 8, 20);
    include_nested(&r);
    for (o.deep = 0; o.deep <= 1; o.deep++) {
      CHECK_STATUS(tsanom_spmd_analyze(&r.data, &o, NULL, &r.report), TSANOM_OK);
      cr_assert_eq(r.report.search, TSANOM_SPMD_COMBINED);
      for (size_t k = 0; k < depth * roots; k++) {
        int expected = o.deep ? k == in_one || k == in_other : k == one || k == other;
        cr_assert_eq(r.region[k].cccr, expected, "trial %d region %zu", trial, k);
      }
    }
  }
}

/* Two regions in one make four kinds together, either two. */
Test(spmd_families, regions_that_only_together_stand_for_their_parent) {
  static spmd_run r;
  tsanom_spmd_options o;
  tsanom_spmd_options_init(&o, sizeof o);
  prepare(&r, 8, 5, 0);
  for (size_t k = 1; k < 4; k++) r.parent[k] = 0;
  for (size_t i = 0; i < 8; i++) {
    for (size_t k = 0; k < 5; k++) *time_of(&r, i, k) = 1;
    *time_of(&r, i, 1) += (double)(10 * (i & 1));
    *time_of(&r, i, 3) += (double)(10 * (i & 2));
    *time_of(&r, i, 2) += 1e-3 * (double)i;
  }
  include_nested(&r);
  for (o.deep = 0; o.deep <= 1; o.deep++) {
    CHECK_STATUS(tsanom_spmd_analyze(&r.data, &o, NULL, &r.report), TSANOM_OK);
    cr_assert_eq(r.report.classes, 4);
    cr_assert_eq(r.region[0].ccr, 1);
    for (size_t k = 0; k < 5; k++) {
      cr_assert_eq(r.region[k].cccr, o.deep ? k == 1 || k == 3 : k == 0, "region %zu", k);
    }
  }
  o.deep = 1;
  o.combination_limit = 1;
  CHECK_STATUS(tsanom_spmd_analyze(&r.data, &o, NULL, &r.report), TSANOM_PARTIAL);
  cr_assert_eq(r.region[0].cccr, 1, "the limit ended the search before the answer");
}
