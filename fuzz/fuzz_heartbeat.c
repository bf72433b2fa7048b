/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader of runs. The input is XORed onto an intact run: zeros leave it intact.
 * Byte 0: which checksums to put right, so that the checks behind them are
 * reached. Bytes 1-2: how much to cut off the stream. Then the run's file, then
 * the stream's, then the vital signs with their samples of the beginning and the end.
 * Then it is opened again with salvage: a run that is accepted without has no damage, any
 * other has one. */
#include <math.h>
#include <tsanom/hsa.h>

#include "recorded_run.h"

#define REJECTED UINT64_MAX

static void mend_sample(unsigned char *vital, uint64_t sample) {
  tsn_vital_record record;
  memcpy(&record, vital + (1 + sample) * TSN_VITAL_RECORD, sizeof record);
  record.check = tsn_vital_check(&record, sample);
  memcpy(vital + (1 + sample) * TSN_VITAL_RECORD, &record, sizeof record);
}

static void look_at(tsanom_runs *run, int32_t salvage) {
  tsanom_runs_stream about;
  const tsanom_hsa_run *beats;
  if (tsanom_runs_stream_at(run, TSANOM_RUNS_BEATS, 0, &about) != TSANOM_OK) abort();
  if (about.count > BEATS) abort();
  for (size_t i = 0; i < about.count; i++) {
    if (!isfinite(about.time[i])) abort();
  }
  if (tsanom_runs_hsa(run, NULL, &beats) != TSANOM_OK) abort();
  const tsanom_hsa_vital *samples;
  size_t count;
  tsanom_status vitals = tsanom_runs_vitals(run, 0, NULL, &samples, &count);
  /* Without salvage they are there, or the run is rejected. */
  if (vitals != TSANOM_OK && (vitals != TSANOM_E_STATE || !salvage)) abort();
  if (vitals == TSANOM_OK && count > 3) abort();
  if (tsanom_runs_refresh(run, NULL, NULL) != TSANOM_OK) abort();
}

/* The number of records, or REJECTED. */
static uint64_t open_folder(int32_t salvage, tsanom_status *damaged) {
  tsanom_fault fault;
  tsanom_runs_info info = {.struct_size = sizeof info};
  tsanom_runs *opened = open_run(folder, salvage, &fault);
  if (!opened) return REJECTED;
  fault = (tsanom_fault){.struct_size = sizeof fault};
  if (tsanom_runs_first_damage(opened, &fault) != TSANOM_OK) abort();
  if ((fault.status == TSANOM_OK) != (fault.file[0] == '\0')) abort();
  *damaged = fault.status;
  tsanom_runs_describe(opened, &info);
  look_at(opened, salvage);
  tsanom_runs_destroy(opened);
  return info.beats;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  unsigned char script[3] = {0}, run[sizeof whole_run], stream[sizeof whole_stream];
  unsigned char vital[sizeof whole_vital];
  if (!*folder) record_whole("");
  memcpy(run, whole_run, sizeof run);
  memcpy(stream, whole_stream, sizeof stream);
  memcpy(vital, whole_vital, sizeof vital);
  take(&data, &size, script, sizeof script);
  take(&data, &size, run, sizeof run);
  take(&data, &size, stream, sizeof stream);
  take(&data, &size, vital, sizeof vital);
  if (script[0] & 1) mend(run, offsetof(tsn_run_header, checksum));
  if (script[0] & 2) mend(stream, offsetof(tsn_stream_header, checksum));
  if (script[0] & 4) mend(vital, offsetof(tsn_vital_header, checksum));
  for (uint64_t i = 0; i < 3 && (script[0] & 8); i++) mend_sample(vital, i);
  size_t cut = (size_t)script[1] | (size_t)script[2] << 8;
  write_file(TSN_RUN_FILE, run, sizeof run);
  write_file(TSN_VITAL_FILE, vital, sizeof vital);
  write_file(STREAM_FILE, stream, cut < STREAM ? STREAM - cut : 0);

  tsanom_status none = TSANOM_OK, damaged = TSANOM_OK;
  uint64_t strict = open_folder(0, &none), salvaged = open_folder(1, &damaged);
  if (none != TSANOM_OK || (strict != REJECTED && salvaged != strict)) abort();
  if (salvaged != REJECTED && (strict == REJECTED) != (damaged != TSANOM_OK)) abort();
  return 0;
}
