/* SPDX-License-Identifier: BSD-3-Clause */
/* The totals of regions, RUN/regions/profile. Byte 0: how many rows, and whether their
 * checks are put right. The rest is XORed onto rows of one thread with regions, a
 * computation and beats: rejected with a message, or a run with finite times. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/heartbeat.h>
#include <tsanom/hsa.h>
#include <tsanom/runs.h>
#include <tsanom/spmd.h>
#include <unistd.h>

#include "record/format.h"
#include "record/regions.h"
#include "support/directory.h"

enum { BEATS = 8, ROWS = 24, PATH = DIRECTORY_CAPACITY + 64 };

static char folder[DIRECTORY_CAPACITY];
static tsn_regions_row whole[ROWS];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static FILE *open_file(const char *name) {
  char path[PATH];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "we");
  if (!file) abort();
  return file;
}

static void clean_up(void) {
  static const char *const names[] = {
      "regions/places.tsv", "regions/profile", "regions",        "heartbeat.run",
      "heartbeat.00000",    "heartbeat.vital", "heartbeat.lock", ""};
  char path[PATH];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    (void)snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    (void)remove(path);
  }
}

static void make_run(void) {
  char path[PATH];
  if (!new_directory(folder) ||
      tsanom_heartbeat_init(folder, 1, NULL, NULL) != TSANOM_OK) {
    abort();
  }
  (void)atexit(clean_up);
  for (uint32_t i = 1; i <= BEATS; i++) (void)tsanom_heartbeat_beat(0, i);
  (void)snprintf(path, sizeof path, "%s/regions", folder);
  if (tsanom_heartbeat_finish() != TSANOM_OK || mkdir(path, 0777) != 0) abort();
  FILE *places = open_file("regions/places.tsv");
  (void)fputs("tsanom places 3\n0\trf\t40\tx\tb\n1\trf\t50\tx\tb\n", places);
  (void)fclose(places);
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
  FILE *file = open_file("regions/profile");
  if (fwrite(row, sizeof *row, count, file) != count || fclose(file) != 0) abort();
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
  tsanom_exec exec;
  tsanom_runs *run = NULL;
  tsanom_exec_init(&exec, sizeof exec);
  fault = (tsanom_fault){.struct_size = sizeof fault};
  exec.fault = &fault;
  if (tsanom_runs_open(folder, NULL, &exec, &run) == TSANOM_OK) {
    look_at(run);
    tsanom_runs_destroy(run);
  } else if (!*fault.text || !*fault.file) {
    abort();
  }
  return 0;
}
