/* SPDX-License-Identifier: BSD-3-Clause */
/* A run that is open for reading: what the check of its files found. */
#include <stdio.h>
#include <string.h>

#include "core/arena.h"
#include "core/exec.h"
#include "core/versioned.h"
#include "heartbeat/reader.h"

struct tsanom_heartbeat_run {
  tsanom_exec exec;
  tsn_run_header header;
  uint64_t beats, dropped;
  char *folder;
  unsigned char *buffer; /* TSN_PIECE bytes */
  tsn_stream_facts *stream;
};

static const tsanom_heartbeat_fault no_fault = {.struct_size = sizeof no_fault};

static const tsn_versioned fault_type = {
    .size = sizeof(tsanom_heartbeat_fault),
    .first_size = sizeof(tsanom_heartbeat_fault),
    .defaults = &no_fault,
};

tsanom_status tsanom_heartbeat_fault_init(tsanom_heartbeat_fault *fault,
                                          size_t struct_size) {
  return tsn_versioned_init(&fault_type, fault, struct_size);
}

/* Write `own` into the caller's struct, whatever size that has. */
static tsanom_status answer(const void *own, size_t own_size, void *caller,
                            size_t caller_size) {
  tsn_versioned type = {.size = own_size, .first_size = own_size, .defaults = own};
  return tsn_versioned_init(&type, caller, caller_size);
}

static bool fault_is_prepared(const tsanom_heartbeat_fault *fault) {
  return !fault || fault->struct_size >= sizeof *fault;
}

static void report(const tsanom_heartbeat_fault *own, tsanom_heartbeat_fault *caller,
                   tsanom_status status) {
  if (caller && (status == TSANOM_E_IO || status == TSANOM_E_FORMAT)) {
    (void)answer(own, sizeof *own, caller, caller->struct_size);
  }
}

static tsn_source stream_source(const char *folder, uint32_t stream,
                                tsanom_heartbeat_fault *fault) {
  tsn_source source = {.folder = folder, .fault = fault};
  (void)snprintf(source.name, sizeof source.name, TSN_STREAM_FILE, stream);
  return source;
}

static tsanom_status read_run(const char *folder, tsanom_heartbeat_fault *fault,
                              tsn_run_header *header) {
  tsn_source source = {.folder = folder, .name = TSN_RUN_FILE, .fault = fault};
  tsanom_status status = tsn_source_open(&source);
  if (status < 0) return status;
  status = tsn_check_run(&source, header);
  tsn_source_close(&source);
  return status;
}

static tsanom_status read_streams(tsanom_heartbeat_run *run,
                                  tsanom_heartbeat_fault *fault) {
  run->beats = 0;
  run->dropped = 0;
  for (uint32_t i = 0; i < run->header.streams; i++) {
    if (tsn_exec_stop(&run->exec, i, run->header.streams)) return TSANOM_STOPPED;
    tsn_source source = stream_source(run->folder, i, fault);
    tsanom_status status = tsn_source_open(&source);
    if (status < 0) return status;
    tsn_stream_facts *facts = &run->stream[i];
    status = tsn_check_stream(&source, &run->header, i, run->buffer, facts);
    tsn_source_close(&source);
    if (status < 0) return status;
    run->beats += facts->beats;
    run->dropped += facts->dropped;
  }
  return TSANOM_OK;
}

static void carve(tsn_arena *arena, size_t streams, size_t path,
                  tsanom_heartbeat_run **run, tsanom_heartbeat_run *parts) {
  *run = tsn_arena_take(arena, 1, sizeof **run);
  parts->folder = tsn_arena_take(arena, path, 1);
  parts->buffer = tsn_arena_take(arena, TSN_PIECE, 1);
  parts->stream = tsn_arena_take(arena, streams, sizeof *parts->stream);
}

/* One block from the allocator, whose beginning is the run. */
static tsanom_status make_run(const char *folder, const tsanom_exec *exec,
                              const tsn_run_header *header, tsanom_heartbeat_run **run) {
  tsanom_heartbeat_run parts = {.exec = *exec, .header = *header};
  tsn_arena arena = tsn_arena_measure();
  size_t path = strlen(folder) + 1;
  carve(&arena, header->streams, path, run, &parts);
  /* malloc's alignment does for every type in there, and no vectors are. */
  void *block = exec->alloc(exec->alloc_user, arena.used);
  if (!block) return TSANOM_E_MEMORY;
  arena = tsn_arena_measure();
  arena.base = block;
  carve(&arena, header->streams, path, run, &parts);
  memcpy(parts.folder, folder, path);
  **run = parts;
  return TSANOM_OK;
}

static tsanom_status open_once(const char *folder, const tsanom_exec *exec,
                               tsanom_heartbeat_fault *fault, tsanom_heartbeat_run **run,
                               bool *finished) {
  tsn_run_header header;
  tsanom_heartbeat_run *made;
  *finished = false;
  tsanom_status status = read_run(folder, fault, &header);
  if (status < 0) return status;
  *finished = header.state == TSN_FINISHED;
  status = make_run(folder, exec, &header, &made);
  if (status < 0) return status;
  status = read_streams(made, fault);
  if (status != TSANOM_OK) {
    tsanom_heartbeat_run_close(made);
    return status;
  }
  *run = made;
  return TSANOM_OK;
}

tsanom_status tsanom_heartbeat_run_open(const char *folder, const tsanom_exec *exec,
                                        tsanom_heartbeat_fault *fault,
                                        tsanom_heartbeat_run **run) {
  /* A run that goes on may rewrite a header or cut a stream while we read it. */
  enum { ATTEMPTS = 3 };
  tsanom_exec own;
  tsanom_heartbeat_fault found = no_fault;
  tsanom_status status = tsn_exec_read(&own, exec);
  if (status < 0) return status;
  if (!folder || !run) return TSANOM_E_NULL;
  if (!fault_is_prepared(fault)) return TSANOM_E_VERSION;
  bool finished = false;
  for (int i = 0; i < ATTEMPTS && !finished; i++) {
    status = open_once(folder, &own, &found, run, &finished);
    if (status != TSANOM_E_FORMAT) break;
  }
  report(&found, fault, status);
  return status;
}

void tsanom_heartbeat_run_close(tsanom_heartbeat_run *run) {
  if (!run) return;
  tsanom_exec exec = run->exec;
  exec.dealloc(exec.alloc_user, run);
}

static double tick_of(const tsn_run_header *header) {
  return (double)(header->latest.nanoseconds - header->first.nanoseconds) * 1e-9 /
         (double)(header->latest.ticks - header->first.ticks);
}

/* The difference is taken in integers: ticks exceed the digits of a double. */
static double seconds(const tsn_run_header *header, double tick, uint64_t ticks) {
  return (double)(int64_t)(ticks - header->first.ticks) * tick;
}

tsanom_status tsanom_heartbeat_run_describe(const tsanom_heartbeat_run *run,
                                            tsanom_heartbeat_run_info *info,
                                            size_t struct_size) {
  if (!run || !info) return TSANOM_E_NULL;
  const tsn_run_header *header = &run->header;
  tsanom_heartbeat_run_info own = {
      .struct_size = sizeof own,
      .beats = run->beats,
      .dropped = run->dropped,
      .start = (int64_t)header->start,
      .tick = tick_of(header),
      .pid = (int64_t)header->pid,
      .streams = header->streams,
      .announced = header->announced,
      .clock = (int32_t)header->clock,
      .finished = header->state == TSN_FINISHED,
  };
  memcpy(own.program, header->program, sizeof own.program);
  return answer(&own, sizeof own, info, struct_size);
}

tsanom_status tsanom_heartbeat_run_stream(const tsanom_heartbeat_run *run,
                                          uint32_t stream,
                                          tsanom_heartbeat_stream_info *info,
                                          size_t struct_size) {
  if (!run || !info) return TSANOM_E_NULL;
  if (stream >= run->header.streams) return TSANOM_E_OPTION;
  const tsn_stream_facts *facts = &run->stream[stream];
  double tick = tick_of(&run->header);
  tsanom_heartbeat_stream_info own = {
      .struct_size = sizeof own,
      .beats = facts->beats,
      .dropped = facts->dropped,
      .thread = facts->announced,
  };
  if (facts->beats) {
    own.first = seconds(&run->header, tick, facts->first);
    own.last = seconds(&run->header, tick, facts->last);
  }
  return answer(&own, sizeof own, info, struct_size);
}

/* Check the beats, and hand them out unless times and tags are both NULL. */
static tsanom_status read_beats(const tsanom_heartbeat_run *run, const tsn_source *source,
                                uint64_t first, size_t count, double *times,
                                uint32_t *tags) {
  enum { PIECE = 256 };
  tsn_record record[PIECE];
  double tick = tick_of(&run->header);
  for (size_t done = 0; done < count;) {
    size_t piece = count - done < PIECE ? count - done : PIECE;
    tsanom_status status =
        tsn_source_read(source, TSN_STREAM_HEADER + (first + done) * TSN_RECORD, record,
                        piece * sizeof *record);
    for (size_t i = 0; i < piece && status == TSANOM_OK; i++) {
      status = tsn_check_record(source, &record[i], first + done + i);
      if (times) times[done + i] = seconds(&run->header, tick, record[i].time);
      if (tags) tags[done + i] = record[i].tag;
    }
    if (status < 0) return status;
    done += piece;
  }
  return TSANOM_OK;
}

tsanom_status tsanom_heartbeat_run_read(const tsanom_heartbeat_run *run, uint32_t stream,
                                        uint64_t first, size_t count, double *times,
                                        uint32_t *tags, tsanom_heartbeat_fault *fault) {
  if (!run) return TSANOM_E_NULL;
  if (!fault_is_prepared(fault)) return TSANOM_E_VERSION;
  if (stream >= run->header.streams) return TSANOM_E_OPTION;
  uint64_t beats = run->stream[stream].beats;
  if (first > beats || count > beats - first) return TSANOM_E_COUNT;
  if (count == 0) return TSANOM_OK;
  tsanom_heartbeat_fault found = no_fault;
  tsn_source source = stream_source(run->folder, stream, &found);
  tsanom_status status = tsn_source_open(&source);
  if (status == TSANOM_OK) {
    /* Once to check: the caller's arrays stay as they are if that fails. */
    status = read_beats(run, &source, first, count, NULL, NULL);
    if (status == TSANOM_OK) status = read_beats(run, &source, first, count, times, tags);
    tsn_source_close(&source);
  }
  report(&found, fault, status);
  return status;
}
