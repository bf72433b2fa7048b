/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader of runs. The input is XORed onto an intact run: zeros leave it intact.
 * Byte 0: which checksums to put right, so that the checks behind them are
 * reached. Bytes 1-2: how much to cut off the stream. Then the run's file, then
 * the stream's. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/heartbeat.h>
#include <tsanom/runs.h>
#include <unistd.h>

#include "record/format.h"
#include "support/directory.h"

enum {
  BEATS = 64,
  STREAM = TSN_STREAM_HEADER + BEATS * TSN_RECORD,
  PATH = DIRECTORY_CAPACITY + 32
};

static char folder[DIRECTORY_CAPACITY];
static char run_path[PATH], stream_path[PATH];
static unsigned char whole_run[sizeof(tsn_run_header)], whole_stream[STREAM];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void move_bytes(const char *path, unsigned char *bytes, size_t count, int out) {
  int file = open(path, out ? O_WRONLY | O_CREAT : O_RDONLY, 0666);
  ssize_t moved = out ? pwrite(file, bytes, count, 0) : pread(file, bytes, count, 0);
  if (moved != (ssize_t)count || (out && ftruncate(file, (off_t)count) != 0)) abort();
  close(file);
}

static void clean_up(void) {
  (void)unlink(run_path);
  (void)unlink(stream_path);
  (void)rmdir(folder);
}

static void record_whole(void) {
  if (!new_directory(folder) || tsanom_heartbeat_init(folder, 1, NULL) != TSANOM_OK)
    abort();
  for (uint32_t i = 0; i < BEATS; i++) (void)tsanom_heartbeat_beat(0, i);
  if (tsanom_heartbeat_finish() != TSANOM_OK) abort();
  (void)snprintf(run_path, PATH, "%s/" TSN_RUN_FILE, folder);
  (void)snprintf(stream_path, PATH, "%s/" TSN_STREAM_FILE, folder, 0u);
  move_bytes(run_path, whole_run, sizeof whole_run, 0);
  move_bytes(stream_path, whole_stream, sizeof whole_stream, 0);
  (void)atexit(clean_up);
}

/* Take up to `count` bytes of the input onto `bytes`. */
static void take(const uint8_t **data, size_t *size, unsigned char *bytes, size_t count) {
  if (count > *size) count = *size;
  for (size_t i = 0; i < count; i++) bytes[i] ^= (*data)[i];
  *data += count;
  *size -= count;
}

static void mend(unsigned char *header, size_t checksum) {
  uint64_t sum = tsn_checksum(header, checksum);
  memcpy(header + checksum, &sum, sizeof sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static int recorded;
  unsigned char script[3] = {0}, run[sizeof whole_run], stream[sizeof whole_stream];
  if (!recorded) record_whole();
  recorded = 1;
  memcpy(run, whole_run, sizeof run);
  memcpy(stream, whole_stream, sizeof stream);
  take(&data, &size, script, sizeof script);
  take(&data, &size, run, sizeof run);
  take(&data, &size, stream, sizeof stream);
  if (script[0] & 1) mend(run, offsetof(tsn_run_header, checksum));
  if (script[0] & 2) mend(stream, offsetof(tsn_stream_header, checksum));
  size_t cut = (size_t)script[1] | (size_t)script[2] << 8;
  move_bytes(run_path, run, sizeof run, 1);
  move_bytes(stream_path, stream, cut < STREAM ? STREAM - cut : 0, 1);

  tsanom_fault fault;
  tsanom_exec exec;
  tsanom_runs *opened;
  tsanom_exec_init(&exec, sizeof exec);
  tsanom_fault_init(&fault, sizeof fault);
  exec.fault = &fault;
  tsanom_status status = tsanom_runs_open(folder, NULL, &exec, &opened);
  if (status == TSANOM_OK) {
    tsanom_runs_stream about;
    const tsanom_hsa_run *beats;
    if (tsanom_runs_stream_at(opened, TSANOM_RUNS_BEATS, 0, &about) != TSANOM_OK) abort();
    if (about.count > BEATS) abort();
    if (tsanom_runs_hsa(opened, NULL, &beats) != TSANOM_OK) abort();
    if (tsanom_runs_refresh(opened, NULL, NULL) != TSANOM_OK) abort();
    tsanom_runs_close(opened);
  } else if (fault.file[0] == '\0' || fault.text[0] == '\0') {
    abort();
  }
  return 0;
}
