/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice between regions and worksharing. */
#include <tsanom/speedup.h>

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

static tsanom_speedup *analyzed(const stream *s, const tsanom_speedup_options *options) {
  tsanom_speedup *analyzer = NULL;
  CHECK_STATUS(tsanom_speedup_create(options, NULL, &analyzer), TSANOM_OK);
  for (size_t i = 0; i < s->count; i++) {
    CHECK_STATUS(tsanom_speedup_push(analyzer, &s->event[i]), TSANOM_OK);
  }
  CHECK_STATUS(tsanom_speedup_finish(analyzer), TSANOM_OK);
  return analyzer;
}

static int32_t choose(const stream *regions, const stream *worksharing,
                      const tsanom_speedup_options *options) {
  tsanom_speedup *a = analyzed(regions, options), *b = analyzed(worksharing, options);
  int32_t level = -1;
  CHECK_STATUS(tsanom_speedup_choose_level(a, b, &level), TSANOM_OK);
  tsanom_speedup_destroy(a);
  tsanom_speedup_destroy(b);
  return level;
}

Test(speedup_level, the_stream_with_the_longer_loop_is_chosen) {
  static stream none, regions, worksharing;
  cr_assert(choose(&none, &none, NULL) == TSANOM_SPEEDUP_REGIONS);
  append(&regions, 0, 3, 300);
  append(&worksharing, 10, 5, 500);
  cr_assert(choose(&regions, &none, NULL) == TSANOM_SPEEDUP_REGIONS);
  cr_assert(choose(&none, &worksharing, NULL) == TSANOM_SPEEDUP_WORKSHARING);
  /* 500 s are less than twice 300 s. */
  cr_assert(choose(&regions, &worksharing, NULL) == TSANOM_SPEEDUP_REGIONS);
  append(&worksharing, 10, 5, 500);
  cr_assert(choose(&regions, &worksharing, NULL) == TSANOM_SPEEDUP_WORKSHARING);
}

Test(speedup_level, max_period_of_the_options_is_used) {
  static stream regions, worksharing;
  append(&regions, 0, 100, 1000);
  append(&worksharing, 200, 5, 300);
  tsanom_speedup_options options;
  tsanom_speedup_options_init(&options, sizeof options);
  options.max_period = 50;
  cr_assert(choose(&regions, &worksharing, &options) == TSANOM_SPEEDUP_WORKSHARING);
  options.max_period = 100;
  cr_assert(choose(&regions, &worksharing, &options) == TSANOM_SPEEDUP_REGIONS);
}
