/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as the places of a recorded run: rejected with a message, or places as the
 * header describes them. */
#include <tsanom/heartbeat.h>

#include "files.h"

/* A run of regions without events. */
static void record(void) {
  char path[PATH];
  make_folder();
  (void)snprintf(path, PATH, "%s/regions", folder);
  if (tsanom_heartbeat_init(path, 1, NULL, NULL) != TSANOM_OK ||
      tsanom_heartbeat_finish() != TSANOM_OK) {
    abort();
  }
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
  tsanom_runs *run = open_run(folder, salvage, &fault);
  if (!run && fault.status != TSANOM_E_FORMAT) abort();
  if (!run) return SIZE_MAX;
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
  if (!*folder) record();
  write_file("regions/places.tsv", data, size);
  size_t strict = open_folder(0, size);
  size_t salvaged = open_folder(1, size);
  if (salvaged == SIZE_MAX || (strict != SIZE_MAX && salvaged != strict)) abort();
  return 0;
}
