/* SPDX-License-Identifier: BSD-3-Clause */
/* The cut by noise with standard errors of the times. */
#include <math.h>
#include <tsanom/spmd.h>

#include "runs.h"
#include "support/check.h"
#include "support/random.h"

static spmd_run r;
static double error[PROCESSES * REGIONS];

/* All times are 1 and all errors `value`. */
static tsanom_spmd_options start(size_t processes, size_t regions, double value) {
  tsanom_spmd_options o;
  tsanom_spmd_options_init(&o, sizeof o);
  o.cut = TSANOM_SPMD_CUT_NOISE;
  o.combination_limit = 0;
  prepare(&r, processes, regions, 0);
  for (size_t i = 0; i < processes; i++) {
    for (size_t k = 0; k < regions; k++) {
      *time_of(&r, i, k) = 1;
      error[i * r.data.time_ld + k] = value;
    }
  }
  r.data.error = error;
  return o;
}

static double eps_of(const tsanom_spmd_options *o) {
  CHECK_STATUS(tsanom_spmd_analyze(&r.data, o, NULL, &r.report), TSANOM_OK);
  return r.report.eps;
}

/* eps' is proportional to the largest error of each region, in any unit of time. */
Test(spmd_errors, the_cut_follows_the_errors) {
  tsanom_spmd_options o = start(8, 2, 0.001);
  cr_assert(eps_of(&o) == 0.05 * r.report.largest_norm);
  error[1] = error[4 * r.data.time_ld] = 0.1;
  double eps = eps_of(&o);
  cr_assert(eps > 0.2 && eps < 1, "%g", eps);
  o = start(8, 2, 0.2);
  cr_assert_float_eq(eps_of(&o), 2 * eps, 1e-9);
  for (size_t i = 0; i < PROCESSES * REGIONS; i++) r.time[i] *= 1e6, error[i] *= 1e6;
  cr_assert_float_eq(eps_of(&o), 2e6 * eps, 1);
  for (size_t i = 0; i < PROCESSES * REGIONS; i++) error[i] = 1e300;
  cr_assert(isfinite(eps_of(&o)) && r.report.classes == 1);
}

/* A region without errors has those of the other, in proportion to the root of its time.
 */
Test(spmd_errors, unknown_errors_are_completed) {
  tsanom_spmd_options o = start(8, 2, 0.1);
  for (size_t i = 0; i < 8; i++) *time_of(&r, i, 1) = 4;
  for (size_t i = 0; i < 8; i++) error[i * r.data.time_ld + 1] = 0.2;
  double eps = eps_of(&o);
  for (size_t i = 0; i < 8; i++) error[i * r.data.time_ld + 1] = NAN;
  cr_assert_float_eq(eps_of(&o), eps, 1e-12);
}

/* The scatter of a region that was measured once is noise, unless it is large. */
Test(spmd_errors, the_scatter_of_a_region_without_errors_counts) {
  tsanom_spmd_options o = start(8, 2, 0.001);
  for (size_t i = 0; i < 8; i++) {
    error[i * r.data.time_ld + 1] = NAN;
    *time_of(&r, i, 1) = i == 5 ? 1.35 : 1 + 0.02 * (double)i;
  }
  (void)eps_of(&o);
  cr_assert(r.report.classes == 1);
  *time_of(&r, 5, 1) = 2;
  (void)eps_of(&o);
  cr_assert(r.report.classes == 2 && r.class_of[5] == 1);
}

/* Regions that were measured once: a difference counts that stands out among the others,
 * or that is 5 times the tolerance. */
Test(spmd_errors, without_known_errors_differences_must_stand_out) {
  uint64_t state = 3;
  tsanom_spmd_options o = start(16, 2, NAN);
  for (size_t i = 0; i < 16; i++) *time_of(&r, i, 0) += 1e-3 * random_unit(&state);
  *time_of(&r, 3, 0) = 1.2;
  (void)eps_of(&o);
  cr_assert(r.report.classes == 2 && r.class_of[3] == 1);
  for (size_t i = 0; i < 16; i++) *time_of(&r, i, 0) = 1 + 0.08 * (double)i;
  cr_assert(eps_of(&o) <= 0.25 * r.report.largest_norm && r.report.classes == 1);
  r.data.error = NULL;
  (void)eps_of(&o);
  cr_assert(r.report.classes == 1);
  o = start(2, 1, NAN);
  *time_of(&r, 1, 0) = 1.2;
  (void)eps_of(&o);
  cr_assert(r.report.classes == 1);
  *time_of(&r, 1, 0) = 1.4;
  (void)eps_of(&o);
  cr_assert(r.report.classes == 2);
  o.cut = TSANOM_SPMD_CUT_TOLERANCE;
  *time_of(&r, 1, 0) = 1.2;
  (void)eps_of(&o);
  cr_assert(r.report.classes == 2, "errors are used by the cut by noise only");
}
