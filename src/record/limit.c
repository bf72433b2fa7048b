/* SPDX-License-Identifier: BSD-3-Clause */
/* A beat at the limit of its stream: the next window, more records with disk space, or
 * none of either. */
#include <sched.h>
#include <string.h>

#include "record/channel.h"
#include "record/clock.h"
#include "record/guard.h"

/* Move to the next window, which the grower has mapped unless it is late. The grower may
 * be using the old one, and is left to unmap it. Without a grower the thread unmaps it
 * here. If nothing can be mapped, the current window stays, and the beat is dropped. */
static void change_window(tsn_channel *channel, tsn_stream *stream, uint64_t index) {
  tsn_guard guard;
  tsn_guard_enter(&guard);
  tsn_stream_lock(stream);
  if (!stream->ready.end) {
    tsn_note_error(&stream->error,
                   tsn_storage_map(channel, stream, index, &stream->ready));
  }
  while (stream->old_count == TSN_OLD_WINDOWS && channel->grower.runs) {
    tsn_stream_unlock(stream);
    sched_yield();
    tsn_stream_lock(stream);
  }
  if (stream->ready.end) {
    if (channel->grower.runs) {
      stream->old[stream->old_count++] = stream->current;
    } else {
      tsn_storage_unmap(&stream->current);
    }
    stream->current = stream->ready;
    stream->ready.end = 0;
  }
  tsn_stream_unlock(stream);
  tsn_guard_leave(&guard);
}

/* Back records in the beating thread. The grower may have done so while this thread
 * waited for the lock; then `backed` has moved and nothing is left to do. Returns
 * `backed`. */
static uint64_t back_here(tsn_channel *channel, tsn_stream *stream, uint64_t index) {
  tsn_guard guard;
  tsn_guard_enter(&guard);
  tsn_stream_lock(stream);
  uint64_t backed = atomic_load_explicit(&stream->backed, memory_order_relaxed);
  if (backed == index) {
    int error = tsn_storage_back(channel, stream, TSN_GROW_STEP);
    tsn_note_error(&stream->error, error);
    atomic_store_explicit(&stream->exhausted, error != 0, memory_order_relaxed);
    backed = atomic_load_explicit(&stream->backed, memory_order_relaxed);
    /* All pages at once cost a fraction of one fault for each. */
    if (!channel->grower.runs) tsn_storage_populate(&stream->current, index, backed);
  }
  tsn_stream_unlock(stream);
  tsn_guard_leave(&guard);
  return backed;
}

/* Where the beating thread calibrates the clock if no grower does: less and less often,
 * until it has to stop for disk space anyway. */
static uint64_t next_calibration(uint64_t index) {
  enum { FIRST = 64 };
  return index < FIRST ? FIRST : 4 * index;
}

/* Whether to ask for space again after that number of drops: soon after the first
 * failure, which may have been a passing one, then less and less often, at powers of two
 * and each 65536. So a full disk costs few system calls, and recording resumes when
 * space is freed. */
static bool is_retry(uint64_t dropped) {
  return (dropped & (dropped - 1)) == 0 || dropped % TSN_GROW_STEP == 0;
}

/* The steps depend on each other in this order: the window first, because a limit beyond
 * its end could not be written; then `backed`, whose acquire sees the header that
 * promises the space; then origin and limit, which only this thread uses. */
bool tsn_raise_limit(tsn_channel *channel, tsn_stream *stream) {
  uint64_t index = atomic_load_explicit(&stream->index, memory_order_relaxed);
  if (index == stream->current.end) {
    change_window(channel, stream, index);
    if (index == stream->current.end) return false;
  }
  uint64_t backed = atomic_load_explicit(&stream->backed, memory_order_acquire);
  if (backed == index) {
    uint64_t dropped = atomic_load_explicit(&stream->dropped, memory_order_relaxed);
    bool retry = !channel->grower.runs && is_retry(dropped);
    if (atomic_load_explicit(&stream->exhausted, memory_order_relaxed) && !retry) {
      return false;
    }
    backed = back_here(channel, stream, index);
  }
  stream->origin =
      (uintptr_t)stream->current.address - stream->current.first * TSN_RECORD;
  stream->limit = backed < stream->current.end ? backed : stream->current.end;
  if (!channel->grower.runs) {
    if (index) tsn_channel_calibrate(channel);
    if (stream->limit > next_calibration(index)) stream->limit = next_calibration(index);
  }
  return stream->limit > index;
}

/* There is no space. The grower writes the count to the header; without one this thread
 * does, each time it asks for space again. So a run that is killed on a full disk still
 * says how many beats it lost, to within the drops since then. */
void tsn_drop_beat(tsn_channel *channel, tsn_stream *stream) {
  uint64_t dropped = atomic_fetch_add(&stream->dropped, 1);
  tsn_guard guard;
  if (channel->grower.runs || !is_retry(dropped)) return;
  tsn_guard_enter(&guard);
  tsn_stream_lock(stream);
  (void)tsn_storage_write_header(channel, stream);
  tsn_stream_unlock(stream);
  tsn_guard_leave(&guard);
}

/* ---- the grower
 *
 * The grower: a thread that backs every stream ahead of its beats, so that the beating
 * threads need not. It visits the streams every 1 to 50 ms: more often while beats come
 * fast, less often otherwise.
 *
 *   backed - index  >=  LOOKAHEAD * (beats since the last visit)
 *
 * A visit costs the program about 20 us.
 *
 * Of one stream it does the following. It holds grow_lock for one system call or a few
 * at a time; pages are made and windows unmapped without it:
 *
 *   index ........ backed ......... index + ahead
 *                    └─ back, one step of 1 MiB at a time; make its pages
 *   current.end < backed      map the next window into `ready`, make its pages
 *   old[]                     unmap windows that the owner has left
 *   dropped                   write the header if the count has changed
 *
 * `ahead` is bounded below by what a stream is created with, so that a burst out of
 * quiet finds space, and above by a window, so that a fast stream does not reserve disk
 * space without end. The lock is released between the steps: a beat that comes to its
 * limit meanwhile waits for one step, not for all.
 *
 * The pause follows the demand: it is a quarter as long after a visit that found a
 * stream with less space left than it had used since the last one, twice as long
 * otherwise. A pause that is too long is not an error: the beating thread then backs
 * records itself.
 *
 * It also takes the pairs of ticks and nanoseconds from which a reader computes the
 * length of a tick, at first after 1/64 s, then at doubling intervals up to a second.
 *
 * The thread has all signals blocked, so that no handler of the program runs in it, and
 * a small stack. */

enum {
  SHORTEST_SLEEP = 1000000, /* ns */
  LONGEST_SLEEP = 50000000,
  CALIBRATE = 1000000000, /* ns between calibrations */
  LOOKAHEAD = 4,          /* visits */
  MOST_AHEAD = TSN_WINDOW /* records */
};

static bool try_lock(tsn_stream *stream) {
  return !atomic_exchange_explicit(&stream->grow_lock, 1, memory_order_acquire);
}

void tsn_stream_lock(tsn_stream *stream) {
  while (!try_lock(stream)) sched_yield();
}

void tsn_stream_unlock(tsn_stream *stream) {
  atomic_store_explicit(&stream->grow_lock, 0, memory_order_release);
}

/* One step of backing; false when there is no space. */
static bool grow(tsn_channel *channel, tsn_stream *stream) {
  tsn_stream_lock(stream);
  uint64_t before = atomic_load_explicit(&stream->backed, memory_order_relaxed);
  int error = tsn_storage_back(channel, stream, TSN_GROW_STEP);
  uint64_t after = atomic_load_explicit(&stream->backed, memory_order_relaxed);
  tsn_window current = stream->current;
  tsn_note_error(&stream->error, error);
  atomic_store_explicit(&stream->exhausted, error != 0, memory_order_relaxed);
  tsn_stream_unlock(stream);
  tsn_storage_populate(&current, before, after);
  return !error;
}

/* Map the next window once there are records for it, and unmap the old ones. */
static void move_windows(tsn_channel *channel, tsn_stream *stream) {
  tsn_window old[TSN_OLD_WINDOWS], ready = {.end = 0};
  tsn_stream_lock(stream);
  uint32_t count = stream->old_count;
  memcpy(old, stream->old, sizeof old);
  stream->old_count = 0;
  uint64_t backed = atomic_load_explicit(&stream->backed, memory_order_relaxed);
  if (backed > stream->current.end && !stream->ready.end &&
      tsn_storage_map(channel, stream, stream->current.end, &stream->ready) == 0) {
    ready = stream->ready;
  }
  tsn_stream_unlock(stream);
  tsn_storage_populate(&ready, ready.first, backed);
  while (count) tsn_storage_unmap(&old[--count]);
}

static void write_dropped(tsn_channel *channel, tsn_stream *stream) {
  uint64_t dropped = atomic_load_explicit(&stream->dropped, memory_order_relaxed);
  if (dropped == stream->dropped_seen) return;
  stream->dropped_seen = dropped;
  tsn_stream_lock(stream);
  (void)tsn_storage_write_header(channel, stream);
  tsn_stream_unlock(stream);
}

/* Visit one stream; false when twice the beats since the last visit would have used up
 * what there was. */
static bool refresh(tsn_channel *channel, tsn_stream *stream) {
  uint64_t index = atomic_load_explicit(&stream->index, memory_order_relaxed);
  uint64_t used = index > stream->seen ? index - stream->seen : 0; /* or taken back */
  stream->seen = index;
  uint64_t ahead = used * LOOKAHEAD;
  if (ahead < TSN_FIRST_STEP) ahead = TSN_FIRST_STEP;
  if (ahead > MOST_AHEAD) ahead = MOST_AHEAD;
  uint64_t backed = atomic_load_explicit(&stream->backed, memory_order_relaxed);
  bool in_time = backed - index >= used;
  if (backed - index < ahead / 2) {
    while (backed < index + ahead && grow(channel, stream)) {
      backed = atomic_load_explicit(&stream->backed, memory_order_relaxed);
    }
  }
  move_windows(channel, stream);
  write_dropped(channel, stream);
  return in_time;
}

static void *refresh_all(void *argument) {
  tsn_channel *channel = argument;
  int64_t pause = SHORTEST_SLEEP;
  uint64_t next_calibration = tsn_clock_monotonic() + CALIBRATE / 64;
  uint64_t between = CALIBRATE / 64;
  while (tsn_helper_sleep(&channel->grower, pause)) {
    bool in_time = true;
    uint32_t streams = atomic_load_explicit(&channel->streams, memory_order_acquire);
    for (uint32_t i = 0; i < streams; i++) {
      in_time = refresh(channel, tsn_stream_at(channel, i)) && in_time;
    }
    pause = in_time ? pause * 2 : pause / 4;
    if (pause < SHORTEST_SLEEP) pause = SHORTEST_SLEEP;
    if (pause > LONGEST_SLEEP) pause = LONGEST_SLEEP;
    uint64_t now = tsn_clock_monotonic();
    if (now >= next_calibration) {
      tsn_channel_calibrate(channel);
      if (between < CALIBRATE) between *= 2;
      next_calibration = now + between;
    }
  }
  return NULL;
}

void tsn_grower_start(tsn_channel *channel) {
  tsn_helper_start(&channel->grower, refresh_all, channel);
}
