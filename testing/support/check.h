/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_TEST_CHECK_H
#define TSANOM_TEST_CHECK_H

#include <criterion/criterion.h>
#include <tsanom/base.h>

#include "support/isa.h"

/* Assert the status of a call, and name both when they differ. */
#define CHECK_STATUS(call, expected)                                        \
  do {                                                                      \
    tsanom_status check_got = (call);                                       \
    cr_assert(check_got == (expected), "%s\n  gave %s, not %s", #call,      \
              tsanom_status_name(check_got), tsanom_status_name(expected)); \
  } while (0)

#endif
