/* SPDX-License-Identifier: BSD-3-Clause */
/* A small intact run, onto whose files a fuzzer puts its input. */
#ifndef TSANOM_FUZZ_RECORDED_RUN_H
#define TSANOM_FUZZ_RECORDED_RUN_H

#include <fcntl.h>
#include <stdbool.h>
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
  VITAL = (1 + 3) * TSN_VITAL_RECORD,
  PATH = DIRECTORY_CAPACITY + 48
};

static char folder[DIRECTORY_CAPACITY], run_folder[DIRECTORY_CAPACITY + 16];
static char run_path[PATH], stream_path[PATH], vital_path[PATH];
static unsigned char whole_run[sizeof(tsn_run_header)], whole_stream[STREAM],
    whole_vital[VITAL];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void move_bytes(const char *path, unsigned char *bytes, size_t count,
                              int out) {
  int file = open(path, out ? O_WRONLY | O_CREAT : O_RDONLY, 0666);
  ssize_t moved = out ? pwrite(file, bytes, count, 0) : pread(file, bytes, count, 0);
  if (moved != (ssize_t)count || (out && ftruncate(file, (off_t)count) != 0)) abort();
  close(file);
}

static inline void clean_up(void) {
  (void)unlink(run_path);
  (void)unlink(stream_path);
  (void)unlink(vital_path);
  (void)rmdir(run_folder);
  (void)rmdir(folder);
}

/* A new folder with a run; of regions, without events, if it is `below` the folder. */
static inline void record_whole(const char *below) {
  tsanom_record_options options;
  (void)tsanom_record_options_init(&options, sizeof options);
  options.vital_ms = INT32_MAX;
  if (!new_directory(folder)) abort();
  (void)snprintf(run_folder, sizeof run_folder, "%s/%s", folder, below);
  if (tsanom_heartbeat_init(run_folder, 1, &options, NULL) != TSANOM_OK) abort();
  for (uint32_t i = 0; i < BEATS && !*below; i++) (void)tsanom_heartbeat_beat(0, i);
  if (tsanom_heartbeat_finish() != TSANOM_OK) abort();
  (void)snprintf(run_path, PATH, "%s/" TSN_RUN_FILE, run_folder);
  (void)snprintf(stream_path, PATH, "%s/" TSN_STREAM_FILE, run_folder, 0u);
  (void)snprintf(vital_path, PATH, "%s/" TSN_VITAL_FILE, run_folder);
  (void)atexit(clean_up);
  if (*below) return;
  move_bytes(run_path, whole_run, sizeof whole_run, 0);
  move_bytes(vital_path, whole_vital, sizeof whole_vital, 0);
  move_bytes(stream_path, whole_stream, sizeof whole_stream, 0);
}

/* Take up to `count` bytes of the input onto `bytes`. */
static inline void take(const uint8_t **data, size_t *size, unsigned char *bytes,
                        size_t count) {
  if (count > *size) count = *size;
  for (size_t i = 0; i < count; i++) bytes[i] ^= (*data)[i];
  *data += count;
  *size -= count;
}

static inline void mend(unsigned char *header, size_t checksum) {
  uint64_t sum = tsn_checksum(header, checksum);
  memcpy(header + checksum, &sum, sizeof sum);
}

#endif
