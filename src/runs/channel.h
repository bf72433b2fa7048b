/* SPDX-License-Identifier: BSD-3-Clause */
/* The streams of one directory, verified and in memory. A channel is updated in two
 * steps, so that a failure leaves it as it was:
 *
 *   records of a stream   | count ... seen |           the file's records
 *                         | committed      | read by tsn_channel_read(), not yet visible
 *
 * Members in pairs (header and header_seen, ticks and ticks_seen, ...) follow the same
 * rule: the one with `_seen` is written while reading, and copied to the other by the
 * commit.
 *
 * The times of new records are ticks until all streams of the channel are read: only
 * then is it known whether the clock restarted, which concerns all streams.
 *
 *   time.data   | seconds (double), count of them | ticks (uint64_t), seen - count |
 *                                                   └─ converted in place, 8 bytes each
 */
#ifndef TSN_RUNS_CHANNEL_H
#define TSN_RUNS_CHANNEL_H

#include <tsanom/regions.h>

#include "record/format.h"
#include "runs/memory.h"
#include "runs/salvage.h"
#include "runs/source.h"
#include "runs/timeline.h"

/* Bytes read at a time: a buffer on the stack, and a multiple of a record and of a page.
 */
enum { TSN_PIECE = 1 << 16 };

/* One stream. */
typedef struct {
  /* double: seconds since the run began; of records that are read now, uint64_t: ticks.
   */
  tsn_array time;
  /* uint32_t. With `time`, 12 bytes for each record: the check is not kept. */
  tsn_array tag;
  /* Records that are committed. */
  size_t count;
  /* Records that are read; >= count. */
  size_t seen;
  /* The file's bytes from its last record to here were zero when read. The program backs
   * streams far ahead of its beats; a refresh need not read those zeros again. */
  uint64_t zeros;
  uint64_t dropped, dropped_seen;
  /* Of the last record; 0: there is none. A record is never written with ticks 0. */
  uint64_t ticks, ticks_seen;
  /* The number that the stream's header announces; several streams may have one. */
  int32_t thread;
  /* A record that is read now is earlier than the one before it by more than
   * TSN_DISORDER: the clock restarted. */
  bool steps_back;
  /* size_t: records in front of which others were lost, in order. Empty unless salvaged.
   */
  tsn_array gap;
  size_t gaps;
  /* What salvage left out; all zeros in a channel that is intact. */
  tsn_damage damage;
} tsn_stream;

typedef struct tsn_channel {
  const char *directory;
  /* The allocator. */
  const tsanom_exec *memory;
  /* Tags are checked: they are events, of which some bit patterns do not exist. */
  bool is_regions;
  /* Something was committed: the members without `_seen` have values. */
  bool has_data;
  /* What is damaged may be left out. */
  bool salvage;
  /* Something was left out; a refresh then reads all again. */
  bool is_damaged;
  /* TSANOM_RUNS_HEADER_*: of the run's own file. */
  int32_t header_state;
  tsn_run_header header, header_seen;
  /* Seconds per tick. Kept while a new measurement differs little, so that committed
   * times stay.
   */
  double tick;
  /* Restarts of the clock. */
  size_t restarts;
  /* tsn_stream, by number. */
  tsn_array streams;
  size_t stream_count, streams_seen;
} tsn_channel;

/* Read what is new. The poll is asked for each stream. If `*stale` becomes true, the
 * records that were read before must be read again: replace the channel by a new one,
 * and call this function for it. That is so, too, if the channel is damaged, or if its
 * clock restarted. After any failure, and if it is stale, nothing that was read remains.
 */
tsanom_status tsn_channel_read(tsn_channel *channel, const tsanom_exec *exec,
                               bool *stale);

/* Make visible what was read; returns the number of records. Cannot fail. */
uint64_t tsn_channel_commit(tsn_channel *channel);

/* Forget what was read and not committed. */
void tsn_channel_discard(tsn_channel *channel);

void tsn_channel_free(tsn_channel *channel);

/* Space for `more` records of a stream. False: out of memory; the stream is unchanged. */
bool tsn_stream_reserve(const tsn_channel *channel, const tsn_source *source,
                        tsn_stream *stream, size_t more);

/* Append a record, for which there is space; its time stays in ticks for now. Detects
 * steps back on the way, so that a run without a restart needs no pass of its own for
 * it. */
static inline void tsn_stream_append(tsn_stream *stream, const tsn_record *record) {
  if (record->time + TSN_DISORDER < stream->ticks_seen) stream->steps_back = true;
  stream->ticks_seen = record->time;
  ((uint64_t *)stream->time.data)[stream->seen] = record->time;
  ((uint32_t *)stream->tag.data)[stream->seen++] = record->tag;
}

/* Whether records were lost in front of this one. Call it for each record in order;
 * `*next` counts gaps, from 0. */
static inline bool tsn_stream_gap_at(const tsn_stream *stream, size_t index,
                                     size_t *next) {
  if (*next == stream->gaps || ((const size_t *)stream->gap.data)[*next] != index) {
    return false;
  }
  ++*next;
  return true;
}

/* Whether a tag is one that the channel's records can have. A stream of beats may have
 * any. */
static inline bool tsn_channel_has_tag(const tsn_channel *channel, uint32_t tag) {
  tsanom_runs_event event;
  return !channel->is_regions || tsanom_runs_decode(tag, &event) == TSANOM_OK;
}

static inline tsn_stream *tsn_channel_stream(const tsn_channel *channel, size_t index) {
  return (tsn_stream *)channel->streams.data + index;
}

/* Seconds since the run began, of a tick of a clock that did not restart. The difference
 * is taken in integers: ticks have more digits than a double, 53 bits, which a counter at
 * 3 GHz exceeds after 35 days. */
static inline double tsn_channel_seconds(const tsn_channel *channel, uint64_t ticks) {
  return (double)(int64_t)(ticks - channel->header_seen.first.ticks) * channel->tick;
}

/* check.c */

/* Verify the run's own file. */
tsanom_status tsn_check_run(const tsn_source *source, tsn_run_header *header);

/* The same for a damaged file; the header is repaired if that is possible. */
tsanom_status tsn_salvage_run(const tsn_source *source, tsn_run_header *header);

/* Verify the fields of a stream's header, and that they fit the run. */
tsanom_status tsn_check_stream_fields(const tsn_source *source, const tsn_run_header *run,
                                      uint32_t stream, const tsn_stream_header *header);

/* Verify the header page of a stream, of TSN_STREAM_HEADER bytes. */
tsanom_status tsn_check_stream_header(const tsn_source *source, const tsn_run_header *run,
                                      uint32_t stream, const unsigned char *page,
                                      tsn_stream_header *header);

/* Verify the header of the vital signs. */
tsanom_status tsn_check_vital_header(const tsn_source *source,
                                     const tsn_vital_header *header);

/* Whether a record is the one with this sequence number. */
bool tsn_record_is_valid(const tsn_record *record, uint64_t sequence);

/* Verify that bytes of the file are zero: holes are not read, so that the time does not
 * depend on the size that a sparse file states. `buffer` has TSN_PIECE bytes. */
tsanom_status tsn_check_zeros(const tsn_source *source, uint64_t from, uint64_t to,
                              unsigned char *buffer);

/* Verify that bytes at `offset`, which were read, are zero. */
tsanom_status tsn_check_zero_bytes(const tsn_source *source, const unsigned char *bytes,
                                   size_t count, uint64_t offset);

#endif
