/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments, memory and polling. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/polyfit.h>

#include "reference.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/random.h"

Test(polyfit_contract, a_workspace_of_the_queried_size_means_no_allocation) {
  static dataset set;
  uint64_t seed = 1;
  for (int trial = 0; trial < CASES(200); trial++) {
    fill_dataset(&set, random_between(&seed, 15, trial % 8 ? 100 : MOST_SAMPLES), &seed);
    for (size_t i = 0; trial % 3 == 0 && i + 9 < set.n; i++) set.x[i] *= 1e-5; /* QR */
    tsanom_polyfit_options options =
        options_of((int32_t)random_between(&seed, 0, 12),
                   (int32_t)random_between(&seed, 0, 3), trial % 2);
    test_allocator allocator = {0};
    tsanom_exec exec = test_exec(&allocator);
    exec.threads = 1 + trial % 3;
    size_t bytes = 0;
    CHECK_STATUS(tsanom_polyfit_fit_workspace(set.n, &options, &exec, &bytes), TSANOM_OK);
    unsigned char *block = malloc(bytes + 1);
    tsanom_polyfit_model model = new_model(), untouched = new_model();
    exec.work = block;
    exec.work_bytes = bytes - 1;
    CHECK_STATUS(tsanom_polyfit_fit(set.x, set.y, NULL, set.n, &options, &exec, &model),
                 TSANOM_E_WORKSPACE);
    cr_assert(same_model(&model, &untouched));
    memset(block, 0xA5, bytes + 1);
    exec.work = block + trial % 2;
    exec.work_bytes = bytes;
    tsanom_status status =
        tsanom_polyfit_fit(set.x, set.y, NULL, set.n, &options, &exec, &model);
    cr_assert(status >= 0);
    cr_assert(trial % 2 || block[bytes] == 0xA5);
    cr_assert(allocator.calls == 0);
    free(block);
  }
}

Test(polyfit_contract, the_workspace_grows_with_every_argument) {
  uint64_t seed = 2;
  for (int trial = 0; trial < CASES(2000); trial++) {
    size_t n = random_between(&seed, 1, 1 << (trial % 20 + 1)), bytes, more;
    int32_t degree = (int32_t)random_between(&seed, 0, 62);
    tsanom_polyfit_options options = options_of(degree, TSANOM_POLYFIT_FIXED, 1);
    tsanom_exec exec;
    tsanom_exec_init(&exec, sizeof exec);
    CHECK_STATUS(tsanom_polyfit_fit_workspace(n, &options, &exec, &bytes), TSANOM_OK);
    CHECK_STATUS(tsanom_polyfit_fit_workspace(n + 1, &options, &exec, &more), TSANOM_OK);
    cr_assert(more >= bytes);
    exec.threads = 2;
    CHECK_STATUS(tsanom_polyfit_fit_workspace(n, &options, &exec, &more), TSANOM_OK);
    cr_assert(more >= bytes);
    options.degree++;
    CHECK_STATUS(tsanom_polyfit_fit_workspace(n, &options, &exec, &bytes), TSANOM_OK);
    cr_assert(bytes >= more);
  }
  size_t bytes;
  CHECK_STATUS(tsanom_polyfit_fit_workspace(PTRDIFF_MAX / 8, NULL, NULL, &bytes),
               TSANOM_OK);
  cr_assert(bytes < 10 << 20, "the workspace is bounded");
}

Test(polyfit_contract, a_failing_allocator_is_reported_and_nothing_leaks) {
  double x[] = {1, 2, 3}, y[] = {1, 3, 2};
  test_allocator allocator = {.fail_at = 1};
  tsanom_exec exec = test_exec(&allocator);
  tsanom_polyfit_model model = new_model(), untouched = new_model();
  CHECK_STATUS(tsanom_polyfit_fit(x, y, NULL, 3, NULL, &exec, &model), TSANOM_E_MEMORY);
  cr_assert(same_model(&model, &untouched));
  tsanom_polyfit_stream *stream = NULL;
  allocator.fail_at = 2;
  CHECK_STATUS(tsanom_polyfit_stream_create(NULL, &exec, &stream), TSANOM_E_MEMORY);
  cr_assert_null(stream);
  allocator.fail_at = 0;
  CHECK_STATUS(tsanom_polyfit_fit(x, y, NULL, 3, NULL, &exec, &model), TSANOM_OK);
  CHECK_STATUS(tsanom_polyfit_stream_create(NULL, &exec, &stream), TSANOM_OK);
  tsanom_polyfit_stream_destroy(stream);
  tsanom_polyfit_stream_destroy(NULL);
  cr_assert(allocator.live == 0);
}

Test(polyfit_contract, bad_arguments_are_rejected_and_leave_the_model) {
  double x[] = {1, 2, 3, 4}, y[] = {1, 3, 2, 5}, nonfinite[] = {1, NAN, 2, 3};
  double endless[] = {1, 2, 3, -INFINITY}, weights[] = {1, 1, 0, 1};
  tsanom_polyfit_model model = new_model(), untouched = new_model();
  tsanom_polyfit_options options = options_of(1, TSANOM_POLYFIT_FIXED, 1);
#define FIT(x, y, w, n, o, e) tsanom_polyfit_fit(x, y, w, n, o, e, &model)
  CHECK_STATUS(FIT(NULL, y, NULL, 4, NULL, NULL), TSANOM_E_NULL);
  CHECK_STATUS(FIT(x, NULL, NULL, 4, NULL, NULL), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_polyfit_fit(x, y, NULL, 4, NULL, NULL, NULL), TSANOM_E_NULL);
  CHECK_STATUS(FIT(x, y, NULL, 0, NULL, NULL), TSANOM_E_COUNT);
  CHECK_STATUS(FIT(x, y, NULL, 1, NULL, NULL), TSANOM_E_COUNT);
  CHECK_STATUS(FIT(nonfinite, y, NULL, 4, NULL, NULL), TSANOM_E_NONFINITE);
  CHECK_STATUS(FIT(x, nonfinite, NULL, 4, NULL, NULL), TSANOM_E_NONFINITE);
  CHECK_STATUS(FIT(x, y, nonfinite, 4, NULL, NULL), TSANOM_E_NONFINITE);
  CHECK_STATUS(FIT(endless, y, NULL, 4, NULL, NULL), TSANOM_E_NONFINITE);
  CHECK_STATUS(FIT(x, endless, NULL, 4, NULL, NULL), TSANOM_E_NONFINITE);
  CHECK_STATUS(FIT(x, y, weights, 4, NULL, NULL), TSANOM_E_VALUE);
  weights[2] = -1;
  CHECK_STATUS(FIT(x, y, weights, 4, NULL, NULL), TSANOM_E_VALUE);
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
  options.struct_size = 8;
  CHECK_STATUS(FIT(x, y, NULL, 4, &options, NULL), TSANOM_E_VERSION);
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  exec.isa = 99;
  CHECK_STATUS(FIT(x, y, NULL, 4, NULL, &exec), TSANOM_E_EXEC);
#undef FIT
  cr_assert(same_model(&model, &untouched));
  model.struct_size = 16;
  CHECK_STATUS(tsanom_polyfit_fit(x, y, NULL, 4, NULL, NULL, &model), TSANOM_E_VERSION);
  CHECK_STATUS(tsanom_polyfit_fit_workspace(4, NULL, NULL, NULL), TSANOM_E_NULL);
}

Test(polyfit_contract, bad_evaluations_are_rejected) {
  double x[] = {1, 2, 3}, y[] = {1, 3, 2}, nonfinite[] = {NAN}, out[3] = {7, 7, 7};
  double far[] = {1e300};
  tsanom_polyfit_model model = new_model();
  tsanom_polyfit_options options = options_of(2, TSANOM_POLYFIT_FIXED, 1);
  tsanom_polyfit_fit(x, y, NULL, 3, &options, NULL, &model);
  CHECK_STATUS(tsanom_polyfit_evaluate(NULL, x, 3, NULL, out, NULL), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_polyfit_evaluate(&model, NULL, 3, NULL, out, NULL), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_polyfit_evaluate(&model, x, 3, NULL, NULL, NULL), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_polyfit_evaluate(&model, x, 0, NULL, out, NULL), TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_polyfit_evaluate(&model, nonfinite, 1, NULL, out, NULL),
               TSANOM_E_NONFINITE);
  CHECK_STATUS(tsanom_polyfit_evaluate(&model, far, 1, NULL, out, NULL), TSANOM_E_VALUE);
  tsanom_polyfit_model damaged = model;
  damaged.degree = 64;
  CHECK_STATUS(tsanom_polyfit_evaluate(&damaged, x, 3, NULL, out, NULL), TSANOM_E_FORMAT);
  damaged = model;
  damaged.high[1] = NAN;
  CHECK_STATUS(tsanom_polyfit_evaluate(&damaged, x, 3, NULL, out, NULL), TSANOM_E_FORMAT);
  damaged.struct_size = 8;
  CHECK_STATUS(tsanom_polyfit_evaluate(&damaged, x, 3, NULL, out, NULL),
               TSANOM_E_VERSION);
  cr_assert(out[0] == 7 && out[2] == 7);
  tsanom_polyfit_model empty = new_model();
  CHECK_STATUS(tsanom_polyfit_evaluate(&empty, x, 3, NULL, out, NULL), TSANOM_OK);
  cr_assert(out[0] == 0 && out[2] == 0);
}

typedef struct {
  int left; /* calls until the poll asks to stop */
  uint64_t last;
} poll_state;

static int32_t count_down(void *user, uint64_t done, uint64_t total) {
  poll_state *state = user;
  cr_assert(done <= total && done >= state->last);
  state->last = done;
  return state->left-- == 0;
}

Test(polyfit_contract, the_poll_stops_the_run_wherever_it_is) {
  static dataset set;
  uint64_t seed = 3;
  fill_dataset(&set, MOST_SAMPLES, &seed);
  for (int crowded = 0; crowded < 2; crowded++) {
    for (size_t i = 0; crowded && i + 9 < set.n; i++) set.x[i] *= 1e-5;
    tsanom_polyfit_options options = options_of(8, TSANOM_POLYFIT_BIC, 1);
    tsanom_status status = TSANOM_STOPPED;
    int calls = 0;
    for (; status == TSANOM_STOPPED; calls++) {
      poll_state state = {.left = calls};
      tsanom_exec exec;
      tsanom_exec_init(&exec, sizeof exec);
      exec.poll = count_down;
      exec.poll_user = &state;
      tsanom_polyfit_model model = new_model(), untouched = new_model();
      status = tsanom_polyfit_fit(set.x, set.y, NULL, set.n, &options, &exec, &model);
      cr_assert(status != TSANOM_STOPPED || same_model(&model, &untouched));
    }
    cr_assert(status == TSANOM_OK || status == TSANOM_RANK_DEFICIENT);
    cr_assert(calls > 4);
  }
}
