/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "core/exec.h"
#include "core/fault.h"
#include "support/allocator.h"
#include "support/check.h"

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

Test(fault, a_rejection_names_argument_and_element) {
  tsanom_fault fault = prepared();
  tsanom_exec exec = {.fault = &fault};
  CHECK_STATUS(tsn_reject(&exec, TSANOM_E_NULL, "x"), TSANOM_E_NULL);
  cr_assert_str_eq(fault.text, "x: a required pointer is NULL");
  cr_assert(fault.status == TSANOM_E_NULL && fault.element == TSANOM_NONE);

  CHECK_STATUS(tsn_reject_at(&exec, TSANOM_E_NONFINITE, "y", 7), TSANOM_E_NONFINITE);
  cr_assert_str_eq(fault.text, "y[7]: a sample is NaN or infinite");
  cr_assert_str_eq(fault.argument, "y");
  cr_assert(fault.element == 7 && fault.second == TSANOM_NONE);

  tsn_reject_pair(&exec, TSANOM_E_VALUE, "m", 2, 3);
  cr_assert_str_eq(fault.text, "m[2][3]: a sample is outside the range of the method");

  tsn_reject_text(&exec, TSANOM_E_OPTION, "options.xi", TSANOM_NONE,
                  "%g; expected (0, 1)", 1.5);
  cr_assert_str_eq(fault.text, "options.xi: 1.5; expected (0, 1)");
}

Test(fault, no_fault_and_no_exec_only_return_the_status) {
  tsanom_exec exec = {0};
  CHECK_STATUS(tsn_reject(&exec, TSANOM_E_NULL, "x"), TSANOM_E_NULL);
  CHECK_STATUS(tsn_reject(NULL, TSANOM_E_NULL, "x"), TSANOM_E_NULL);
  CHECK_STATUS(tsn_reject_text(NULL, TSANOM_E_NULL, "x", 0, "text"), TSANOM_E_NULL);
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
