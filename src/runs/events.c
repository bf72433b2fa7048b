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

/* Whether a visit completes an event. *event is filled in any case, and kept by the
 * caller only then. */
static bool take(tsn_level *level, int32_t which, const tsn_visit *v,
                 tsanom_speedup_event *event) {
  bool is_outermost = v->regions == 0;
  if (v->kind == TSN_VISIT_BEGIN && is_outermost) level->begun = v->time;
  *event = (tsanom_speedup_event){.begin = level->begun,
                                  .end = v->time,
                                  .region = (uint64_t)v->place,
                                  .threads = v->threads > 0 ? v->threads : 1};
  if (which == TSANOM_RUNS_LEVEL_REGIONS) return v->kind == TSN_VISIT_END && is_outermost;
  if (v->kind != TSN_VISIT_PART) return false;
  level->begun = v->time;
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
  if (chosen != level->stream || !level->walk.at) {
    *level = (tsn_level){
        .event = level->event, .stream = chosen, .walk = tsn_walk_begin(NULL, false)};
  }
  if (chosen >= channel->stream_count) return true;
  const tsn_stream *stream = tsn_channel_stream(channel, chosen);
  if (!tsn_array_reserve(&level->event, channel->memory, level->count,
                         level->count + stream->count - level->walk.at,
                         sizeof(tsanom_speedup_event))) {
    return false;
  }
  tsanom_speedup_event *event = level->event.data;
  tsn_visit v;
  while (tsn_walk_next(&level->walk, stream, &v)) {
    if (take(level, which, &v, &event[level->count])) level->count++;
  }
  return true;
}
