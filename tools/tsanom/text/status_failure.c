/* SPDX-License-Identifier: BSD-3-Clause */
/* Apart from failure.c, because the launcher does not link libtsanom. */
#include <tsanom/base.h>

#include "failure.h"

int fail_status(failure *why, const char *name, tsanom_status status) {
  return fail(why, "%s: %s", name, tsanom_status_text(status));
}
