/* SPDX-License-Identifier: BSD-3-Clause */
/* The detectors of periods and the search for one beside their definitions. Streams are
 * patterns that break; values are multiples of 1/8, so that the sums of the detector are
 * exact. Any samples: levels and threads agree, and a rejected sample changes nothing. */
#include <tsanom/dpd.h>

#include "dpd/naive.h"
#include "input.h"

enum { MOST = 300, LONGEST_PATTERN = 40, LEAST_SAMPLES = 8 };

/* Numbers that repeat, except where the input has a large byte. */
static void take_pattern(fuzz_input *in, uint64_t *codes, size_t count) {
  size_t period = take_between(in, 1, LONGEST_PATTERN);
  for (size_t i = 0; i < count; i++) {
    size_t byte = take_byte(in);
    if (byte == UINT8_MAX) period = take_between(in, 1, LONGEST_PATTERN);
    codes[i] = i < period || byte > 200 ? byte : codes[i - period];
  }
}

static void check_events(fuzz_input *in, const uint64_t *events, size_t count) {
  tsanom_dpd_event_options options;
  tsanom_dpd_event_options_init(&options, sizeof options);
  size_t largest = options.window = take_between(in, 1, LONGEST_PATTERN);
  size_t most = options.max_period = take_between(in, 1, options.window);
  size_t resize_at = take_byte(in), window = largest, before = 0, started = 0;
  tsanom_dpd_event *detector = NULL, *many = NULL;
  size_t periods[MOST];
  int32_t starts[MOST];
  demand(tsanom_dpd_event_create(&options, NULL, &detector) == TSANOM_OK);
  demand(tsanom_dpd_event_create(&options, NULL, &many) == TSANOM_OK);
  demand(tsanom_dpd_event_push_many(many, events, count, periods, starts) == TSANOM_OK);
  for (size_t i = 0; i < count; i++) {
    tsanom_dpd_report report;
    demand(tsanom_dpd_event_push(detector, events[i], &report) == TSANOM_OK);
    size_t limit = most < window ? most : window;
    size_t expected = naive_event_period(events, i, window, limit);
    demand(report.period == expected);
    if (expected != before) started = i;
    demand(report.start == (expected && (i - started) % expected == 0));
    demand(i > resize_at || (report.period == periods[i] && report.start == starts[i]));
    before = expected;
    if (i != resize_at) continue;
    window = take_between(in, 1, largest);
    demand(tsanom_dpd_event_resize(detector, window) == TSANOM_OK);
  }
  tsanom_dpd_event_destroy(detector);
  tsanom_dpd_event_destroy(many);
}

static void check_values(fuzz_input *in, const double *x, size_t count,
                         const tsanom_exec *exec) {
  tsanom_dpd_value_options options;
  tsanom_dpd_value_options_init(&options, sizeof options);
  options.window = take_between(in, 1, LONGEST_PATTERN);
  options.max_period = take_between(in, 1, options.window);
  options.depth = (double)take_between(in, 1, 255) / 256;
  options.significance = 0;
  naive_value naive = {.x = x,
                       .window = options.window,
                       .most = options.max_period,
                       .depth = options.depth};
  tsanom_dpd_value *detector = NULL;
  demand(tsanom_dpd_value_create(&options, exec, &detector) == TSANOM_OK);
  for (size_t i = 0; i < count; i++) {
    tsanom_dpd_report report;
    double d[LONGEST_PATTERN];
    size_t lags;
    naive_push(&naive, i);
    demand(tsanom_dpd_value_push(detector, x[i], &report) == TSANOM_OK);
    demand(report.period == naive.period);
    demand(tsanom_dpd_value_distances(detector, d, LONGEST_PATTERN, &lags) == TSANOM_OK);
    demand(lags == naive.lags);
    for (size_t m = 1; m <= lags; m++) {
      demand(d[m - 1] == naive.d[m] / (double)options.window);
    }
  }
  tsanom_dpd_value_destroy(detector);
}

/* Any samples: the detector of another level, which also gets invalid ones, agrees. */
static void check_levels(fuzz_input *in, const double *x, size_t count,
                         const tsanom_exec *exec) {
  tsanom_dpd_value_options options;
  tsanom_dpd_value_options_init(&options, sizeof options);
  options.window = take_between(in, 1, LONGEST_PATTERN);
  options.adapt = (int32_t)take_between(in, 0, 1);
  tsanom_exec base = *exec;
  base.isa = TSANOM_ISA_BASE;
  tsanom_dpd_value *detector = NULL, *other = NULL;
  demand(tsanom_dpd_value_create(&options, exec, &detector) == TSANOM_OK);
  demand(tsanom_dpd_value_create(&options, &base, &other) == TSANOM_OK);
  for (size_t i = 0; i < count; i++) {
    tsanom_dpd_report report = {0}, report_of_other = {0};
    tsanom_status status = tsanom_dpd_value_push(detector, x[i], &report);
    demand((status == TSANOM_E_NONFINITE) == !isfinite(x[i]));
    if (status < 0) continue;
    demand(tsanom_dpd_value_push(other, x[i], &report_of_other) == status);
    demand(report.period == report_of_other.period &&
           report.start == report_of_other.start &&
           report.change == report_of_other.change &&
           report.horizon == report_of_other.horizon);
    demand(memcmp(&report.confidence, &report_of_other.confidence, sizeof(double)) == 0);
  }
  tsanom_dpd_value_destroy(detector);
  tsanom_dpd_value_destroy(other);
}

static tsanom_dpd_found find(const double *x, size_t n, const tsanom_exec *exec,
                             tsanom_status expected) {
  tsanom_dpd_found found = {.struct_size = sizeof found};
  demand(tsanom_dpd_find(x, n, NULL, exec, &found) == expected);
  return found;
}

static void check_find(const double *x, size_t n, const tsanom_exec *exec) {
  int valid = n >= LEAST_SAMPLES && all_finite(x, n);
  tsanom_status status = n < LEAST_SAMPLES ? TSANOM_E_COUNT
                         : valid           ? TSANOM_OK
                                           : TSANOM_E_NONFINITE;
  tsanom_dpd_found found = find(x, n, exec, status), plain = find(x, n, NULL, status);
  demand(memcmp(&found, &plain, sizeof found) == 0);
  demand(isfinite(found.score) && found.score >= 0);
  demand(found.probability >= 0 && found.probability <= 1);
  demand(found.lines >= 0 && found.lines <= 1);
  demand(found.period <= 1 || found.period <= found.max_period);
  demand(!found.period || (found.candidate && found.lines <= 0.01));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint64_t codes[MOST];
  double x[MOST];
  fuzz_input in = {data, data + size};
  tsanom_exec exec = take_exec(&in);
  size_t count = take_between(&in, 0, 255) + take_between(&in, 0, MOST - UINT8_MAX);
  take_pattern(&in, codes, count);
  for (size_t i = 0; i < count; i++) x[i] = (double)codes[i] / 8;
  check_events(&in, codes, count);
  check_values(&in, x, count, &exec);
  check_find(x, count, &exec);
  take_samples(&in, x, count);
  check_levels(&in, x, count, &exec);
  check_find(x, count, &exec);
  return 0;
}
