/* SPDX-License-Identifier: BSD-3-Clause */
/* An analyzer, and a program under test that it observes. */
#ifndef TSANOM_TEST_ANALYZER_H
#define TSANOM_TEST_ANALYZER_H

#include <criterion/criterion.h>
#include <tsanom/speedup.h>

#include "support/check.h"

enum { MOST_ITERATIONS = 4096 };

typedef struct {
  tsanom_speedup_iteration iteration[MOST_ITERATIONS];
  size_t count;
} log_of_iterations;

static inline void note(void *user, const tsanom_speedup_iteration *iteration) {
  log_of_iterations *log = user;
  cr_assert(log->count < MOST_ITERATIONS);
  log->iteration[log->count++] = *iteration;
}

static inline tsanom_speedup *new_analyzer(log_of_iterations *log, int32_t baseline) {
  tsanom_speedup_options options;
  tsanom_speedup *analyzer = NULL;
  CHECK_STATUS(tsanom_speedup_options_init(&options, sizeof options), TSANOM_OK);
  options.baseline = baseline;
  options.visit = log ? note : NULL;
  options.visit_user = log;
  CHECK_STATUS(tsanom_speedup_create(&options, NULL, &analyzer), TSANOM_OK);
  return analyzer;
}

/* A region of the program under test: t = serial before it, then work / threads. */
static inline double run_region(tsanom_speedup *analyzer, double now, uint64_t region,
                                double serial, double work, int32_t threads) {
  tsanom_speedup_event event = {.region = region,
                                .begin = now + serial,
                                .end = now + serial + work / threads,
                                .threads = threads};
  CHECK_STATUS(tsanom_speedup_push(analyzer, &event), TSANOM_OK);
  return event.end;
}

static inline tsanom_speedup_loop only_loop(const tsanom_speedup *analyzer) {
  tsanom_speedup_loop loop;
  size_t count = 0;
  CHECK_STATUS(tsanom_speedup_loops(analyzer, &loop, 1, &count), TSANOM_OK);
  cr_assert(count == 1);
  return loop;
}

#endif
