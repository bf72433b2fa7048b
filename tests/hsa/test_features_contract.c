/* SPDX-License-Identifier: BSD-3-Clause */
/* Features: invalid input and options. */
#include <math.h>
#include <string.h>
#include <tsanom/hsa.h>

#include "learned.h"
#include "support/check.h"
#include "support/faults.h"

Test(hsa_features, series_without_rates_or_with_bad_times_are_rejected) {
  double good[] = {1, 2, 3, 4}, falling[] = {1, 3, 2}, still[] = {1, 2, 2, 2, 3};
  double inf[] = {1, 2, INFINITY};
  tsanom_hsa_series g = {.time = good, .beats = 4}, none = {.time = good, .beats = 0};
  tsanom_hsa_options options;
  tsanom_hsa_options_init(&options, sizeof options);
  options.window = 1;
  tsanom_hsa_features f = {.defined = 77};
  test_report report;
  test_report_init(&report);
#define SAYS(status, target, start, reference, text_)                              \
  do {                                                                             \
    CHECK_STATUS(compare(target, start, reference, 0, &options, &report.exec, &f), \
                 status);                                                          \
    cr_assert_str_eq(report.fault.text, text_);                                    \
  } while (0)
#define SERIES(values, count) &((tsanom_hsa_series){.time = values, .beats = count})
  SAYS(TSANOM_E_NONFINITE, SERIES(inf, 3), 0, &g,
       "run.threads.time[0][2] is inf; finite samples are expected");
  SAYS(TSANOM_E_ORDER, SERIES(falling, 3), 0, &g,
       "run.threads.time[0][2] is 2; at least 3, the beat before, is expected");
  SAYS(TSANOM_E_ORDER, &g, 1.5, &g,
       "run.threads.time[0][0] is 1; at least 1.5, the start of the run, is expected");
  SAYS(TSANOM_E_VALUE, SERIES(still, 5), 0, &g,
       "run.threads.time[0][2] is 2; more than 2, 1 beats before, is expected");
  SAYS(TSANOM_E_NULL, SERIES(NULL, 3), 0, &g,
       "run.threads.time[0] is NULL; an array of 3 is expected");
  SAYS(
      TSANOM_E_COUNT, &g, 0, &none,
      "runs: a thread has at most 0 beats; more than 1, the window, are expected of one");
  options.window = SIZE_MAX;
  CHECK_STATUS(compare(&g, 0, &g, 0, &options, NULL, &f), TSANOM_E_COUNT);
  options.window = 3;
  CHECK_STATUS(compare(SERIES(still, 5), 0, &g, 0, &options, NULL, &f), TSANOM_OK);
  options.points = 1;
  SAYS(TSANOM_E_OPTION, &g, 0, &g,
       "options.points is 1; at least 2 and at most 16384 is expected");
  options.points = 2;
  options.coverage = 1;
  SAYS(TSANOM_E_OPTION, &g, 0, &g,
       "options.coverage is 1; more than 0 and less than 1 is expected");
}

Test(hsa_features, options_out_of_their_range_are_rejected_by_name) {
  double good[] = {1, 2, 3, 4};
  tsanom_hsa_series g = {.time = good, .beats = 4};
  tsanom_hsa_features f = {.defined = 77};
  tsanom_hsa_model *model = NULL;
  test_report faulty;
  test_report_init(&faulty);
#define REJECT(field, bad)                                                       \
  do {                                                                           \
    tsanom_hsa_options o;                                                        \
    tsanom_hsa_options_init(&o, sizeof o);                                       \
    o.field = bad;                                                               \
    tsanom_hsa_model_data data;                                                  \
    data = (tsanom_hsa_model_data){.struct_size = sizeof data};                  \
    data.options = &o;                                                           \
    CHECK_STATUS(tsanom_hsa_model_create(&data, NULL, &model), TSANOM_E_OPTION); \
    CHECK_STATUS(compare(&g, 0, &g, 0, &o, &faulty.exec, &f), TSANOM_E_OPTION);  \
    CHECK_FAULT(faulty, "options." #field, TSANOM_NONE, TSANOM_NONE);            \
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
  REJECT(rule, -1);
  REJECT(local_rate, 2);
  cr_assert(f.defined == 77 && model == NULL);
  tsanom_hsa_options o;
  CHECK_STATUS(tsanom_hsa_options_init(&o, sizeof o - 1), TSANOM_E_VERSION);
}
