/* SPDX-License-Identifier: BSD-3-Clause */
/* Half of a test in test_compat.c: the paper's calls have one detector for the whole
 * program, so this file must see the window that the other file sets, and change it
 * there. */
#include "other_file.h"

#include <tsanom/compat.h>

size_t window_in_other_file(void) {
  return tsanom_dpd_event_window(tsanom_compat_dpd);
}

void resize_in_other_file(int size) {
  DPDWindowSize(size);
}
