/* SPDX-License-Identifier: BSD-3-Clause */
/* The grower: a thread that backs every stream ahead of its beats, so that the
 * beating threads need not. It looks often while beats come fast and seldom
 * otherwise. */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "heartbeat/clock.h"
#include "heartbeat/recorder.h"

enum {
  SHORTEST_NAP = 1000000, /* ns */
  LONGEST_NAP = 50000000, /* ns; a look takes the program some 20 µs */
  CALIBRATE = 1000000000, /* ns between looks at the clocks */
  LOOKS_AHEAD = 4,        /* how many looks' beats to be ahead by */
  MOST_AHEAD = 4 << 20    /* records: 64 MiB */
};

bool tsn_stream_try_lock(tsn_stream *stream) {
  return !atomic_exchange_explicit(&stream->grow_lock, 1, memory_order_acquire);
}

void tsn_stream_lock(tsn_stream *stream) {
  while (!tsn_stream_try_lock(stream)) sched_yield();
}

void tsn_stream_unlock(tsn_stream *stream) {
  atomic_store_explicit(&stream->grow_lock, 0, memory_order_release);
}

/* One step of backing; false when there is no space. */
static bool grow(tsn_recorder *recorder, tsn_stream *stream, uint64_t count) {
  tsn_window current, ready;
  tsn_stream_lock(stream);
  uint64_t before = atomic_load_explicit(&stream->backed, memory_order_relaxed);
  int error = tsn_storage_back(recorder, stream, count);
  uint64_t after = atomic_load_explicit(&stream->backed, memory_order_relaxed);
  if (!error && after > stream->current.end && !stream->ready.end) {
    (void)tsn_storage_map(recorder, stream, stream->current.end, &stream->ready);
  }
  current = stream->current;
  ready = stream->ready;
  atomic_store_explicit(&stream->starved, error != 0, memory_order_relaxed);
  tsn_stream_unlock(stream);
  tsn_storage_populate(&current, before, after);
  tsn_storage_populate(&ready, before, after);
  return !error;
}

static void unmap_spent(tsn_stream *stream) {
  tsn_window spent[TSN_SPENT_WINDOWS];
  tsn_stream_lock(stream);
  uint32_t count = stream->spent_count;
  memcpy(spent, stream->spent, sizeof spent);
  stream->spent_count = 0;
  tsn_stream_unlock(stream);
  while (count) tsn_storage_unmap(&spent[--count]);
}

/* Look after one stream; false when twice the beats since the last look would have
 * used up what there was. */
static bool tend(tsn_recorder *recorder, tsn_stream *stream) {
  uint64_t index = atomic_load_explicit(&stream->index, memory_order_relaxed);
  uint64_t used = index - stream->seen;
  stream->seen = index;
  uint64_t ahead = used * LOOKS_AHEAD;
  if (ahead < TSN_FIRST_STEP) ahead = TSN_FIRST_STEP;
  if (ahead > MOST_AHEAD) ahead = MOST_AHEAD;
  uint64_t backed = atomic_load_explicit(&stream->backed, memory_order_relaxed);
  bool in_time = backed - index >= used;
  if (backed - index < ahead / 2) {
    while (backed < index + ahead && grow(recorder, stream, TSN_GROW_STEP)) {
      backed = atomic_load_explicit(&stream->backed, memory_order_relaxed);
    }
    unmap_spent(stream);
  }
  uint64_t dropped = atomic_load_explicit(&stream->dropped, memory_order_relaxed);
  if (dropped != stream->dropped_seen) {
    stream->dropped_seen = dropped;
    tsn_stream_lock(stream);
    (void)tsn_storage_write_header(recorder, stream);
    tsn_stream_unlock(stream);
  }
  return in_time;
}

/* Wait; false when it is time to stop. */
static bool nap(tsn_recorder *recorder, int64_t nanoseconds) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += nanoseconds;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    until.tv_sec++;
  }
  pthread_mutex_lock(&recorder->grower_lock);
  int error = 0;
  while (!recorder->stop_grower && !error) {
    error =
        pthread_cond_timedwait(&recorder->grower_wake, &recorder->grower_lock, &until);
  }
  bool stop = recorder->stop_grower;
  pthread_mutex_unlock(&recorder->grower_lock);
  return !stop;
}

static void *tend_all(void *argument) {
  tsn_recorder *recorder = argument;
  int64_t pause = SHORTEST_NAP;
  uint64_t next_calibration = tsn_clock_monotonic() + CALIBRATE / 64;
  uint64_t between = CALIBRATE / 64;
  while (nap(recorder, pause)) {
    bool in_time = true;
    uint32_t streams = atomic_load_explicit(&recorder->streams, memory_order_acquire);
    for (uint32_t i = 0; i < streams; i++) {
      in_time = tend(recorder, &recorder->stream[i]) && in_time;
    }
    pause = in_time ? pause * 2 : pause / 4;
    if (pause < SHORTEST_NAP) pause = SHORTEST_NAP;
    if (pause > LONGEST_NAP) pause = LONGEST_NAP;
    uint64_t now = tsn_clock_monotonic();
    if (now >= next_calibration) {
      tsn_recorder_calibrate(recorder);
      if (between < CALIBRATE) between *= 2;
      next_calibration = now + between;
    }
  }
  return NULL;
}

void tsn_grower_start(tsn_recorder *recorder) {
  enum { STACK = 256 << 10 };
  pthread_condattr_t clock;
  pthread_attr_t attributes;
  sigset_t all, before;
  recorder->stop_grower = false;
  pthread_mutex_init(&recorder->grower_lock, NULL);
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(&recorder->grower_wake, &clock);
  pthread_condattr_destroy(&clock);
  pthread_attr_init(&attributes);
  (void)pthread_attr_setstacksize(&attributes, STACK);
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  /* The program's thread-local variables may not fit the small stack. */
  recorder->grower_runs =
      pthread_create(&recorder->grower, &attributes, tend_all, recorder) == 0 ||
      pthread_create(&recorder->grower, NULL, tend_all, recorder) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
}

void tsn_grower_stop(tsn_recorder *recorder) {
  if (!recorder->grower_runs) return;
  pthread_mutex_lock(&recorder->grower_lock);
  recorder->stop_grower = true;
  pthread_cond_signal(&recorder->grower_wake);
  pthread_mutex_unlock(&recorder->grower_lock);
  pthread_join(recorder->grower, NULL);
  pthread_cond_destroy(&recorder->grower_wake);
  pthread_mutex_destroy(&recorder->grower_lock);
  recorder->grower_runs = false;
}
