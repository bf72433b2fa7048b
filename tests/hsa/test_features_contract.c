/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom_hsa_compare(): invalid input and options. */
#include <math.h>
#include <string.h>
#include <tsanom/hsa.h>

#include "support/check.h"
#include "support/faults.h"

Test(hsa_features, bad_input_is_rejected_and_leaves_the_output) {
  double good[] = {1, 2, 3, 4}, nan[] = {1, NAN, 3}, inf[] = {1, 2, INFINITY};
  double falling[] = {1, 3, 2}, still[] = {1, 2, 2, 2, 3};
  tsanom_hsa_series g = {.time = good, .beats = 4}, none = {.time = good, .beats = 0},
                    null = {.time = NULL, .beats = 4};
  tsanom_hsa_options options;
  tsanom_hsa_options_init(&options, sizeof options);
  options.window = 1;
  tsanom_hsa_features f = {.defined = 77};
  test_report report;
  test_report_init(&report);
#define COMPARE(target, start, reference) \
  tsanom_hsa_compare(target, start, reference, 0, &options, &report.exec, &f)
  CHECK_STATUS(COMPARE(NULL, 0, &g), TSANOM_E_NULL);
  CHECK_STATUS(COMPARE(&g, 0, NULL), TSANOM_E_NULL);
  CHECK_STATUS(COMPARE(&null, 0, &g), TSANOM_E_NULL);
  CHECK_STATUS(COMPARE(&none, 0, &g), TSANOM_E_COUNT);
  CHECK_STATUS(COMPARE(&g, 0, &none), TSANOM_E_COUNT);
  CHECK_STATUS(COMPARE(&g, 1.5, &g), TSANOM_E_ORDER);
  CHECK_STATUS(COMPARE(&g, NAN, &g), TSANOM_E_NONFINITE);
  CHECK_STATUS(COMPARE(&((tsanom_hsa_series){.time = nan, .beats = 3}), 0, &g),
               TSANOM_E_NONFINITE);
  CHECK_FAULT(report, "target.time", 1, TSANOM_NONE);
  CHECK_STATUS(COMPARE(&((tsanom_hsa_series){.time = inf, .beats = 3}), 0, &g),
               TSANOM_E_NONFINITE);
  CHECK_STATUS(COMPARE(&((tsanom_hsa_series){.time = falling, .beats = 3}), 0, &g),
               TSANOM_E_ORDER);
  CHECK_FAULT(report, "target.time", 2, TSANOM_NONE);
  CHECK_STATUS(COMPARE(&((tsanom_hsa_series){.time = still, .beats = 5}), 0, &g),
               TSANOM_E_VALUE);
  CHECK_FAULT(report, "target.time", 2, TSANOM_NONE);
  tsanom_hsa_series odd = {.time = good, .beats = 4, .reserved = {0, 1}};
  CHECK_STATUS(COMPARE(&g, 0, &odd), TSANOM_E_VERSION);
  CHECK_FAULT(report, "reference.reserved", TSANOM_NONE, TSANOM_NONE);
  odd = (tsanom_hsa_series){.time = good, .beats = SIZE_MAX / 8};
  CHECK_STATUS(COMPARE(&odd, 0, &g), TSANOM_E_OVERFLOW);
  CHECK_FAULT(report, "target.beats", TSANOM_NONE, TSANOM_NONE);
  options.window = 3;
  CHECK_STATUS(COMPARE(&((tsanom_hsa_series){.time = still, .beats = 5}), 0, &g),
               TSANOM_OK);
  f.defined = 77;
  options.window = 4;
  CHECK_STATUS(COMPARE(&g, 0, &g), TSANOM_E_COUNT);
  options.window = SIZE_MAX;
  CHECK_STATUS(COMPARE(&g, 0, &g), TSANOM_E_COUNT);
  cr_assert(f.defined == 77);
}

Test(hsa_features, a_rejection_says_what_is_expected) {
  double good[] = {1, 2, 3, 4}, falling[] = {1, 3, 2}, nan[] = {1, NAN};
  tsanom_hsa_series g = {.time = good, .beats = 4}, null = {.beats = 3},
                    fall = {.time = falling, .beats = 3}, bad = {.time = nan, .beats = 2};
  tsanom_hsa_options options;
  tsanom_hsa_options_init(&options, sizeof options);
  tsanom_hsa_features f;
  test_report report;
  test_report_init(&report);
#define SAYS(target, start, text_)                                                       \
  do {                                                                                   \
    cr_assert(tsanom_hsa_compare(target, start, &g, 0, &options, &report.exec, &f) < 0); \
    cr_assert_str_eq(report.fault.text, text_);                                          \
  } while (0)
  SAYS(&null, 0, "target.time is NULL; an array of 3 is expected");
  SAYS(&bad, 0, "target.time[1] is NaN; finite samples are expected");
  SAYS(&fall, 0, "target.time[2] is 2; at least 3, the beat before, is expected");
  SAYS(&g, 1.5, "target.time[0] is 1; at least 1.5, the start of the run, is expected");
  SAYS(&g, -INFINITY, "target_start is -inf; a finite time is expected");
  options.window = 4;
  SAYS(&g, 0, "reference.beats is 4; more than 4, the window, is expected");
  options.points = 1;
  SAYS(&g, 0, "options.points is 1; at least 2 and at most 16384 is expected");
  options.points = 2;
  options.coverage = 1;
  SAYS(&g, 0, "options.coverage is 1; more than 0 and less than 1 is expected");
  options.coverage = 0.5;
  options.degree = TSANOM_HSA_DEGREE_NOISE;
  options.r2 = 0.8;
  SAYS(&g, 0, "options.r2 is 0.8; 0.9 is expected");
}

Test(hsa_features, options_out_of_their_range_are_rejected_by_name) {
  double good[] = {1, 2, 3, 4};
  tsanom_hsa_series g = {.time = good, .beats = 4};
  tsanom_hsa_features f = {.defined = 77};
  tsanom_hsa_model *model = NULL;
  test_report faulty;
  test_report_init(&faulty);
#define REJECT(field, bad)                                                         \
  do {                                                                             \
    tsanom_hsa_options o;                                                          \
    tsanom_hsa_options_init(&o, sizeof o);                                         \
    o.field = bad;                                                                 \
    CHECK_STATUS(tsanom_hsa_compare(&g, 0, &g, 0, &o, NULL, &f), TSANOM_E_OPTION); \
    tsanom_hsa_model_data data;                                                    \
    data = (tsanom_hsa_model_data){.struct_size = sizeof data};                    \
    data.options = &o;                                                             \
    CHECK_STATUS(tsanom_hsa_model_create(&data, NULL, &model), TSANOM_E_OPTION);   \
    CHECK_STATUS(tsanom_hsa_compare(&g, 0, &g, 0, &o, &faulty.exec, &f),           \
                 TSANOM_E_OPTION);                                                 \
    CHECK_FAULT(faulty, "options." #field, TSANOM_NONE, TSANOM_NONE);              \
  } while (0)
  REJECT(max_windows, 0);
  REJECT(max_windows, TSANOM_HSA_MAX_WINDOWS + 1);
  REJECT(max_windows, SIZE_MAX);
  REJECT(max_degree, 33);
  REJECT(points, 1);
  REJECT(points, TSANOM_HSA_MAX_POINTS + 1);
  REJECT(r2, -0.1);
  REJECT(r2, 1);
  REJECT(r2, NAN);
  REJECT(coverage, 0);
  REJECT(coverage, 1);
  REJECT(coverage, NAN);
  REJECT(margin, -1);
  REJECT(margin, NAN);
  REJECT(margin, INFINITY);
  REJECT(single_run_margin, 0);
  REJECT(single_run_margin, NAN);
  REJECT(range, 2);
  REJECT(rule, -1);
  REJECT(local_rate, 2);
  REJECT(normalize, 2);
  REJECT(degree, 2);
  REJECT(reserved, 1);
  cr_assert(f.defined == 77 && model == NULL);
  tsanom_hsa_options o;
  CHECK_STATUS(tsanom_hsa_options_init(&o, sizeof o - 1), TSANOM_E_VERSION);
  CHECK_STATUS(tsanom_hsa_options_init(NULL, sizeof o), TSANOM_E_NULL);
}
