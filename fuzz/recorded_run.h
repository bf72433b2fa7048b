/* SPDX-License-Identifier: BSD-3-Clause */
/* A small intact run, onto whose files a fuzzer puts its input. */
#ifndef TSANOM_FUZZ_RECORDED_RUN_H
#define TSANOM_FUZZ_RECORDED_RUN_H

#include <stdbool.h>
#include <tsanom/heartbeat.h>

#include "files.h"
#include "record/format.h"

enum {
  BEATS = 64,
  STREAM = TSN_STREAM_HEADER + BEATS * TSN_RECORD,
  VITAL = (1 + 3) * TSN_VITAL_RECORD
};

#define STREAM_FILE "heartbeat.00000"

static unsigned char whole_run[sizeof(tsn_run_header)], whole_stream[STREAM],
    whole_vital[VITAL];

static inline void read_file(const char *name, unsigned char *bytes, size_t count) {
  char path[PATH];
  (void)snprintf(path, PATH, "%s/%s", folder, name);
  FILE *file = fopen(path, "re");
  if (!file || fread(bytes, 1, count, file) != count || fclose(file) != 0) abort();
}

/* A new folder with a run; of regions, without events, if it is `below` the folder. */
static inline void record_whole(const char *below) {
  tsanom_record_options options;
  (void)tsanom_record_options_init(&options, sizeof options);
  options.vital_ms = INT32_MAX;
  make_folder();
  char run_folder[PATH];
  (void)snprintf(run_folder, PATH, "%s/%s", folder, below);
  if (tsanom_heartbeat_init(run_folder, 1, &options, NULL) != TSANOM_OK) abort();
  for (uint32_t i = 0; i < BEATS && !*below; i++) (void)tsanom_heartbeat_beat(0, i);
  if (tsanom_heartbeat_finish() != TSANOM_OK) abort();
  if (*below) return;
  read_file(TSN_RUN_FILE, whole_run, sizeof whole_run);
  read_file(TSN_VITAL_FILE, whole_vital, sizeof whole_vital);
  read_file(STREAM_FILE, whole_stream, sizeof whole_stream);
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
