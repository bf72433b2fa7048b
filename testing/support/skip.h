/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that cannot run here. Each reason is a line "skipped: SUITE::TEST: REASON", which
 * scripts/test lists; a reason "needs the Debian packages NAME..." lists the packages too. */
#ifndef TSANOM_TEST_SKIP_H
#define TSANOM_TEST_SKIP_H

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>

/* The test goes on without a part of it. (cr_log_warn() would fail the program.) */
__attribute__((format(printf, 1, 2), unused)) static void note_skipped(const char *format,
                                                                       ...) {
  char reason[256];
  va_list values;
  va_start(values, format);
  (void)vsnprintf(reason, sizeof reason, format, values);
  va_end(values);
  (void)fprintf(stderr, "skipped: %s::%s: %s\n", criterion_current_test->category,
                criterion_current_test->name, reason);
}

#define SKIP_TEST(...)         \
  do {                         \
    note_skipped(__VA_ARGS__); \
    cr_skip_test(__VA_ARGS__); \
  } while (0)

#endif
