/* SPDX-License-Identifier: BSD-3-Clause */
/* The streams of one directory, verified and in memory. A channel is updated in two
 * steps, so that a failure leaves it as it was:
 *
 *   records of a stream   | count ... seen |           the file's records
 *                         | committed      | read by tsn_channel_read(), not yet visible
 */
#ifndef TSN_RUNS_CHANNEL_H
#define TSN_RUNS_CHANNEL_H

#include "record/format.h"
#include "runs/memory.h"
#include "runs/source.h"

enum { TSN_PIECE = 1 << 16 }; /* bytes read at a time */

/* One stream. */
typedef struct {
  tsn_array time; /* double: seconds since the run began */
  tsn_array tag;  /* uint32_t */
  size_t count;   /* records that are committed */
  size_t seen;    /* records that are read; >= count */
  uint64_t zeros; /* the file's bytes from its last record to here were zero when read */
  uint64_t dropped, dropped_seen;
  int32_t thread;
} tsn_stream;

typedef struct {
  const char *directory;
  const tsanom_exec *memory; /* the allocator */
  bool is_regions;           /* tags are checked */
  bool has_data;             /* something was committed */
  tsn_run_header header, header_seen;
  double tick;
  tsn_array streams; /* tsn_stream */
  size_t stream_count, streams_seen;
} tsn_channel;

/* Read what is new. The poll is asked for each stream. If `*stale` becomes true, the
 * records that were read before must be read again: replace the channel by a new one. */
tsanom_status tsn_channel_read(tsn_channel *channel, const tsanom_exec *exec,
                               bool *stale);

/* Make visible what was read; returns the number of records. */
uint64_t tsn_channel_commit(tsn_channel *channel);

/* Forget what was read and not committed. */
void tsn_channel_discard(tsn_channel *channel);

void tsn_channel_free(tsn_channel *channel);

static inline tsn_stream *tsn_channel_stream(const tsn_channel *channel, size_t index) {
  return (tsn_stream *)channel->streams.data + index;
}

/* Seconds since the run began, of a tick of its clock. */
double tsn_channel_seconds(const tsn_channel *channel, uint64_t ticks);

/* check.c */

/* Verify the run's own file. */
tsanom_status tsn_check_run(const tsn_source *source, tsn_run_header *header);

/* Verify the header page of a stream, of TSN_STREAM_HEADER bytes. */
tsanom_status tsn_check_stream_header(const tsn_source *source, const tsn_run_header *run,
                                      uint32_t stream, const unsigned char *page,
                                      tsn_stream_header *header);

/* Verify the header of the vital signs. */
tsanom_status tsn_check_vital_header(const tsn_source *source,
                                     const tsn_vital_header *header);

/* Whether a record is the one with this sequence number. */
bool tsn_record_is_valid(const tsn_record *record, uint64_t sequence);

/* Verify that bytes of the file are zero: holes are not read. `buffer` has TSN_PIECE
 * bytes. */
tsanom_status tsn_check_zeros(const tsn_source *source, uint64_t from, uint64_t to,
                              unsigned char *buffer);

/* Verify that bytes at `offset`, which were read, are zero. */
tsanom_status tsn_check_zero_bytes(const tsn_source *source, const unsigned char *bytes,
                                   size_t count, uint64_t offset);

#endif
