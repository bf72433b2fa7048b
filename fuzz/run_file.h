/* SPDX-License-Identifier: BSD-3-Clause */
/* The input of a fuzzer as a file that tsanom_runs_open() reads. */
#ifndef TSANOM_FUZZ_RUN_FILE_H
#define TSANOM_FUZZ_RUN_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tsanom/runs.h>
#include <unistd.h>

#include "support/directory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char run_directory[DIRECTORY_CAPACITY], run_file[DIRECTORY_CAPACITY + 16];

static inline void remove_run_file(void) {
  (void)unlink(run_file);
  (void)rmdir(run_directory);
}

/* The run that a file of this name contains; NULL if it is rejected, with a message. */
static inline tsanom_runs *open_run_file(const char *name, const uint8_t *data,
                                         size_t size) {
  if (!*run_file) {
    if (!new_directory(run_directory)) abort();
    (void)snprintf(run_file, sizeof run_file, "%s/%s", run_directory, name);
    (void)atexit(remove_run_file);
  }
  FILE *file = fopen(run_file, "we");
  if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
  tsanom_fault fault;
  tsanom_exec exec;
  tsanom_runs *run = NULL;
  tsanom_exec_init(&exec, sizeof exec);
  fault = (tsanom_fault){.struct_size = sizeof fault};
  exec.fault = &fault;
  if (tsanom_runs_open(run_file, NULL, &exec, &run) == TSANOM_OK) return run;
  if (!*fault.text || !*fault.file || run) abort();
  return NULL;
}

#endif
