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
 *
 * The records of short streams are stored. Those of a long stream are verified and
 * forgotten: whoever needs them reads them from the file again, a piece at a time
 * (tsn_reader). A run of 14 million events took 168 MB for them; reading them again takes
 * no longer than it took to fill that memory. */
#ifndef TSN_RUNS_CHANNEL_H
#define TSN_RUNS_CHANNEL_H

#include <tsanom/record.h>

#include "record/format.h"
#include "record/regions.h"
#include "runs/memory.h"
#include "runs/source.h"

/* Bytes read at a time: a buffer on the stack, and a multiple of a record and of a page.
 */
enum { TSN_PIECE = 1 << 16 };

/* Records of a stream that are stored, at most: 100,000 short-lived threads need not open
 * their files for each pass. */
enum { TSN_STORED_MOST = 4096 };

/* No recorder writes a thread number above. */
enum { TSN_THREADS_MOST = TSANOM_RECORD_STREAMS_MAX };

/* One stream. */
typedef struct {
  /* double: seconds since the run began; of records that are read now, uint64_t: ticks.
   */
  tsn_array time;
  /* uint32_t. With `time`, 12 bytes for each record: the check is not kept. */
  tsn_array tag;
  /* Records in these arrays: the first ones, usually all that are seen. */
  size_t stored;
  /* Records that are committed. */
  size_t count;
  /* Records that are read; >= count. */
  size_t seen;
  /* The file's bytes from its last record to here were zero when read. The program backs
   * streams far ahead of its beats; a refresh need not read those zeros again. */
  uint64_t zeros;
  uint64_t dropped, dropped_seen;
  int32_t error; /* why the first was dropped: an errno; 0: not known */
  /* Ticks of the first record. */
  uint64_t first;
  /* Of the last record; 0: there is none. A record is never written with ticks 0. */
  uint64_t ticks, ticks_seen;
  uint32_t last_tag, last_tag_seen;
  /* What the latest record that is committed was replaced by, as ticks and tag; ticks 0: it was not. */
  uint64_t again;
  uint32_t again_tag;
  /* The thread whose records it has, by number_streams(); several streams may have one. */
  int32_t thread;
  int32_t announced; /* the number in the stream's header */
  /* Of events: bits of the kinds that were read, and of the metrics. */
  uint32_t kinds, metrics;
  /* A record that is read now is earlier than the one before it by more than
   * TSN_DISORDER: the clock restarted. */
  bool steps_back;
  /* Records that a complete stream must have besides; salvage leaves them out. */
  uint64_t missing;
} tsn_stream;

typedef struct tsn_channel {
  const char *directory;
  /* The allocator. */
  const tsanom_exec *memory;
  /* Tags are checked: they are events, of which some bit patterns do not exist. */
  bool is_regions;
  /* Something was committed: the members without `_seen` have values. */
  bool has_data;
  /* Streams are read up to their damage, the first of which is kept there; NULL: they
   * must be intact. */
  tsanom_fault *damage;
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
 * and call this function for it. That is so, too, if its clock restarted. After any
 * failure, and if it is stale, nothing that was read remains. */
tsanom_status tsn_channel_read(tsn_channel *channel, const tsanom_exec *exec,
                               bool *stale);

/* Make visible what was read. Cannot fail. */
void tsn_channel_commit(tsn_channel *channel);

/* Forget what was read and not committed. */
void tsn_channel_discard(tsn_channel *channel);

void tsn_channel_free(tsn_channel *channel);

static inline tsn_stream *tsn_channel_stream(const tsn_channel *channel, size_t index) {
  return (tsn_stream *)channel->streams.data + index;
}

/* The first stream of thread 0; another one: it has none yet. */
static inline size_t tsn_channel_leader(const tsn_channel *channel) {
  size_t i = 0;
  while (i + 1 < channel->streams_seen && tsn_channel_stream(channel, i)->thread != 0) {
    i++;
  }
  return i;
}

/* Whether a stream of events has one of that kind. */
static inline bool tsn_stream_has(const tsn_stream *stream, int32_t kind) {
  return stream->kinds >> kind & 1;
}

/* Seconds since the run began, of a tick of a clock that did not restart. The difference
 * is taken in integers: ticks have more digits than a double, 53 bits, which a counter at
 * 3 GHz exceeds after 35 days. */
static inline double tsn_channel_seconds(const tsn_channel *channel, uint64_t ticks) {
  return (double)(int64_t)(ticks - channel->header_seen.first.ticks) * channel->tick;
}

/* Times of the first and the last record of a stream that has some. */
double tsn_stream_first(const tsn_channel *channel, const tsn_stream *stream);
double tsn_stream_last(const tsn_channel *channel, const tsn_stream *stream);

/* Time of the latest record of all streams; 0: there is none after the run began. */
double tsn_channel_last(const tsn_channel *channel);

/* Store all records of a stream. */
tsanom_status tsn_channel_store(const tsn_channel *channel, size_t index,
                                const tsanom_exec *exec);

/* The records of streams that are read, one stream after the other: those from `first` to `end` are at
 * `time` and `tag`. */
typedef struct {
  const tsn_channel *channel;
  const tsanom_exec *exec; /* its memory, and its faults */
  const tsn_stream *stream;
  const double *time;
  const uint32_t *tag;
  size_t first, end;
  struct tsn_file_piece *piece; /* NULL: no file was read yet */
  tsanom_status status;         /* of the first failure */
} tsn_reader;

/* Go to a stream. */
const tsn_stream *tsn_reader_open(tsn_reader *reader, size_t index);

/* Get the records from `at` on. False: there are none, or reading failed. */
bool tsn_reader_fetch(tsn_reader *reader, size_t at);

/* Whether record `at` is there. */
static inline bool tsn_reader_has(tsn_reader *reader, size_t at) {
  return at - reader->first < reader->end - reader->first || tsn_reader_fetch(reader, at);
}

/* Free what the reader has; returns its status. */
tsanom_status tsn_reader_end(tsn_reader *reader);

/* Verify what a header of that many bytes begins with, and its checksum at `sum`, which covers
 * all before it. `what` is for messages. */
tsanom_status tsn_check_header(const tsn_source *source, const void *header,
                               const char magic[8], const char *what, uint32_t bytes,
                               size_t sum);

/* Whether a record is the one with this sequence number. */
static inline bool tsn_record_is_valid(const tsn_record *record, uint64_t sequence) {
  return record->time != 0 &&
         record->check == tsn_record_check(record->time, record->tag, sequence);
}

#endif
