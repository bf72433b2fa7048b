/* SPDX-License-Identifier: BSD-3-Clause */
/* The totals of regions, RUN/regions/profile. Byte 0: how many rows, and whether their
 * checks are put right. The rest is XORed onto rows of one thread with regions, a
 * computation and beats: rejected with a message, or a run with finite times. */
#include <math.h>
#include <stddef.h>
#include <tsanom/heartbeat.h>
#include <tsanom/hsa.h>
#include <tsanom/spmd.h>

#include "files.h"
#include "record/format.h"
#include "record/regions.h"

enum { BEATS = 8, ROWS = 24 };

static tsn_regions_row whole[ROWS];

static void make_run(void) {
  static const char places[] = "tsanom places 3\n0\trf\t40\tx\tb\n1\trf\t50\tx\tb\n";
  char path[PATH];
  make_folder();
  if (tsanom_heartbeat_init(folder, 1, NULL, NULL) != TSANOM_OK) abort();
  for (uint32_t i = 1; i <= BEATS; i++) (void)tsanom_heartbeat_beat(0, i);
  (void)snprintf(path, sizeof path, "%s/regions", folder);
  if (tsanom_heartbeat_finish() != TSANOM_OK || mkdir(path, 0777) != 0) abort();
  write_file("regions/places.tsv", places, strlen(places));
  whole[1] = (tsn_regions_row){.kind = TSN_REGIONS_ROW_THREAD, .place = 1};
  for (uint32_t k = 2; k < ROWS; k++) {
    uint32_t kind = k % 8 == 7   ? TSN_REGIONS_ROW_BEATS
                    : k % 8 == 6 ? TSN_REGIONS_ROW_COMPUTATION
                                 : TSN_REGIONS_ROW_REGION;
    whole[k] = (tsn_regions_row){
        .kind = kind,
        .parent = kind == TSN_REGIONS_ROW_REGION && k % 8 > 2 ? k - 1 : 1,
        .place = k % 2,
        .visits = k,
        .elapsed = 1000 * k};
  }
}

/* Rows as the input says. */
static void write_rows(const uint8_t *data, size_t size) {
  tsn_regions_row row[ROWS];
  unsigned char *bytes = (unsigned char *)row;
  const tsn_regions_profile head = {
      .magic = TSN_REGIONS_PROFILE_MAGIC, .version = 1, .row_bytes = sizeof *row};
  memcpy(row, whole, sizeof row);
  memcpy(row, &head, sizeof head);
  size_t script = size ? *data : 0, count = 1 + script / 2 % ROWS;
  for (size_t i = 1; i < size && i <= sizeof row; i++) bytes[i - 1] ^= data[i];
  for (size_t k = 1; k < ROWS && !(script & 1); k++) {
    row[k].check = tsn_checksum(&row[k], offsetof(tsn_regions_row, visits));
  }
  write_file("regions/profile", row, count * sizeof *row);
}

static void look_at(tsanom_runs *run) {
  const tsanom_hsa_run *beats = NULL;
  tsanom_runs_spmd_data spmd;
  if (tsanom_runs_hsa(run, NULL, &beats) != TSANOM_OK) abort();
  for (size_t t = 0; t < beats->thread_count; t++) {
    for (size_t i = 0; i < beats->threads[t].beats; i++) {
      if (!isfinite(beats->threads[t].time[i])) abort();
    }
  }
  if (tsanom_runs_spmd(run, NULL, &spmd) != TSANOM_OK) return;
  for (size_t i = 0; i < spmd.data->regions * spmd.data->processes; i++) {
    if (!(spmd.data->time[i] >= 0) || !isfinite(spmd.data->time[i])) abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!*folder) make_run();
  write_rows(data, size);
  tsanom_fault fault;
  tsanom_runs *run = open_run(folder, 0, &fault);
  if (!run) return 0;
  look_at(run);
  tsanom_runs_destroy(run);
  return 0;
}
