/* SPDX-License-Identifier: BSD-3-Clause */
/* One beat, and how a thread comes by a stream. */
#include <sched.h>

#include "heartbeat/clock.h"
#include "heartbeat/recorder.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)

/* The initial-exec model keeps __tls_get_addr(), which may allocate, off the
 * beat path. */
static _Thread_local tsn_thread_cache cache __attribute__((tls_model("initial-exec")));

static pthread_key_t release_key;

/* A thread ends: its streams go to the next threads that beat by their numbers. */
static void release_streams(void *argument) {
  tsn_thread_cache *owner = argument;
  tsn_recorder *recorder = atomic_load_explicit(&tsn_the_recorder, memory_order_acquire);
  pthread_mutex_lock(&recorder->run_lock);
  uint32_t streams = atomic_load_explicit(&recorder->streams, memory_order_acquire);
  for (uint32_t i = 0; i < streams; i++) {
    tsn_thread_cache *mine = owner;
    atomic_compare_exchange_strong_explicit(&recorder->stream[i].owner, &mine, NULL,
                                            memory_order_release, memory_order_relaxed);
  }
  owner->stream = NULL;
  pthread_mutex_unlock(&recorder->run_lock);
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

/* Become the owner, unless there is one or the run is ending. Finish closes the
 * stream before it turns the owner out, so that either it sees us or we see it. */
static bool claim(tsn_stream *stream) {
  tsn_thread_cache *nobody = NULL;
  if (!atomic_compare_exchange_strong(&stream->owner, &nobody, &cache)) return false;
  if (atomic_load(&stream->open)) return true;
  atomic_store_explicit(&stream->owner, NULL, memory_order_release);
  return false;
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

/* Go on to the next window, which the grower has mapped unless it is late. The
 * grower may be at work in the old one, so it is left to him to unmap. */
static void change_window(tsn_recorder *recorder, tsn_stream *stream, uint64_t index) {
  tsn_stream_lock(stream);
  if (!stream->ready.end) {
    (void)tsn_storage_map(recorder, stream, index, &stream->ready);
  }
  while (stream->spent_count == TSN_SPENT_WINDOWS && recorder->grower_runs) {
    tsn_stream_unlock(stream);
    sched_yield();
    tsn_stream_lock(stream);
  }
  if (stream->ready.end) {
    if (recorder->grower_runs) {
      stream->spent[stream->spent_count++] = stream->current;
    } else {
      tsn_storage_unmap(&stream->current);
    }
    stream->current = stream->ready;
    stream->ready.end = 0;
  }
  tsn_stream_unlock(stream);
}

/* Back some records, here and now. */
static uint64_t back_some(tsn_recorder *recorder, tsn_stream *stream, uint64_t index) {
  tsn_stream_lock(stream);
  uint64_t backed = atomic_load_explicit(&stream->backed, memory_order_relaxed);
  if (backed == index) {
    int error = tsn_storage_back(recorder, stream, TSN_GROW_STEP);
    atomic_store_explicit(&stream->starved, error != 0, memory_order_relaxed);
    backed = atomic_load_explicit(&stream->backed, memory_order_relaxed);
    /* All pages at once cost a fraction of a fault for each. */
    if (!recorder->grower_runs) tsn_storage_populate(&stream->current, index, backed);
  }
  tsn_stream_unlock(stream);
  return backed;
}

/* Where the beating thread looks at the clocks if nobody else does: ever more seldom
 * until it has to stop for room anyway. */
static uint64_t next_look(uint64_t index) {
  enum { FIRST_LOOK = 64 };
  return index < FIRST_LOOK ? FIRST_LOOK : 4 * index;
}

/* Take up more records that are backed already; in the last resort back some. */
static bool make_room(tsn_recorder *recorder, tsn_stream *stream) {
  uint64_t index = atomic_load_explicit(&stream->index, memory_order_relaxed);
  if (index == stream->current.end) {
    change_window(recorder, stream, index);
    if (index == stream->current.end) return false;
  }
  uint64_t backed = atomic_load_explicit(&stream->backed, memory_order_acquire);
  if (backed == index) {
    uint64_t dropped = atomic_load_explicit(&stream->dropped, memory_order_relaxed);
    bool retry = !recorder->grower_runs && dropped % TSN_GROW_STEP == 0;
    if (atomic_load_explicit(&stream->starved, memory_order_relaxed) && !retry) {
      return false;
    }
    backed = back_some(recorder, stream, index);
  }
  stream->origin =
      (uintptr_t)stream->current.address - stream->current.first * TSN_RECORD;
  stream->limit = backed < stream->current.end ? backed : stream->current.end;
  if (!recorder->grower_runs) {
    if (index) tsn_recorder_calibrate(recorder);
    if (stream->limit > next_look(index)) stream->limit = next_look(index);
  }
  return stream->limit > index;
}

/* The record goes out in one store: a process is killed between instructions,
 * so that there is all of a record or nothing. */
typedef uint64_t record_words __attribute__((vector_size(16)));

static inline void write_record(tsn_stream *stream, uint64_t index, uint64_t time,
                                uint32_t tag) {
  enum { CACHE_LINE = 64 };
  uint64_t check = tsn_record_check(time, tag, index);
  /* NOLINTNEXTLINE(performance-no-int-to-ptr): record 0 need not be mapped */
  volatile record_words *record = (record_words *)(stream->origin + index * TSN_RECORD);
  *record = (record_words){time, tag | check << 32};
  /* Every fourth record begins a line that only memory has. Were it asked for by the
   * store alone, all stores of the program after it would queue up behind it. */
  __builtin_prefetch((const char *)record + CACHE_LINE, 1);
  atomic_store_explicit(&stream->index, index + 1, memory_order_relaxed);
}

/* While a thread is busy, finish does not take away the streams that it found it
 * owned. Nothing orders the store before the loads that follow but the compiler;
 * finish makes up for that. */
static inline void enter(void) {
  atomic_store_explicit(&cache.busy, 1, memory_order_relaxed);
  atomic_signal_fence(memory_order_seq_cst);
}

static inline tsanom_status leave(tsanom_status status) {
  atomic_store_explicit(&cache.busy, 0, memory_order_release);
  return status;
}

/* There is no room. Who looks after the streams notes it in their headers, or nobody
 * else than this thread does, as often as it asks for room again. */
static void drop(tsn_recorder *recorder, tsn_stream *stream) {
  uint64_t dropped = atomic_load_explicit(&stream->dropped, memory_order_relaxed);
  atomic_store_explicit(&stream->dropped, dropped + 1, memory_order_relaxed);
  if (recorder->grower_runs || dropped % TSN_GROW_STEP != 0) return;
  tsn_stream_lock(stream);
  (void)tsn_storage_write_header(recorder, stream);
  tsn_stream_unlock(stream);
}

static __attribute__((noinline)) tsanom_status beat_at_limit(tsn_stream *stream,
                                                             uint32_t tag) {
  tsn_recorder *recorder = atomic_load_explicit(&tsn_the_recorder, memory_order_acquire);
  uint64_t time = tsn_clock_ticks(stream->clock);
  if (!make_room(recorder, stream)) {
    drop(recorder, stream);
    return leave(TSANOM_E_IO);
  }
  uint64_t index = atomic_load_explicit(&stream->index, memory_order_relaxed);
  write_record(stream, index, time, tag);
  return leave(TSANOM_OK);
}

static __attribute__((noinline)) tsanom_status beat_by_clock(tsn_stream *stream,
                                                             uint64_t index,
                                                             uint32_t tag) {
  write_record(stream, index, tsn_clock_monotonic(), tag);
  return leave(TSANOM_OK);
}

/* Beat into a stream of ours, and leave. What is not needed for a beat by the counter
 * is called last, so that the usual path saves no register. */
static inline tsanom_status beat_into(tsn_stream *stream, uint32_t tag) {
  uint64_t index = atomic_load_explicit(&stream->index, memory_order_relaxed);
  if (!LIKELY(index != stream->limit)) return beat_at_limit(stream, tag);
#if defined(__x86_64__)
  if (LIKELY(stream->clock == TSANOM_HEARTBEAT_CLOCK_TSC)) {
    write_record(stream, index, __rdtsc(), tag);
    return leave(TSANOM_OK);
  }
#endif
  return beat_by_clock(stream, index, tag);
}

static __attribute__((noinline)) tsanom_status beat_elsewhere(tsn_recorder *recorder,
                                                              int32_t thread,
                                                              uint32_t tag) {
  for (;;) {
    if (atomic_load_explicit(&recorder->state, memory_order_acquire) != TSN_RECORDING) {
      return TSANOM_E_STATE;
    }
    if (thread < 0) return TSANOM_E_OPTION;
    /* Whoever owns a stream gives it back when he ends, so this comes first. */
    if (!cache.stream && pthread_setspecific(release_key, &cache) != 0) {
      return TSANOM_E_MEMORY;
    }
    enter();
    tsn_stream *stream = find_stream(recorder, thread);
    if (stream) {
      cache.stream = stream;
      return beat_into(stream, tag);
    }
    leave(TSANOM_OK);
    tsanom_status status = tsn_recorder_add_stream(recorder, thread);
    if (status < 0) return status;
  }
}

tsanom_status tsanom_heartbeat_beat(int32_t thread, uint32_t tag) {
  tsn_stream *stream = cache.stream;
  if (LIKELY(stream != NULL)) {
    enter();
    if (LIKELY(owns(stream) && has_number(stream, thread))) {
      return beat_into(stream, tag);
    }
    leave(TSANOM_OK);
  }
  tsn_recorder *recorder = atomic_load_explicit(&tsn_the_recorder, memory_order_acquire);
  return recorder ? beat_elsewhere(recorder, thread, tag) : TSANOM_E_STATE;
}
