/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the time of a run went. Two threads are made up here, which compute for 7 s and
 * sleep for 3 s; tsanom/runs.h reads recorded ones. */
#include <stdio.h>
#include <tsanom/diagnosis.h>

enum { THREADS = 2, SAMPLES = 11 };

int main(void) {
  static tsanom_hsa_vital vital[THREADS][SAMPLES];
  tsanom_hsa_series series[THREADS] = {0};
  tsanom_hsa_run run = {.threads = series, .thread_count = THREADS};
  tsanom_diagnosis_ledger ledger;
  char text[512];
  for (int t = 0; t < THREADS; t++) {
    for (int i = 0; i < SAMPLES; i++) {
      vital[t][i] = (tsanom_hsa_vital){.time = i, .cpu_s = i < 7 ? i : 7, .thread = t};
    }
    series[t].vital = vital[t];
    series[t].vital_count = SAMPLES;
  }
  if (tsanom_diagnosis_account(&run, NULL, &ledger, NULL, 0) != TSANOM_OK) return 1;
  (void)tsanom_diagnosis_window_text(&ledger.window[0], text, sizeof text, NULL);
  printf("%s\n", text);
  return 0;
}
