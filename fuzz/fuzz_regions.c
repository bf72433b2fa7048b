/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a region file: rejected with a message, or a run that is analyzed; salvage
 * makes no difference to JSON. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tsanom/runs.h>

#include "support/directory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *write_input(const uint8_t *data, size_t size) {
  static char folder[DIRECTORY_CAPACITY], path[DIRECTORY_CAPACITY + 16];
  if (!*path) {
    if (!new_directory(folder)) abort();
    (void)snprintf(path, sizeof path, "%s/regions.json", folder);
  }
  FILE *file = fopen(path, "we");
  if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
  return path;
}

static void check_salvage(const char *path, tsanom_status expected) {
  tsanom_runs_options options;
  tsanom_runs *run = NULL;
  tsanom_runs_options_init(&options, sizeof options);
  options.salvage = 1;
  if (tsanom_runs_open(path, &options, NULL, &run) != expected) abort();
  tsanom_runs_close(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tsanom_fault fault;
  tsanom_exec exec;
  tsanom_runs *run = NULL;
  tsanom_exec_init(&exec, sizeof exec);
  tsanom_fault_init(&fault, sizeof fault);
  exec.fault = &fault;
  const char *path = write_input(data, size);
  tsanom_status status = tsanom_runs_open(path, NULL, &exec, &run);
  check_salvage(path, status);
  if (status != TSANOM_OK) {
    if (!*fault.text || !*fault.file || run) abort();
    return 0;
  }
  tsanom_runs_spmd_data spmd;
  tsanom_spmd_report report;
  tsanom_spmd_report_init(&report, sizeof report);
  if (tsanom_runs_spmd(run, NULL, &spmd) != TSANOM_OK) abort();
  if (tsanom_spmd_analyze(spmd.data, NULL, NULL, &report) < 0) abort();
  tsanom_runs_close(run);
  return 0;
}
