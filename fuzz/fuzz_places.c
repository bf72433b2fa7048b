/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as the places of a recorded run: refused with a message, or places that are
 * what the header promises. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/heartbeat.h>
#include <tsanom/regions.h>
#include <unistd.h>

#include "support/folder.h"

enum { PATH = FOLDER_ROOM + 32 };

static char folder[FOLDER_ROOM];
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
  if (!new_folder(folder)) abort();
  (void)snprintf(inner, sizeof inner, "%s/regions", folder);
  (void)snprintf(places, sizeof places, "%s/places.tsv", inner);
  (void)atexit(clean_up);
  if (tsanom_heartbeat_init(inner, 1, NULL) != TSANOM_OK ||
      tsanom_heartbeat_finish() != TSANOM_OK) {
    abort();
  }
}

static void write_places(const uint8_t *data, size_t size) {
  FILE *file = fopen(places, "we");
  if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
}

static void check_place(const tsanom_regions *regions, size_t index) {
  tsanom_regions_place place;
  if (tsanom_regions_place_at(regions, index, &place, sizeof place) != TSANOM_OK) abort();
  if (!memchr(place.module, '\0', sizeof place.module)) abort();
  if (place.kind != TSANOM_REGIONS_BEGIN && place.kind != TSANOM_REGIONS_SHARE) abort();
  if (place.is_call != 0 && place.is_call != 1) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static int recorded;
  if (!recorded) record();
  recorded = 1;
  write_places(data, size);
  tsanom_heartbeat_fault fault;
  tsanom_regions *regions = NULL;
  tsanom_heartbeat_fault_init(&fault, sizeof fault);
  tsanom_status status = tsanom_regions_open(folder, NULL, &fault, &regions);
  if (status != TSANOM_OK) {
    if (status != TSANOM_E_FORMAT || !*fault.text || !*fault.file || regions) abort();
    return 0;
  }
  size_t count = tsanom_regions_places(regions);
  if (count >= TSANOM_REGIONS_PLACES_MAX || count > size) abort();
  for (size_t i = 0; i < count; i++) check_place(regions, i);
  tsanom_regions_close(regions);
  return 0;
}
