/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the files of a run are whole. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/heartbeat.h>
#include <unistd.h>

#include "heartbeat/reader.h"

tsanom_status tsn_source_fault(const tsn_source *source, tsanom_status status,
                               uint64_t offset, const char *text, ...) {
  tsanom_heartbeat_fault *fault = source->fault;
  if (!fault) return status;
  fault->offset = offset;
  /* The end of a path tells more than its beginning. */
  size_t room = sizeof fault->file - strlen(source->name) - 2;
  size_t length = strlen(source->folder);
  const char *folder = source->folder + (length > room ? length - room : 0);
  (void)snprintf(fault->file, sizeof fault->file, "%s/%s", folder, source->name);
  va_list arguments;
  va_start(arguments, text);
  /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): a false alarm of clang 14 */
  (void)vsnprintf(fault->text, sizeof fault->text, text, arguments);
  va_end(arguments);
  return status;
}

tsanom_status tsn_source_open(tsn_source *source) {
  struct stat facts;
  int folder = open(source->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    return tsn_source_fault(source, TSANOM_E_IO, 0, "the folder cannot be opened: %s",
                            strerrordesc_np(errno));
  }
  /* A fifo in the place of a file must not hang the reader. */
  source->file = openat(folder, source->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  int error = errno;
  close(folder);
  if (source->file < 0) {
    return tsn_source_fault(source, TSANOM_E_IO, 0, "the file cannot be opened: %s",
                            strerrordesc_np(error));
  }
  if (fstat(source->file, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    tsn_source_close(source);
    return tsn_source_fault(source, TSANOM_E_IO, 0, "this is not a regular file");
  }
  source->size = (uint64_t)facts.st_size;
  return TSANOM_OK;
}

void tsn_source_close(tsn_source *source) {
  close(source->file);
}

tsanom_status tsn_source_read(const tsn_source *source, uint64_t offset, void *bytes,
                              size_t count) {
  unsigned char *next = bytes;
  while (count) {
    ssize_t got = pread(source->file, next, count, (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return tsn_source_fault(source, TSANOM_E_IO, offset, "the file cannot be read: %s",
                              strerrordesc_np(errno));
    }
    if (got == 0) {
      return tsn_source_fault(source, TSANOM_E_FORMAT, offset,
                              "the file ends here, where %zu more bytes must follow",
                              count);
    }
    next += got;
    offset += (uint64_t)got;
    count -= (size_t)got;
  }
  return TSANOM_OK;
}

/* Offset of the first byte that is not zero; count: none. */
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

/* What both headers begin with: the magic, the version, a size. */
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
                            "this is not %s, which begins with \"%.8s\"", what, magic);
  }
  if (head.version != TSN_FORMAT_VERSION || head.bytes != bytes) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, 8,
                            "this is %s of version %" PRIu32 " with a header of %" PRIu32
                            " bytes, or damaged; version %d with %" PRIu32
                            " bytes is known here",
                            what, head.version, head.bytes, TSN_FORMAT_VERSION, bytes);
  }
  return TSANOM_OK;
}

static tsanom_status check_sum(const tsn_source *source, const void *header,
                               size_t offset) {
  uint64_t stored;
  memcpy(&stored, (const unsigned char *)header + offset, sizeof stored);
  if (stored == tsn_checksum(header, offset)) return TSANOM_OK;
  return tsn_source_fault(source, TSANOM_E_FORMAT, offset,
                          "the header is damaged: its checksum is not %016" PRIx64,
                          stored);
}

tsanom_status tsn_check_run(const tsn_source *source, tsn_run_header *header) {
  tsanom_status status = tsn_source_read(source, 0, header, sizeof *header);
  if (status == TSANOM_OK) {
    status =
        check_head(source, header, TSN_RUN_MAGIC, "the file of a run", sizeof *header);
  }
  if (status == TSANOM_OK) {
    status = check_sum(source, header, offsetof(tsn_run_header, checksum));
  }
  if (status < 0) return status;
  if (source->size > sizeof *header) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, sizeof *header,
                            "the file must end here, but has %" PRIu64 " bytes",
                            source->size);
  }
  if ((header->state != TSN_RUNNING && header->state != TSN_FINISHED) ||
      header->announced < 1 || header->streams < (uint32_t)header->announced ||
      header->streams > TSANOM_HEARTBEAT_STREAMS_MAX ||
      (header->clock != TSANOM_HEARTBEAT_CLOCK_TSC &&
       header->clock != TSANOM_HEARTBEAT_CLOCK_MONOTONIC) ||
      header->latest.ticks <= header->first.ticks ||
      header->latest.nanoseconds <= header->first.nanoseconds ||
      header->start > INT64_MAX || header->pid > INT32_MAX ||
      header->program[TSN_PROGRAM_NAME - 1] != '\0') {
    return tsn_source_fault(source, TSANOM_E_FORMAT, 24,
                            "the header holds a value that no run has");
  }
  return TSANOM_OK;
}

static tsanom_status check_stream_header(const tsn_source *source,
                                         const tsn_run_header *run, uint32_t stream,
                                         const unsigned char *page,
                                         tsn_stream_header *header) {
  memcpy(header, page, sizeof *header);
  tsanom_status status = check_head(source, header, TSN_STREAM_MAGIC,
                                    "a stream of heartbeats", TSN_STREAM_HEADER);
  if (status == TSANOM_OK) {
    status = check_sum(source, header, offsetof(tsn_stream_header, checksum));
  }
  if (status < 0) return status;
  size_t rest = first_nonzero(page + sizeof *header, TSN_STREAM_HEADER - sizeof *header);
  if (sizeof *header + rest < TSN_STREAM_HEADER) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, sizeof *header + rest,
                            "the header is damaged: this byte must be zero");
  }
  if (header->run_id != run->run_id) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, offsetof(tsn_stream_header, run_id),
                            "this stream belongs to another run");
  }
  bool complete = header->state == TSN_FINISHED;
  if (header->stream != stream || header->announced < 0 ||
      (stream < (uint32_t)run->announced && header->announced != (int32_t)stream) ||
      (!complete && (header->state != TSN_RUNNING || header->count != 0 ||
                     run->state == TSN_FINISHED)) ||
      (complete && header->backed != header->count)) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, offsetof(tsn_stream_header, stream),
                            "the header holds a value that stream %" PRIu32
                            " of this run cannot have",
                            stream);
  }
  uint64_t most = ((uint64_t)INT64_MAX - TSN_STREAM_HEADER) / TSN_RECORD;
  if (header->backed > most ||
      source->size < TSN_STREAM_HEADER + header->backed * TSN_RECORD) {
    return tsn_source_fault(source, TSANOM_E_FORMAT, source->size,
                            "the file is cut short: it ends here, but must have room for "
                            "%" PRIu64 " beats",
                            header->backed);
  }
  return TSANOM_OK;
}

tsanom_status tsn_check_record(const tsn_source *source, const tsn_record *record,
                               uint64_t sequence) {
  if (record->time != 0 &&
      record->check == tsn_record_check(record->time, record->tag, sequence)) {
    return TSANOM_OK;
  }
  return tsn_source_fault(source, TSANOM_E_FORMAT,
                          TSN_STREAM_HEADER + sequence * TSN_RECORD,
                          "the record of beat %" PRIu64 " is damaged", sequence);
}

/* Check whole records of a piece until one that is all zeros; `beats` goes on. */
static tsanom_status check_records(const tsn_source *source, const unsigned char *bytes,
                                   size_t count, tsn_stream_facts *facts, bool *ended) {
  for (size_t i = 0; i + TSN_RECORD <= count; i += TSN_RECORD) {
    tsn_record record;
    memcpy(&record, bytes + i, sizeof record);
    if (record.time == 0 && record.tag == 0 && record.check == 0) {
      *ended = true;
      return TSANOM_OK;
    }
    tsanom_status status = tsn_check_record(source, &record, facts->beats);
    if (status < 0) return status;
    if (facts->beats == 0) facts->first = record.time;
    facts->last = record.time;
    facts->beats++;
  }
  return TSANOM_OK;
}

static tsanom_status check_rest_is_zero(const tsn_source *source,
                                        const unsigned char *bytes, size_t count,
                                        uint64_t offset) {
  size_t nonzero = first_nonzero(bytes, count);
  if (nonzero == count) return TSANOM_OK;
  return tsn_source_fault(source, TSANOM_E_FORMAT, offset + nonzero,
                          "the last record came before, and zeros must follow it");
}

/* Whether the process has written, since we read it, the record that we took for
 * the end or for damage: then the run goes on, and this is where it was. */
static bool goes_on(const tsn_source *source, const tsn_stream_header *header,
                    uint64_t sequence) {
  tsn_source quiet = *source;
  tsn_record record = {.time = 0};
  quiet.fault = NULL;
  return header->state == TSN_RUNNING &&
         tsn_source_read(&quiet, TSN_STREAM_HEADER + sequence * TSN_RECORD, &record,
                         sizeof record) == TSANOM_OK &&
         tsn_check_record(&quiet, &record, sequence) == TSANOM_OK;
}

/* The records of a stream whose header is good, and the zeros behind them. */
static tsanom_status check_body(const tsn_source *source, const tsn_stream_header *header,
                                unsigned char *buffer, tsn_stream_facts *facts) {
  bool ended = false;
  size_t count;
  for (uint64_t offset = TSN_STREAM_HEADER; offset < source->size; offset += count) {
    uint64_t left = source->size - offset;
    count = left < TSN_PIECE ? (size_t)left : TSN_PIECE;
    tsanom_status status = tsn_source_read(source, offset, buffer, count);
    if (status < 0) return status;
    uint64_t before = facts->beats;
    if (!ended) status = check_records(source, buffer, count, facts, &ended);
    size_t used = (size_t)(facts->beats - before) * TSN_RECORD;
    if (status == TSANOM_OK) {
      status = check_rest_is_zero(source, buffer + used, count - used, offset + used);
    }
    if (status < 0) return goes_on(source, header, facts->beats) ? TSANOM_OK : status;
  }
  return TSANOM_OK;
}

tsanom_status tsn_check_stream(const tsn_source *source, const tsn_run_header *run,
                               uint32_t stream, unsigned char *buffer,
                               tsn_stream_facts *facts) {
  tsn_stream_header header = {.count = 0};
  tsanom_status status = tsn_source_read(source, 0, buffer, TSN_STREAM_HEADER);
  if (status == TSANOM_OK) {
    status = check_stream_header(source, run, stream, buffer, &header);
  }
  if (status < 0) return status;
  *facts = (tsn_stream_facts){.announced = header.announced, .dropped = header.dropped};
  status = check_body(source, &header, buffer, facts);
  if (status == TSANOM_OK && header.state == TSN_FINISHED &&
      facts->beats != header.count) {
    return tsn_source_fault(
        source, TSANOM_E_FORMAT, TSN_STREAM_HEADER + facts->beats * TSN_RECORD,
        "the records end here, but the stream has %" PRIu64 " beats", header.count);
  }
  return status;
}
