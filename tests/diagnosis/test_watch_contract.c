/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of tsanom_diagnosis_watch: rejections, memory, structs of other sizes. */
#include <math.h>
#include <tsanom/diagnosis.h>

#include "support/check.h"
#include "support/faults.h"
#include "support/workspace.h"

enum { THREADS = 3 };

static tsanom_hsa_range ranges[TSANOM_DIAGNOSIS_PARTS * TSANOM_DIAGNOSIS_SIGNS * THREADS];

static tsanom_diagnosis_normal wide(void) {
  tsanom_diagnosis_normal n;
  size_t count = sizeof ranges / sizeof *ranges;
  n = (tsanom_diagnosis_normal){.struct_size = sizeof n};
  for (size_t i = 0; i < count; i++) ranges[i] = (tsanom_hsa_range){0, 1e9};
  n.thread_count = THREADS;
  n.run_count = 3;
  n.beats = 100;
  n.range = ranges;
  n.range_count = count;
  return n;
}

Test(diagnosis_watch_contract, creation_rejects_invalid_arguments) {
  tsanom_diagnosis_watch *watch = NULL;
  tsanom_diagnosis_normal normal = wide();
  tsanom_diagnosis_watch_options options;
  test_report report;
  test_report_init(&report);
  const size_t none = TSANOM_NONE;
  CHECK_STATUS(tsanom_diagnosis_watch_options_init(&options, sizeof options), TSANOM_OK);
#define REJECT(threads, status, argument)                                                \
  do {                                                                                   \
    CHECK_STATUS(                                                                        \
        tsanom_diagnosis_watch_create(threads, &normal, &options, &report.exec, &watch), \
        status);                                                                         \
    CHECK_FAULT(report, argument, none, none);                                           \
  } while (0)
  REJECT(0, TSANOM_E_COUNT, "thread_count");
  REJECT(SIZE_MAX, TSANOM_E_OVERFLOW, "thread_count");
  options.hang = -1;
  REJECT(1, TSANOM_E_OPTION, "options.hang");
  options.hang = NAN;
  REJECT(1, TSANOM_E_OPTION, "options.hang");
  options.hang = INFINITY;
  REJECT(1, TSANOM_E_OPTION, "options.hang");
  normal.range_count--;
  REJECT(1, TSANOM_E_COUNT, "normal.range_count");
  cr_assert(watch == NULL);
}

Test(diagnosis_watch_contract, updates_reject_invalid_input_and_keep_the_watch) {
  tsanom_diagnosis_watch *watch;
  CHECK_STATUS(tsanom_diagnosis_watch_create(2, NULL, NULL, NULL, &watch), TSANOM_OK);
  double time[3] = {1, 2, 3};
  tsanom_hsa_series s[3] = {{.time = time, .beats = 3}, {.time = time, .beats = 3}, {0}};
  tsanom_hsa_run news = {.threads = s, .thread_count = 2, .end = 4};
  const tsanom_diagnosis_anomaly *found;
  size_t count = 77;
  tsanom_diagnosis_pulse pulse;
  test_report report;
  test_report_init(&report);
  CHECK_STATUS(tsanom_diagnosis_watch_pulse(watch, 0, &pulse), TSANOM_E_INDEX);
  CHECK_STATUS(tsanom_diagnosis_watch_update(watch, &news, NULL, &found, &count),
               TSANOM_OK);
  cr_assert(count == 0);
#define REJECT_NEWS(status, argument, element, second)                             \
  do {                                                                             \
    CHECK_STATUS(                                                                  \
        tsanom_diagnosis_watch_update(watch, &news, &report.exec, &found, &count), \
        status);                                                                   \
    CHECK_FAULT(report, argument, element, second);                                \
  } while (0)
  const size_t none = TSANOM_NONE;
  time[1] = 0.5;
  REJECT_NEWS(TSANOM_E_ORDER, "news.threads.time", 0, 1);
  time[0] = 2.5;
  time[1] = 2.6;
  CHECK_STATUS(tsanom_diagnosis_watch_update(watch, &news, NULL, &found, &count),
               TSANOM_OK);
  CHECK_STATUS(tsanom_diagnosis_watch_pulse(watch, 0, &pulse), TSANOM_OK);
  cr_assert(pulse.beats == 6 && pulse.last == 3 && pulse.rate == 2.5, "%g", pulse.rate);
  s[0].beats = s[1].beats = 0;
  news.thread_count = 3;
  REJECT_NEWS(TSANOM_E_COUNT, "news.thread_count", none, none);
  news.thread_count = 2;
  news.state = 4;
  REJECT_NEWS(TSANOM_E_OPTION, "news.state", none, none);
  news.state = 0;
  news.end = NAN;
  REJECT_NEWS(TSANOM_E_NONFINITE, "news.end", none, none);
  CHECK_STATUS(tsanom_diagnosis_watch_pulse(watch, 1, &pulse), TSANOM_OK);
  cr_assert(pulse.beats == 6 && pulse.last == 3);
  CHECK_STATUS(tsanom_diagnosis_watch_pulse(watch, 2, &pulse), TSANOM_E_INDEX);
  tsanom_diagnosis_watch_destroy(watch);
  tsanom_diagnosis_watch_destroy(NULL);
}

static tsanom_status create_watch(const tsanom_exec *exec, bool inputs, void **object) {
  tsanom_diagnosis_normal normal = wide();
  if (!inputs) normal.range = NULL;
  return tsanom_diagnosis_watch_create(THREADS, &normal, NULL, exec,
                                       (tsanom_diagnosis_watch **)object);
}

static void destroy_watch(void *object) {
  tsanom_diagnosis_watch_destroy(object);
}

Test(diagnosis_watch_contract, a_watch_is_one_block_and_updates_take_none) {
  tsanom_diagnosis_normal normal = wide();
  check_object(create_watch, destroy_watch);
  tsanom_diagnosis_watch *watch = NULL;
  size_t bytes, less;
  tsanom_exec ask = ask_exec(NULL, &bytes);
  CHECK_STATUS(tsanom_diagnosis_watch_create(THREADS, &normal, NULL, &ask, NULL),
               TSANOM_E_WORKSPACE);
  ask.work_needed = &less;
  CHECK_STATUS(tsanom_diagnosis_watch_create(THREADS, NULL, NULL, &ask, NULL),
               TSANOM_E_WORKSPACE);
  cr_assert(less < bytes && bytes < (THREADS + 1) * 61000, "%zu", bytes);
  test_allocator allocator = {0};
  tsanom_exec exec = test_exec(&allocator);
  CHECK_STATUS(tsanom_diagnosis_watch_create(THREADS, &normal, NULL, &exec, &watch),
               TSANOM_OK);
  double time[20];
  for (size_t i = 0; i < 20; i++) time[i] = (double)i;
  tsanom_hsa_series s[THREADS] = {{.time = time, .beats = 20}, {0}, {0}};
  tsanom_hsa_run news = {.threads = s, .thread_count = THREADS, .end = 30};
  const tsanom_diagnosis_anomaly *found;
  CHECK_STATUS(tsanom_diagnosis_watch_update(watch, &news, &exec, &found, &less),
               TSANOM_OK);
  cr_assert(less == 1 && found->cause.cause == TSANOM_HSA_HANG);
  cr_assert(allocator.calls == 1);
  tsanom_diagnosis_watch_destroy(watch);
}
