/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of the thread that opens the outermost regions become events:
 *
 *   records      begin  share  share  begin  end  end
 *   regions      |<------------------------------->|     one event, outermost only
 *   worksharing  |<----->|<--->|                         one event per share
 *
 * Nested regions count as work of the outermost one. The work behind the last share of a
 * region is no event of worksharing: it ends with the region, which is an event of its
 * own at the other level.
 *
 * O(1) for each record; a refresh converts the new ones only. */
#include "runs/events.h"

#include <math.h>

/* Only the outermost begin starts an event. */
static void begin(tsn_level *level, double time, int32_t place) {
  if (level->depth++ > 0) return;
  level->begun = time;
  level->outermost = (uint64_t)place;
}

/* Whether a record completes an event. *event is filled in any case, and kept by the
 * caller only then. A stream may begin within a region, so an end without a begin is
 * ignored. */
static bool take(tsn_level *level, int32_t which, double time,
                 const tsanom_runs_event *record, tsanom_speedup_event *event) {
  *event = (tsanom_speedup_event){.end = time,
                                  .threads = record->threads > 0 ? record->threads : 1};
  if (record->kind == TSANOM_REGIONS_BEGIN) begin(level, time, record->place);
  bool ends = record->kind == TSANOM_REGIONS_END && level->depth > 0;
  if (ends) level->depth--;
  event->begin = level->begun;
  if (which == TSANOM_RUNS_LEVEL_REGIONS) {
    event->region = level->outermost;
    return ends && level->depth == 0;
  }
  if (record->kind != TSANOM_REGIONS_SHARE) return false;
  event->region = (uint64_t)record->place;
  level->begun = time;
  return true;
}

/* Threads that open outermost regions have the number 0. Of several, the one with the
 * most records: which of them came first is chance. Without any, stream 0. */
size_t tsn_level_stream(const tsn_channel *channel) {
  size_t chosen = 0, most = 0;
  for (size_t i = 0; i < channel->stream_count; i++) {
    const tsn_stream *stream = tsn_channel_stream(channel, i);
    if (stream->thread != 0 || stream->count <= most) continue;
    chosen = i;
    most = stream->count;
  }
  return chosen;
}

/* Another stream may have overtaken the chosen one since the last call; then the
 * conversion begins anew, in the memory that is there. Space for all records is taken
 * first, so that nothing has changed after a failure. */
bool tsn_level_update(tsn_level *level, int32_t which, const tsn_channel *channel) {
  size_t chosen = tsn_level_stream(channel);
  if (chosen != level->stream) {
    *level = (tsn_level){.event = level->event, .stream = chosen};
  }
  if (chosen >= channel->stream_count) return true;
  const tsn_stream *stream = tsn_channel_stream(channel, chosen);
  const double *time = stream->time.data;
  const uint32_t *tag = stream->tag.data;
  if (!tsn_array_reserve(&level->event, channel->memory, level->count,
                         level->count + stream->count - level->taken,
                         sizeof(tsanom_speedup_event))) {
    return false;
  }
  tsanom_speedup_event *event = level->event.data;
  for (; level->taken < stream->count; level->taken++) {
    tsanom_runs_event record = {0};
    (void)tsanom_runs_decode(tag[level->taken], &record);
    if (take(level, which, time[level->taken], &record, &event[level->count])) {
      level->count++;
    }
  }
  return true;
}

/* Layout of a tag, in bits from the lowest:
 *
 *   kind, 3 | place, 13   | threads, 16     BEGIN, END, SHARE, WORK
 *   kind, 3 | place, 13   | tasks, 16       TASK
 *   kind, 3 | exponent, 5 | mantissa, 24    CPU: mantissa * 2^exponent nanoseconds
 *   kind, 3 | metric, 3 | exponent, 5 | mantissa, 21    METRIC */
tsanom_status tsanom_runs_decode(uint32_t tag, tsanom_runs_event *event) {
  const uint32_t place_bits = TSANOM_REGIONS_PLACES_MAX - 1;
  uint32_t rest = tag >> TSANOM_REGIONS_KIND_BITS;
  int32_t kind = (int32_t)(tag & ((1u << TSANOM_REGIONS_KIND_BITS) - 1));
  if (!event) return TSANOM_E_NULL;
  if (kind == TSANOM_REGIONS_WORK && tag >> 16 < 2) return TSANOM_E_VALUE;
  if (kind == TSANOM_REGIONS_METRIC) {
    int exponent = (int)(rest >> 3 & 31);
    double count = ldexp((double)(tag >> 11), exponent);
    if (exponent == TSANOM_REGIONS_NOT_COUNTED) count = NAN;
    *event =
        (tsanom_runs_event){.kind = kind, .place = (int32_t)(rest & 7), .count = count};
  } else if (kind == TSANOM_REGIONS_CPU) {
    double cpu_s = ldexp((double)(tag >> 8), (int)(rest & 31)) * 1e-9;
    *event = (tsanom_runs_event){.kind = kind, .place = -1, .cpu_s = cpu_s};
  } else {
    *event = (tsanom_runs_event){.kind = kind,
                                 .place = (int32_t)(rest & place_bits),
                                 .threads = (int32_t)(tag >> 16)};
  }
  return TSANOM_OK;
}
