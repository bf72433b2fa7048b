/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the faults that calls report. */
#ifndef TSANOM_TEST_FAULTS_H
#define TSANOM_TEST_FAULTS_H

#include <criterion/criterion.h>
#include <string.h>
#include <tsanom/base.h>

/* An exec that reports to a fault. */
typedef struct {
  tsanom_exec exec;
  tsanom_fault fault;
} test_report;

static inline void test_report_init(test_report *report) {
  tsanom_exec_init(&report->exec, sizeof report->exec);
  report->fault = (tsanom_fault){.struct_size = sizeof report->fault};
  report->exec.fault = &report->fault;
}

/* Assert argument and indices of the last fault, and forget it. */
#define CHECK_FAULT(report, name, index, other)                                      \
  do {                                                                               \
    tsanom_fault *check_fault = &(report).fault;                                     \
    cr_assert(strcmp(check_fault->argument, name) == 0 &&                            \
                  check_fault->element == (index) && check_fault->second == (other), \
              "the fault is about %s[%zd][%zd]: %s", check_fault->argument,          \
              (ptrdiff_t)check_fault->element, (ptrdiff_t)check_fault->second,       \
              check_fault->text);                                                    \
    *check_fault = (tsanom_fault){.struct_size = sizeof *check_fault};               \
  } while (0)

#endif
