/* SPDX-License-Identifier: BSD-3-Clause */
/* The periodicity paper's own calls. */
#include <limits.h>
#include <tsanom/compat.h>

#include "other_file.h"
#include "support/check.h"
#include "support/random.h"

/* Push 0, 1, ..., period - 1 over and over; the period at the end. */
static int feed(int count, long kinds) {
  int period = -1;
  for (int i = 0; i < count; i++) DPD(i % kinds, &period);
  return period;
}

Test(dpd_compat, dpd_is_the_detector_with_a_window_of_1024) {
  tsanom_dpd_event *detector = NULL;
  CHECK_STATUS(tsanom_dpd_event_create(NULL, NULL, &detector), TSANOM_OK);
  uint64_t seed = 1;
  int starts = 0;
  for (int i = 0; i < 6000; i++) {
    long sample = random_bits(&seed) % 2000 == 0 ? -7 : i % 37 - 10;
    tsanom_dpd_report report;
    int period = -1;
    int start = DPD(sample, &period);
    tsanom_dpd_event_push(detector, (uint64_t)sample, &report);
    cr_assert(period == (int)report.period && start == report.start, "event %d", i);
    starts += start;
  }
  cr_assert(starts > 0);
  tsanom_dpd_event_destroy(detector);
}

Test(dpd_compat, the_period_is_not_always_wanted) {
  DPDWindowSize(4);
  int starts = 0;
  for (int i = 0; i < 20; i++) starts += DPD(i % 2, NULL);
  cr_assert(starts == 8, "%d", starts); /* found at event 5, then each other one */
}

Test(dpd_compat, the_window_changes_at_any_time) {
  DPDWindowSize(8);
  cr_assert(feed(17, 9) == 0); /* longer than the window */
  DPDWindowSize(50);           /* larger than ever: anew */
  cr_assert(feed(58, 9) == 0);
  cr_assert(feed(90, 9) == 9);
  DPDWindowSize(10); /* the history is kept */
  cr_assert(feed(9, 9) == 9);
}

Test(dpd_compat, sizes_out_of_range_change_nothing) {
  DPDWindowSize(20);
  DPDWindowSize(0);
  DPDWindowSize(-5);
  DPDWindowSize(INT_MAX);
  cr_assert(tsanom_dpd_event_window(tsanom_compat_dpd) == 20);
}

Test(dpd_compat, all_files_of_a_program_share_the_detector) {
  DPDWindowSize(20);
  cr_assert(window_in_other_file() == 20);
  resize_in_other_file(10);
  cr_assert(tsanom_dpd_event_window(tsanom_compat_dpd) == 10);
}
