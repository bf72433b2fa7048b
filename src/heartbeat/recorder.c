/* SPDX-License-Identifier: BSD-3-Clause */
/* The beginning and the end of a run. */
#include "heartbeat/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/versioned.h"
#include "heartbeat/clock.h"

_Atomic(tsn_recorder *) tsn_the_recorder;

static const tsanom_heartbeat_options defaults = {.struct_size = sizeof defaults};

static const tsn_versioned options_type = {
    .size = sizeof(tsanom_heartbeat_options),
    .first_size = sizeof(tsanom_heartbeat_options),
    .defaults = &defaults,
};

tsanom_status tsanom_heartbeat_options_init(tsanom_heartbeat_options *options,
                                            size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

/* The process's recorder; its pages cost nothing until they are used. */
static tsn_recorder *get_recorder(void) {
  tsn_recorder *recorder = atomic_load_explicit(&tsn_the_recorder, memory_order_acquire);
  if (recorder) return recorder;
  void *block = mmap(NULL, sizeof *recorder, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) return NULL;
  if (madvise(block, sizeof *recorder, MADV_WIPEONFORK) != 0 ||
      tsn_beat_make_key() != 0 ||
      !atomic_compare_exchange_strong(&tsn_the_recorder, &recorder, block)) {
    (void)munmap(block, sizeof *recorder);
    return recorder; /* another thread's, or NULL */
  }
  return block;
}

static void sleep_ns(long nanoseconds) {
  struct timespec time = {.tv_sec = 0, .tv_nsec = nanoseconds};
  while (nanosleep(&time, &time) != 0 && errno == EINTR) {
  }
}

static void describe_run(tsn_recorder *recorder, int32_t threads) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  tsn_run_header *header = &recorder->header;
  *header = (tsn_run_header){
      .magic = TSN_RUN_MAGIC,
      .version = TSN_FORMAT_VERSION,
      .bytes = sizeof *header,
      .state = TSN_RUNNING,
      .announced = threads,
      .streams = (uint32_t)threads,
      .clock = (uint32_t)recorder->clock,
      .start = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
      .pid = (uint64_t)getpid(),
      .first = tsn_clock_moment(recorder->clock),
  };
  uint64_t identity[] = {header->start, header->pid, header->first.ticks};
  header->run_id = tsn_checksum(identity, sizeof identity);
  strncpy(header->program, program_invocation_short_name, TSN_PROGRAM_NAME - 1);
}

/* As new, whatever an earlier run left; a thread of that run may be looking. */
static void reset_stream(tsn_stream *stream, uint32_t number, int32_t announced,
                         int32_t clock) {
  atomic_store_explicit(&stream->owner, NULL, memory_order_relaxed);
  atomic_store_explicit(&stream->announced, announced, memory_order_relaxed);
  atomic_store_explicit(&stream->index, 0, memory_order_relaxed);
  atomic_store_explicit(&stream->backed, 0, memory_order_relaxed);
  atomic_store_explicit(&stream->dropped, 0, memory_order_relaxed);
  atomic_store_explicit(&stream->starved, 0, memory_order_relaxed);
  stream->clock = clock;
  stream->limit = 0;
  stream->number = number;
  stream->seen = 0;
  stream->dropped_seen = 0;
  stream->spent_count = 0;
  stream->current.end = 0;
  stream->ready.end = 0;
}

/* Make the stream whose number is the next; the run_lock is held. */
static int add_stream(tsn_recorder *recorder, int32_t announced) {
  uint32_t number = atomic_load_explicit(&recorder->streams, memory_order_relaxed);
  tsn_stream *stream = &recorder->stream[number];
  reset_stream(stream, number, announced, recorder->clock);
  int error = tsn_storage_create(recorder, stream);
  if (error) return error;
  atomic_store_explicit(&stream->open, 1, memory_order_release);
  atomic_store_explicit(&recorder->streams, number + 1, memory_order_release);
  return 0;
}

tsanom_status tsn_recorder_add_stream(tsn_recorder *recorder, int32_t announced) {
  tsanom_status status = TSANOM_OK;
  pthread_mutex_lock(&recorder->run_lock);
  uint32_t streams = atomic_load_explicit(&recorder->streams, memory_order_relaxed);
  if (atomic_load_explicit(&recorder->state, memory_order_relaxed) != TSN_RECORDING) {
    status = TSANOM_E_STATE;
  } else if (streams == TSANOM_HEARTBEAT_STREAMS_MAX) {
    status = TSANOM_E_OVERFLOW;
  } else if (add_stream(recorder, announced) != 0) {
    status = TSANOM_E_IO;
  } else {
    recorder->header.streams = streams + 1;
    (void)tsn_storage_write_run(recorder);
  }
  pthread_mutex_unlock(&recorder->run_lock);
  return status;
}

/* Whoever holds the lock writes the header, or waits for the caller's beat to end. */
void tsn_recorder_calibrate(tsn_recorder *recorder) {
  if (pthread_mutex_trylock(&recorder->run_lock) != 0) return;
  recorder->header.latest = tsn_clock_moment(recorder->clock);
  (void)tsn_storage_write_run(recorder);
  pthread_mutex_unlock(&recorder->run_lock);
}

static void remove_all(tsn_recorder *recorder) {
  uint32_t streams = atomic_load_explicit(&recorder->streams, memory_order_relaxed);
  for (uint32_t i = 0; i < streams; i++) {
    tsn_storage_remove(recorder, &recorder->stream[i]);
  }
  tsn_storage_remove_run(recorder);
}

/* The rate of the clock is known to some 1e-4 from the start, and ever better
 * as the grower looks again. */
static void first_calibration(tsn_recorder *recorder) {
  enum { SPAN = 500000 };
  uint64_t past = tsn_clock_monotonic() - recorder->header.first.nanoseconds;
  if (past < SPAN) sleep_ns((long)(SPAN - past));
  recorder->header.latest = tsn_clock_moment(recorder->clock);
}

/* Make the files of the run in recorder->folder, which is there. */
static int create_files(tsn_recorder *recorder, int32_t threads) {
  atomic_store_explicit(&recorder->streams, 0, memory_order_relaxed);
  describe_run(recorder, threads);
  recorder->header.latest = recorder->header.first;
  recorder->header.latest.ticks++;
  recorder->header.latest.nanoseconds++;
  int error = tsn_storage_create_run(recorder);
  if (error) return error;
  for (int32_t i = 0; i < threads && !error; i++) error = add_stream(recorder, i);
  if (!error) {
    first_calibration(recorder);
    error = tsn_storage_write_run(recorder);
  }
  if (error) remove_all(recorder);
  return error;
}

static tsanom_status start_run(tsn_recorder *recorder, const char *folder,
                               int32_t threads, int32_t clock, int32_t helper) {
  bool made = mkdir(folder, 0777) == 0;
  if (!made && errno != EEXIST) return TSANOM_E_IO;
  recorder->clock = clock;
  if (!realpath(folder, recorder->folder) || create_files(recorder, threads) != 0) {
    if (made) (void)rmdir(folder);
    return TSANOM_E_IO;
  }
  if (helper == TSANOM_HEARTBEAT_HELPER_THREAD) tsn_grower_start(recorder);
  return TSANOM_OK;
}

tsanom_status tsanom_heartbeat_init(const char *folder, int32_t threads,
                                    const tsanom_heartbeat_options *options) {
  tsanom_heartbeat_options own;
  tsanom_status status = tsn_versioned_read(&options_type, &own, options);
  if (status < 0) return status;
  if (!folder) return TSANOM_E_NULL;
  if (threads < 1) return TSANOM_E_COUNT;
  if (threads > TSANOM_HEARTBEAT_STREAMS_MAX || own.clock < TSANOM_HEARTBEAT_CLOCK_AUTO ||
      own.clock > TSANOM_HEARTBEAT_CLOCK_MONOTONIC ||
      own.helper < TSANOM_HEARTBEAT_HELPER_THREAD ||
      own.helper > TSANOM_HEARTBEAT_HELPER_NONE) {
    return TSANOM_E_OPTION;
  }
  int32_t clock = tsn_clock_choose(own.clock);
  if (clock == TSANOM_HEARTBEAT_CLOCK_AUTO) return TSANOM_E_OPTION;
  tsn_recorder *recorder = get_recorder();
  if (!recorder) return TSANOM_E_MEMORY;
  int32_t idle = TSN_IDLE;
  if (!atomic_compare_exchange_strong(&recorder->state, &idle, TSN_CHANGING)) {
    return TSANOM_E_STATE;
  }
  status = start_run(recorder, folder, threads, clock, own.helper);
  atomic_store_explicit(&recorder->state, status < 0 ? TSN_IDLE : TSN_RECORDING,
                        memory_order_release);
  return status;
}

/* Turn the owners out of all streams and wait for the beats under way; after this no
 * thread writes to a stream. A beat stores `busy` and then loads the owner, without
 * a fence between; the pause stands for it, for no processor holds a store back
 * for that long. A thread that was stopped for good in the middle of a beat (by a
 * debugger, or cancelled) must not hang the program: false. The run_lock, which is
 * held, keeps threads from ending before we have looked at them. */
static bool close_streams(tsn_recorder *recorder, uint32_t streams) {
  enum { PATIENCE = 1000, PAUSE = 1000000 };
  int waits = 0;
  for (uint32_t i = 0; i < streams; i++) {
    tsn_stream *stream = &recorder->stream[i];
    atomic_store(&stream->open, 0);
    stream->last_owner = atomic_exchange(&stream->owner, NULL);
  }
  sleep_ns(PAUSE);
  for (uint32_t i = 0; i < streams; i++) {
    tsn_thread_cache *owner = recorder->stream[i].last_owner;
    while (owner && atomic_load_explicit(&owner->busy, memory_order_acquire)) {
      if (++waits > PATIENCE) return false;
      sleep_ns(PAUSE);
    }
  }
  return true;
}

tsanom_status tsanom_heartbeat_finish(void) {
  tsn_recorder *recorder = atomic_load_explicit(&tsn_the_recorder, memory_order_acquire);
  int32_t recording = TSN_RECORDING;
  if (!recorder ||
      !atomic_compare_exchange_strong(&recorder->state, &recording, TSN_CHANGING)) {
    return TSANOM_E_STATE;
  }
  tsn_grower_stop(recorder);
  pthread_mutex_lock(&recorder->run_lock);
  uint32_t streams = atomic_load_explicit(&recorder->streams, memory_order_relaxed);
  int error = close_streams(recorder, streams) ? 0 : EBUSY;
  uint64_t dropped = 0;
  for (uint32_t i = 0; i < streams && !error; i++) {
    tsn_stream *stream = &recorder->stream[i];
    dropped += atomic_load_explicit(&stream->dropped, memory_order_relaxed);
    error = tsn_storage_finish(recorder, stream);
  }
  recorder->header.dropped = dropped;
  recorder->header.latest = tsn_clock_moment(recorder->clock);
  if (!error) recorder->header.state = TSN_FINISHED;
  int run_error = tsn_storage_write_run(recorder);
  pthread_mutex_unlock(&recorder->run_lock);
  atomic_store_explicit(&recorder->state, TSN_IDLE, memory_order_release);
  if (error || run_error) return TSANOM_E_IO;
  return dropped ? TSANOM_PARTIAL : TSANOM_OK;
}
