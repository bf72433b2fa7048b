/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the faults that calls report. */
#ifndef TSANOM_TEST_FAULTS_H
#define TSANOM_TEST_FAULTS_H

#include <string.h>
#include <tsanom/base.h>

#include "support/check.h"
#include "support/exec.h"

/* An exec that reports to a fault. */
typedef struct {
  tsanom_exec exec;
  tsanom_fault fault;
} test_report;

static inline void test_report_init(test_report *report) {
  report->exec = exec_reporting(&report->fault);
}

/* Assert what the fault is about, and forget it. */
static inline void check_fault(tsanom_fault *fault, const char *name, size_t element,
                               size_t second) {
  cr_assert(strcmp(fault->argument, name) == 0 && fault->element == element &&
                fault->second == second,
            "the fault is about %s[%zd][%zd], not %s: %s", fault->argument,
            (ptrdiff_t)fault->element, (ptrdiff_t)fault->second, name, fault->text);
  *fault = (tsanom_fault){.struct_size = sizeof *fault};
}

#define CHECK_FAULT(report, name, element, second) \
  check_fault(&(report).fault, name, element, second)

/* Assert that a call is rejected for an argument, or for an element of it. */
#define REJECTED_AT(fault, call, expected, name, element, second) \
  do {                                                            \
    CHECK_STATUS(call, expected);                                 \
    check_fault(fault, name, element, second);                    \
  } while (0)
#define REJECTED(fault, call, expected, name) \
  REJECTED_AT(fault, call, expected, name, TSANOM_NONE, TSANOM_NONE)

#endif
