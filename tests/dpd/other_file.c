/* SPDX-License-Identifier: BSD-3-Clause */
#include "other_file.h"

#include <tsanom/compat.h>

size_t window_in_other_file(void) {
  return tsanom_dpd_event_window(tsanom_compat_dpd);
}

void resize_in_other_file(int size) {
  DPDWindowSize(size);
}
