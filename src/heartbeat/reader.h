/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the files of a run, every byte checked. */
#ifndef TSN_HEARTBEAT_READER_H
#define TSN_HEARTBEAT_READER_H

#include <stdbool.h>
#include <tsanom/heartbeat_run.h>

#include "record/format.h"

enum { TSN_PIECE = 1 << 16 }; /* bytes read at a time while checking */

/* A file being read, and where to tell what is wrong with it. */
typedef struct {
  const char *folder;
  char name[TSN_FILE_NAME];
  int file;
  uint64_t size;
  tsanom_heartbeat_fault *fault; /* NULL: not asked for */
} tsn_source;

/* What the run keeps of a stream. */
typedef struct {
  uint64_t beats;
  uint64_t dropped;
  uint64_t first, last; /* ticks */
  int32_t announced;
  int32_t reserved0;
} tsn_stream_facts;

/* Fill in the fault; returns the status it is given. */
__attribute__((format(printf, 4, 5))) tsanom_status tsn_source_fault(
    const tsn_source *source, tsanom_status status, uint64_t offset, const char *text,
    ...);

tsanom_status tsn_source_open(tsn_source *source);
void tsn_source_close(tsn_source *source);

/* Read exactly `count` bytes; a file that ends before them is cut short. */
tsanom_status tsn_source_read(const tsn_source *source, uint64_t offset, void *bytes,
                              size_t count);

/* Check the run's own file. */
tsanom_status tsn_check_run(const tsn_source *source, tsn_run_header *header);

/* Check the stream's file, by pieces of TSN_PIECE bytes through `buffer`. */
tsanom_status tsn_check_stream(const tsn_source *source, const tsn_run_header *run,
                               uint32_t stream, unsigned char *buffer,
                               tsn_stream_facts *facts);

/* Check that a record is the one of this sequence number. */
tsanom_status tsn_check_record(const tsn_source *source, const tsn_record *record,
                               uint64_t sequence);

#endif
