/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as heartbeats in CSV: rejected with a message, or series that do not
 * decrease. */
#include <math.h>
#include <tsanom/hsa.h>

#include "files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tsanom_runs *run = open_written("beats.csv", data, size, 0);
  if (!run) return 0;
  const tsanom_hsa_run *beats;
  if (tsanom_runs_hsa(run, NULL, &beats) != TSANOM_OK) abort();
  for (size_t t = 0; t < beats->thread_count; t++) {
    const tsanom_hsa_series *s = &beats->threads[t];
    for (size_t i = 0; i < s->beats; i++) {
      if (!isfinite(s->time[i])) abort();
      if (s->time[i] < (i ? s->time[i - 1] : beats->start)) abort();
    }
  }
  tsanom_runs_destroy(run);
  return 0;
}
