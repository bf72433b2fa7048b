/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice between regions and worksharing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/speedup.h>

#include "support/allocator.h"
#include "support/check.h"

enum { MOST = 4000 };

typedef struct {
  tsanom_speedup_event event[MOST];
  size_t count;
} stream;

/* Appends `count` events of one second, cycling through `period` regions. */
static void append(stream *s, uint64_t first_region, size_t period, size_t count) {
  for (size_t i = 0; i < count; i++) {
    double begin = s->count ? s->event[s->count - 1].end : 0;
    s->event[s->count++] = (tsanom_speedup_event){.region = first_region + i % period,
                                                  .begin = begin,
                                                  .end = begin + 1,
                                                  .threads = 2};
  }
}

static int32_t choose(const stream *regions, const stream *worksharing,
                      const tsanom_speedup_options *options, const tsanom_exec *exec) {
  int32_t level = -1;
  CHECK_STATUS(
      tsanom_speedup_choose_level(regions->event, regions->count, worksharing->event,
                                  worksharing->count, options, exec, &level),
      TSANOM_OK);
  return level;
}

Test(speedup_level, the_stream_with_the_longer_loop_is_chosen) {
  static stream none, regions, worksharing;
  cr_assert(choose(&none, &none, NULL, NULL) == TSANOM_SPEEDUP_REGIONS);
  append(&regions, 0, 3, 300);
  append(&worksharing, 10, 5, 500);
  cr_assert(choose(&regions, &none, NULL, NULL) == TSANOM_SPEEDUP_REGIONS);
  cr_assert(choose(&none, &worksharing, NULL, NULL) == TSANOM_SPEEDUP_WORKSHARING);
  /* 500 s are less than twice 300 s. */
  cr_assert(choose(&regions, &worksharing, NULL, NULL) == TSANOM_SPEEDUP_REGIONS);
  append(&worksharing, 10, 5, 500);
  cr_assert(choose(&regions, &worksharing, NULL, NULL) == TSANOM_SPEEDUP_WORKSHARING);
}

Test(speedup_level, max_period_of_the_options_is_used) {
  static stream regions, worksharing;
  append(&regions, 0, 100, 1000);
  append(&worksharing, 200, 5, 300);
  tsanom_speedup_options options;
  tsanom_speedup_options_init(&options, sizeof options);
  options.max_period = 50;
  cr_assert(choose(&regions, &worksharing, &options, NULL) == TSANOM_SPEEDUP_WORKSHARING);
  options.max_period = 100;
  cr_assert(choose(&regions, &worksharing, &options, NULL) == TSANOM_SPEEDUP_REGIONS);
}

Test(speedup_level, workspace_and_faults) {
  static stream regions, worksharing;
  append(&regions, 0, 3, 30);
  append(&worksharing, 0, 3, 30);
  tsanom_fault fault;
  test_allocator allocator = {.calls = 0};
  tsanom_exec exec = test_exec(&allocator);
  fault = (tsanom_fault){.struct_size = sizeof fault};
  exec.fault = &fault;
  size_t bytes = 0;
  CHECK_STATUS(tsanom_speedup_choose_level_workspace(NULL, &exec, &bytes), TSANOM_OK);
  exec.work = malloc(bytes);
  exec.work_bytes = bytes;
  cr_assert(choose(&regions, &worksharing, NULL, &exec) == TSANOM_SPEEDUP_REGIONS);
  cr_assert(allocator.calls == 0);
  int32_t level = -1;
#define CHOOSE(r, n, w, m, o) tsanom_speedup_choose_level(r, n, w, m, o, &exec, &level)
  exec.work_bytes = bytes - 1;
  CHECK_STATUS(CHOOSE(regions.event, 30, worksharing.event, 30, NULL),
               TSANOM_E_WORKSPACE);
  exec.work_bytes = bytes;
  worksharing.event[17].end = NAN;
  CHECK_STATUS(CHOOSE(regions.event, 30, worksharing.event, 30, NULL),
               TSANOM_E_NONFINITE);
  cr_assert(strcmp(fault.argument, "worksharing") == 0 && fault.element == 17);
  regions.event[9].begin = 3;
  CHECK_STATUS(CHOOSE(regions.event, 30, worksharing.event, 30, NULL), TSANOM_E_ORDER);
  cr_assert(strcmp(fault.argument, "regions") == 0 && fault.element == 9);
  CHECK_STATUS(CHOOSE(NULL, 30, worksharing.event, 30, NULL), TSANOM_E_NULL);
  CHECK_STATUS(CHOOSE(regions.event, SIZE_MAX / 8, NULL, 0, NULL), TSANOM_E_OVERFLOW);
  tsanom_speedup_options options;
  tsanom_speedup_options_init(&options, sizeof options);
  options.baseline = 1;
  CHECK_STATUS(CHOOSE(NULL, 0, NULL, 0, &options), TSANOM_E_OPTION);
  cr_assert(strcmp(fault.argument, "options.baseline") == 0);
#undef CHOOSE
  cr_assert(level == -1);
  free(exec.work);
}
