/* SPDX-License-Identifier: BSD-3-Clause */
/* The time-stamp counter can restart while a program runs: when the machine was
 * suspended, or a virtual machine migrated. CLOCK_MONOTONIC goes on. The records between
 * two restarts are an epoch; epochs are laid end to end, as if no time passed at a
 * restart:
 *
 *   ticks      first ..... end[0]             begin[1] ..... end[1]
 *   unwrapped  0 ......... end[0] - first  =  base[1] ...... base[1] + end[1] - begin[1]
 *
 *   base[k] = sum over i < k of (end[i] - begin[i]),   begin[0] = first
 *   unwrapped(ticks in epoch k) = base[k] + ticks - begin[k]
 *   tick = (latest.ns - first.ns) * 1e-9 / unwrapped(latest.ticks)
 *   time = unwrapped * tick
 *
 * where begin and end are the least and the greatest tick of all streams in the epoch.
 * The header's two pairs of ticks and nanoseconds count as records. So times do not
 * decrease, the pairs have exactly their times by CLOCK_MONOTONIC, and the time that
 * passed between the last record before a restart and the first after it is spread over
 * the run: no time is wrong by more than the gaps at the restarts together.
 *
 * A stream's epoch ends where its ticks step back by more than TSN_DISORDER. Its first
 * epoch is 0, or 1 if its first record is before the run began. Two limits follow: a
 * restart is not seen in a stream whose ticks do not step back, and a stream without any
 * record between two restarts is taken for one with a single restart.
 *
 * Two passes over the records of all streams, O(records), and only for runs with a
 * restart. */
#include "runs/timeline.h"

#include <string.h>
#include <tsanom/record.h>

#include "core/size.h"
#include "runs/channel.h"

typedef struct {
  /* Least and greatest ticks of all streams in the epoch. */
  uint64_t begin, end;
  /* Unwrapped ticks at `begin`. */
  double base;
} epoch;

typedef struct {
  const tsn_channel *channel;
  tsn_array epochs;
  size_t count;
} timeline;

double tsn_timeline_tick(const tsn_run_header *header) {
  return (double)(header->latest.nanoseconds - header->first.nanoseconds) * 1e-9 /
         (double)(header->latest.ticks - header->first.ticks);
}

static epoch *epoch_at(const timeline *t, size_t index) {
  return (epoch *)t->epochs.data + index;
}

/* One more record in an epoch, at most the next new one. False: out of memory. */
static bool extend(timeline *t, size_t index, uint64_t ticks) {
  if (index == t->count) {
    if (!tsn_array_reserve(&t->epochs, t->channel->memory, t->count, index + 1,
                           sizeof(epoch))) {
      return false;
    }
    *epoch_at(t, t->count++) = (epoch){.begin = ticks, .end = ticks};
  }
  epoch *e = epoch_at(t, index);
  if (ticks > e->end) e->end = ticks;
  /* Records that are a little too early do not move the beginning of the run. */
  if (ticks < e->begin && index > 0) e->begin = ticks;
  return true;
}

static uint64_t ticks_at(const tsn_stream *stream, size_t index) {
  return ((const uint64_t *)stream->time.data)[index];
}

/* The test of a restart between two records. */
static bool is_before(uint64_t ticks, uint64_t other) {
  return ticks < other && other - ticks > TSN_DISORDER;
}

/* A walk over the records of a stream. */
typedef struct {
  size_t epoch;
  uint64_t ticks; /* of the record before */
} walk;

/* The epoch of the next record of the stream. Both passes call it for each record in
 * order, so that they agree. */
static size_t next_epoch(walk *w, uint64_t ticks) {
  w->epoch += is_before(ticks, w->ticks);
  w->ticks = ticks;
  return w->epoch;
}

/* First pass: the extent of each epoch. The first pair of the header begins epoch 0. */
static bool find_epochs(timeline *t) {
  if (!extend(t, 0, t->channel->header_seen.first.ticks)) return false;
  for (size_t i = 0; i < t->channel->streams_seen; i++) {
    const tsn_stream *stream = tsn_channel_stream(t->channel, i);
    walk w = {.ticks = t->channel->header_seen.first.ticks};
    for (size_t k = 0; k < stream->seen; k++) {
      uint64_t ticks = ticks_at(stream, k);
      if (!extend(t, next_epoch(&w, ticks), ticks)) return false;
    }
  }
  return true;
}

static uint64_t distance(uint64_t a, uint64_t b) {
  return a > b ? a - b : b - a;
}

/* The epoch of the pair taken last; t->count: none of those that have records. At the
 * end of a finished run it is behind all records. Of another run it is the last epoch
 * that contains it, or else the one whose end is nearest before it. */
static size_t epoch_of_latest(const timeline *t, uint64_t ticks) {
  const tsn_run_header *header = &t->channel->header_seen;
  size_t nearest = t->count, last = t->count - 1;
  if (header->state == TSN_FINISHED) {
    return is_before(ticks, epoch_at(t, last)->end) ? t->count : last;
  }
  for (size_t i = t->count; i-- > 0;) {
    const epoch *e = epoch_at(t, i);
    if (e->begin <= ticks && ticks <= e->end) return i;
    if (ticks < e->begin) continue;
    if (nearest == t->count ||
        distance(ticks, e->end) < distance(ticks, epoch_at(t, nearest)->end)) {
      nearest = i;
    }
  }
  return nearest;
}

/* The difference is taken in integers, and signed: a record may be a little before the
 * beginning of the run. */
static double unwrapped(const timeline *t, size_t index, uint64_t ticks) {
  const epoch *e = epoch_at(t, index);
  return e->base + (double)(int64_t)(ticks - e->begin);
}

/* Epochs, their bases, and the tick. A run whose pairs are no ticks apart has no
 * measured tick; a nanosecond is assumed. */
static bool build(timeline *t, double *tick) {
  const tsn_run_header *header = &t->channel->header_seen;
  uint64_t ticks = header->latest.ticks;
  if (!find_epochs(t)) return false;
  size_t latest = epoch_of_latest(t, ticks);
  if (!extend(t, latest, ticks)) return false;
  epoch_at(t, 0)->base = 0;
  for (size_t i = 1; i < t->count; i++) {
    const epoch *e = epoch_at(t, i - 1);
    epoch_at(t, i)->base = e->base + (double)(e->end - e->begin);
  }
  double passed = unwrapped(t, latest, ticks);
  double seconds =
      (double)(header->latest.nanoseconds - header->first.nanoseconds) * 1e-9;
  *tick = passed > 0 ? seconds / passed : 1e-9;
  return true;
}

/* The array changes its type from uint64_t to double element by element; memcpy() keeps
 * this defined. */
static void set_time(tsn_stream *stream, size_t index, double seconds) {
  memcpy((double *)stream->time.data + index, &seconds, sizeof seconds);
}

static void convert_epochs(const timeline *t, tsn_stream *stream) {
  walk w = {.ticks = t->channel->header_seen.first.ticks};
  for (size_t k = 0; k < stream->seen; k++) {
    uint64_t ticks = ticks_at(stream, k);
    size_t at = next_epoch(&w, ticks);
    set_time(stream, k, unwrapped(t, at, ticks) * t->channel->tick);
  }
}

static void convert(const tsn_channel *channel, tsn_stream *stream) {
  for (size_t k = stream->count; k < stream->seen; k++) {
    set_time(stream, k, tsn_channel_seconds(channel, ticks_at(stream, k)));
  }
}

/* A restart shows in one of four places: the pairs of the header, a step back within a
 * stream, a first record before the run began, or, in a finished run, records behind the
 * latest pair. */
bool tsn_timeline_restarted(const tsn_channel *channel) {
  const tsn_run_header *header = &channel->header_seen;
  if (header->latest.ticks < header->first.ticks) return true;
  for (size_t i = 0; i < channel->streams_seen; i++) {
    const tsn_stream *stream = tsn_channel_stream(channel, i);
    if (stream->steps_back) return true;
    if (stream->seen == stream->count) continue;
    if ((stream->count == 0 && is_before(ticks_at(stream, 0), header->first.ticks)) ||
        (header->state == TSN_FINISHED &&
         is_before(header->latest.ticks, stream->ticks_seen))) {
      return true;
    }
  }
  return false;
}

void tsn_timeline_convert(const tsn_channel *channel) {
  for (size_t i = 0; i < channel->streams_seen; i++) {
    convert(channel, tsn_channel_stream(channel, i));
  }
}

bool tsn_timeline_convert_epochs(tsn_channel *channel) {
  timeline t = {.channel = channel};
  bool built = build(&t, &channel->tick);
  if (built) channel->restarts = t.count - 1;
  for (size_t i = 0; built && i < channel->streams_seen; i++) {
    convert_epochs(&t, tsn_channel_stream(channel, i));
  }
  tsn_array_free(&t.epochs, channel->memory);
  return built;
}
