/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of tsanom_hsa_learn() and tsanom_hsa_diagnose(): rejections, workspaces,
 * cancellation, structs of other sizes. */
#include <fenv.h>
#include <math.h>
#include <string.h>
#include <tsanom/hsa.h>

#include "hsa/synthetic.h"
#include "learned.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/faults.h"
#include "support/polls.h"
#include "support/workspace.h"

Test(hsa_learn_contract, bad_input_is_rejected_with_its_place_and_leaves_the_outputs) {
  uint64_t seed = 38;
  synthetic_kind kind = synthetic_steady();
  tsanom_hsa_run runs[3];
  make_runs(runs, 3, &kind, &seed);
  double bad[1000];
  tsanom_hsa_series threads[2] = {runs[2].threads[0], {.time = bad, .beats = 1000}};
  tsanom_hsa_run spoiled[3] = {
      runs[0], runs[1], {.threads = threads, .thread_count = 2, .start = runs[2].start}};
  tsanom_hsa_model *model = NULL;
  test_report report;
  test_report_init(&report);
  const size_t none = TSANOM_NONE;
#define REJECT(count, ...)   \
  REJECTED_AT(&report.fault, \
              tsanom_hsa_learn(spoiled, count, NULL, &report.exec, &model), __VA_ARGS__)
  memcpy(bad, runs[2].threads[1].time, sizeof bad);
  bad[999] = bad[998] = NAN;
  REJECT(3, TSANOM_E_NONFINITE, "runs[2].threads.time", 1, 998);
  bad[999] = bad[997];
  bad[998] = nextafter(bad[997], INFINITY);
  REJECT(3, TSANOM_E_ORDER, "runs[2].threads.time", 1, 999);
  for (int i = 0; i < 12; i++) bad[988 + i] = bad[988];
  REJECT(3, TSANOM_E_VALUE, "runs[2].threads.time", 1, 998);
  threads[1].reserved[3] = 1;
  REJECT(3, TSANOM_E_VERSION, "runs[2].threads.reserved", 1, none);
  threads[1].reserved[3] = 0;
  spoiled[2].start = bad[0] + 1;
  spoiled[1].start = spoiled[1].threads[0].time[999];
  REJECT(3, TSANOM_E_ORDER, "runs[1].threads.time", 0, 0);
  spoiled[2].start = INFINITY;
  REJECT(3, TSANOM_E_NONFINITE, "runs.start", 2, none);
  spoiled[2].reserved[0] = 1;
  REJECT(3, TSANOM_E_VERSION, "runs.reserved", 2, none);
  spoiled[2].reserved[0] = 0;
  spoiled[2].thread_count = 0;
  REJECT(3, TSANOM_E_COUNT, "runs.thread_count", 2, none);
  spoiled[2].thread_count = SIZE_MAX / 32;
  REJECT(3, TSANOM_E_OVERFLOW, "runs.thread_count", 2, none);
  REJECT(SIZE_MAX, TSANOM_E_OVERFLOW, "run_count", none, none);
  spoiled[2] = (tsanom_hsa_run){.threads = NULL, .thread_count = 2, .start = 0};
  REJECT(3, TSANOM_E_NULL, "runs.threads", 2, none);
  tsanom_hsa_series hollow[1] = {{.time = NULL, .beats = 10}};
  spoiled[1] = runs[1];
  spoiled[2] = (tsanom_hsa_run){.threads = hollow, .thread_count = 1, .start = 0};
  REJECT(3, TSANOM_E_NULL, "runs[2].threads.time", 0, none);
  hollow[0] = (tsanom_hsa_series){.time = NULL, .beats = 0};
  spoiled[0] = spoiled[2];
  REJECT(1, TSANOM_E_COUNT, "runs", none, none);
  cr_assert(model == NULL);
  free_runs(runs, 3);
}

Test(hsa_learn_contract, bad_runs_are_rejected_by_diagnosis) {
  uint64_t seed = 41;
  synthetic_kind kind = synthetic_steady();
  tsanom_hsa_run runs[3];
  make_runs(runs, 3, &kind, &seed);
  tsanom_hsa_model *model = learn(runs, 3, NULL, TSANOM_OK);
  double bad[1000];
  memcpy(bad, runs[2].threads[1].time, sizeof bad);
  bad[999] = NAN;
  tsanom_hsa_series threads[2] = {runs[2].threads[0], {.time = bad, .beats = 1000}};
  tsanom_hsa_run run = {.threads = threads, .thread_count = 2, .start = runs[2].start};
  test_report report;
  test_report_init(&report);
  const size_t none = TSANOM_NONE;
  size_t done = 77;
  tsanom_hsa_verdict v[2];
  *v = (tsanom_hsa_verdict){.struct_size = sizeof *v};
  v[0].status = v[1].status = 77;
#define REJECT_RUN(run, count, ...)                                           \
  REJECTED_AT(&report.fault,                                                  \
              tsanom_hsa_diagnose(model, run, &report.exec, v, count, &done), \
              __VA_ARGS__)
  REJECT_RUN(&run, 2, TSANOM_E_NONFINITE, "run.threads.time", 1, 999);
  REJECT_RUN(&run, 3, TSANOM_E_COUNT, "verdict_count", none, none);
  run.start = NAN;
  REJECT_RUN(&run, 2, TSANOM_E_NONFINITE, "run.start", none, none);
  run.thread_count = 0;
  REJECT_RUN(&run, 2, TSANOM_E_COUNT, "run.thread_count", none, none);
  v[0].struct_size = sizeof *v - 1;
  REJECT_RUN(runs, 2, TSANOM_E_VERSION, "verdicts.struct_size", none, none);
  v[0].struct_size = sizeof *v + 1;
  REJECT_RUN(runs, 2, TSANOM_E_VERSION, "verdicts.struct_size", none, none);
  cr_assert(v[0].status == 77 && v[1].status == 77 && done == 77);
  free_runs(runs, 3);
  tsanom_hsa_model_destroy(model);
}

/* A caller built against a later header has larger verdicts. */
Test(hsa_learn_contract, verdicts_follow_at_the_distance_of_the_callers_struct) {
  uint64_t seed = 42;
  synthetic_kind kind = synthetic_steady();
  tsanom_hsa_run runs[3];
  make_runs(runs, 3, &kind, &seed);
  tsanom_hsa_model *model = learn(runs, 3, NULL, TSANOM_OK);
  struct {
    tsanom_hsa_verdict known;
    uint64_t later[3];
  } large[2];
  memset(large, 0xA5, sizeof large);
  tsanom_hsa_verdict small[2];
  large[0].known = (tsanom_hsa_verdict){.struct_size = sizeof *large};
  size_t done = 0;
  CHECK_STATUS(tsanom_hsa_diagnose(model, &runs[1], NULL, &large[0].known, 2, &done),
               TSANOM_OK);
  CHECK_STATUS(diagnose(model, &runs[1], small, 2), TSANOM_OK);
  cr_assert(done == 2);
  for (int t = 0; t < 2; t++) {
    cr_assert(large[t].known.struct_size == sizeof *large && large[t].later[2] == 0);
    cr_assert(small[t].struct_size == sizeof *small);
    large[t].known.struct_size = sizeof *small;
    /* NOLINTNEXTLINE: bits are compared */
    cr_assert(memcmp(&large[t].known, &small[t], sizeof *small) == 0);
    large[t].known.struct_size = sizeof *large;
  }
  free_runs(runs, 3);
  tsanom_hsa_model_destroy(model);
}

static void check_same(const tsanom_hsa_model *a, const tsanom_hsa_model *b) {
  for (size_t t = 0; t < 2; t++) {
    check_same_reference(*reference_of(a, t), *reference_of(b, t));
  }
}

enum { NORMAL = 5 };

typedef struct {
  tsanom_hsa_run run[NORMAL + 1];
  tsanom_hsa_model *model; /* of the first ones */
} learning;

static learning begin(uint64_t seed) {
  synthetic_kind kind = synthetic_steady();
  learning l;
  make_runs(l.run, NORMAL + 1, &kind, &seed);
  l.model = learn(l.run, NORMAL, NULL, TSANOM_OK);
  return l;
}

static void end(learning *l) {
  free_runs(l->run, NORMAL + 1);
  tsanom_hsa_model_destroy(l->model);
}

Test(hsa_learn_contract, levels_and_threads_do_not_change_a_model) {
  learning l = begin(39);
  tsanom_exec exec = exec_at(TSANOM_ISA_AUTO, 1);
  FOR_EACH_ISA (isa) {
    for (int32_t threads = 0; threads < 4; threads++) {
      tsanom_hsa_model *model = NULL;
      exec.isa = isa;
      exec.threads = threads;
      CHECK_STATUS(tsanom_hsa_learn(l.run, NORMAL, NULL, &exec, &model), TSANOM_OK);
      check_same(l.model, model);
      tsanom_hsa_model_destroy(model);
    }
  }
  end(&l);
}

static learning given;

static tsanom_status learn_runs(const tsanom_exec *exec, bool inputs, void **object) {
  tsanom_hsa_run run[NORMAL];
  tsanom_hsa_series series[NORMAL][2];
  memcpy(run, given.run, sizeof run);
  for (int i = 0; i < NORMAL && !inputs; i++) {
    for (int t = 0; t < 2; t++) {
      series[i][t] = (tsanom_hsa_series){.beats = run[i].threads[t].beats};
    }
    run[i].threads = series[i];
  }
  return tsanom_hsa_learn(run, NORMAL, NULL, exec, (tsanom_hsa_model **)object);
}

static void destroy_model(void *object) {
  tsanom_hsa_model_destroy(object);
}

static tsanom_status diagnose_run(const tsanom_exec *exec, void *result) {
  tsanom_hsa_verdict v[2] = {{.struct_size = sizeof *v}};
  tsanom_status status = tsanom_hsa_diagnose(given.model, &given.run[NORMAL], exec,
                                             result ? v : NULL, 2, NULL);
  if (status >= 0) memcpy(result, v, sizeof v);
  return status;
}

Test(hsa_learn_contract, memory_is_the_callers_or_one_block) {
  given = begin(43);
  const workspace_case c = {"diagnose", diagnose_run, 2 * sizeof(tsanom_hsa_verdict)};
  check_workspaces(&c, 1);
  check_object(learn_runs, destroy_model);
  end(&given);
}

/* Flushing subnormal numbers to zero, or another rounding mode, belongs to the caller. */
Test(hsa_learn_contract, the_callers_floating_point_environment_does_not_matter) {
  uint64_t seed = 44;
  synthetic_kind kind = synthetic_steady();
  tsanom_hsa_run runs[4];
  make_runs(runs, 4, &kind, &seed);
  tsanom_hsa_model *model = learn(runs, 4, NULL, TSANOM_OK);
  fesetround(FE_UPWARD);
  tsanom_hsa_model *other = learn(runs, 4, NULL, TSANOM_OK);
  cr_assert(fegetround() == FE_UPWARD);
  fesetround(FE_TONEAREST);
  check_same(model, other);
  free_runs(runs, 4);
  tsanom_hsa_model_destroy(model);
  tsanom_hsa_model_destroy(other);
}

Test(hsa_learn_contract, the_poll_stops_learning_and_diagnosis) {
  uint64_t seed = 40;
  synthetic_kind kind = synthetic_steady();
  tsanom_hsa_run runs[3];
  make_runs(runs, 3, &kind, &seed);
  tsanom_hsa_model *model = NULL;
  test_allocator allocator = {0};
  tsanom_exec exec = test_exec(&allocator);
  test_polls p;
  exec.poll = test_poll;
  exec.poll_user = &p;
  for (uint64_t stop_at = 1; stop_at <= 6; stop_at++) {
    p = (test_polls){.stop_at = stop_at};
    CHECK_STATUS(tsanom_hsa_learn(runs, 3, NULL, &exec, &model), TSANOM_STOPPED);
    cr_assert(model == NULL && allocator.live == 0);
  }
  p = (test_polls){.stop_at = 7};
  CHECK_STATUS(tsanom_hsa_learn(runs, 3, NULL, &exec, &model), TSANOM_OK);
  tsanom_hsa_verdict v[2] = {{.status = 77}, {.status = 77}};
  size_t done = 77;
  *v = (tsanom_hsa_verdict){.struct_size = sizeof *v};
  p = (test_polls){.stop_at = 2};
  CHECK_STATUS(tsanom_hsa_diagnose(model, &runs[0], &exec, v, 2, &done), TSANOM_STOPPED);
  cr_assert(v[0].status == TSANOM_HSA_NORMAL && v[1].status == 77 && done == 1);
  free_runs(runs, 3);
  tsanom_hsa_model_destroy(model);
}
