/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the streams of a directory, at first as a whole, later from where the previous
 * look ended. A look costs the header pages, the new records, and the part of each file
 * behind the records that was not there before:
 *
 *   header | records read before | new records | zeros read before | zeros new | end
 *          | skipped             | verified    | skipped           | verified  |
 *
 * The program may write while its files are read. It writes records in order, each by
 * one store, so that a record that looks like the end or like damage, and is valid when
 * it is read again, ends this look; the next one continues there. Headers are rewritten
 * by one pwrite(), which a reader can see half done: then the look is repeated, up to
 * three times. A finished run is not written any more, so its first look decides.
 *
 *   first record that is all zeros   the end: all behind it must be zero
 *   record with a wrong check        read it again: if it is valid now, the program wrote
 *                                    meanwhile, and the look ends here; else damage
 *   header with a wrong checksum     repeat the look
 *   damage in spite of this          TSANOM_E_FORMAT; with salvage, the stream's records
 *                                    end in front of it
 *
 * When the earlier records must be read again (`stale`):
 *
 *   the tick changed by more than 1e-7   all times are products with it
 *   the run has finished since           the times of a finished run, by its final tick,
 *                                        do not depend on earlier looks
 *   a restart of the clock               times depend on all streams
 *
 * Measured with one stream: 156 ms to open a run of 10,000,000 beats, 0.16 ms to refresh
 * it after 10,000 more (docs/runs.md). */
#include "runs/channel.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <tsanom/runs.h>

#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"

/* A new measurement of the clock's period changes all times. Less than this is ignored
 * until the run ends, since it would cost reading all records again. */
#define TICK_TOLERANCE 1e-7

/* A look at a stream that was read before finds few new records. With 64 streams and 25
 * records, reading whole pieces took a third of the time of tsanom watch. */
enum { NEW_PIECE = 4096 };

/* The fault names the file whose records did not fit. */
static tsanom_status no_memory(const tsn_source *source) {
  return tsn_source_fault(source, TSANOM_E_MEMORY, 0, "out of memory");
}

/* The first time, for all that the file stores, so that nothing is copied; a sparse file
 * stores less than its size says, and the smaller of both bounds the memory: a file of a
 * few bytes that claims terabytes takes none. Later by doubling. */
static bool reserve(const tsn_channel *channel, const tsn_source *source,
                    tsn_stream *stream, size_t more) {
  size_t needed = stream->seen + more;
  if (stream->time.capacity == 0) {
    uint64_t bytes = source->stored < source->size ? source->stored : source->size;
    needed = tsn_larger(needed, (size_t)(bytes / TSN_RECORD));
  }
  return tsn_array_reserve(&stream->time, channel->memory, stream->seen, needed,
                           sizeof(double)) &&
         tsn_array_reserve(&stream->tag, channel->memory, stream->seen, needed,
                           sizeof(uint32_t));
}

/* Append a record, for which there is space; its time stays in ticks for now. Detects
 * steps back on the way, so that a run without a restart needs no pass of its own for
 * it. */
static void append(tsn_stream *stream, const tsn_record *record) {
  if (record->time + TSN_DISORDER < stream->ticks_seen) stream->steps_back = true;
  stream->ticks_seen = record->time;
  ((uint64_t *)stream->time.data)[stream->seen] = record->time;
  ((uint32_t *)stream->tag.data)[stream->seen++] = record->tag;
}

/* Whether a tag is one that the channel's records can have. A stream of beats may have
 * any. */
static bool has_tag(const tsn_channel *channel, uint32_t tag) {
  return !channel->is_regions || tsn_region_is_valid(tag);
}

static void note_kind(tsn_stream *stream, uint32_t tag) {
  stream->kinds |= 1u << tsn_region_kind(tag);
  if (tsn_region_kind(tag) == TSN_REGIONS_METRIC) {
    stream->metrics |= 1u << (tag >> TSN_REGIONS_KIND_BITS & 7);
  }
}

/* Take the records of a piece, up to one that is all zeros. A record is kept only if its
 * check holds for its number, so moved and doubled records are damage as well. */
static tsanom_status take_records(tsn_channel *channel, const tsn_source *source,
                                  const unsigned char *bytes, size_t count,
                                  tsn_stream *stream, bool *ended) {
  if (!reserve(channel, source, stream, count / TSN_RECORD)) {
    return no_memory(source);
  }
  for (size_t i = 0; i + TSN_RECORD <= count; i += TSN_RECORD) {
    tsn_record record;
    memcpy(&record, bytes + i, sizeof record);
    if (record.time == 0 && record.tag == 0 && record.check == 0) {
      *ended = true;
      return TSANOM_OK;
    }
    uint64_t offset = TSN_STREAM_HEADER + (uint64_t)stream->seen * TSN_RECORD;
    if (!tsn_record_is_valid(&record, stream->seen)) {
      return tsn_source_fault(source, TSANOM_E_FORMAT, offset, "record %zu is damaged",
                              stream->seen);
    }
    if (!has_tag(channel, record.tag)) {
      return tsn_source_fault(source, TSANOM_E_FORMAT, offset,
                              "event %zu has an unknown kind: not a stream of region "
                              "events",
                              stream->seen);
    }
    if (channel->is_regions) note_kind(stream, record.tag);
    append(stream, &record);
  }
  return TSANOM_OK;
}

/* Read records from the first that was not read, and verify the zeros behind the last:
 * first the rest of the piece that is in the buffer anyway, then, through the holes of
 * the file, all that was not verified at an earlier look. Bytes there would be records
 * that a reader overlooks, hence they are damage. */
static tsanom_status take_body(tsn_channel *channel, const tsn_source *source,
                               tsn_stream *stream, unsigned char *buffer) {
  bool ended = false;
  uint64_t offset = TSN_STREAM_HEADER + (uint64_t)stream->seen * TSN_RECORD;
  uint64_t zeros = stream->zeros;
  size_t piece = zeros ? NEW_PIECE : TSN_PIECE;
  while (offset < source->size && !ended) {
    uint64_t left = source->size - offset;
    size_t count = left < piece ? (size_t)left : piece, before = stream->seen;
    tsanom_status status = tsn_source_read(source, offset, buffer, count);
    if (status == TSANOM_OK) {
      status = take_records(channel, source, buffer, count, stream, &ended);
    }
    size_t used = (stream->seen - before) * TSN_RECORD;
    if (status == TSANOM_OK) {
      status = tsn_check_zero_bytes(source, buffer + used, count - used, offset + used);
    }
    if (status < 0) return status;
    offset += count;
    piece = TSN_PIECE;
  }
  zeros = zeros > offset ? zeros : offset;
  tsanom_status status = tsn_check_zeros(source, zeros, source->size, buffer);
  if (status == TSANOM_OK) stream->zeros = source->size;
  return status;
}

/* Whether the program wrote, since the file was read, the record that was taken for the
 * end or for damage. Only a running stream can; `quiet` has no exec, so that a failure
 * here does not replace the fault that was found. Not inlined: a frame has at most 8 KiB. */
__attribute__((noinline)) static bool goes_on(const tsn_channel *channel,
                                              const tsn_source *source,
                                              const tsn_stream_header *header,
                                              uint64_t sequence) {
  tsn_source quiet = *source;
  tsn_record record = {.time = 0};
  quiet.exec = NULL;
  return header->state == TSN_RUNNING &&
         tsn_source_read(&quiet, TSN_STREAM_HEADER + sequence * TSN_RECORD, &record,
                         sizeof record) == TSANOM_OK &&
         tsn_record_is_valid(&record, sequence) && has_tag(channel, record.tag);
}

/* The latest event may have been taken back since, and written again later: a call of MPI
 * that was not over. Not inlined: a frame has at most 8 KiB. */
__attribute__((noinline)) static void look_again(tsn_channel *channel,
                                                 const tsn_source *source,
                                                 tsn_stream *stream) {
  tsn_record record;
  tsn_source quiet = *source;
  quiet.exec = NULL;
  size_t latest = stream->count - 1;
  if (!channel->is_regions || !stream->count || stream->seen != stream->count ||
      tsn_source_read(&quiet, TSN_STREAM_HEADER + latest * TSN_RECORD, &record,
                      sizeof record) < 0 ||
      !tsn_record_is_valid(&record, latest) || record.time <= stream->ticks ||
      !has_tag(channel, record.tag)) {
    return;
  }
  ((double *)stream->time.data)[latest] = tsn_channel_seconds(channel, record.time);
  ((uint32_t *)stream->tag.data)[latest] = record.tag;
  stream->ticks_seen = record.time;
}

/* One stream whose file is open: header, continuity with the last look, records. A file
 * that lost records which were there before is not the same file. */
static tsanom_status read_open_stream(tsn_channel *channel, const tsn_source *source,
                                      uint32_t index, unsigned char *buffer) {
  tsn_stream *stream = tsn_channel_stream(channel, index);
  tsn_stream_header header = {0};
  tsanom_status status = tsn_source_read(source, 0, buffer, TSN_STREAM_HEADER);
  if (status == TSANOM_OK) {
    status =
        tsn_check_stream_header(source, &channel->header_seen, index, buffer, &header);
  }
  if (status < 0) return status;
  stream->thread = header.announced;
  stream->dropped_seen = header.dropped;
  stream->error = header.error;
  if (source->size < TSN_STREAM_HEADER + (uint64_t)stream->seen * TSN_RECORD) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, source->size,
                            "the file became shorter: %zu records were there before",
                            stream->seen);
  }
  look_again(channel, source, stream);
  status = take_body(channel, source, stream, buffer);
  if (status == TSANOM_E_FORMAT && goes_on(channel, source, &header, stream->seen)) {
    status = TSANOM_OK;
  }
  stream->missing = header.count > stream->seen ? header.count - stream->seen : 0;
  if (status < 0) return status;
  return tsn_check_stream_end(source, &channel->header_seen, &header, stream->seen);
}

/* The run's own file, without which the times are unknown. Decides whether the streams
 * must be read again. Another run identity in the same directory is an error of state:
 * the caller's pointers are to the first run. */
static tsanom_status read_run(tsn_channel *channel, const tsanom_exec *exec,
                              bool *stale) {
  tsn_source source = tsn_source_named(exec, channel->directory, TSN_RUN_FILE);
  tsanom_status status = tsn_source_open(&source);
  if (status < 0) return status;
  tsn_run_header header;
  const tsn_run_header *seen = &channel->header_seen;
  status = tsn_check_run(&source, &header);
  tsn_source_close(&source);
  if (status < 0) return status;
  channel->header_seen = header;
  double tick = tsn_timeline_tick(seen);
  if (!channel->has_data) {
    channel->tick = tick;
    return TSANOM_OK;
  }
  if (seen->run_id != channel->header.run_id || seen->streams < channel->stream_count) {
    return tsn_source_fault(&source, TSANOM_E_STATE, offsetof(tsn_run_header, run_id),
                            "the directory contains another run now");
  }
  *stale = channel->restarts > 0 ||
           fabs(tick - channel->tick) > TICK_TOLERANCE * channel->tick ||
           (seen->state == TSN_FINISHED && channel->header.state != TSN_FINISHED);
  return TSANOM_OK;
}

/* Open one stream and read it. The array of streams grows one by one: a count without
 * files takes no memory. With `damage` the stream has the records in front of it; one
 * that cannot be opened, or has no valid header, keeps its number and has none. */
static tsanom_status read_stream(tsn_channel *channel, const tsanom_exec *exec,
                                 size_t index, tsanom_fault *damage,
                                 unsigned char *buffer) {
  const tsn_run_header *run = &channel->header_seen;
  tsn_source source =
      tsn_source_named(exec, channel->directory, TSN_STREAM_FILE, (unsigned)index);
  if (!tsn_array_reserve(&channel->streams, channel->memory, channel->streams_seen,
                         index + 1, sizeof(tsn_stream))) {
    return no_memory(&source);
  }
  if (index == channel->streams_seen) {
    tsn_stream *stream = tsn_channel_stream(channel, index);
    memset(stream, 0, sizeof *stream);
    stream->thread = index < (size_t)run->announced ? (int32_t)index : 0;
    channel->streams_seen++;
  }
  tsanom_status status = tsn_source_open(&source);
  if (status == TSANOM_OK) {
    status = read_open_stream(channel, &source, (uint32_t)index, buffer);
    tsn_source_close(&source);
  }
  return tsn_salvages(exec, status, damage) ? TSANOM_OK : status;
}

static tsanom_status read_streams(tsn_channel *channel, const tsanom_exec *exec,
                                  tsanom_fault *damage) {
  tsn_pool pool = {.exec = exec};
  unsigned char *buffer = tsn_pool_take(&pool, 1, TSN_PIECE);
  size_t count = channel->header_seen.streams;
  tsanom_status status = TSANOM_OK;
  if (!buffer) return tsn_reject_memory(exec, TSN_PIECE);
  for (size_t i = 0; i < count && status >= 0; i++) {
    if (tsn_exec_stop(exec, i, count)) {
      status = TSANOM_STOPPED;
      break;
    }
    status = read_stream(channel, exec, i, damage, buffer);
  }
  tsn_pool_free(&pool);
  return status < 0 || status == TSANOM_STOPPED ? status : TSANOM_OK;
}

/* Ticks to seconds, once all streams are read. A restart that shows only now makes the
 * committed times wrong: the channel is stale then, and the new one takes all records
 * into account. */
static tsanom_status convert(tsn_channel *channel, const tsanom_exec *exec, bool *stale) {
  if (!tsn_timeline_restarted(channel)) {
    tsn_timeline_convert(channel);
  } else if (channel->has_data) {
    *stale = true;
  } else if (!tsn_timeline_convert_epochs(channel)) {
    tsn_source source = tsn_source_named(exec, channel->directory, TSN_RUN_FILE);
    return no_memory(&source);
  }
  return TSANOM_OK;
}

/* One attempt to read. After anything but success, what it read is forgotten. */
static tsanom_status look(tsn_channel *channel, const tsanom_exec *exec,
                          tsanom_fault *damage, bool *stale) {
  *stale = false;
  tsanom_status status = read_run(channel, exec, stale);
  if (status == TSANOM_OK && !*stale) status = read_streams(channel, exec, damage);
  if (status == TSANOM_OK && !*stale) status = convert(channel, exec, stale);
  if (status != TSANOM_OK) tsn_channel_discard(channel);
  return status;
}

/* Repeats a look that found damage while the run is running. `header_seen.state` is set
 * first, for a look that fails before it has read the header. */
tsanom_status tsn_channel_read(tsn_channel *channel, const tsanom_exec *exec,
                               bool *stale) {
  enum { ATTEMPTS = 3 };
  tsanom_status status = TSANOM_E_FORMAT;
  for (int i = 0; i < ATTEMPTS && status == TSANOM_E_FORMAT; i++) {
    channel->header_seen.state = TSN_RUNNING;
    status = look(channel, exec, NULL, stale);
    if (channel->header_seen.state == TSN_FINISHED) break;
  }
  if (channel->damage && (status == TSANOM_E_FORMAT || status == TSANOM_E_IO)) {
    status = look(channel, exec, channel->damage, stale);
  }
  return status;
}

uint64_t tsn_channel_commit(tsn_channel *channel) {
  uint64_t added = 0;
  for (size_t i = 0; i < channel->streams_seen; i++) {
    tsn_stream *stream = tsn_channel_stream(channel, i);
    added += stream->seen - stream->count;
    stream->count = stream->seen;
    stream->dropped = stream->dropped_seen;
    stream->ticks = stream->ticks_seen;
  }
  channel->stream_count = channel->streams_seen;
  channel->header = channel->header_seen;
  channel->has_data = true;
  return added;
}

/* Streams that had committed records keep their arrays, which may have grown and moved;
 * those that are new are freed. */
void tsn_channel_discard(tsn_channel *channel) {
  for (size_t i = 0; i < channel->streams_seen; i++) {
    tsn_stream *stream = tsn_channel_stream(channel, i);
    if (i < channel->stream_count) {
      stream->seen = stream->count;
      stream->ticks_seen = stream->ticks;
      stream->steps_back = false;
      continue;
    }
    tsn_array_free(&stream->time, channel->memory);
    tsn_array_free(&stream->tag, channel->memory);
  }
  channel->streams_seen = channel->stream_count;
}

/* With no stream committed, discarding frees all of them. */
void tsn_channel_free(tsn_channel *channel) {
  channel->stream_count = 0;
  tsn_channel_discard(channel);
  tsn_array_free(&channel->streams, channel->memory);
}
