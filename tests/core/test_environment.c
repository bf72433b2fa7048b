/* SPDX-License-Identifier: BSD-3-Clause */
/* The floating-point environment of computations. */
#include <fenv.h>

#include "core/arena.h"
#include "core/environment.h"
#include "core/exec.h"
#include "core/parallel.h"
#include "support/check.h"

static volatile double tiny = 1e-160;

/* 1 if this thread rounds to nearest and keeps subnormal numbers. */
static int is_default(void) {
  double sum = 1 + tiny, product = tiny * tiny;
  long double long_sum = 1 + (long double)tiny;
  return sum == 1 && product != 0 && long_sum == 1 && fegetround() == FE_TONEAREST;
}

static void layout_nothing(tsn_arena *arena, void *context) {
  (void)context;
  (void)tsn_arena_take(arena, 1, 1);
}

static tsanom_status note_environment(void *context) {
  *(int *)context = is_default();
  return TSANOM_OK;
}

static void set_unusual(void) {
  fesetround(FE_UPWARD);
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040u); /* FTZ and DAZ */
#endif
}

Test(environment, a_body_runs_in_the_default_and_the_callers_is_restored) {
  tsanom_exec exec;
  CHECK_STATUS(tsn_exec_read(&exec, NULL), TSANOM_OK);
  set_unusual();
  int inside = -1;
  tsanom_status status =
      tsn_workspace_run(&exec, layout_nothing, NULL, note_environment, &inside);
  int round_after = fegetround();
  double product = tiny * tiny;
  fesetenv(FE_DFL_ENV);
  CHECK_STATUS(status, TSANOM_OK);
  cr_assert(inside == 1);
  cr_assert(round_after == FE_UPWARD);
#if defined(__x86_64__)
  cr_assert(product == 0);
#endif
  (void)product;
}

static void count_defaults(void *context, int thread, int threads) {
  (void)threads;
  ((int *)context)[thread] = is_default();
}

Test(environment, threads_of_a_team_compute_in_the_default) {
  int found[2] = {-1, -1};
#pragma omp parallel num_threads(2)
  set_unusual();
  tsn_team_run(2, count_defaults, found);
  fesetenv(FE_DFL_ENV);
  cr_assert(found[0] == 1 && (found[1] == 1 || found[1] == -1));
}
