/* SPDX-License-Identifier: BSD-3-Clause */
/* What all modules share: each status has a name and a text, the library has the version
 * of its headers, and a tsanom_exec is initialized for callers of newer releases, too. */
#include <stdio.h>
#include <string.h>
#include <tsanom/base.h>

#include "support/check.h"

Test(base, every_status_has_its_name_and_text) {
  for (tsanom_status s = TSANOM_E_INDEX; s <= TSANOM_RANK_DEFICIENT; s++) {
    cr_assert_str_neq(tsanom_status_name(s), "?", "status %d", s);
    cr_assert_gt(strlen(tsanom_status_text(s)), 3, "status %d", s);
  }
}

Test(base, unknown_status_is_answered_too) {
  cr_assert_str_eq(tsanom_status_name(12345), "?");
  cr_assert_not_null(tsanom_status_text(-12345));
}

Test(base, version_is_that_of_the_headers) {
  char expected[32];
  snprintf(expected, sizeof expected, "%d.%d.%d", TSANOM_VERSION_MAJOR,
           TSANOM_VERSION_MINOR, TSANOM_VERSION_PATCH);
  cr_assert_str_eq(tsanom_version(), expected);
}

Test(base, isa_levels) {
  cr_assert(tsanom_isa_available(TSANOM_ISA_AUTO));
  cr_assert(tsanom_isa_available(TSANOM_ISA_BASE));
  cr_assert(!tsanom_isa_available(-1));
  cr_assert(!tsanom_isa_available(99));
  cr_assert(tsanom_isa_available(tsanom_isa_best()));
}

Test(base, exec_init_serves_older_and_newer_callers) {
  CHECK_STATUS(tsanom_exec_init(NULL, sizeof(tsanom_exec)), TSANOM_E_NULL);
  tsanom_exec exec;
  CHECK_STATUS(tsanom_exec_init(&exec, sizeof exec - 1), TSANOM_E_VERSION);
  struct {
    tsanom_exec known;
    unsigned char appended[16];
  } newer;
  memset(&newer, 0xFF, sizeof newer);
  CHECK_STATUS(tsanom_exec_init(&newer.known, sizeof newer), TSANOM_OK);
  cr_assert(newer.known.struct_size == sizeof newer);
  cr_assert(newer.known.threads == 1);
  for (size_t i = 0; i < sizeof newer.appended; i++) cr_assert(newer.appended[i] == 0);
}
