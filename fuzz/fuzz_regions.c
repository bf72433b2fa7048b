/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a region file: rejected with a message, or a run that is analyzed; salvage
 * makes no difference to JSON. */
#include <tsanom/spmd.h>

#include "files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tsanom_runs *run = open_written("regions.json", data, size, 0);
  tsanom_runs *salvaged = open_written("regions.json", data, size, 1);
  if (!run != !salvaged) abort();
  tsanom_runs_destroy(salvaged);
  if (!run) return 0;
  tsanom_runs_spmd_data spmd;
  tsanom_spmd_report report = {.struct_size = sizeof report};
  if (tsanom_runs_spmd(run, NULL, &spmd) != TSANOM_OK) abort();
  if (tsanom_spmd_analyze(spmd.data, NULL, NULL, &report) < 0) abort();
  tsanom_runs_destroy(run);
  return 0;
}
