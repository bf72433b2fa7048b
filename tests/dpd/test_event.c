/* SPDX-License-Identifier: BSD-3-Clause */
/* The period after each event of random streams, beside its definition: the smallest m
 * with d(m) = 0. Change, start and horizon must follow from the periods, also in windows
 * that are resized or adapt, and many events pushed at once must equal single ones. */
#include <stdlib.h>
#include <string.h>
#include <tsanom/dpd.h>

#include "dpd/naive.h"
#include "streams.h"
#include "support/ask.h"
#include "support/check.h"
#include "support/random.h"

enum { EVENTS = 600 };

static tsanom_dpd_event *make_adapting(size_t window, size_t max_period, int32_t adapt) {
  tsanom_dpd_event_options options;
  tsanom_dpd_event_options_init(&options, sizeof options);
  options.window = window;
  options.max_period = max_period;
  options.adapt = adapt;
  tsanom_dpd_event *detector = NULL;
  CHECK_STATUS(tsanom_dpd_event_create(&options, NULL, &detector), TSANOM_OK);
  return detector;
}

static tsanom_dpd_event *make_detector(size_t window, size_t max_period) {
  return make_adapting(window, max_period, 0);
}

Test(dpd_event, the_period_is_the_smallest_zero_of_d) {
  uint64_t seed = 1;
  for (int trial = 0; trial < CASES(3000); trial++) {
    uint64_t event[EVENTS];
    stream_random(event, EVENTS, &seed);
    size_t window = random_between(&seed, 1, 100);
    size_t max_period = random_between(&seed, 1, window);
    tsanom_dpd_event *detector = make_detector(window, max_period);
    size_t before = 0, started = 0;
    for (size_t i = 0; i < EVENTS; i++) {
      tsanom_dpd_report report;
      CHECK_STATUS(tsanom_dpd_event_push(detector, event[i], &report), TSANOM_OK);
      size_t expected = naive_event_period(event, i, window, max_period);
      cr_assert(report.period == expected, "trial %d event %zu: %zu, not %zu", trial, i,
                report.period, expected);
      int32_t change = expected == before ? TSANOM_DPD_STEADY
                       : expected         ? TSANOM_DPD_LOCKED
                                          : TSANOM_DPD_LOST;
      cr_assert(report.change == change);
      if (change == TSANOM_DPD_LOCKED) started = i;
      cr_assert(report.start == (expected && (i - started) % expected == 0));
      cr_assert(report.confidence == (expected ? 1 : 0));
      cr_assert((report.horizon >= window) == (expected != 0));
      before = expected;
    }
    tsanom_dpd_event_destroy(detector);
  }
}

Test(dpd_event, a_resize_keeps_the_history) {
  uint64_t seed = 2;
  for (int trial = 0; trial < CASES(1000); trial++) {
    uint64_t event[EVENTS];
    stream_random(event, EVENTS, &seed);
    size_t largest = random_between(&seed, 1, 80), window = largest;
    tsanom_dpd_event *detector = make_detector(largest, 0);
    for (size_t i = 0; i < EVENTS; i++) {
      tsanom_dpd_report report;
      tsanom_dpd_event_push(detector, event[i], &report);
      size_t expected = naive_event_period(event, i, window, window);
      cr_assert(report.period == expected, "trial %d event %zu: %zu, not %zu", trial, i,
                report.period, expected);
      if (random_bits(&seed) % 50 == 0) {
        window = random_between(&seed, 1, largest);
        CHECK_STATUS(tsanom_dpd_event_resize(detector, window), TSANOM_OK);
        cr_assert(tsanom_dpd_event_window(detector) == window);
        CHECK_STATUS(tsanom_dpd_event_resize(detector, 0), TSANOM_E_OPTION);
        CHECK_STATUS(tsanom_dpd_event_resize(detector, largest + 1), TSANOM_E_OPTION);
        cr_assert(tsanom_dpd_event_window(detector) == window);
      }
    }
    tsanom_dpd_event_destroy(detector);
  }
}

/* The horizon: the window when the period was found, or a window in which it was found
 * again, and all events since. */
Test(dpd_event, the_horizon_counts_what_was_predicted) {
  uint64_t seed = 12;
  size_t larger = 0;
  for (int trial = 0; trial < CASES(2000); trial++) {
    uint64_t event[EVENTS];
    stream_random(event, EVENTS, &seed);
    size_t largest = random_between(&seed, 1, 40), before = 0, horizon = 0;
    bool adapts = random_between(&seed, 0, 1);
    tsanom_dpd_event *detector = make_adapting(largest, 0, adapts);
    size_t window = largest;
    for (size_t i = 0; i < EVENTS; i++) {
      tsanom_dpd_report report;
      tsanom_dpd_event_push(detector, event[i], &report);
      bool same = report.period && report.period == before;
      horizon = !report.period ? 0 : same ? horizon + 1 : window;
      if (same && horizon < window) horizon = window;
      cr_assert(report.horizon == horizon, "trial %d event %zu: %zu, not %zu", trial, i,
                (size_t)report.horizon, horizon);
      larger += horizon > window;
      before = report.period;
      if (!adapts && random_bits(&seed) % 20 == 0) {
        CHECK_STATUS(tsanom_dpd_event_resize(detector, random_between(&seed, 1, largest)),
                     TSANOM_OK);
      }
      if (tsanom_dpd_event_window(detector) != window) {
        window = tsanom_dpd_event_window(detector);
        size_t now = naive_event_period(event, i, window, window);
        if (now != before || horizon < window) horizon = window;
        before = now;
      }
    }
    tsanom_dpd_event_destroy(detector);
  }
  cr_assert(larger > 10000);
}

Test(dpd_event, many_pushes_are_as_many_single_ones) {
  uint64_t seed = 3;
  for (int trial = 0; trial < CASES(1000); trial++) {
    uint64_t event[EVENTS];
    size_t periods[EVENTS];
    int32_t starts[EVENTS];
    stream_random(event, EVENTS, &seed);
    size_t window = random_between(&seed, 1, 100), max_period = window;
    if (trial % 4 == 0) max_period = random_between(&seed, 1, window);
    tsanom_dpd_event *single = make_adapting(window, max_period, trial % 2);
    tsanom_dpd_event *many = make_adapting(window, max_period, trial % 2);
    for (size_t i = 0; i < EVENTS;) {
      size_t count = random_between(&seed, 0, EVENTS - i);
      CHECK_STATUS(
          tsanom_dpd_event_push_many(many, event + i, count, periods + i, starts + i),
          TSANOM_OK);
      for (size_t k = i; k < i + count; k++) {
        tsanom_dpd_report report;
        tsanom_dpd_event_push(single, event[k], &report);
        cr_assert(report.period == periods[k] && report.start == starts[k],
                  "trial %d event %zu: %zu, not %zu", trial, k, periods[k],
                  report.period);
      }
      i += count;
      cr_assert(tsanom_dpd_event_window(single) == tsanom_dpd_event_window(many));
      if (random_bits(&seed) % 2) continue;
      size_t wanted = random_between(&seed, 1, window);
      tsanom_dpd_event_resize(single, wanted);
      tsanom_dpd_event_resize(many, wanted);
    }
    tsanom_dpd_event_destroy(single);
    tsanom_dpd_event_destroy(many);
  }
}

Test(dpd_event, prediction_continues_the_period) {
  enum { PERIOD = 7, AHEAD = 30 };
  tsanom_dpd_event *detector = make_detector(16, 0);
  uint64_t next[AHEAD] = {99};
  CHECK_STATUS(tsanom_dpd_event_predict(detector, next, AHEAD), TSANOM_INFEASIBLE);
  cr_assert(next[0] == 99);
  for (uint64_t i = 0; i < 100; i++) {
    tsanom_dpd_event_push(detector, i % PERIOD, NULL);
  }
  CHECK_STATUS(tsanom_dpd_event_predict(detector, next, AHEAD), TSANOM_OK);
  for (uint64_t i = 0; i < AHEAD; i++) cr_assert(next[i] == (100 + i) % PERIOD);
  tsanom_dpd_event_destroy(detector);
}

Test(dpd_event, the_window_adapts) {
  tsanom_dpd_event_options options;
  tsanom_dpd_event_options_init(&options, sizeof options);
  options.window = 200;
  options.adapt = 1;
  tsanom_dpd_event *detector = NULL;
  CHECK_STATUS(tsanom_dpd_event_create(&options, NULL, &detector), TSANOM_OK);
  tsanom_dpd_report report;
  for (uint64_t i = 0; i < 1000; i++) tsanom_dpd_event_push(detector, i % 5, &report);
  cr_assert(report.period == 5 && tsanom_dpd_event_window(detector) == 10);
  size_t relocked = 0;
  tsanom_dpd_event_push(detector, 77, &report);
  cr_assert(report.change == TSANOM_DPD_LOST);
  while (report.period == 0) {
    tsanom_dpd_event_push(detector, relocked++ % 5, &report);
  }
  cr_assert(relocked == 15, "%zu", relocked);
  for (uint64_t i = 0; i < 500; i++) tsanom_dpd_event_push(detector, 1000 + i, &report);
  cr_assert(tsanom_dpd_event_window(detector) == 200);
  tsanom_dpd_event_destroy(detector);
}

Test(dpd_event, takes_24_bytes_per_event_of_a_long_window_and_17_of_a_very_long_one) {
  tsanom_dpd_event_options options;
  tsanom_dpd_event_options_init(&options, sizeof options);
  const size_t window[] = {16385, 30000, 32769, 1000000, 1048577};
  for (size_t k = 0; k < sizeof window / sizeof *window; k++) {
    size_t bytes = 0;
    tsanom_exec ask = ask_exec(NULL, &bytes);
    options.window = window[k];
    CHECK_STATUS(tsanom_dpd_event_create(&options, &ask, NULL), TSANOM_E_WORKSPACE);
    size_t most = window[k] > 500000 ? 17 : 24;
    cr_assert(bytes <= most * window[k], "%zu bytes for %zu", bytes, window[k]);
  }
}

Test(dpd_event, bad_arguments_are_rejected) {
  tsanom_dpd_event_options options;
  const struct {
    size_t window, max_period;
    int32_t adapt, reserved;
    const char *text;
  } bad[] = {{0, 0, 0, 0, "options.window is 0; 1 to 67108864 is expected"},
             {(size_t)TSANOM_DPD_WINDOW_MAX + 1, 0, 0, 0,
              "options.window is 67108865; 1 to 67108864 is expected"},
             {10, 11, 0, 0, "options.max_period is 11; 0 to 10 is expected"},
             {10, 10, 2, 0, "options.adapt is 2; 0 or 1 is expected"},
             {10, 10, 0, 1, "options.reserved0 is 1; 0 is expected"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tsanom_dpd_event_options_init(&options, sizeof options);
    options.window = bad[i].window;
    options.max_period = bad[i].max_period;
    options.adapt = bad[i].adapt;
    options.reserved0 = bad[i].reserved;
    size_t bytes = 5;
    tsanom_fault fault = {.struct_size = sizeof fault};
    tsanom_exec exec = ask_exec(NULL, &bytes);
    exec.fault = &fault;
    tsanom_dpd_event *detector = NULL;
    CHECK_STATUS(tsanom_dpd_event_create(&options, &exec, &detector), TSANOM_E_OPTION);
    cr_assert_str_eq(fault.text, bad[i].text);
    cr_assert(detector == NULL && bytes == 5);
  }
  tsanom_dpd_event *detector = NULL;
  uint64_t event = 1;
  CHECK_STATUS(tsanom_dpd_event_create(NULL, NULL, &detector), TSANOM_OK);
  CHECK_STATUS(tsanom_dpd_event_push_many(detector, &event, (size_t)1 << 61, NULL, NULL),
               TSANOM_E_OVERFLOW);
  CHECK_STATUS(tsanom_dpd_event_predict(detector, &event, (size_t)1 << 61),
               TSANOM_E_OVERFLOW);
  tsanom_dpd_event_destroy(detector);
  cr_assert(tsanom_dpd_event_window(NULL) == 0);
}
