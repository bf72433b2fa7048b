/* SPDX-License-Identifier: BSD-3-Clause */
/* A run directory that a test writes by the format, and lets grow. */
#ifndef TSANOM_TEST_GROWN_RUN_H
#define TSANOM_TEST_GROWN_RUN_H

#include <stdbool.h>

#include "record/format.h"
#include "support/run_directory.h"

enum { GROWN_STREAMS = 8 };

typedef struct {
  char directory[DIRECTORY_CAPACITY + 64];
  tsn_run_header header;
  tsn_stream_header stream[GROWN_STREAMS];
  uint64_t records[GROWN_STREAMS]; /* written */
  uint64_t now;                    /* ticks */
  tsn_vital_header vital;          /* .version 0: there are no vital signs */
  uint64_t samples;
  int32_t
      task; /* of the next samples, with `cpu`; 0: 40, and the sample's number in us */
  uint64_t cpu;
  uint32_t processor;       /* of the next samples */
  bool has_ended;           /* the process has no memory in these */
  char name[TSN_TASK_NAME]; /* of the next samples of threads */
} grown_run;

/* A run of one stream without records; the clock ticks every nanosecond. */
void grown_create(grown_run *run, const char *path);

/* A run of region events in a directory PATH/regions that is made, with these lines of places. */
void grown_create_regions(grown_run *run, const char *path, const char *places);

/* Add a stream of a thread number, with space for some records. */
void grown_add_stream(grown_run *run, int32_t thread);

/* Append a record, `ticks` after the one before of any stream; the file grows if full. */
void grown_append(grown_run *run, uint32_t stream, uint64_t ticks, uint32_t tag);

/* Append a sample of the stream's thread, or of the process (TSN_VITAL_PROCESS); its
 * numbers are the sample's, one of them not known. */
void grown_sample(grown_run *run, uint32_t stream);

/* Write the run's own file again, with the clock's period of `nanoseconds` per tick. */
void grown_calibrate(grown_run *run, double nanoseconds);

/* Write the run's own file again, with the clock's latest pair. */
void grown_pair(grown_run *run, uint64_t ticks, uint64_t nanoseconds);

/* Complete all streams, and finish the run. */
void grown_finish(grown_run *run);

#endif
