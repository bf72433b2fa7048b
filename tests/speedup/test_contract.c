/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of the analyzer: rejections, capacity, options and memory. */
#include <math.h>
#include <stdlib.h>
#include <tsanom/speedup.h>

#include "analyzer.h"
#include "support/allocator.h"
#include "support/check.h"

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
  CHECK_STATUS(tsanom_speedup_push(NULL, &good), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_speedup_push(analyzer, NULL), TSANOM_E_NULL);
  tsanom_speedup_loop after = only_loop(analyzer);
  cr_assert(before.iterations == after.iterations && before.last == after.last);
  CHECK_STATUS(tsanom_speedup_finish(analyzer), TSANOM_OK);
  CHECK_STATUS(tsanom_speedup_push(analyzer, &good), TSANOM_E_STATE);
  CHECK_STATUS(tsanom_speedup_finish(NULL), TSANOM_E_NULL);
  size_t count = 77;
  CHECK_STATUS(tsanom_speedup_loops(analyzer, NULL, 1, &count), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_speedup_loops(analyzer, NULL, 0, NULL), TSANOM_E_NULL);
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

Test(speedup_contract, options_and_memory) {
  tsanom_speedup_options options;
  size_t bytes = 1;
  CHECK_STATUS(tsanom_speedup_options_init(NULL, sizeof options), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_speedup_options_init(&options, 4), TSANOM_E_VERSION);
  const size_t bad_periods[] = {0, TSANOM_SPEEDUP_PERIOD_MAX + 1, SIZE_MAX};
  for (size_t i = 0; i < 3; i++) {
    tsanom_speedup_options_init(&options, sizeof options);
    options.max_period = bad_periods[i];
    CHECK_STATUS(tsanom_speedup_size(&options, &bytes), TSANOM_E_OPTION);
    tsanom_speedup_options_init(&options, sizeof options);
    options.capacity = bad_periods[i];
    CHECK_STATUS(tsanom_speedup_size(&options, &bytes), TSANOM_E_OPTION);
  }
  tsanom_speedup_options_init(&options, sizeof options);
  options.baseline = -1;
  CHECK_STATUS(tsanom_speedup_size(&options, &bytes), TSANOM_E_OPTION);
  cr_assert(bytes == 1);
  CHECK_STATUS(tsanom_speedup_size(NULL, NULL), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_speedup_size(NULL, &bytes), TSANOM_OK);

  unsigned char *block = malloc(bytes + 1);
  tsanom_speedup *analyzer = NULL;
  CHECK_STATUS(tsanom_speedup_init(block, bytes - 1, NULL, NULL, &analyzer),
               TSANOM_E_WORKSPACE);
  CHECK_STATUS(tsanom_speedup_init(NULL, bytes, NULL, NULL, &analyzer), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_speedup_init(block, bytes, NULL, NULL, NULL), TSANOM_E_NULL);
  cr_assert(!analyzer);
  CHECK_STATUS(tsanom_speedup_init(block + 1, bytes, NULL, NULL, &analyzer), TSANOM_OK);
  double now = 0;
  for (int i = 0; i < 20; i++) now = run_region(analyzer, now, 5, 0, 1, 1);
  cr_assert(only_loop(analyzer).period == 1);
  tsanom_speedup_destroy(analyzer); /* does nothing: the block is the caller's */
  free(block);

  test_allocator counter = {.fail_at = 1};
  tsanom_exec exec = test_exec(&counter);
  analyzer = NULL;
  CHECK_STATUS(tsanom_speedup_create(NULL, &exec, &analyzer), TSANOM_E_MEMORY);
  cr_assert(!analyzer);
  counter = (test_allocator){.fail_at = 0};
  CHECK_STATUS(tsanom_speedup_create(NULL, &exec, NULL), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_speedup_create(NULL, &exec, &analyzer), TSANOM_OK);
  cr_assert(counter.calls == 1 && counter.live == 1);
  now = 0;
  for (int i = 0; i < 2000; i++) now = run_region(analyzer, now, 5, 0, 1, 1);
  cr_assert(counter.calls == 1);
  tsanom_speedup_destroy(analyzer);
  cr_assert(counter.live == 0);
  tsanom_speedup_destroy(NULL);
}
