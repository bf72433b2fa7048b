/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rejected call reports: argument, element, and the whole text, which is compared
 * with sentences written here. The struct of the report may be missing, or be of another
 * release. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/exec.h"
#include "core/fault.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/random.h"

static tsanom_fault prepared(void) {
  tsanom_fault fault = {.struct_size = sizeof fault};
  return fault;
}

Test(fault, a_failure_is_forwarded_if_the_caller_wants_it) {
  tsanom_fault found = prepared(), fault = prepared();
  tsanom_exec silent = {.fault = NULL}, exec = {.fault = &fault};
  found.status = TSANOM_E_IO;
  tsn_fault_forward(NULL, &found);
  tsn_fault_forward(&silent, &found);
  tsn_fault_forward(&exec, &found);
  cr_assert(fault.status == TSANOM_E_IO);
}

Test(fault, an_allocator_has_both_functions) {
  tsanom_fault fault = prepared();
  test_allocator allocator = {0};
  for (int missing = 0; missing < 2; missing++) {
    tsanom_exec own, exec = test_exec(&allocator);
    exec.fault = &fault;
    if (missing) {
      exec.dealloc = NULL;
    } else {
      exec.alloc = NULL;
    }
    CHECK_STATUS(tsn_exec_read(&own, &exec), TSANOM_E_EXEC);
    cr_assert_str_eq(fault.argument, missing ? "exec.dealloc" : "exec.alloc");
  }
}

/* A rejected number and the limit beside it do not look the same. */
Test(fault, numbers_can_be_read_back) {
  tsanom_fault fault = prepared();
  tsanom_exec exec = {.fault = &fault};
  uint64_t seed = 1;
  for (int trial = 0; trial < 1000; trial++) {
    double value =
        ldexp(random_unit(&seed) - 0.5, (int)random_between(&seed, 0, 1000) - 500);
    if (trial % 2) value = nextafter(round(value), INFINITY);
    tsn_reject_value(&exec, TSANOM_E_VALUE, "x", TSANOM_NONE, TSANOM_NONE, value,
                     "0 is expected");
    cr_assert(
        strncmp(fault.text, "x is ", 5) == 0 && strtod(fault.text + 5, NULL) == value,
        "%s", fault.text);
  }
  tsn_reject_value(&exec, TSANOM_E_VALUE, "x", TSANOM_NONE, TSANOM_NONE, 0.1,
                   "0 is expected");
  cr_assert_str_eq(fault.text, "x is 0.1; 0 is expected");
}

Test(fault, a_rejection_names_argument_and_element) {
  tsanom_fault fault = prepared();
  tsanom_exec exec = {.fault = &fault};
  CHECK_STATUS(tsn_reject(&exec, TSANOM_E_NULL, "x"), TSANOM_E_NULL);
  cr_assert_str_eq(fault.text, "x: a required pointer is NULL");
  cr_assert(fault.status == TSANOM_E_NULL && fault.element == TSANOM_NONE);

  CHECK_STATUS(tsn_reject_text(&exec, TSANOM_E_NONFINITE, "y", 7, "%s",
                               tsanom_status_text(TSANOM_E_NONFINITE)),
               TSANOM_E_NONFINITE);
  cr_assert_str_eq(fault.text, "y[7]: a sample is NaN or infinite");
  cr_assert_str_eq(fault.argument, "y");
  cr_assert(fault.element == 7 && fault.second == TSANOM_NONE);

  tsn_reject_pair_text(&exec, TSANOM_E_VALUE, "m", 2, 3, "%s",
                       tsanom_status_text(TSANOM_E_VALUE));
  cr_assert_str_eq(fault.text, "m[2][3]: a sample is outside the range of the method");

  tsn_reject_text(&exec, TSANOM_E_OPTION, "options.xi", TSANOM_NONE,
                  "%g; expected (0, 1)", 1.5);
  cr_assert_str_eq(fault.text, "options.xi: 1.5; expected (0, 1)");
}

#define CHECK_TEXT(call, status, string) \
  CHECK_STATUS(call, status);            \
  cr_assert_str_eq(fault.text, string)

Test(fault, a_rejection_says_what_is_expected) {
  tsanom_fault fault = prepared();
  tsanom_exec exec = {.fault = &fault};
  const tsanom_status option = TSANOM_E_OPTION, count = TSANOM_E_COUNT;
  CHECK_TEXT(tsn_require(&exec, NULL, "model"), TSANOM_E_NULL,
             "model is NULL; an address is expected");
  CHECK_TEXT(tsn_require_array(&exec, NULL, 8, "x"), TSANOM_E_NULL,
             "x is NULL; an array of 8 is expected");
  CHECK_TEXT(tsn_require_size(&exec, count, "n", 0, 1, SIZE_MAX), count,
             "n is 0; at least 1 is expected");
  CHECK_TEXT(tsn_require_size(&exec, count, "n", SIZE_MAX, 0, SIZE_MAX - 1), count,
             "n is 18446744073709551615; 0 to 18446744073709551614 is expected");
  CHECK_TEXT(tsn_require_int(&exec, option, "radius", -3, 0, INT32_MAX), option,
             "radius is -3; at least 0 is expected");
  CHECK_TEXT(tsn_require_int(&exec, option, "options.cost", 7, 0, 1), option,
             "options.cost is 7; 0 or 1 is expected");
  CHECK_TEXT(tsn_require_int(&exec, option, "reserved0", 1, 0, 0), option,
             "reserved0 is 1; 0 is expected");
  CHECK_TEXT(
      tsn_require_int(&exec, option, "bins", INT64_MIN, INT64_MIN + 1, INT64_MAX - 1),
      option,
      "bins is -9223372036854775808; -9223372036854775807 to 9223372036854775806 is "
      "expected");
  CHECK_TEXT(tsn_reject_value(&exec, option, "options.xi", TSANOM_NONE, TSANOM_NONE, 1.5,
                              "0 to 1 is expected"),
             option, "options.xi is 1.5; 0 to 1 is expected");
  CHECK_TEXT(
      tsn_reject_value(&exec, TSANOM_E_NONFINITE, "x", 3, TSANOM_NONE, -NAN, TSN_FINITE),
      TSANOM_E_NONFINITE, "x[3] is NaN; finite samples are expected");
  CHECK_TEXT(
      tsn_reject_value(&exec, TSANOM_E_NONFINITE, "x", 3, 1, -INFINITY, TSN_FINITE),
      TSANOM_E_NONFINITE, "x[3][1] is -inf; finite samples are expected");
  CHECK_TEXT(tsn_reject_field_is(&exec, count, "queries", "length", TSANOM_NONE,
                                 "%d; the index has series of %d samples", 3, 4),
             count, "queries.length is 3; the index has series of 4 samples");
  cr_assert_str_eq(fault.argument, "queries.length");
  CHECK_TEXT(tsn_reject_memory(&exec, 64), TSANOM_E_MEMORY,
             "exec.alloc: NULL was returned for 64 bytes");
  cr_assert(tsn_require(&exec, &exec, "x") == TSANOM_OK);
  cr_assert(tsn_require_array(&exec, &exec, 1, "x") == TSANOM_OK);
  cr_assert(tsn_require_size(&exec, count, "n", 1, 1, 1) == TSANOM_OK);
  cr_assert(tsn_require_int(&exec, option, "n", -1, -1, -1) == TSANOM_OK);
}

Test(fault, a_rejected_struct_states_its_size) {
  tsanom_fault fault = prepared();
  tsanom_exec exec = {.fault = &fault};
  const tsn_versioned type = {.size = 56, .first_size = 40};
  struct {
    size_t struct_size;
  } older = {8}, newer = {800};
  CHECK_TEXT(tsn_reject_struct(&exec, TSANOM_E_NULL, "found", &type, NULL), TSANOM_E_NULL,
             "found is NULL; an address is expected");
  CHECK_TEXT(tsn_reject_struct(&exec, TSANOM_E_VERSION, "options", &type, &older),
             TSANOM_E_VERSION, "options.struct_size is 8; at least 40 is expected");
  CHECK_TEXT(tsn_reject_struct(&exec, TSANOM_E_VERSION, "options", &type, &newer),
             TSANOM_E_VERSION,
             "options.struct_size is 800; 0 is expected in the bytes from 56 on");
}

Test(fault, no_fault_and_no_exec_only_return_the_status) {
  tsanom_exec exec = {0};
  CHECK_STATUS(tsn_reject(&exec, TSANOM_E_NULL, "x"), TSANOM_E_NULL);
  CHECK_STATUS(tsn_reject(NULL, TSANOM_E_NULL, "x"), TSANOM_E_NULL);
  CHECK_STATUS(tsn_reject_text(NULL, TSANOM_E_NULL, "x", 0, "text"), TSANOM_E_NULL);
  CHECK_STATUS(tsn_reject_field_is(&exec, TSANOM_E_NULL, "x", "y", 0, "0"),
               TSANOM_E_NULL);
  CHECK_STATUS(tsn_reject_int(NULL, TSANOM_E_OPTION, "x", 2, 0, 1), TSANOM_E_OPTION);
  CHECK_STATUS(tsn_reject_size(&exec, TSANOM_E_OPTION, "x", 2, 0, 1), TSANOM_E_OPTION);
}

Test(fault, long_texts_are_cut_and_terminated) {
  tsanom_fault fault = prepared();
  tsanom_exec exec = {.fault = &fault};
  char longer[600];
  memset(longer, 'a', sizeof longer);
  longer[sizeof longer - 1] = 0;
  tsn_reject_text(&exec, TSANOM_E_OPTION, longer, 1, "%s", longer);
  cr_assert(strlen(fault.argument) == sizeof fault.argument - 1);
  cr_assert(strlen(fault.text) == sizeof fault.text - 1);
}

Test(fault, a_fault_of_a_newer_caller_is_filled_as_far_as_known) {
  struct {
    tsanom_fault known;
    uint64_t unknown;
  } newer;
  newer.known = (tsanom_fault){.struct_size = sizeof newer};
  tsanom_exec exec = {.fault = &newer.known};
  newer.unknown = 9;
  tsn_reject(&exec, TSANOM_E_NULL, "x");
  cr_assert(newer.known.struct_size == sizeof newer && newer.unknown == 0);
  cr_assert(newer.known.status == TSANOM_E_NULL);
}

Test(fault, exec_reports_its_own_fields) {
  tsanom_fault fault = prepared();
  tsanom_exec caller, own;
  tsanom_exec_init(&caller, sizeof caller);
  caller.fault = &fault;
  caller.threads = -1;
  CHECK_STATUS(tsn_exec_read(&own, &caller), TSANOM_E_EXEC);
  cr_assert_str_eq(fault.argument, "exec.threads");
  caller.threads = 1;
  caller.isa = 99;
  CHECK_STATUS(tsn_exec_read(&own, &caller), TSANOM_E_EXEC);
  cr_assert_str_eq(fault.argument, "exec.isa");
  caller.isa = TSANOM_ISA_AUTO;
  caller.work_bytes = 8;
  CHECK_STATUS(tsn_exec_read(&own, &caller), TSANOM_E_NULL);
  cr_assert_str_eq(fault.argument, "exec.work");
  caller.work_bytes = 0;
  fault.struct_size = 8;
  CHECK_STATUS(tsn_exec_read(&own, &caller), TSANOM_E_VERSION);
}

Test(fault, an_object_keeps_only_threads_isa_and_allocator) {
  tsanom_fault fault = prepared();
  char work[8];
  tsanom_exec caller, own;
  tsanom_exec_init(&caller, sizeof caller);
  caller.fault = &fault;
  caller.work = work;
  caller.work_bytes = sizeof work;
  CHECK_STATUS(tsn_exec_read(&own, &caller), TSANOM_OK);
  tsanom_exec kept = tsn_exec_for_object(&own);
  cr_assert(!kept.fault && !kept.work && !kept.work_bytes && !kept.poll);
  cr_assert(kept.alloc == own.alloc && kept.isa == own.isa);
}

Test(fault, absurd_thread_counts_are_bounded) {
  tsanom_exec caller, own;
  tsanom_exec_init(&caller, sizeof caller);
  caller.threads = INT32_MAX;
  CHECK_STATUS(tsn_exec_read(&own, &caller), TSANOM_OK);
  cr_assert(own.threads >= 1 && own.threads <= 1 << 16);
}
