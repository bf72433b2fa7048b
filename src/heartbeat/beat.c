/* SPDX-License-Identifier: BSD-3-Clause */
/* One beat, and how a thread comes by a stream. */
#include "heartbeat/clock.h"
#include "heartbeat/recorder.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)

/* The initial-exec model keeps __tls_get_addr(), which may allocate, off the
 * beat path. */
static _Thread_local tsn_thread_cache cache __attribute__((tls_model("initial-exec")));

static pthread_key_t release_key;

/* A thread ends: its streams go to the next threads that beat by their numbers. */
static void release_streams(void *owner) {
  tsn_recorder *recorder = atomic_load_explicit(&tsn_the_recorder, memory_order_acquire);
  uint32_t streams = atomic_load_explicit(&recorder->streams, memory_order_acquire);
  for (uint32_t i = 0; i < streams; i++) {
    const void *mine = owner;
    atomic_compare_exchange_strong_explicit(&recorder->stream[i].owner, &mine, NULL,
                                            memory_order_release, memory_order_relaxed);
  }
  ((tsn_thread_cache *)owner)->stream = NULL;
}

int tsn_beat_make_key(void) {
  return pthread_key_create(&release_key, release_streams);
}

static bool owns(const tsn_stream *stream) {
  return atomic_load_explicit(&stream->owner, memory_order_relaxed) == &cache;
}

static bool has_number(const tsn_stream *stream, int32_t thread) {
  return atomic_load_explicit(&stream->announced, memory_order_relaxed) == thread;
}

static bool claim(tsn_stream *stream) {
  const void *nobody = NULL;
  return atomic_compare_exchange_strong_explicit(
      &stream->owner, &nobody, &cache, memory_order_acquire, memory_order_relaxed);
}

/* The stream that this thread owns for the number; else one to be claimed. */
static tsn_stream *find_stream(tsn_recorder *recorder, int32_t thread) {
  uint32_t streams = atomic_load_explicit(&recorder->streams, memory_order_acquire);
  uint32_t announced = (uint32_t)recorder->header.announced;
  /* The announced stream, then those made since. */
  uint32_t begin = (uint32_t)thread < announced ? (uint32_t)thread : announced;
  for (int attempt = 0; attempt < 2; attempt++) {
    for (uint32_t i = begin; i < streams; i = i < announced ? announced : i + 1) {
      tsn_stream *stream = &recorder->stream[i];
      if (!has_number(stream, thread)) continue;
      if (attempt == 0 ? owns(stream) : claim(stream)) return stream;
    }
  }
  return NULL;
}

/* Take up more records that are backed already; in the last resort back some. */
static bool make_room(tsn_recorder *recorder, tsn_stream *stream) {
  uint64_t index = atomic_load_explicit(&stream->index, memory_order_relaxed);
  if (index == stream->current.end) {
    tsn_stream_lock(stream);
    if (!stream->ready.end) {
      (void)tsn_storage_map(recorder, stream, index, &stream->ready);
    }
    if (stream->ready.end) {
      if (stream->spent_count == TSN_SPENT_WINDOWS || !recorder->grower_runs) {
        tsn_storage_unmap(&stream->current);
      } else {
        stream->spent[stream->spent_count++] = stream->current;
      }
      stream->current = stream->ready;
      stream->ready.end = 0;
    }
    tsn_stream_unlock(stream);
    if (index == stream->current.end) return false;
  }
  uint64_t backed = atomic_load_explicit(&stream->backed, memory_order_acquire);
  if (backed == index) {
    uint64_t dropped = atomic_load_explicit(&stream->dropped, memory_order_relaxed);
    bool retry = !recorder->grower_runs && dropped % TSN_GROW_STEP == 0;
    if (atomic_load_explicit(&stream->starved, memory_order_relaxed) && !retry) {
      return false;
    }
    tsn_stream_lock(stream);
    backed = atomic_load_explicit(&stream->backed, memory_order_relaxed);
    if (backed == index) {
      int error = tsn_storage_back(recorder, stream, TSN_GROW_STEP);
      atomic_store_explicit(&stream->starved, error != 0, memory_order_relaxed);
      backed = atomic_load_explicit(&stream->backed, memory_order_relaxed);
    }
    tsn_stream_unlock(stream);
  }
  stream->origin =
      (uintptr_t)stream->current.address - stream->current.first * TSN_RECORD;
  stream->limit = backed < stream->current.end ? backed : stream->current.end;
  return stream->limit > index;
}

/* The record goes out in one store: a process is killed between instructions,
 * so that there is all of a record or nothing. */
typedef uint64_t record_words __attribute__((vector_size(16)));

static inline void write_record(tsn_stream *stream, uint64_t index, uint64_t time,
                                uint32_t tag) {
  uint64_t check = tsn_record_check(time, tag, index);
  volatile record_words *record = (record_words *)(stream->origin + index * TSN_RECORD);
  *record = (record_words){time, tag | check << 32};
  atomic_store_explicit(&stream->index, index + 1, memory_order_relaxed);
}

/* The owner has announced by `busy` that it is in the stream. */
static __attribute__((noinline)) tsanom_status beat_at_limit(tsn_stream *stream,
                                                             uint32_t tag) {
  tsn_recorder *recorder = atomic_load_explicit(&tsn_the_recorder, memory_order_acquire);
  uint64_t time = tsn_clock_ticks(stream->clock);
  if (!make_room(recorder, stream)) {
    uint64_t dropped = atomic_load_explicit(&stream->dropped, memory_order_relaxed);
    atomic_store_explicit(&stream->dropped, dropped + 1, memory_order_relaxed);
    return TSANOM_E_IO;
  }
  uint64_t index = atomic_load_explicit(&stream->index, memory_order_relaxed);
  write_record(stream, index, time, tag);
  return TSANOM_OK;
}

/* Beat into a stream of ours. `busy` holds back a concurrent finish. */
static inline tsanom_status beat_into(tsn_stream *stream, uint32_t tag) {
  tsanom_status status = TSANOM_OK;
  atomic_store_explicit(&stream->busy, 1, memory_order_relaxed);
  atomic_signal_fence(memory_order_seq_cst);
  if (!LIKELY(atomic_load_explicit(&stream->open, memory_order_acquire))) {
    status = TSANOM_E_STATE;
  } else {
    uint64_t index = atomic_load_explicit(&stream->index, memory_order_relaxed);
    if (LIKELY(index != stream->limit)) {
      write_record(stream, index, tsn_clock_ticks(stream->clock), tag);
    } else {
      status = beat_at_limit(stream, tag);
    }
  }
  atomic_store_explicit(&stream->busy, 0, memory_order_release);
  return status;
}

static __attribute__((noinline)) tsanom_status beat_elsewhere(tsn_recorder *recorder,
                                                              int32_t thread,
                                                              uint32_t tag) {
  if (atomic_load_explicit(&recorder->state, memory_order_acquire) != TSN_RECORDING) {
    return TSANOM_E_STATE;
  }
  if (thread < 0) return TSANOM_E_OPTION;
  tsn_stream *stream = find_stream(recorder, thread);
  while (!stream) {
    tsanom_status status = tsn_recorder_add_stream(recorder, thread);
    if (status < 0) return status;
    stream = find_stream(recorder, thread);
  }
  if (!cache.stream) (void)pthread_setspecific(release_key, &cache);
  cache.stream = stream;
  return beat_into(stream, tag);
}

tsanom_status tsanom_heartbeat_beat(int32_t thread, uint32_t tag) {
  tsn_stream *stream = cache.stream;
  if (LIKELY(stream && owns(stream) && has_number(stream, thread))) {
    return beat_into(stream, tag);
  }
  tsn_recorder *recorder = atomic_load_explicit(&tsn_the_recorder, memory_order_acquire);
  return recorder ? beat_elsewhere(recorder, thread, tag) : TSANOM_E_STATE;
}
