/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as the places of a recorded run: rejected with a message, or places as the
 * header describes them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/heartbeat.h>
#include <tsanom/runs.h>
#include <unistd.h>

#include "support/directory.h"

enum { PATH = DIRECTORY_CAPACITY + 32 };

static char folder[DIRECTORY_CAPACITY];
static char inner[PATH], places[PATH];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void clean_up(void) {
  char path[2 * PATH];
  static const char *const files[] = {"heartbeat.run", "heartbeat.00000", "places.tsv"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    (void)snprintf(path, sizeof path, "%s/%s", inner, files[i]);
    (void)unlink(path);
  }
  (void)rmdir(inner);
  (void)rmdir(folder);
}

/* A run without events. */
static void record(void) {
  if (!new_directory(folder)) abort();
  (void)snprintf(inner, sizeof inner, "%s/regions", folder);
  (void)snprintf(places, sizeof places, "%s/places.tsv", inner);
  (void)atexit(clean_up);
  if (tsanom_heartbeat_init(inner, 1, NULL, NULL) != TSANOM_OK ||
      tsanom_heartbeat_finish() != TSANOM_OK) {
    abort();
  }
}

static void write_places(const uint8_t *data, size_t size) {
  FILE *file = fopen(places, "we");
  if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
}

static void check_place(const tsanom_runs *run, size_t index) {
  tsanom_runs_place place;
  if (tsanom_runs_place_at(run, index, &place) != TSANOM_OK || !place.module) abort();
  if (place.kind != TSANOM_RUNS_VISIT_BEGIN && place.kind != TSANOM_RUNS_VISIT_PART &&
      place.kind != TSANOM_RUNS_VISIT_TASKS) {
    abort();
  }
  if (place.is_call != 0 && place.is_call != 1) abort();
}

/* Open the run and look up all places; returns their number, or SIZE_MAX. */
static size_t open_folder(int32_t salvage, size_t size) {
  tsanom_fault fault;
  tsanom_exec exec;
  tsanom_runs_options options;
  tsanom_runs *run = NULL;
  tsanom_exec_init(&exec, sizeof exec);
  fault = (tsanom_fault){.struct_size = sizeof fault};
  exec.fault = &fault;
  tsanom_runs_options_init(&options, sizeof options);
  options.symbols = 0;
  options.salvage = salvage;
  tsanom_status status = tsanom_runs_open(folder, &options, &exec, &run);
  if (status != TSANOM_OK) {
    if (status != TSANOM_E_FORMAT || !*fault.text || !*fault.file || run) abort();
    return SIZE_MAX;
  }
  tsanom_runs_info info = {.struct_size = sizeof info};
  tsanom_runs_describe(run, &info);
  if (info.places >= TSANOM_RUNS_PLACES_MAX || info.places > size) abort();
  for (size_t i = 0; i < info.places; i++) {
    const char *name = NULL;
    check_place(run, i);
    if (tsanom_runs_place_name(run, i, NULL, &name) != TSANOM_OK || !*name) abort();
  }
  tsanom_runs_destroy(run);
  return info.places;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static int recorded;
  if (!recorded) record();
  recorded = 1;
  write_places(data, size);
  size_t strict = open_folder(0, size);
  size_t salvaged = open_folder(1, size);
  if (salvaged == SIZE_MAX || (strict != SIZE_MAX && salvaged != strict)) abort();
  return 0;
}
