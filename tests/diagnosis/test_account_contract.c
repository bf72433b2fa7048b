/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences, counts and invalid input of the ledger. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "scripted.h"
#include "support/check.h"

static const char *const scripts[] = {"ccccrr----", "cccc------"};

static void expect_text(const tsanom_diagnosis_window *w, const char *expected) {
  char text[512];
  size_t length;
  CHECK_STATUS(tsanom_diagnosis_window_text(w, text, sizeof text, &length), TSANOM_OK);
  cr_assert_str_eq(text, expected);
  cr_assert_eq(length, strlen(expected));
  CHECK_STATUS(tsanom_diagnosis_window_text(w, text, 10, &length), TSANOM_PARTIAL);
  cr_assert(strlen(text) == 9 && length == strlen(expected));
}

Test(diagnosis_account, sentences) {
  tsanom_diagnosis_window w = {
      .wall_s = 10, .cpu_s = 7.1, .ready_s = 0.4, .nobody_s = 2.5};
  expect_text(&w,
              "of 10 s 7.1 s on a processor, 0.4 s ready without one, 2.5 s nobody "
              "ran");
  w.ready_s = w.nobody_s = NAN;
  expect_text(&w, "of 10 s 7.1 s on a processor, 2.9 s not");
  w.wall_s = NAN;
  expect_text(&w, "no samples of processor time");
}

Test(diagnosis_account, what_is_not_known_is_nan) {
  static scripted_run r;
  tsanom_diagnosis_ledger l;
  tsanom_diagnosis_share share[2 * TSANOM_DIAGNOSIS_WINDOWS];
  scripted_make(&r, scripts, 2, 100, 0.1);
  for (size_t i = 0; i < r.series[1].vital_count; i++) r.vital[1][i].wait_s = NAN;
  CHECK_STATUS(tsanom_diagnosis_account(&r.run, NULL, &l, share, 18), TSANOM_PARTIAL);
  cr_assert(fabs(l.window[0].cpu_s - 0.4) < 1e-9 && isnan(l.window[0].ready_s) &&
            isnan(l.window[0].nobody_s) && isnan(share[1].off_s));
  /* A thread with one sample is not in the sums. */
  scripted_make(&r, scripts, 2, 100, 0.1);
  r.series[0].vital_count = 1;
  CHECK_STATUS(tsanom_diagnosis_account(&r.run, NULL, &l, share, 18), TSANOM_PARTIAL);
  cr_assert(l.sampled == 1 && l.window[0].ready_s == 0 && isnan(share[0].cpu_s));
  r.series[1].vital_count = 0;
  CHECK_STATUS(tsanom_diagnosis_account(&r.run, NULL, &l, share, 18), TSANOM_PARTIAL);
  cr_assert(l.sampled == 0 && isnan(l.window[0].wall_s) && isnan(share[1].cpu_s));
}

Test(diagnosis_account, invalid_input_changes_nothing) {
  static scripted_run r;
  tsanom_diagnosis_ledger l, before;
  tsanom_diagnosis_share share[2 * TSANOM_DIAGNOSIS_WINDOWS];
  memset(&l, 0x5A, sizeof l);
  before = l;
  scripted_make(&r, scripts, 2, 100, 0.1);
#define REJECTED(status, ...) CHECK_STATUS(tsanom_diagnosis_account(__VA_ARGS__), status)
  REJECTED(TSANOM_E_NULL, &r.run, NULL, &l, NULL, 18);
  REJECTED(TSANOM_E_COUNT, &r.run, NULL, &l, share, 17);
  r.vital[1][3].time = 0;
  REJECTED(TSANOM_E_ORDER, &r.run, NULL, &l, NULL, 0);
  r.run.thread_count = 0;
  REJECTED(TSANOM_E_COUNT, &r.run, NULL, &l, NULL, 0);
  cr_assert(memcmp(&l, &before, sizeof l) == 0);
}
