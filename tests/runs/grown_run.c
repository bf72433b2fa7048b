/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the files of a run by record/format.h, without the recorder. So a test knows
 * each number in them, and can read the run between any two records, as a reader sees a
 * run that still grows. */
#include "runs/grown_run.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"

enum { STEP = 4096 }; /* records of which a file grows */

static void write_at(const grown_run *run, const char *name, const void *bytes,
                     size_t count, uint64_t offset) {
  char path[sizeof run->directory + 64];
  (void)snprintf(path, sizeof path, "%s/%s", run->directory, name);
  int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  cr_assert(file >= 0 && pwrite(file, bytes, count, (off_t)offset) == (ssize_t)count);
  (void)close(file);
}

static void set_length(const grown_run *run, uint32_t stream, uint64_t records) {
  char path[sizeof run->directory + 64];
  (void)snprintf(path, sizeof path, "%s/" TSN_STREAM_FILE, run->directory, stream);
  cr_assert(truncate(path, (off_t)(TSN_STREAM_HEADER + records * TSN_RECORD)) == 0);
}

static void write_header(grown_run *run) {
  run->header.checksum = tsn_checksum(&run->header, offsetof(tsn_run_header, checksum));
  write_at(run, TSN_RUN_FILE, &run->header, sizeof run->header, 0);
}

static void write_stream_header(grown_run *run, uint32_t stream) {
  tsn_stream_header *header = &run->stream[stream];
  char name[TSN_FILE_NAME];
  (void)snprintf(name, sizeof name, TSN_STREAM_FILE, stream);
  header->checksum = tsn_checksum(header, offsetof(tsn_stream_header, checksum));
  write_at(run, name, header, sizeof *header, 0);
}

void grown_create(grown_run *run, const char *path) {
  *run = (grown_run){.now = 1000};
  (void)snprintf(run->directory, sizeof run->directory, "%s", path);
  run->header = (tsn_run_header){.version = TSN_FORMAT_VERSION,
                                 .bytes = sizeof run->header,
                                 .run_id = 77,
                                 .state = TSN_RUNNING,
                                 .announced = 1,
                                 .clock = 2,
                                 .start = 1,
                                 .pid = 1,
                                 .first = {1000, 1000},
                                 .latest = {1000 + 1000000000, 1000 + 1000000000}};
  memcpy(run->header.magic, TSN_RUN_MAGIC, sizeof run->header.magic);
  grown_add_stream(run, 0);
}

void grown_create_regions(grown_run *run, const char *path, const char *places) {
  char regions[sizeof run->directory];
  (void)snprintf(regions, sizeof regions, "%s/regions", path);
  cr_assert(mkdir(regions, 0777) == 0);
  grown_create(run, regions);
  write_at(run, "places.tsv", places, strlen(places), 0);
}

void grown_add_stream(grown_run *run, int32_t thread) {
  uint32_t stream = run->header.streams++;
  run->stream[stream] = (tsn_stream_header){.version = TSN_FORMAT_VERSION,
                                            .bytes = TSN_STREAM_HEADER,
                                            .run_id = run->header.run_id,
                                            .stream = stream,
                                            .announced = thread,
                                            .state = TSN_RUNNING,
                                            .backed = 16};
  memcpy(run->stream[stream].magic, TSN_STREAM_MAGIC, sizeof run->stream[stream].magic);
  write_stream_header(run, stream);
  set_length(run, stream, 16);
  write_header(run);
}

void grown_append(grown_run *run, uint32_t stream, uint64_t ticks, uint32_t tag) {
  char name[TSN_FILE_NAME];
  uint64_t index = run->records[stream]++;
  run->now += ticks;
  tsn_record record = {
      .time = run->now, .tag = tag, .check = tsn_record_check(run->now, tag, index)};
  if (index >= run->stream[stream].backed) {
    set_length(run, stream, run->stream[stream].backed + STEP);
    run->stream[stream].backed += STEP;
    write_stream_header(run, stream);
  }
  (void)snprintf(name, sizeof name, TSN_STREAM_FILE, stream);
  write_at(run, name, &record, sizeof record, TSN_STREAM_HEADER + index * TSN_RECORD);
}

static void write_vital_header(grown_run *run) {
  run->vital.checksum = tsn_checksum(&run->vital, offsetof(tsn_vital_header, checksum));
  write_at(run, TSN_VITAL_FILE, &run->vital, sizeof run->vital, 0);
}

void grown_sample(grown_run *run, uint32_t stream) {
  bool of_process = stream == TSN_VITAL_PROCESS;
  uint64_t n = run->samples++;
  if (!run->vital.version) {
    run->vital = (tsn_vital_header){.version = TSN_FORMAT_VERSION,
                                    .bytes = TSN_VITAL_RECORD,
                                    .run_id = run->header.run_id,
                                    .state = TSN_RUNNING,
                                    .sampler = TSN_VITAL_BY_THREAD,
                                    .period = 50000000};
    memcpy(run->vital.magic, TSN_VITAL_MAGIC, sizeof run->vital.magic);
    write_vital_header(run);
  }
  tsn_vital_record record = {.time = run->now,
                             .stream = stream,
                             .thread = of_process ? -1 : run->stream[stream].announced,
                             .task = run->task ? run->task : 40,
                             .state = n % 3 ? 'R' : TSN_UNAVAILABLE_STATE,
                             .cpu = run->task ? run->cpu : 1000 * n,
                             .wait = of_process && n ? 50 - n : TSN_UNAVAILABLE,
                             .voluntary = n + 1,
                             .involuntary = n + 2,
                             .minor = n + 3,
                             .major = n + 4,
                             .resident = run->has_ended ? 0 : n + 5,
                             .anonymous = run->has_ended ? 0 : n + 6,
                             .threads = n + 7,
                             .waits = of_process ? 0 : 1 + (int32_t)(n % 2),
                             .processor = run->processor};
  if (!of_process) memcpy(record.name, run->name, sizeof record.name);
  record.check = tsn_vital_check(&record, n);
  write_at(run, TSN_VITAL_FILE, &record, sizeof record, (1 + n) * TSN_VITAL_RECORD);
}

void grown_calibrate(grown_run *run, double nanoseconds) {
  run->header.latest.nanoseconds = 1000 + (uint64_t)(1e9 * nanoseconds);
  write_header(run);
}

void grown_pair(grown_run *run, uint64_t ticks, uint64_t nanoseconds) {
  run->header.latest = (tsn_moment){ticks, nanoseconds};
  write_header(run);
}

void grown_finish(grown_run *run) {
  for (uint32_t i = 0; i < run->header.streams; i++) {
    run->stream[i].state = TSN_FINISHED;
    run->stream[i].count = run->stream[i].backed = run->records[i];
    set_length(run, i, run->records[i]);
    write_stream_header(run, i);
  }
  if (run->vital.version) {
    run->vital.state = TSN_FINISHED;
    run->vital.count = run->samples;
    write_vital_header(run);
  }
  run->header.state = TSN_FINISHED;
  write_header(run);
}
