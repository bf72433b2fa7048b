/* SPDX-License-Identifier: BSD-3-Clause */
/* Where processes become different kinds. */
#include <math.h>
#include <stdlib.h>
#include <tsanom/optics.h>
#include <tsanom/spmd.h>

#include "runs.h"
#include "support/check.h"
#include "support/random.h"

/* The classes are the cut of OPTICS at eps', by the module optics. */
Test(spmd_cut, classes_are_those_of_optics) {
  static spmd_run r;
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
    CHECK_STATUS(tsanom_spmd_analyze(&r.data, &o, NULL, &r.report), TSANOM_OK);
    tsanom_optics_ordering ordering = {.struct_size = sizeof ordering, .eps = INFINITY};
    ordering.n = r.data.processes;
    ordering.order = order;
    ordering.reachability = reachability;
    ordering.core_distance = core;
    CHECK_STATUS(tsanom_optics_cut(&ordering, r.report.eps, NULL, label, &clusters),
                 TSANOM_OK);
    cr_assert_eq(clusters, r.report.classes, "trial %d", trial);
    for (size_t i = 0; i < r.data.processes; i++) {
      for (size_t j = 0; j < i; j++) {
        cr_assert_eq(label[i] == label[j], r.class_of[i] == r.class_of[j]);
      }
    }
    if (o.cut != TSANOM_SPMD_CUT_AUTOMATIC) continue;
    double cut = INFINITY;
    tsanom_optics_split_options split;
    tsanom_optics_split_options_init(&split, sizeof split);
    split.resolution = o.tolerance * r.report.largest_norm;
    CHECK_STATUS(
        tsanom_optics_split(&ordering, &split, NULL, label, &clusters, &cut, NULL),
        TSANOM_OK);
    cr_assert_eq(clusters, r.report.classes, "trial %d", trial);
    cr_assert_eq(clusters > 1 ? cut : INFINITY, r.report.eps, "trial %d", trial);
  }
}

/* Noise far above the tolerance, and two kinds far apart in it. */
Test(spmd_cut, the_automatic_cut_forgives_noise) {
  static spmd_run r;
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
    CHECK_STATUS(tsanom_spmd_analyze(&r.data, &o, NULL, &r.report), TSANOM_OK);
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

static tsanom_spmd_options by_noise(void) {
  tsanom_spmd_options o;
  tsanom_spmd_options_init(&o, sizeof o);
  o.cut = TSANOM_SPMD_CUT_NOISE;
  return o;
}

Test(spmd_cut, the_cut_by_noise_is_never_below_the_tolerance) {
  static spmd_run r;
  uint64_t state = 7;
  tsanom_spmd_options o = by_noise();
  for (int trial = 0; trial < 200; trial++) {
    size_t regions = random_between(&state, 1, REGIONS);
    double noise = regions < 4 ? 0.3 : 0.005;
    family(&r, &state, random_between(&state, 2, PROCESSES), regions, 1, noise);
    if (trial % 2) burden(&r, 0, 1, 30);
    cr_assert_geq(tsanom_spmd_analyze(&r.data, &o, NULL, &r.report), 0);
    cr_assert_geq(r.report.eps, 0.05 * r.report.largest_norm);
    cr_assert_eq(isinf(r.report.eps), r.report.classes == 1);
  }
}

/* What is wrong stands out from noise in which the tolerance sees a kind in each
 * process, be it in one region or a process's share of all work. */
Test(spmd_cut, noise_is_forgiven_and_what_is_wrong_is_not) {
  static spmd_run r;
  uint64_t state = 8;
  tsanom_spmd_options o = by_noise(), plain;
  tsanom_spmd_options_init(&plain, sizeof plain);
  o.combination_limit = plain.combination_limit = 100; /* kinds are what is looked at */
  int alarms = 0, right[3] = {0};
  enum { TRIALS = 100 };
  for (int trial = 0; trial < TRIALS; trial++) {
    for (int what = 0; what < 3; what++) {
      family(&r, &state, 32, 12, 1, 0.1);
      if (what == 1) burden(&r, 5, 16, 20);
      for (size_t t = 16; what == 2 && t < 32; t++) {
        for (size_t k = 0; k < 12; k++) *time_of(&r, t, k) *= 3;
      }
      cr_assert_geq(tsanom_spmd_analyze(&r.data, &o, NULL, &r.report), 0);
      right[what] += r.report.classes == (what ? 2 : 1) &&
                     (what != 1 || r.report.verdict_region == 5) && r.class_of[0] == 0 &&
                     r.class_of[31] == (what ? 1 : 0);
      if (what) continue;
      cr_assert_geq(tsanom_spmd_analyze(&r.data, &plain, NULL, &r.report), 0);
      alarms += r.report.classes > 1;
    }
  }
  cr_assert_gt(alarms, TRIALS / 2, "without it: %d", alarms);
  for (int what = 0; what < 3; what++) {
    cr_assert_geq(right[what], 95 * TRIALS / 100, "%d: %d", what, right[what]);
  }
}

/* Times with normal noise of 5 %; `extra` in the first region of the last process. */
static size_t kinds_in_noise(const tsanom_spmd_options *o, double extra,
                             uint64_t *state) {
  static spmd_run r;
  size_t regions = random_between(state, 4, 16);
  prepare(&r, random_between(state, 2, 16), regions, 0);
  for (size_t i = 0; i < r.data.processes; i++) {
    for (size_t k = 0; k < r.data.regions; k++) {
      double normal = -6;
      for (int term = 0; term < 12; term++) normal += random_unit(state);
      bool late = k == 0 && i + 1 == r.data.processes;
      *time_of(&r, i, k) =
          (1 + (late ? extra * (double)r.data.regions : 0)) * exp(0.05 * normal);
    }
  }
  cr_assert_geq(tsanom_spmd_analyze(&r.data, o, NULL, &r.report), 0);
  return r.report.classes;
}

/* In small programs, too, whatever the parity of their processes and regions. */
Test(spmd_cut, the_cut_by_noise_reports_one_kind_in_a_balanced_program) {
  enum { TRIALS = 2000 };
  uint64_t state = 9;
  tsanom_spmd_options o = by_noise();
  o.combination_limit = 0; /* kinds are what is looked at */
  int alarms = 0, found = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    alarms += kinds_in_noise(&o, 0, &state) > 1;
    found += kinds_in_noise(&o, 0.2, &state) > 1;
  }
  cr_assert_leq(alarms, TRIALS / 100, "%d", alarms);
  cr_assert_geq(found, 90 * TRIALS / 100, "%d", found);
}
