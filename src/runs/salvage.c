/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of a record covers its number, so a record can be verified wherever its
 * neighbors are damaged. Of a stream, those records are kept that are intact at their
 * place:
 *
 *   complete stream   | kept | damaged | kept | damaged or cut off | must be zero |
 *                     0                       next                end = count
 *   open stream       | kept | damaged | kept | damaged | zero |
 *                     0                       next      nonzero
 *
 * How many records an open stream has is not written anywhere, only for how many it has
 * disk space: those that are zero behind `next`, and not in front of others, count as
 * never written.
 *
 * Nothing is guessed: a kept record has its recorded time, tag and number, and the
 * extent of what was skipped is exact where the file allows it. A record that is damaged
 * at random passes its check with probability 2^-32. tests/runs/test_salvage.c compares
 * 4,000 damaged runs with their undamaged copies.
 *
 * One pass over the stored bytes of the file; holes are skipped. */
#include "runs/salvage.h"

#include <string.h>

#include "runs/channel.h"

/* A pass over one file. */
typedef struct {
  tsn_channel *channel;
  const tsn_source *source;
  tsn_stream *stream;
  uint64_t end;     /* records from here on are not kept; 0: none is */
  uint64_t space;   /* records for which the header has space */
  uint64_t next;    /* behind the last intact record */
  uint64_t nonzero; /* behind the last record in this space that is not zero */
  bool is_beyond;   /* bytes behind this space are not zero */
} scan;

/* One more range, of `skipped` records; the first is described by its place. */
static void note_range(tsn_damage *damage, uint64_t from, uint64_t skipped) {
  if (damage->ranges++ == 0) {
    damage->first_record = from;
    damage->first_offset = TSN_STREAM_HEADER + from * TSN_RECORD;
  }
  damage->skipped += skipped;
}

/* Records [from, to) are missing; an empty range is none. */
static void note(tsn_damage *damage, uint64_t from, uint64_t to) {
  if (from < to) note_range(damage, from, to - from);
}

/* Whole records for which the file has space. */
static uint64_t space_of(const tsn_source *source) {
  return source->size < TSN_STREAM_HEADER
             ? 0
             : (source->size - TSN_STREAM_HEADER) / TSN_RECORD;
}

/* Records in front of the next one to be kept are lost. The place is kept with the
 * stream: no region is known to be open behind it, see events.c. False: out of memory. */
static bool take_gap(scan *s, uint64_t index) {
  tsn_stream *stream = s->stream;
  if (!tsn_array_reserve(&stream->gap, s->channel->memory, stream->gaps, stream->gaps + 1,
                         sizeof(size_t))) {
    return false;
  }
  ((size_t *)stream->gap.data)[stream->gaps++] = stream->seen;
  note(&stream->damage, s->next, index);
  return true;
}

/* Keep a record, or take it for damage or for one that was never written. Zeros are not
 * decided here: they may be in front of another record (lost) or not (never written).
 * False: out of memory. */
static bool take_record(scan *s, uint64_t index, const tsn_record *record) {
  if (record->time == 0 && record->tag == 0 && record->check == 0) return true;
  if (index < s->space) s->nonzero = index + 1;
  if (index >= s->end || !tsn_record_is_valid(record, index) ||
      !tsn_channel_has_tag(s->channel, record->tag)) {
    s->is_beyond |= index >= s->space;
    return true;
  }
  if (index > s->next && !take_gap(s, index)) return false;
  tsn_stream_append(s->stream, record);
  s->next = index + 1;
  return true;
}

static tsanom_status no_memory(const tsn_source *source) {
  return tsn_source_fault(source, TSANOM_E_MEMORY, 0, "out of memory");
}

/* Read all that the file stores. A record that is cut is completed by zeros. After a
 * hole the offset is rounded down to the record in which the data begin. */
static tsanom_status scan_records(scan *s, unsigned char *buffer) {
  uint64_t offset = TSN_STREAM_HEADER;
  while (offset < s->source->size) {
    uint64_t data = tsn_source_next_data(s->source, offset);
    if (data > offset) offset = data - data % TSN_RECORD;
    if (offset >= s->source->size) break;
    uint64_t left = s->source->size - offset;
    size_t count = left < TSN_PIECE ? (size_t)left : TSN_PIECE;
    size_t records = (count + TSN_RECORD - 1) / TSN_RECORD;
    memset(buffer + count, 0, records * TSN_RECORD - count);
    tsanom_status status = tsn_source_read(s->source, offset, buffer, count);
    if (status < 0) return status;
    if (s->end && !tsn_stream_reserve(s->channel, s->source, s->stream, records)) {
      return no_memory(s->source);
    }
    uint64_t first = (offset - TSN_STREAM_HEADER) / TSN_RECORD;
    for (size_t i = 0; i < records; i++) {
      tsn_record record;
      memcpy(&record, buffer + i * TSN_RECORD, sizeof record);
      if (!take_record(s, first + i, &record)) return no_memory(s->source);
    }
    offset += count;
  }
  return TSANOM_OK;
}

/* The records of a stream with a usable header. A complete stream states how many it
 * has; the missing ones at its end are counted. Bytes behind the space that the header
 * states, and space that the file lacks, are ranges without records. */
static tsanom_status take_records(scan *s, const tsn_stream_header *header,
                                  unsigned char *buffer) {
  tsn_damage *damage = &s->stream->damage;
  bool complete = header->state == TSN_FINISHED;
  s->space = header->backed;
  s->end = complete ? header->count : UINT64_MAX;
  tsanom_status status = scan_records(s, buffer);
  uint64_t present = space_of(s->source);
  note(damage, s->next, complete ? header->count : s->nonzero);
  if (s->is_beyond) note_range(damage, header->backed, 0);
  if (!complete && present < header->backed) note_range(damage, present, 0);
  return status;
}

/* A stream whose header is lost: what looks like records is counted, but not kept, since
 * nothing shows that they belong to this run. */
static tsanom_status leave_out(scan *s, tsanom_status opened, unsigned char *buffer) {
  s->space = UINT64_MAX;
  tsanom_status status = opened == TSANOM_OK ? scan_records(s, buffer) : TSANOM_OK;
  s->stream->damage =
      (tsn_damage){.skipped = s->nonzero, .ranges = 1, .header = TSANOM_RUNS_HEADER_LOST};
  return status;
}

/* Read the header and repair it if needed. A page that is cut, or has bytes behind the
 * header, does not make the header wrong, and is reported as repaired. False: it is
 * lost. */
static bool read_header(const scan *s, uint32_t index, unsigned char *page,
                        tsn_stream_header *header) {
  uint64_t size = s->source->size;
  size_t count = size < TSN_STREAM_HEADER ? (size_t)size : TSN_STREAM_HEADER;
  memset(page, 0, TSN_STREAM_HEADER);
  if (tsn_source_read(s->source, 0, page, count) < 0) return false;
  bool repaired = tsn_repair(page, sizeof *header);
  memcpy(header, page, sizeof *header);
  if (tsn_check_stream_fields(s->source, &s->channel->header_seen, index, header) < 0) {
    return false;
  }
  repaired |= count < TSN_STREAM_HEADER;
  repaired |=
      tsn_check_zero_bytes(s->source, page + sizeof *header,
                           TSN_STREAM_HEADER - sizeof *header, sizeof *header) < 0;
  if (repaired) s->stream->damage.header = TSANOM_RUNS_HEADER_REPAIRED;
  return true;
}

tsanom_status tsn_salvage_stream(tsn_channel *channel, const tsn_source *source,
                                 tsanom_status opened, uint32_t index,
                                 unsigned char *buffer) {
  tsn_stream *stream = tsn_channel_stream(channel, index);
  const tsn_run_header *run = &channel->header_seen;
  scan s = {.channel = channel, .source = source, .stream = stream};
  tsn_stream_header header;
  stream->thread = index < (uint32_t)run->announced ? (int32_t)index : 0;
  if (opened < 0 || !read_header(&s, index, buffer, &header)) {
    return leave_out(&s, opened, buffer);
  }
  int32_t header_state = stream->damage.header;
  stream->thread = header.announced;
  stream->dropped_seen = header.dropped;
  tsanom_status status = take_records(&s, &header, buffer);
  if (status == TSANOM_OK && header.state == TSN_RUNNING && run->state == TSN_RUNNING &&
      stream->damage.ranges) {
    /* What the program was writing looks like damage; a second look is behind it. */
    stream->seen = stream->gaps = 0;
    stream->ticks_seen = 0;
    stream->steps_back = false;
    stream->damage = (tsn_damage){.header = header_state};
    s = (scan){.channel = channel, .source = source, .stream = stream};
    status = take_records(&s, &header, buffer);
  }
  return status;
}
