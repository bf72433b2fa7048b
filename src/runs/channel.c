/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the streams of a directory, at first as a whole, later from where the previous
 * look ended. A look costs the header pages, the new records, and the part of each file
 * behind the records that was not there before:
 *
 *   header | records read before | new records | zeros read before | zeros new | end
 *          | skipped             | verified    | skipped           | verified  |
 *
 * The program may write while its files are read. It writes records in order, each by one
 * store, so that a record that looks like the end or like damage, and is valid when it is
 * read again, ends this look; the next one continues there. Headers are rewritten by one
 * pwrite(), which a reader can see half done: then the look is repeated. */
#include "runs/channel.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <tsanom/regions.h>

#include "core/exec.h"
#include "core/size.h"

/* A new measurement of the clock's period changes all times. Less than this is ignored
 * until the run ends, since it would cost reading all records again. */
#define TICK_TOLERANCE 1e-7

static double tick_of(const tsn_run_header *header) {
  return (double)(header->latest.nanoseconds - header->first.nanoseconds) * 1e-9 /
         (double)(header->latest.ticks - header->first.ticks);
}

/* The difference is taken in integers: ticks have more digits than a double. */
double tsn_channel_seconds(const tsn_channel *channel, uint64_t ticks) {
  return (double)(int64_t)(ticks - channel->header_seen.first.ticks) * channel->tick;
}

static tsanom_status no_memory(const tsn_source *source) {
  return tsn_source_fault(source, TSANOM_E_MEMORY, 0, "out of memory");
}

/* Space for `more` records. The first time, for all that the file stores, so that nothing
 * is copied; a sparse file stores less than its size says. */
static bool reserve(tsn_channel *channel, const tsn_source *source, tsn_stream *stream,
                    size_t more) {
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

static bool tag_is_valid(const tsn_channel *channel, uint32_t tag) {
  return !channel->is_regions ||
         (tag & ((1u << TSANOM_REGIONS_KIND_BITS) - 1)) <= TSANOM_REGIONS_CPU;
}

/* Take the records of a piece, up to one that is all zeros. */
static tsanom_status take_records(tsn_channel *channel, const tsn_source *source,
                                  const unsigned char *bytes, size_t count,
                                  tsn_stream *stream, bool *ended) {
  if (!reserve(channel, source, stream, count / TSN_RECORD)) return no_memory(source);
  double *time = stream->time.data;
  uint32_t *tag = stream->tag.data;
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
    if (!tag_is_valid(channel, record.tag)) {
      return tsn_source_fault(source, TSANOM_E_FORMAT, offset,
                              "event %zu has an unknown kind: not a stream of region "
                              "events",
                              stream->seen);
    }
    time[stream->seen] = tsn_channel_seconds(channel, record.time);
    tag[stream->seen++] = record.tag;
  }
  return TSANOM_OK;
}

/* Read records from the first that was not read, and verify the zeros behind the last. */
static tsanom_status take_body(tsn_channel *channel, const tsn_source *source,
                               tsn_stream *stream, unsigned char *buffer) {
  bool ended = false;
  uint64_t offset = TSN_STREAM_HEADER + (uint64_t)stream->seen * TSN_RECORD;
  uint64_t zeros = stream->zeros;
  while (offset < source->size && !ended) {
    uint64_t left = source->size - offset;
    size_t count = left < TSN_PIECE ? (size_t)left : TSN_PIECE, before = stream->seen;
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
  }
  zeros = zeros > offset ? zeros : offset;
  tsanom_status status = tsn_check_zeros(source, zeros, source->size, buffer);
  if (status == TSANOM_OK) stream->zeros = source->size;
  return status;
}

/* Whether the program wrote, since the file was read, the record that was taken for the
 * end or for damage. */
static bool goes_on(const tsn_channel *channel, const tsn_source *source,
                    const tsn_stream_header *header, uint64_t sequence) {
  tsn_source quiet = *source;
  tsn_record record = {.time = 0};
  quiet.exec = NULL;
  return header->state == TSN_RUNNING &&
         tsn_source_read(&quiet, TSN_STREAM_HEADER + sequence * TSN_RECORD, &record,
                         sizeof record) == TSANOM_OK &&
         tsn_record_is_valid(&record, sequence) && tag_is_valid(channel, record.tag);
}

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
  uint64_t end = TSN_STREAM_HEADER + (uint64_t)stream->seen * TSN_RECORD;
  if (source->size < end) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, source->size,
                            "the file became shorter: %zu records were there before",
                            stream->seen);
  }
  status = take_body(channel, source, stream, buffer);
  if (status == TSANOM_E_FORMAT && goes_on(channel, source, &header, stream->seen)) {
    status = TSANOM_OK;
  }
  if (status == TSANOM_OK && header.state == TSN_FINISHED &&
      stream->seen != header.count) {
    end = TSN_STREAM_HEADER + (uint64_t)stream->seen * TSN_RECORD;
    return tsn_source_fault(
        source, TSANOM_E_FORMAT, end,
        "the records end here, but the stream has %" PRIu64 " records", header.count);
  }
  return status;
}

static tsanom_status read_run(tsn_channel *channel, const tsanom_exec *exec,
                              bool *stale) {
  tsn_source source = tsn_source_named(exec, channel->directory, TSN_RUN_FILE);
  tsanom_status status = tsn_source_open(&source);
  if (status < 0) return status;
  tsn_run_header *seen = &channel->header_seen;
  status = tsn_check_run(&source, seen);
  tsn_source_close(&source);
  if (status < 0) return status;
  double tick = tick_of(seen);
  if (!channel->has_data) {
    channel->tick = tick;
    return TSANOM_OK;
  }
  if (seen->run_id != channel->header.run_id || seen->streams < channel->stream_count) {
    return tsn_source_fault(&source, TSANOM_E_STATE, offsetof(tsn_run_header, run_id),
                            "the directory contains another run now");
  }
  *stale = fabs(tick - channel->tick) > TICK_TOLERANCE * channel->tick ||
           (seen->state == TSN_FINISHED && channel->header.state != TSN_FINISHED);
  return TSANOM_OK;
}

static tsanom_status read_streams(tsn_channel *channel, const tsanom_exec *exec) {
  unsigned char buffer[TSN_PIECE];
  size_t count = channel->header_seen.streams;
  for (size_t i = 0; i < count; i++) {
    if (tsn_exec_stop(exec, i, count)) return TSANOM_STOPPED;
    tsn_source source =
        tsn_source_named(exec, channel->directory, TSN_STREAM_FILE, (unsigned)i);
    tsanom_status status = tsn_source_open(&source);
    if (status < 0) return status;
    if (!tsn_array_reserve(&channel->streams, channel->memory, channel->streams_seen,
                           i + 1, sizeof(tsn_stream))) {
      status = no_memory(&source);
    } else {
      if (i == channel->streams_seen) {
        *tsn_channel_stream(channel, i) = (tsn_stream){.count = 0};
        channel->streams_seen++;
      }
      status = read_open_stream(channel, &source, (uint32_t)i, buffer);
    }
    tsn_source_close(&source);
    if (status < 0) return status;
  }
  return TSANOM_OK;
}

tsanom_status tsn_channel_read(tsn_channel *channel, const tsanom_exec *exec,
                               bool *stale) {
  enum { ATTEMPTS = 3 };
  tsanom_status status = TSANOM_OK;
  for (int i = 0; i < ATTEMPTS; i++) {
    *stale = false;
    status = read_run(channel, exec, stale);
    bool is_final = status == TSANOM_OK && channel->header_seen.state == TSN_FINISHED;
    if (status == TSANOM_OK && !*stale) status = read_streams(channel, exec);
    if (status == TSANOM_OK) return status;
    tsn_channel_discard(channel);
    if (status != TSANOM_E_FORMAT || is_final) break;
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
  }
  channel->stream_count = channel->streams_seen;
  channel->header = channel->header_seen;
  channel->has_data = true;
  return added;
}

void tsn_channel_discard(tsn_channel *channel) {
  for (size_t i = 0; i < channel->streams_seen; i++) {
    tsn_stream *stream = tsn_channel_stream(channel, i);
    if (i < channel->stream_count) {
      stream->seen = stream->count;
      continue;
    }
    tsn_array_free(&stream->time, channel->memory);
    tsn_array_free(&stream->tag, channel->memory);
  }
  channel->streams_seen = channel->stream_count;
}

void tsn_channel_free(tsn_channel *channel) {
  channel->stream_count = 0;
  tsn_channel_discard(channel);
  tsn_array_free(&channel->streams, channel->memory);
}
