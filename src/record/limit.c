/* SPDX-License-Identifier: BSD-3-Clause */
/* A beat at the limit of its stream: the next window, more records with disk space, or
 * none of either. */
#include <sched.h>

#include "record/channel.h"
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
