/* SPDX-License-Identifier: BSD-3-Clause */
/* Verification of headers and records. Every byte of a run's files is covered by one of
 * three rules:
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
#include <inttypes.h>
#include <string.h>
#include <tsanom/record.h>

#include "runs/channel.h"

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

/* Fewer ticks in the latest pair than in the first are valid for the time-stamp counter
 * only: it restarts when the machine was suspended (channel.c). Equal ticks, or no
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

/* The file has exactly one header. */
tsanom_status tsn_check_run(const tsn_source *source, tsn_run_header *header) {
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

/* `most` keeps the length of the file within an off_t. An announced stream must have its
 * own number as thread: the recorder creates them so. A complete stream has as many
 * records as it has space for. */
static tsanom_status check_stream_fields(const tsn_source *source,
                                         const tsn_run_header *run, uint32_t stream,
                                         const tsn_stream_header *header) {
  tsanom_status status = check_head(source, header, TSN_STREAM_MAGIC,
                                    "a stream of heartbeats", TSN_STREAM_HEADER);
  if (status == TSANOM_OK) {
    status = check_sum(source, header, offsetof(tsn_stream_header, checksum));
  }
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
  return TSANOM_OK;
}

/* Besides the fields: the rest of the page is zero. */
tsanom_status tsn_check_stream_header(const tsn_source *source, const tsn_run_header *run,
                                      uint32_t stream, const unsigned char *page,
                                      tsn_stream_header *header) {
  memcpy(header, page, sizeof *header);
  tsanom_status status = check_stream_fields(source, run, stream, header);
  if (status < 0) return status;
  return tsn_check_zero_bytes(source, page + sizeof *header,
                              TSN_STREAM_HEADER - sizeof *header, sizeof *header);
}

/* The stream's state fits the run's, the file is as long as the header promises, and a
 * complete stream has as many records as the header states. Salvage keeps the records
 * if not, so that this is no part of the check of the header. */
tsanom_status tsn_check_stream_end(const tsn_source *source, const tsn_run_header *run,
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

tsanom_status tsn_check_vital_header(const tsn_source *source,
                                     const tsn_vital_header *header) {
  tsanom_status status = check_head(source, header, TSN_VITAL_MAGIC,
                                    "a file of vital signs", sizeof *header);
  if (status == TSANOM_OK) {
    status = check_sum(source, header, offsetof(tsn_vital_header, checksum));
  }
  if (status < 0) return status;
  bool complete = header->state == TSN_FINISHED;
  if ((!complete && (header->state != TSN_RUNNING || header->count != 0)) ||
      header->sampler < TSN_VITAL_BY_THREAD || header->sampler > TSN_VITAL_BY_ENDS ||
      header->unordered > 1) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, offsetof(tsn_vital_header, state),
                            "the header contains a value that vital signs cannot have");
  }
  uint64_t samples = (source->size - sizeof *header) / TSN_VITAL_RECORD;
  if (complete && (header->count != samples || source->size % TSN_VITAL_RECORD != 0)) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, source->size,
                            "the file must contain %" PRIu64 " samples", header->count);
  }
  return TSANOM_OK;
}

tsanom_status tsn_check_zero_bytes(const tsn_source *source, const unsigned char *bytes,
                                   size_t count, uint64_t offset) {
  size_t nonzero = first_nonzero(bytes, count);
  if (nonzero == count) return TSANOM_OK;
  return tsn_source_fault(source, TSANOM_E_FORMAT, offset + nonzero,
                          "damaged: this byte must be zero");
}

tsanom_status tsn_check_zeros(const tsn_source *source, uint64_t from, uint64_t to,
                              unsigned char *buffer) {
  while (from < to) {
    from = tsn_source_next_data(source, from);
    if (from >= to) break;
    size_t count = (size_t)(to - from < TSN_PIECE ? to - from : TSN_PIECE);
    tsanom_status status = tsn_source_read(source, from, buffer, count);
    if (status == TSANOM_OK) status = tsn_check_zero_bytes(source, buffer, count, from);
    if (status < 0) return status;
    from += count;
  }
  return TSANOM_OK;
}
