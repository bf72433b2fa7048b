/* SPDX-License-Identifier: BSD-3-Clause */
/* As Criterion's own main program, but a program whose tests were all skipped is not one
 * that passed. */
#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <stdbool.h>
#include <stdlib.h>

enum { SKIPPED = 77 }; /* cmake/TsanomTest.cmake */

static bool all_skipped;

ReportHook(POST_ALL)(struct criterion_global_stats *stats) {
  all_skipped = stats->tests_skipped && stats->tests_passed == 0;
}

int main(int argc, char **argv) {
  struct criterion_test_set *tests = criterion_initialize();
  int status = EXIT_SUCCESS;
  if (criterion_handle_args(argc, argv, true) && !criterion_run_all_tests(tests)) {
    status = EXIT_FAILURE;
  }
  criterion_finalize(tests);
  return status == EXIT_SUCCESS && all_skipped ? SKIPPED : status;
}
