/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a region file: rejected with a message, or a run that is analyzed; salvage
 * makes no difference to JSON. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <tsanom/runs.h>
#include <tsanom/spmd.h>

#include "run_file.h"

static void check_salvage(bool readable) {
  tsanom_runs_options options;
  tsanom_runs *run = NULL;
  tsanom_runs_options_init(&options, sizeof options);
  options.salvage = 1;
  bool salvaged = tsanom_runs_open(run_file, &options, NULL, &run) == TSANOM_OK;
  if (salvaged != readable) abort();
  tsanom_runs_destroy(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tsanom_runs *run = open_run_file("regions.json", data, size);
  check_salvage(run != NULL);
  if (!run) return 0;
  tsanom_runs_spmd_data spmd;
  tsanom_spmd_report report = {.struct_size = sizeof report};
  if (tsanom_runs_spmd(run, NULL, &spmd) != TSANOM_OK) abort();
  if (tsanom_spmd_analyze(spmd.data, NULL, NULL, &report) < 0) abort();
  tsanom_runs_destroy(run);
  return 0;
}
