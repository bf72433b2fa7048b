/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of the analyzer: rejections, capacity, options and memory. */
#include <math.h>
#include <tsanom/speedup.h>

#include "analyzer.h"
#include "support/faults.h"
#include "support/workspace.h"

Test(speedup_contract, bad_events_are_rejected_and_change_nothing) {
  tsanom_speedup *analyzer = new_analyzer(NULL, 0);
  double now = 0;
  for (int i = 0; i < 20; i++) now = run_region(analyzer, now, 5, 0, 1, 1);
  tsanom_speedup_loop before = only_loop(analyzer);
  const tsanom_speedup_event good = {
      .region = 5, .begin = now, .end = now + 1, .threads = 1};
  tsanom_speedup_event bad = good;
  bad.begin = NAN;
  CHECK_STATUS(tsanom_speedup_push(analyzer, &bad), TSANOM_E_NONFINITE);
  bad = good;
  bad.end = INFINITY;
  CHECK_STATUS(tsanom_speedup_push(analyzer, &bad), TSANOM_E_NONFINITE);
  bad = good;
  bad.end = now - 1;
  CHECK_STATUS(tsanom_speedup_push(analyzer, &bad), TSANOM_E_ORDER);
  bad = good;
  bad.begin = now - 0.5;
  CHECK_STATUS(tsanom_speedup_push(analyzer, &bad), TSANOM_E_ORDER);
  bad = good;
  bad.threads = 0;
  CHECK_STATUS(tsanom_speedup_push(analyzer, &bad), TSANOM_E_VALUE);
  bad = good;
  bad.reserved0 = 1;
  CHECK_STATUS(tsanom_speedup_push(analyzer, &bad), TSANOM_E_OPTION);
  tsanom_speedup_loop after = only_loop(analyzer);
  cr_assert(before.iterations == after.iterations && before.last == after.last);
  CHECK_STATUS(tsanom_speedup_finish(analyzer), TSANOM_OK);
  CHECK_STATUS(tsanom_speedup_push(analyzer, &good), TSANOM_E_STATE);
  size_t count = 77;
  cr_assert(count == 77);
  CHECK_STATUS(tsanom_speedup_loops(analyzer, NULL, 0, &count), TSANOM_PARTIAL);
  cr_assert(count == 1);
  tsanom_speedup_destroy(analyzer);
}

Test(speedup_contract, loops_beyond_the_capacity_are_reported) {
  tsanom_speedup_options options;
  tsanom_speedup *analyzer = NULL;
  tsanom_speedup_options_init(&options, sizeof options);
  options.capacity = 1;
  CHECK_STATUS(tsanom_speedup_create(&options, NULL, &analyzer), TSANOM_OK);
  double now = 0;
  for (int i = 0; i < 60; i++) {
    now = run_region(analyzer, now, i < 30 ? 1 : 2, 0, 1, 1);
  }
  tsanom_speedup_loop loops[2];
  size_t count = 0;
  CHECK_STATUS(tsanom_speedup_loops(analyzer, loops, 2, &count), TSANOM_PARTIAL);
  cr_assert(count == 1 && loops[0].start == 1 && loops[0].iterations == 30);
  tsanom_speedup_destroy(analyzer);
}

static tsanom_status create(const tsanom_exec *exec, bool inputs, void **object) {
  tsanom_speedup *made = NULL;
  (void)inputs;
  tsanom_status status = tsanom_speedup_create(NULL, exec, object ? &made : NULL);
  if (status >= 0) *object = made;
  return status;
}

static void destroy(void *object) {
  tsanom_speedup_destroy(object);
}

Test(speedup_contract, an_analyzer_is_one_block) {
  check_object(create, destroy);
  test_allocator counter = {.fail_at = 0};
  tsanom_exec exec = test_exec(&counter);
  tsanom_speedup *analyzer = NULL;
  CHECK_STATUS(tsanom_speedup_create(NULL, &exec, &analyzer), TSANOM_OK);
  double now = 0;
  for (int i = 0; i < 2000; i++) now = run_region(analyzer, now, 5, 0, 1, 1);
  cr_assert(counter.calls == 1);
  tsanom_speedup_destroy(analyzer);
  tsanom_speedup_destroy(NULL);
}

Test(speedup_contract, options_are_checked) {
  tsanom_speedup_options options[4];
  for (int i = 0; i < 4; i++) tsanom_speedup_options_init(&options[i], sizeof *options);
  options[0].max_period = TSANOM_SPEEDUP_PERIOD_MAX + 1;
  options[1].capacity = 0;
  options[2].baseline = -1;
  options[3].reserved0 = 1;
  static const char *const text[] = {
      "options.max_period is 4194305; 1 to 4194304 is expected",
      "options.capacity is 0; 1 to 4096 is expected",
      "options.baseline is -1; at least 0 is expected",
      "options.reserved0 is 1; 0 is expected"};
  tsanom_fault fault;
  tsanom_exec exec = exec_reporting(&fault);
  for (int i = 0; i < 4; i++) {
    tsanom_speedup *analyzer = NULL;
    CHECK_STATUS(tsanom_speedup_create(&options[i], &exec, &analyzer), TSANOM_E_OPTION);
    cr_assert_str_eq(fault.text, text[i]);
    cr_assert(!analyzer);
  }
}
