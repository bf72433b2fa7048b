/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice between regions and worksharing. */
#include <math.h>
#include <tsanom/speedup.h>

#include "support/workspace.h"

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

static tsanom_status choose_in(const tsanom_exec *exec, void *result) {
  static stream regions, worksharing;
  if (!result) return tsanom_speedup_choose_level(NULL, 30, NULL, 900, NULL, exec, NULL);
  regions.count = worksharing.count = 0;
  append(&regions, 0, 3, 30);
  append(&worksharing, 0, 3, 900);
  return tsanom_speedup_choose_level(regions.event, 30, worksharing.event, 900, NULL,
                                     exec, result);
}

Test(speedup_level, the_workspace_is_as_large_as_reported) {
  static const workspace_case choosing = {"choose_level", choose_in, sizeof(int32_t)};
  check_workspaces(&choosing, 1);
}

Test(speedup_level, faults) {
  static stream regions, worksharing;
  append(&regions, 0, 3, 30);
  append(&worksharing, 0, 3, 30);
  tsanom_fault fault = {.struct_size = sizeof fault};
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  exec.fault = &fault;
  int32_t level = -1;
#define REJECTED(r, n, w, m, o, status, expected)                                  \
  CHECK_STATUS(tsanom_speedup_choose_level(r, n, w, m, o, &exec, &level), status); \
  cr_assert_str_eq(fault.text, expected)
  const tsanom_speedup_event *some = regions.event, *others = worksharing.event;
  worksharing.event[17].end = NAN;
  REJECTED(some, 30, others, 30, NULL, TSANOM_E_NONFINITE,
           "worksharing[17] is NaN; finite times are expected");
  regions.event[9].begin = 3;
  REJECTED(some, 30, others, 30, NULL, TSANOM_E_ORDER,
           "regions[9] is from 3 to 10; 9 or later is expected, and no end before the "
           "begin");
  REJECTED(NULL, 30, others, 30, NULL, TSANOM_E_NULL,
           "regions is NULL; an array of 30 is expected");
  CHECK_STATUS(
      tsanom_speedup_choose_level(some, SIZE_MAX / 8, NULL, 0, NULL, &exec, &level),
      TSANOM_E_OVERFLOW);
  tsanom_speedup_options options;
  tsanom_speedup_options_init(&options, sizeof options);
  options.baseline = 1;
  REJECTED(NULL, 0, NULL, 0, &options, TSANOM_E_OPTION,
           "options.baseline is 1; 0 is expected, since this function does not use it");
#undef REJECTED
  cr_assert(level == -1);
}
