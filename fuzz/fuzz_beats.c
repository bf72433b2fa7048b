/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as heartbeats in CSV: rejected with a message, or series that do not
 * decrease. */
#include <math.h>
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
    (void)snprintf(path, sizeof path, "%s/beats.csv", folder);
  }
  FILE *file = fopen(path, "we");
  if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
  return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tsanom_fault fault;
  tsanom_exec exec;
  tsanom_runs *run = NULL;
  tsanom_exec_init(&exec, sizeof exec);
  tsanom_fault_init(&fault, sizeof fault);
  exec.fault = &fault;
  if (tsanom_runs_open(write_input(data, size), NULL, &exec, &run) != TSANOM_OK) {
    if (!*fault.text || !*fault.file || run) abort();
    return 0;
  }
  const tsanom_hsa_run *beats;
  if (tsanom_runs_hsa(run, NULL, &beats) != TSANOM_OK) abort();
  for (size_t t = 0; t < beats->thread_count; t++) {
    const tsanom_hsa_series *s = &beats->threads[t];
    for (size_t i = 0; i < s->beats; i++) {
      if (!isfinite(s->time[i])) abort();
      if (s->time[i] < (i ? s->time[i - 1] : beats->start)) abort();
    }
  }
  tsanom_runs_close(run);
  return 0;
}
