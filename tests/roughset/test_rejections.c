/* SPDX-License-Identifier: BSD-3-Clause */
/* What rejections report: sizes that overflow, arguments, elements, options. */
#include <math.h>

#include "roughset/tables.h"
#include "support/ask.h"
#include "support/check.h"
#include "support/faults.h"

enum { TALL = 40, WIDE = 12, PAIRS = TALL * (TALL - 1) / 2 };

static int32_t values[TALL * WIDE], decision[TALL];
static double samples[TALL];
static uint64_t elements[PAIRS], set;
static size_t element_count;
static tsanom_roughset_table table;
static tsanom_roughset_options options;

static void prepare(void) {
  fill_family(FAMILY_INCONSISTENT, TALL, WIDE, values, decision);
  table = table_of(values, decision, TALL, WIDE);
  tsanom_roughset_options_init(&options, sizeof options);
  CHECK_STATUS(
      tsanom_roughset_elements(&table, &options, NULL, elements, PAIRS, &element_count),
      TSANOM_OK);
}

Test(roughset_rejections, sizes_that_do_not_fit_are_rejected) {
  size_t bytes = 7;
  tsanom_exec ask = ask_exec(NULL, &bytes);
  table = table_of(NULL, NULL, SIZE_MAX, 3);
  CHECK_STATUS(tsanom_roughset_elements(&table, NULL, &ask, NULL, 0, NULL),
               TSANOM_E_OVERFLOW);
  CHECK_STATUS(tsanom_roughset_reducts(NULL, SIZE_MAX, 3, NULL, &ask, NULL, NULL),
               TSANOM_E_OVERFLOW);
  table.rows = 0;
  CHECK_STATUS(tsanom_roughset_core(&table, NULL, &ask, NULL), TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_roughset_cuts(NULL, NULL, 0, 0, 1, &ask, NULL, 0, NULL),
               TSANOM_E_COUNT);
  cr_assert(bytes == 7);
}

Test(roughset_rejections, rejections_name_argument_and_element, .init = prepare) {
  test_report report;
  test_report_init(&report);
  const size_t none = TSANOM_NONE;
  uint64_t core;
  set = (uint64_t)1 << WIDE | (uint64_t)1 << 40;
  size_t count;
  decision[7] = decision[3] = TSANOM_ROUGHSET_MISSING;
  CHECK_STATUS(tsanom_roughset_core(&table, NULL, &report.exec, &core), TSANOM_E_VALUE);
  cr_assert_str_eq(report.fault.text,
                   "table.decision[3] is TSANOM_ROUGHSET_MISSING; a decision is expected "
                   "in every row");
  CHECK_FAULT(report, "table.decision", 3, none);
  decision[7] = decision[3] = 0;
  table.ld = WIDE - 1;
  CHECK_STATUS(tsanom_roughset_core(&table, NULL, &report.exec, &core), TSANOM_E_OPTION);
  CHECK_FAULT(report, "table.ld", none, none);
  table.ld = SIZE_MAX / 4;
  CHECK_STATUS(tsanom_roughset_core(&table, NULL, &report.exec, &core),
               TSANOM_E_OVERFLOW);
  CHECK_FAULT(report, "table.ld", none, none);
  table.ld = 0;
  CHECK_STATUS(tsanom_roughset_rules(&table, &set, &report.exec, NULL, 0, &count),
               TSANOM_E_INDEX);
  cr_assert_str_eq(report.fault.text,
                   "subset[12] is 1; 0 is expected beyond the 12 attributes");
  CHECK_FAULT(report, "subset", WIDE, none);
  elements[5] |= (uint64_t)1 << 50;
  CHECK_STATUS(tsanom_roughset_reducts(elements, element_count, WIDE, NULL, &report.exec,
                                       NULL, &count),
               TSANOM_E_INDEX);
  cr_assert_str_eq(report.fault.text,
                   "elements[5][50] is 1; 0 is expected beyond the 12 attributes");
  CHECK_FAULT(report, "elements", 5, 50);
  samples[9] = NAN;
  CHECK_STATUS(tsanom_roughset_cuts(samples, NULL, TALL, TSANOM_ROUGHSET_EQUAL_WIDTH, 2,
                                    &report.exec, NULL, 0, &count),
               TSANOM_E_NONFINITE);
  cr_assert_str_eq(report.fault.text, "samples[9] is NaN; finite samples are expected");
  CHECK_FAULT(report, "samples", 9, none);
}

Test(roughset_rejections, options_that_a_function_does_not_use_are_rejected,
     .init = prepare) {
  test_report report;
  test_report_init(&report);
  size_t count;
  options.reading = TSANOM_ROUGHSET_GENERALIZED;
  CHECK_STATUS(
      tsanom_roughset_inconsistent(&table, &options, &report.exec, NULL, 0, &count),
      TSANOM_E_OPTION);
  CHECK_FAULT(report, "options.reading", TSANOM_NONE, TSANOM_NONE);
  tsanom_roughset_options_init(&options, sizeof options);
  options.absorb = 0;
  CHECK_STATUS(tsanom_roughset_core(&table, &options, &report.exec, &set),
               TSANOM_E_OPTION);
  CHECK_FAULT(report, "options.absorb", TSANOM_NONE, TSANOM_NONE);
  tsanom_roughset_options_init(&options, sizeof options);
  options.size_limit = 3;
  CHECK_STATUS(tsanom_roughset_greedy(&table, &options, &report.exec, &set, NULL),
               TSANOM_E_OPTION);
  cr_assert_str_eq(report.fault.text,
                   "options.size_limit is 3; its default, 18446744073709551615, is "
                   "expected: this function does not use it");
  CHECK_FAULT(report, "options.size_limit", TSANOM_NONE, TSANOM_NONE);
}
