/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that a fuzzer writes for a reader of runs, in a directory that is removed at its end. */
#ifndef TSANOM_FUZZ_FILES_H
#define TSANOM_FUZZ_FILES_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/runs.h>
#include <unistd.h>

#include "support/directory.h"
#include "support/exec.h"

enum { PATH = DIRECTORY_CAPACITY + 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[DIRECTORY_CAPACITY];

static inline void remove_folder(void) {
  directory_remove(folder);
}

static inline void make_folder(void) {
  if (!new_directory(folder)) abort();
  (void)atexit(remove_folder);
}

/* Writes a file in place: file systems flush one that is cut to nothing first. */
static inline void write_file(const char *name, const void *bytes, size_t count) {
  char path[PATH];
  (void)snprintf(path, PATH, "%s/%s", folder, name);
  int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0 || pwrite(file, bytes, count, 0) != (ssize_t)count ||
      ftruncate(file, (off_t)count) != 0 || close(file) != 0) {
    abort();
  }
}

/* The run that `path` contains; NULL if it is rejected, with a message. */
static inline tsanom_runs *open_run(const char *path, int32_t salvage,
                                    tsanom_fault *fault) {
  tsanom_exec exec = exec_reporting(fault);
  tsanom_runs_options options;
  tsanom_runs *run = NULL;
  (void)tsanom_runs_options_init(&options, sizeof options);
  options.symbols = 0;
  options.salvage = salvage;
  if (tsanom_runs_open(path, &options, &exec, &run) == TSANOM_OK) return run;
  if (!*fault->text || !*fault->file || run) abort();
  return NULL;
}

/* The same of the input as a file of this name. */
static inline tsanom_runs *open_written(const char *name, const uint8_t *data,
                                        size_t size, int32_t salvage) {
  tsanom_fault fault;
  char path[PATH];
  if (!*folder) make_folder();
  write_file(name, data, size);
  (void)snprintf(path, PATH, "%s/%s", folder, name);
  return open_run(path, salvage, &fault);
}

#endif
