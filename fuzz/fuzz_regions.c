/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a region file: rejected with a message, or a run that is analyzed. */
#include <stdint.h>
#include <stdlib.h>
#include <tsanom/runs.h>

#include "run_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tsanom_runs *run = open_run_file("regions.json", data, size);
  if (!run) return 0;
  tsanom_runs_spmd_data spmd;
  tsanom_spmd_report report;
  tsanom_spmd_report_init(&report, sizeof report);
  if (tsanom_runs_spmd(run, NULL, &spmd) != TSANOM_OK) abort();
  if (tsanom_spmd_analyze(spmd.data, NULL, NULL, &report) < 0) abort();
  tsanom_runs_close(run);
  return 0;
}
