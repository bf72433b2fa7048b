/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments, memory and polling. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/polyfit.h>

#include "reference.h"
#include "support/check.h"
#include "support/polls.h"
#include "support/random.h"
#include "support/workspace.h"

static dataset set;
static tsanom_polyfit_options options;

static tsanom_status fit(const tsanom_exec *exec, void *result) {
  if (!result) {
    return tsanom_polyfit_fit(NULL, NULL, NULL, set.n, &options, exec, NULL);
  }
  tsanom_polyfit_model model = new_model();
  tsanom_status status =
      tsanom_polyfit_fit(set.x, set.y, NULL, set.n, &options, exec, &model);
  if (status >= 0) memcpy(result, &model, sizeof model);
  return status;
}

Test(polyfit_contract, the_workspace_is_exact_and_known_without_samples) {
  static const workspace_case workspace = {"fit", fit, sizeof(tsanom_polyfit_model)};
  uint64_t seed = 1;
  for (int trial = 0; trial < CASES(200); trial++) {
    fill_dataset(&set, random_between(&seed, 15, trial % 8 ? 100 : MOST_SAMPLES), &seed);
    for (size_t i = 0; trial % 3 == 0 && i + 9 < set.n; i++) set.x[i] *= 1e-5; /* QR */
    options = options_of((int32_t)random_between(&seed, 0, 12),
                         (int32_t)random_between(&seed, 0, 3), trial % 2);
    check_workspaces(&workspace, 1);
  }
}

static size_t workspace_for(size_t n, int32_t degree, int32_t threads) {
  tsanom_polyfit_options own = options_of(degree, TSANOM_POLYFIT_FIXED, 1);
  size_t bytes = 0;
  tsanom_exec ask = ask_exec(NULL, &bytes);
  ask.threads = threads;
  CHECK_STATUS(tsanom_polyfit_fit(NULL, NULL, NULL, n, &own, &ask, NULL),
               TSANOM_E_WORKSPACE);
  return bytes;
}

Test(polyfit_contract, the_workspace_grows_with_every_argument) {
  uint64_t seed = 2;
  for (int trial = 0; trial < CASES(2000); trial++) {
    int32_t degree = (int32_t)random_between(&seed, 0, 62);
    size_t n = 64 + random_between(&seed, 0, (size_t)1 << (trial % 20 + 1));
    size_t bytes = workspace_for(n, degree, 1), more = workspace_for(n, degree, 2);
    cr_assert(workspace_for(n + 1, degree, 1) >= bytes && more >= bytes);
    cr_assert(workspace_for(n, degree + 1, 2) >= more);
  }
  size_t most = workspace_for(PTRDIFF_MAX / 8, TSANOM_POLYFIT_MAX_DEGREE, 1);
  cr_assert(most < 10 << 20, "the workspace is bounded: %zu", most);
}

static tsanom_status create(const tsanom_exec *exec, bool inputs, void **object) {
  (void)inputs;
  return tsanom_polyfit_stream_create(NULL, exec, (tsanom_polyfit_stream **)object);
}

static void destroy(void *object) {
  tsanom_polyfit_stream_destroy(object);
}

Test(polyfit_contract, a_stream_is_one_block_of_known_size) {
  tsanom_polyfit_stream_destroy(NULL);
  check_object(create, destroy);
}

Test(polyfit_contract, bad_arguments_are_rejected_and_leave_the_model) {
  double x[] = {1, 2, 3, 4}, y[] = {1, 3, 2, 5};
  tsanom_polyfit_model model = new_model(), untouched = new_model();
  options = options_of(1, TSANOM_POLYFIT_FIXED, 1);
#define FIT(x, y, w, n, o, e) tsanom_polyfit_fit(x, y, w, n, o, e, &model)
  CHECK_STATUS(FIT(x, y, NULL, 1, NULL, NULL), TSANOM_E_COUNT);
  options.degree = 1000000;
  CHECK_STATUS(FIT(x, y, NULL, 4, &options, NULL), TSANOM_E_OPTION);
  options.degree = -1;
  CHECK_STATUS(FIT(x, y, NULL, 4, &options, NULL), TSANOM_E_OPTION);
  options = options_of(1, 4, 1);
  CHECK_STATUS(FIT(x, y, NULL, 4, &options, NULL), TSANOM_E_OPTION);
  options = options_of(1, TSANOM_POLYFIT_R2, 2);
  CHECK_STATUS(FIT(x, y, NULL, 4, &options, NULL), TSANOM_E_OPTION);
  options = options_of(1, TSANOM_POLYFIT_R2, 1);
  const double bad_thresholds[] = {NAN, -0.1, 1};
  for (int i = 0; i < 3; i++) {
    options.r2 = bad_thresholds[i];
    CHECK_STATUS(FIT(x, y, NULL, 4, &options, NULL), TSANOM_E_OPTION);
  }
  options = options_of(1, TSANOM_POLYFIT_FIXED, 1);
  options.r2 = 0.95; /* has no effect */
  CHECK_STATUS(FIT(x, y, NULL, 4, &options, NULL), TSANOM_E_OPTION);
  options = options_of(1, TSANOM_POLYFIT_R2, 1);
  options.tolerance = 1;
  CHECK_STATUS(FIT(x, y, NULL, 4, &options, NULL), TSANOM_E_OPTION);
  options = options_of(1, TSANOM_POLYFIT_R2, 1);
  options.coefficients_only = 2;
  CHECK_STATUS(FIT(x, y, NULL, 4, &options, NULL), TSANOM_E_OPTION);
#undef FIT
  cr_assert(same_model(&model, &untouched));
}

Test(polyfit_contract, bad_evaluations_are_rejected) {
  double x[] = {1, 2, 3}, y[] = {1, 3, 2}, nonfinite[] = {NAN}, out[3] = {7, 7, 7};
  double far[] = {1e300};
  tsanom_polyfit_model model = new_model();
  options = options_of(2, TSANOM_POLYFIT_FIXED, 1);
  tsanom_polyfit_fit(x, y, NULL, 3, &options, NULL, &model);
  CHECK_STATUS(tsanom_polyfit_evaluate(&model, nonfinite, 1, NULL, out, NULL),
               TSANOM_E_NONFINITE);
  CHECK_STATUS(tsanom_polyfit_evaluate(&model, far, 1, NULL, out, NULL), TSANOM_E_VALUE);
  tsanom_polyfit_model damaged = model;
  damaged.degree = 64;
  CHECK_STATUS(tsanom_polyfit_evaluate(&damaged, x, 3, NULL, out, NULL), TSANOM_E_FORMAT);
  damaged = model;
  damaged.high[1] = NAN;
  CHECK_STATUS(tsanom_polyfit_evaluate(&damaged, x, 3, NULL, out, NULL), TSANOM_E_FORMAT);
  cr_assert(out[0] == 7 && out[2] == 7);
  tsanom_polyfit_model empty = new_model();
  CHECK_STATUS(tsanom_polyfit_evaluate(&empty, x, 3, NULL, out, NULL), TSANOM_OK);
  cr_assert(out[0] == 0 && out[2] == 0);
}

Test(polyfit_contract, the_poll_stops_the_run_wherever_it_is) {
  uint64_t seed = 3;
  fill_dataset(&set, MOST_SAMPLES, &seed);
  for (int crowded = 0; crowded < 2; crowded++) {
    for (size_t i = 0; crowded && i + 9 < set.n; i++) set.x[i] *= 1e-5;
    options = options_of(8, TSANOM_POLYFIT_BIC, 1);
    tsanom_status status = TSANOM_STOPPED;
    uint64_t stop_at = 1;
    for (; status == TSANOM_STOPPED; stop_at++) {
      test_polls p = {.stop_at = stop_at};
      tsanom_exec exec = exec_polled(test_poll, &p);
      tsanom_polyfit_model model = new_model(), untouched = new_model();
      status = tsanom_polyfit_fit(set.x, set.y, NULL, set.n, &options, &exec, &model);
      cr_assert(status != TSANOM_STOPPED || same_model(&model, &untouched));
    }
    cr_assert(status == TSANOM_OK || status == TSANOM_RANK_DEFICIENT);
    cr_assert(stop_at > 5);
  }
}
