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
#include <tsanom/record.h>
#include <tsanom/runs.h>

#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "record/format.h"
#include "runs/memory.h"

/* ---- verification
 *
 * Every byte of a run's files is covered by one of three rules:
 *
 *   heartbeat.run   | fields ................ checksum |                  end of file
 *                   |<---- FNV-1a, 64 bits ----------->|
 *
 *   stream          | fields .. checksum | zero ... 4095 | records | zero ........ end
 *                   |<---- FNV-1a ------>|  must be zero  | check   | must be zero
 *                                                        | of each |
 *
 * A step of FNV-1a is a bijection of its state, so any change of one byte changes the
 * sum. The check of a record covers time, tag and number. So each flipped bit, each
 * truncation and each moved record is found.
 *
 * A valid checksum does not make the values trustworthy: a hostile file has one, too. So
 * each field is compared with what the recorder can write, and counts are bounded before
 * they are used: 4096 + 16 n must not overflow. */

/* Offset of the first byte that is not zero; count: none. By words of 8 bytes, because
 * most of what is compared is zero: streams are backed far ahead. */
static size_t first_nonzero(const unsigned char *bytes, size_t count) {
  size_t i = 0;
  uint64_t word = 0;
  while (i + sizeof word <= count) {
    memcpy(&word, bytes + i, sizeof word);
    if (word) break;
    i += sizeof word;
  }
  while (i < count && bytes[i] == 0) i++;
  return i;
}

/* Bytes at `offset`, which were read, must be zero. */
static tsanom_status check_zero_bytes(const tsn_source *source,
                                      const unsigned char *bytes, size_t count,
                                      uint64_t offset) {
  size_t nonzero = first_nonzero(bytes, count);
  if (nonzero == count) return TSANOM_OK;
  return tsn_source_fault(source, TSANOM_E_FORMAT, offset + nonzero,
                          "damaged: this byte must be zero");
}

/* What both headers begin with: the magic, the version, a size. Checked before the
 * checksum, whose place depends on the version, so that a file of another kind or
 * version gets a message of its own. */
static tsanom_status check_head(const tsn_source *source, const void *header,
                                const char magic[8], const char *what, uint32_t bytes) {
  struct {
    char magic[8];
    uint32_t version;
    uint32_t bytes;
  } head;
  memcpy(&head, header, sizeof head);
  if (memcmp(head.magic, magic, sizeof head.magic) != 0) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, 0,
                            "not %s, which begins with \"%.8s\"", what, magic);
  }
  if (head.version < TSN_FORMAT_VERSION) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, 8,
                            "%s of version %" PRIu32
                            ", by an earlier release; this one reads version %d: record "
                            "the program again",
                            what, head.version, TSN_FORMAT_VERSION);
  }
  if (head.version > TSN_FORMAT_VERSION || head.bytes != bytes) {
    return tsn_source_fault(
        source, TSANOM_E_FORMAT, 8,
        "damaged, or %s of version %" PRIu32 " with a header of %" PRIu32
        " bytes; this library reads version %d with %" PRIu32 " bytes",
        what, head.version, head.bytes, TSN_FORMAT_VERSION, bytes);
  }
  return TSANOM_OK;
}

/* The checksum at `offset` covers all bytes before it. */
static tsanom_status check_sum(const tsn_source *source, const void *header,
                               size_t offset) {
  uint64_t stored;
  memcpy(&stored, (const unsigned char *)header + offset, sizeof stored);
  if (stored == tsn_checksum(header, offset)) return TSANOM_OK;
  return tsn_source_fault(source, TSANOM_E_FORMAT, offset,
                          "the header is damaged: its checksum is not %016" PRIx64,
                          stored);
}

tsanom_status tsn_check_header(const tsn_source *source, const void *header,
                               const char magic[8], const char *what, uint32_t bytes,
                               size_t sum) {
  tsanom_status status = check_head(source, header, magic, what, bytes);
  return status < 0 ? status : check_sum(source, header, sum);
}

/* Fewer ticks in the latest pair than in the first are valid for the time-stamp counter
 * only: it restarts when the machine was suspended (below). Equal ticks, or no
 * later CLOCK_MONOTONIC, would make the tick infinite or zero. */
static tsanom_status check_run_header(const tsn_source *source,
                                      const tsn_run_header *header) {
  tsanom_status status = check_sum(source, header, offsetof(tsn_run_header, checksum));
  if (status < 0) return status;
  bool is_tsc = header->clock == TSANOM_RECORD_CLOCK_TSC;
  if ((header->state != TSN_RUNNING && header->state != TSN_FINISHED) ||
      header->announced < 1 || header->streams < (uint32_t)header->announced ||
      header->streams > TSANOM_RECORD_STREAMS_MAX ||
      (!is_tsc && header->clock != TSANOM_RECORD_CLOCK_MONOTONIC) ||
      header->latest.ticks == header->first.ticks ||
      (!is_tsc && header->latest.ticks < header->first.ticks) ||
      header->latest.nanoseconds <= header->first.nanoseconds ||
      header->start > INT64_MAX || header->pid > INT32_MAX ||
      header->program[TSN_PROGRAM_NAME - 1] != '\0' ||
      header->machine[TSN_MACHINE_NAME - 1] != '\0' ||
      header->host[TSN_HOST_NAME - 1] != '\0' ||
      header->cpu_times > TSN_CPU_TIMES_SAMPLED || header->error < 0) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, 24,
                            "the header contains a value that no run has");
  }
  return TSANOM_OK;
}

/* The file of a run has exactly one header. */
static tsanom_status check_run(const tsn_source *source, tsn_run_header *header) {
  enum { HEAD = 16 }; /* an earlier version has fewer bytes in all */
  tsanom_status status = tsn_source_read(source, 0, header, HEAD);
  if (status == TSANOM_OK) {
    status =
        check_head(source, header, TSN_RUN_MAGIC, "the file of a run", sizeof *header);
  }
  if (status == TSANOM_OK) status = tsn_source_read(source, 0, header, sizeof *header);
  if (status == TSANOM_OK) status = check_run_header(source, header);
  if (status == TSANOM_OK && source->size > sizeof *header) {
    status = tsn_source_fault(source, TSANOM_E_FORMAT, sizeof *header,
                              "the file must end here, but has %" PRIu64 " bytes",
                              source->size);
  }
  return status;
}

/* The header page of a stream, which fits its run. `most` keeps the length of the file within
 * an off_t. An announced stream must have its own number as thread: the recorder creates
 * them so. A complete stream has as many records as it has space for. The rest of the page
 * is zero. */
static tsanom_status check_stream_header(const tsn_source *source,
                                         const tsn_run_header *run, uint32_t stream,
                                         const unsigned char *page,
                                         tsn_stream_header *header) {
  memcpy(header, page, sizeof *header);
  tsanom_status status =
      tsn_check_header(source, header, TSN_STREAM_MAGIC, "a stream of heartbeats",
                       TSN_STREAM_HEADER, offsetof(tsn_stream_header, checksum));
  if (status < 0) return status;
  if (header->run_id != run->run_id) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, offsetof(tsn_stream_header, run_id),
                            "this stream belongs to another run");
  }
  bool complete = header->state == TSN_FINISHED;
  uint64_t most = ((uint64_t)INT64_MAX - TSN_STREAM_HEADER) / TSN_RECORD;
  if (header->stream != stream || header->announced < 0 || header->backed > most ||
      header->error < 0 ||
      (stream < (uint32_t)run->announced && header->announced != (int32_t)stream) ||
      (!complete && (header->state != TSN_RUNNING || header->count != 0)) ||
      (complete && header->backed != header->count)) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, offsetof(tsn_stream_header, stream),
                            "the header contains a value that stream %" PRIu32
                            " of this run cannot have",
                            stream);
  }
  return check_zero_bytes(source, page + sizeof *header,
                          TSN_STREAM_HEADER - sizeof *header, sizeof *header);
}

/* The stream's state fits the run's, the file is as long as the header promises, and a
 * complete stream has as many records as the header states. Salvage keeps the records
 * if not, so that this is no part of the check of the header. */
static tsanom_status check_stream_end(const tsn_source *source, const tsn_run_header *run,
                                      const tsn_stream_header *header, uint64_t records) {
  if (header->state == TSN_RUNNING && run->state == TSN_FINISHED) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, offsetof(tsn_stream_header, state),
                            "the stream is not complete, but its run is finished");
  }
  if (source->size < TSN_STREAM_HEADER + header->backed * TSN_RECORD) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, source->size,
                            "the file is cut short: it must have space for %" PRIu64
                            " records",
                            header->backed);
  }
  if (header->state == TSN_FINISHED && records != header->count) {
    return tsn_source_fault(
        source, TSANOM_E_FORMAT, TSN_STREAM_HEADER + records * TSN_RECORD,
        "the records end here, but the stream has %" PRIu64 " records", header->count);
  }
  return TSANOM_OK;
}

/* The same of bytes that are read into `buffer`, of TSN_PIECE bytes. Holes are not read, so that
 * the time does not depend on the size that a sparse file states. */
static tsanom_status check_zeros(const tsn_source *source, uint64_t from, uint64_t to,
                                 unsigned char *buffer) {
  while (from < to) {
    from = tsn_source_next_data(source, from);
    if (from >= to) break;
    size_t count = (size_t)(to - from < TSN_PIECE ? to - from : TSN_PIECE);
    tsanom_status status = tsn_source_read(source, from, buffer, count);
    if (status == TSANOM_OK) status = check_zero_bytes(source, buffer, count, from);
    if (status < 0) return status;
    from += count;
  }
  return TSANOM_OK;
}

/* ---- clock
 *
 * From ticks to seconds, also where the counter restarted. Usually a multiplication by
 * the tick; after a restart, epochs laid end to end (the formulas are below).
 *
 * The time-stamp counter can restart while a program runs: when the machine was
 * suspended, or a virtual machine migrated. CLOCK_MONOTONIC goes on. The records between
 * two restarts are an epoch; epochs are laid end to end, as if no time passed at a
 * restart:
 *
 *   ticks      first ..... end[0]             begin[1] ..... end[1]
 *   unwrapped  0 ......... end[0] - first  =  base[1] ...... base[1] + end[1] - begin[1]
 *
 *   base[k] = sum over i < k of (end[i] - begin[i]),   begin[0] = first
 *   unwrapped(ticks in epoch k) = base[k] + ticks - begin[k]
 *   tick = (latest.ns - first.ns) * 1e-9 / unwrapped(latest.ticks)
 *   time = unwrapped * tick
 *
 * where begin and end are the least and the greatest tick of all streams in the epoch.
 * The header's two pairs of ticks and nanoseconds count as records. So times do not
 * decrease, the pairs have exactly their times by CLOCK_MONOTONIC, and the time that
 * passed between the last record before a restart and the first after it is spread over
 * the run: no time is wrong by more than the gaps at the restarts together.
 *
 * A stream's epoch ends where its ticks step back by more than TSN_DISORDER. Its first
 * epoch is 0, or 1 if its first record is before the run began. Two limits follow: a
 * restart is not seen in a stream whose ticks do not step back, and a stream without any
 * record between two restarts is taken for one with a single restart.
 *
 * Two passes over the records of all streams, O(records), and only for runs with a
 * restart.
 *
 * Processors whose counters differ a little can put two records out of order. A record
 * is after a restart if it is more ticks than this before the record in front of it: 0.3
 * ms at 3 GHz. Less is taken as recorded. */
#define TSN_DISORDER (UINT64_C(1) << 20)

typedef struct {
  /* Least and greatest ticks of all streams in the epoch. */
  uint64_t begin, end;
  /* Unwrapped ticks at `begin`. */
  double base;
} epoch;

typedef struct {
  const tsn_channel *channel;
  tsn_array epochs;
  size_t count;
} timeline;

/* Seconds per tick of a counter that did not restart: nanoseconds between the header's
 * two pairs over the ticks between them. */
static double tick_of(const tsn_run_header *header) {
  return (double)(header->latest.nanoseconds - header->first.nanoseconds) * 1e-9 /
         (double)(header->latest.ticks - header->first.ticks);
}

static epoch *epoch_at(const timeline *t, size_t index) {
  return (epoch *)t->epochs.data + index;
}

/* One more record in an epoch, at most the next new one. False: out of memory. */
static bool extend(timeline *t, size_t index, uint64_t ticks) {
  if (index == t->count) {
    if (!tsn_array_reserve(&t->epochs, t->channel->memory, t->count, index + 1,
                           sizeof(epoch))) {
      return false;
    }
    *epoch_at(t, t->count++) = (epoch){.begin = ticks, .end = ticks};
  }
  epoch *e = epoch_at(t, index);
  if (ticks > e->end) e->end = ticks;
  /* Records that are a little too early do not move the beginning of the run. */
  if (ticks < e->begin && index > 0) e->begin = ticks;
  return true;
}

static uint64_t ticks_at(const tsn_stream *stream, size_t index) {
  return ((const uint64_t *)stream->time.data)[index];
}

/* The test of a restart between two records. */
static bool is_before(uint64_t ticks, uint64_t other) {
  return ticks < other && other - ticks > TSN_DISORDER;
}

/* A walk over the records of a stream. */
typedef struct {
  size_t epoch;
  uint64_t ticks; /* of the record before */
} walk;

/* The epoch of the next record of the stream. Both passes call it for each record in
 * order, so that they agree. */
static size_t next_epoch(walk *w, uint64_t ticks) {
  w->epoch += is_before(ticks, w->ticks);
  w->ticks = ticks;
  return w->epoch;
}

/* First pass: the extent of each epoch. The first pair of the header begins epoch 0. */
static bool find_epochs(timeline *t) {
  if (!extend(t, 0, t->channel->header_seen.first.ticks)) return false;
  for (size_t i = 0; i < t->channel->streams_seen; i++) {
    const tsn_stream *stream = tsn_channel_stream(t->channel, i);
    walk w = {.ticks = t->channel->header_seen.first.ticks};
    for (size_t k = 0; k < stream->seen; k++) {
      uint64_t ticks = ticks_at(stream, k);
      if (!extend(t, next_epoch(&w, ticks), ticks)) return false;
    }
  }
  return true;
}

/* The epoch of the pair taken last; t->count: none of those that have records. At the
 * end of a finished run it is behind all records. Of another run it is the last epoch
 * that contains it, or else the one whose end is nearest before it. */
static size_t epoch_of_latest(const timeline *t, uint64_t ticks) {
  const tsn_run_header *header = &t->channel->header_seen;
  size_t nearest = t->count, last = t->count - 1;
  if (header->state == TSN_FINISHED) {
    return is_before(ticks, epoch_at(t, last)->end) ? t->count : last;
  }
  for (size_t i = t->count; i-- > 0;) {
    const epoch *e = epoch_at(t, i);
    if (e->begin <= ticks && ticks <= e->end) return i;
    if (ticks < e->begin) continue;
    if (nearest == t->count || e->end > epoch_at(t, nearest)->end) nearest = i;
  }
  return nearest;
}

/* The difference is taken in integers, and signed: a record may be a little before the
 * beginning of the run. */
static double unwrapped(const timeline *t, size_t index, uint64_t ticks) {
  const epoch *e = epoch_at(t, index);
  return e->base + (double)(int64_t)(ticks - e->begin);
}

/* Epochs, their bases, and the tick. A run whose pairs are no ticks apart has no
 * measured tick; a nanosecond is assumed. */
static bool build(timeline *t, double *tick) {
  const tsn_run_header *header = &t->channel->header_seen;
  uint64_t ticks = header->latest.ticks;
  if (!find_epochs(t)) return false;
  size_t latest = epoch_of_latest(t, ticks);
  if (!extend(t, latest, ticks)) return false;
  epoch_at(t, 0)->base = 0;
  for (size_t i = 1; i < t->count; i++) {
    const epoch *e = epoch_at(t, i - 1);
    epoch_at(t, i)->base = e->base + (double)(e->end - e->begin);
  }
  double passed = unwrapped(t, latest, ticks);
  double seconds =
      (double)(header->latest.nanoseconds - header->first.nanoseconds) * 1e-9;
  *tick = passed > 0 ? seconds / passed : 1e-9;
  return true;
}

/* The array changes its type from uint64_t to double element by element; memcpy() keeps
 * this defined. */
static void set_time(tsn_stream *stream, size_t index, double seconds) {
  memcpy((double *)stream->time.data + index, &seconds, sizeof seconds);
}

static void convert_epochs(const timeline *t, tsn_stream *stream) {
  walk w = {.ticks = t->channel->header_seen.first.ticks};
  for (size_t k = 0; k < stream->seen; k++) {
    uint64_t ticks = ticks_at(stream, k);
    size_t at = next_epoch(&w, ticks);
    set_time(stream, k, unwrapped(t, at, ticks) * t->channel->tick);
  }
}

static void convert_stream(const tsn_channel *channel, tsn_stream *stream, size_t from) {
  for (size_t k = from; k < stream->stored; k++) {
    set_time(stream, k, tsn_channel_seconds(channel, ticks_at(stream, k)));
  }
}

/* A restart shows in one of four places: the pairs of the header, a step back within a
 * stream, a first record before the run began, or, in a finished run, records behind the
 * latest pair. */
static bool has_restarted(const tsn_channel *channel) {
  const tsn_run_header *header = &channel->header_seen;
  if (header->latest.ticks < header->first.ticks) return true;
  for (size_t i = 0; i < channel->streams_seen; i++) {
    const tsn_stream *stream = tsn_channel_stream(channel, i);
    if (stream->steps_back) return true;
    if (stream->seen == stream->count) continue;
    if ((stream->count == 0 && is_before(stream->first, header->first.ticks)) ||
        (header->state == TSN_FINISHED &&
         is_before(header->latest.ticks, stream->ticks_seen))) {
      return true;
    }
  }
  return false;
}

/* ---- records of streams */

/* A new measurement of the clock's period changes all times. Less than this is ignored
 * until the run ends, since it would cost reading all records again. */
#define TICK_TOLERANCE 1e-7

/* A look at a stream that was read before finds few new records. With 64 streams and 25
 * records, reading whole pieces took a third of the time of tsanom watch. */
enum { NEW_PIECE = 4096 };

static bool reserve(const tsn_channel *channel, tsn_stream *stream, size_t more) {
  size_t needed = tsn_smaller(stream->seen + more, TSN_STORED_MOST);
  if (stream->stored < stream->seen) return true;
  return tsn_array_reserve(&stream->time, channel->memory, stream->seen, needed,
                           sizeof(double)) &&
         tsn_array_reserve(&stream->tag, channel->memory, stream->seen, needed,
                           sizeof(uint32_t));
}

/* Append a record; its time stays in ticks for now. Detects steps back on the way, so that
 * a run without a restart needs no pass of its own for it. */
static void append(tsn_stream *stream, const tsn_record *record) {
  size_t at = stream->seen++;
  if (record->time + TSN_DISORDER < stream->ticks_seen) stream->steps_back = true;
  if (!at) stream->first = record->time;
  stream->ticks_seen = record->time;
  stream->last_tag_seen = record->tag;
  if (stream->stored != at || at >= TSN_STORED_MOST) return;
  ((uint64_t *)stream->time.data)[at] = record->time;
  ((uint32_t *)stream->tag.data)[at] = record->tag;
  stream->stored++;
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
  if (!reserve(channel, stream, count / TSN_RECORD)) return tsn_source_no_memory(source);
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
      status = check_zero_bytes(source, buffer + used, count - used, offset + used);
    }
    if (status < 0) return status;
    offset += count;
    piece = TSN_PIECE;
  }
  zeros = zeros > offset ? zeros : offset;
  tsanom_status status = check_zeros(source, zeros, source->size, buffer);
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
  stream->again = stream->ticks_seen = record.time;
  stream->again_tag = stream->last_tag_seen = record.tag;
}

/* One stream whose file is open: header, continuity with the last look, records. A file
 * that lost records which were there before is not the same file. */
static tsanom_status read_open_stream(tsn_channel *channel, const tsn_source *source,
                                      uint32_t index, unsigned char *buffer) {
  tsn_stream *stream = tsn_channel_stream(channel, index);
  tsn_stream_header header = {0};
  tsanom_status status = tsn_source_read(source, 0, buffer, TSN_STREAM_HEADER);
  if (status == TSANOM_OK) {
    status = check_stream_header(source, &channel->header_seen, index, buffer, &header);
  }
  if (status < 0) return status;
  stream->announced = header.announced;
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
  return check_stream_end(source, &channel->header_seen, &header, stream->seen);
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
  status = check_run(&source, &header);
  tsn_source_close(&source);
  if (status < 0) return status;
  channel->header_seen = header;
  double tick = tick_of(seen);
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
    return tsn_source_no_memory(&source);
  }
  if (index == channel->streams_seen) {
    tsn_stream *stream = tsn_channel_stream(channel, index);
    memset(stream, 0, sizeof *stream);
    stream->announced = index < (size_t)run->announced ? (int32_t)index : 0;
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

/* What a reader takes from a file at a time. */
enum { PIECE_RECORDS = 1024 };

struct tsn_file_piece {
  tsn_source source; /* file -1: none is open */
  tsn_record record[PIECE_RECORDS];
  double time[PIECE_RECORDS];
  uint32_t tag[PIECE_RECORDS];
};

static void close_piece(const tsn_reader *reader) {
  struct tsn_file_piece *p = reader->piece;
  if (p && p->source.file >= 0) tsn_source_close(&p->source);
}

const tsn_stream *tsn_reader_open(tsn_reader *reader, size_t index) {
  const tsn_stream *stream = tsn_channel_stream(reader->channel, index);
  close_piece(reader);
  reader->stream = stream;
  reader->time = stream->time.data;
  reader->tag = stream->tag.data;
  reader->first = 0;
  reader->end = stream->stored < stream->seen ? 0 : stream->seen;
  return stream;
}

tsanom_status tsn_reader_end(tsn_reader *reader) {
  close_piece(reader);
  if (reader->piece) reader->exec->dealloc(reader->exec->alloc_user, reader->piece);
  reader->piece = NULL;
  return reader->status;
}

/* Open the file of the stream, if it is not open. */
static tsanom_status open_piece(tsn_reader *reader) {
  const tsanom_exec *exec = reader->exec;
  struct tsn_file_piece *p = reader->piece;
  if (!p) {
    p = reader->piece = exec->alloc(exec->alloc_user, sizeof *p);
    if (!p) return tsn_reject_memory(exec, sizeof *p);
    p->source.file = -1;
  }
  if (p->source.file >= 0) return TSANOM_OK;
  ptrdiff_t index = reader->stream - tsn_channel_stream(reader->channel, 0);
  p->source = tsn_source_named(exec, reader->channel->directory, TSN_STREAM_FILE,
                               (unsigned)index);
  return tsn_source_open(&p->source);
}

/* Read records that were verified before, in ticks. The latest event may have been taken
 * back since; what it was is known. */
static tsanom_status read_piece(tsn_reader *reader, size_t at, size_t count) {
  const tsn_stream *stream = reader->stream;
  tsanom_status status = open_piece(reader);
  if (status < 0) return status;
  tsn_record *record = reader->piece->record;
  const tsn_source *source = &reader->piece->source;
  uint64_t offset = TSN_STREAM_HEADER + (uint64_t)at * TSN_RECORD;
  status = tsn_source_read(source, offset, record, count * TSN_RECORD);
  if (status < 0) return status;
  size_t known = at + count == stream->seen;
  for (size_t k = 0; k < count - known; k++) {
    if (!tsn_record_is_valid(&record[k], at + k) ||
        !has_tag(reader->channel, record[k].tag)) {
      return tsn_source_fault(source, TSANOM_E_FORMAT, offset + k * TSN_RECORD,
                              "record %zu is not the one that was verified", at + k);
    }
  }
  if (known) {
    record[count - 1].time = stream->ticks_seen;
    record[count - 1].tag = stream->last_tag_seen;
  }
  return TSANOM_OK;
}

bool tsn_reader_fetch(tsn_reader *reader, size_t at) {
  const tsn_stream *stream = reader->stream;
  if (at >= stream->seen || stream->stored >= stream->seen || reader->status < 0) {
    return false;
  }
  size_t left = stream->seen - at, count = left < PIECE_RECORDS ? left : PIECE_RECORDS;
  reader->status = read_piece(reader, at, count);
  if (reader->status < 0) return false;
  struct tsn_file_piece *p = reader->piece;
  for (size_t k = 0; k < count; k++) {
    p->time[k] = tsn_channel_seconds(reader->channel, p->record[k].time);
    p->tag[k] = p->record[k].tag;
  }
  reader->time = p->time;
  reader->tag = p->tag;
  reader->first = at;
  reader->end = at + count;
  return true;
}

/* Store all records that were seen, in ticks. */
static tsanom_status store_ticks(const tsn_channel *channel, size_t index,
                                 const tsanom_exec *exec) {
  tsn_stream *stream = tsn_channel_stream(channel, index);
  tsn_reader reader = {.channel = channel, .exec = exec, .stream = stream};
  if (!tsn_array_reserve(&stream->time, channel->memory, stream->stored, stream->seen,
                         sizeof(double)) ||
      !tsn_array_reserve(&stream->tag, channel->memory, stream->stored, stream->seen,
                         sizeof(uint32_t))) {
    return tsn_reject_memory(exec, stream->seen * sizeof(double));
  }
  size_t at = 0;
  while (at < stream->seen && reader.status == TSANOM_OK) {
    size_t left = stream->seen - at, count = left < PIECE_RECORDS ? left : PIECE_RECORDS;
    reader.status = read_piece(&reader, at, count);
    for (size_t k = 0; k < count && reader.status == TSANOM_OK; k++, at++) {
      ((uint64_t *)stream->time.data)[at] = reader.piece->record[k].time;
      ((uint32_t *)stream->tag.data)[at] = reader.piece->record[k].tag;
    }
  }
  if (reader.status == TSANOM_OK) stream->stored = stream->seen;
  return tsn_reader_end(&reader);
}

tsanom_status tsn_channel_store(const tsn_channel *channel, size_t index,
                                const tsanom_exec *exec) {
  tsn_stream *stream = tsn_channel_stream(channel, index);
  if (stream->stored >= stream->count) return TSANOM_OK;
  tsanom_status status = store_ticks(channel, index, exec);
  if (status == TSANOM_OK) convert_stream(channel, stream, 0);
  return status;
}

/* Where the clock restarted, all records are stored. */
double tsn_stream_first(const tsn_channel *channel, const tsn_stream *stream) {
  return stream->stored ? *(const double *)stream->time.data
                        : tsn_channel_seconds(channel, stream->first);
}

double tsn_stream_last(const tsn_channel *channel, const tsn_stream *stream) {
  return stream->stored ? ((const double *)stream->time.data)[stream->count - 1]
                        : tsn_channel_seconds(channel, stream->ticks);
}

double tsn_channel_last(const tsn_channel *channel) {
  double last = 0;
  for (size_t i = 0; i < channel->stream_count; i++) {
    const tsn_stream *stream = tsn_channel_stream(channel, i);
    if (stream->count) last = fmax(last, tsn_stream_last(channel, stream));
  }
  return last;
}

/* Convert all records of a channel that has nothing committed and whose clock restarted. Sets its
 * tick and its restarts. False: out of memory. */
static bool convert_all_epochs(tsn_channel *channel) {
  timeline t = {.channel = channel};
  bool built = build(&t, &channel->tick);
  if (built) channel->restarts = t.count - 1;
  for (size_t i = 0; built && i < channel->streams_seen; i++) {
    convert_epochs(&t, tsn_channel_stream(channel, i));
  }
  tsn_array_free(&t.epochs, channel->memory);
  return built;
}

static tsanom_status convert_restarted(tsn_channel *channel, const tsanom_exec *exec) {
  for (size_t i = 0; i < channel->streams_seen; i++) {
    const tsn_stream *stream = tsn_channel_stream(channel, i);
    tsanom_status status = TSANOM_OK;
    if (stream->stored < stream->seen) status = store_ticks(channel, i, exec);
    if (status < 0) return status;
  }
  if (convert_all_epochs(channel)) return TSANOM_OK;
  tsn_source source = tsn_source_named(exec, channel->directory, TSN_RUN_FILE);
  return tsn_source_no_memory(&source);
}

/* Ticks to seconds, once all streams are read. A restart that shows only now makes the
 * committed times wrong: the channel is stale then, and the new one takes all records
 * into account. */
static tsanom_status convert(tsn_channel *channel, const tsanom_exec *exec, bool *stale) {
  if (has_restarted(channel)) {
    *stale = channel->has_data;
    return *stale ? TSANOM_OK : convert_restarted(channel, exec);
  }
  for (size_t i = 0; i < channel->streams_seen; i++) {
    tsn_stream *stream = tsn_channel_stream(channel, i);
    convert_stream(channel, stream, stream->count);
  }
  return TSANOM_OK;
}

/* Events are shown of the thread that opens the regions, and its team; the others work for the process,
 * too: of heartbeats they have numbers behind those of the team. A number that changes makes the channel
 * stale. */
static void number_streams(tsn_channel *channel, bool *stale) {
  int32_t next = 0, first = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (size_t i = 0; i < channel->streams_seen; i++) {
      tsn_stream *stream = tsn_channel_stream(channel, i);
      int32_t own = tsn_number_in_team(stream->announced, channel->header_seen.opener);
      if (pass == 0 && own >= next) next = own + 1;
      if (pass == 0) continue;
      bool is_idle = i && i < (size_t)channel->header_seen.announced && !stream->seen;
      if (own < 0 && !channel->is_regions) own = is_idle ? first : next++;
      if (i == 0) first = own;
      if (i >= channel->stream_count) {
        stream->thread = own;
      } else if (stream->thread != own) {
        *stale = true;
      }
    }
  }
}

/* One attempt to read. After anything but success, what it read is forgotten. */
static tsanom_status look(tsn_channel *channel, const tsanom_exec *exec,
                          tsanom_fault *damage, bool *stale) {
  *stale = false;
  tsanom_status status = read_run(channel, exec, stale);
  if (status == TSANOM_OK && !*stale) status = read_streams(channel, exec, damage);
  if (status == TSANOM_OK && !*stale) number_streams(channel, stale);
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

static void free_records(tsn_stream *stream, const tsanom_exec *memory) {
  tsn_array_free(&stream->time, memory);
  tsn_array_free(&stream->tag, memory);
  stream->stored = 0;
}

static void replace_latest(const tsn_channel *channel, tsn_stream *stream) {
  size_t latest = stream->count - 1;
  if (stream->again && latest < stream->stored) {
    ((double *)stream->time.data)[latest] = tsn_channel_seconds(channel, stream->again);
    ((uint32_t *)stream->tag.data)[latest] = stream->again_tag;
  }
  stream->again = 0;
}

void tsn_channel_commit(tsn_channel *channel) {
  for (size_t i = 0; i < channel->streams_seen; i++) {
    tsn_stream *stream = tsn_channel_stream(channel, i);
    replace_latest(channel, stream);
    stream->count = stream->seen;
    stream->dropped = stream->dropped_seen;
    stream->ticks = stream->ticks_seen;
    stream->last_tag = stream->last_tag_seen;
    if (stream->stored < stream->seen) free_records(stream, channel->memory);
  }
  channel->stream_count = channel->streams_seen;
  channel->header = channel->header_seen;
  channel->has_data = true;
}

/* Streams that had committed records keep their arrays, which may have grown and moved;
 * those that are new are freed. */
void tsn_channel_discard(tsn_channel *channel) {
  for (size_t i = 0; i < channel->streams_seen; i++) {
    tsn_stream *stream = tsn_channel_stream(channel, i);
    if (i < channel->stream_count) {
      stream->seen = stream->count;
      stream->ticks_seen = stream->ticks;
      stream->last_tag_seen = stream->last_tag;
      if (stream->stored > stream->count) stream->stored = stream->count;
      stream->steps_back = false;
      stream->again = 0;
      continue;
    }
    free_records(stream, channel->memory);
  }
  channel->streams_seen = channel->stream_count;
}

/* With no stream committed, discarding frees all of them. */
void tsn_channel_free(tsn_channel *channel) {
  channel->stream_count = 0;
  tsn_channel_discard(channel);
  tsn_array_free(&channel->streams, channel->memory);
}
