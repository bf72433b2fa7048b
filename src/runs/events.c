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
 * O(1) for each record. */
#include "runs/events.h"

#include <math.h>

#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "runs/run.h"

/* The number of active threads over time, from the region events of all threads:
 *
 *   thread 0   BEGIN ───────────────── END          BEGIN ─ ...   always counts
 *   thread 1        BEGIN ────── END                              counts in a region
 *   thread 2        BEGIN ───────── END
 *   interval  |    .    |    .    |    .    |    .    |
 *   active    |  2.2    |   3     |  1.4    |   1     |           mean over the interval
 *
 * A member of a team ends a region when its work is done, so that waiting at the end of
 * the region does not count. The thread that opens regions works between them, too. The
 * time in which a thread is active is added to the intervals that it covers: O(events +
 * threads·intervals).
 *
 * Source: F. Freitag, J. Corbalan and J. Labarta, figure 3. */

/* The intervals that the caller takes. */
typedef struct {
  double interval, *active;
  size_t count;
} timeline;

/* A thread is active from one time to another, in seconds. */
static void add_active(const timeline *line, double from, double to) {
  double first = fmax(from / line->interval, 0), last = to / line->interval;
  for (size_t i = (size_t)fmin(first, (double)line->count); i < line->count; i++) {
    double begin = fmax(first, (double)i), end = fmin(last, (double)i + 1);
    if (!(end > begin)) return;
    line->active[i] += end - begin;
  }
}

/* A region that has not ended lasts until the last record of the run. */
static void add_stream(const timeline *line, tsn_reader *reader, double last) {
  tsn_walk walk = tsn_walk_begin(NULL, false);
  tsn_visit v;
  while (tsn_walk_next(&walk, reader, &v) || tsn_walk_finish(&walk, last, &v)) {
    if (v.kind == TSN_VISIT_END && v.regions == 0) add_active(line, v.begin, v.time);
  }
}

static tsanom_status fill(const tsn_channel *channel, double last, const timeline *line,
                          const tsanom_exec *exec) {
  size_t opener = tsn_level_stream(channel);
  tsn_reader reader = {.channel = channel, .exec = exec};
  for (size_t i = 0; i < line->count; i++) line->active[i] = 0;
  for (size_t i = 0; i < channel->stream_count; i++) {
    if (i == opener) {
      add_active(line, 0, INFINITY);
    } else {
      (void)tsn_reader_open(&reader, i);
      add_stream(line, &reader, last);
    }
  }
  return tsn_reader_end(&reader);
}

tsanom_status tsanom_runs_active(const tsanom_runs *run, double interval,
                                 const tsanom_exec *exec, double *active, size_t capacity,
                                 size_t *count) {
  tsanom_exec own;
  tsanom_status status = tsn_run_enter(exec, run, count, "count", &own);
  if (status < 0) return status;
  if (!active && capacity) return tsn_reject_null(&own, "active", capacity);
  if (!(isgreater(interval, 0)) || !isfinite(interval)) {
    return tsn_reject_value(&own, TSANOM_E_OPTION, "interval", TSANOM_NONE, TSANOM_NONE,
                            interval, "seconds above 0 are expected");
  }
  if (!(run->parts.present & TSANOM_RUNS_REGIONS)) {
    tsn_file_place place = {.file = tsn_path_title(run->place.path)};
    return tsn_reject_file(&own, TSANOM_E_STATE, &place, "the run has no region events");
  }
  const tsn_channel *channel = &run->parts.regions.channel;
  double last = tsn_channel_last(channel), intervals = floor(last / interval);
  if (!(intervals < (double)(PTRDIFF_MAX / sizeof *active))) {
    return tsn_reject_is(&own, TSANOM_E_OVERFLOW, "interval", TSANOM_NONE,
                         "%.9g; the run has %.9g s, too many intervals", interval, last);
  }
  timeline line = {interval, active, tsn_smaller((size_t)intervals, capacity)};
  if (line.count) status = fill(channel, last, &line, &own);
  if (status < 0) return status;
  *count = (size_t)intervals;
  return *count > capacity ? TSANOM_PARTIAL : TSANOM_OK;
}

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
 * conversion begins anew. It goes on where `capacity` events were written, to see whether
 * there are more; the next call continues from there. */
tsanom_status tsn_level_read(tsn_level *level, int32_t which, const tsn_channel *channel,
                             size_t first, const tsanom_exec *exec,
                             tsanom_speedup_event *events, size_t capacity,
                             size_t *count) {
  size_t chosen = tsn_level_stream(channel), found = 0;
  tsn_level now = *level, kept;
  if (chosen != now.stream || !now.walk.at || first < now.count) {
    now = (tsn_level){.stream = chosen, .walk = tsn_walk_begin(NULL, false)};
  }
  kept = now;
  tsn_reader reader = {.channel = channel, .exec = exec};
  size_t most = events ? capacity : SIZE_MAX;
  bool has_events =
      chosen < channel->stream_count &&
      (which == TSANOM_RUNS_LEVEL_REGIONS ||
       tsn_stream_has(tsn_channel_stream(channel, chosen), TSN_REGIONS_SHARE));
  if (has_events) (void)tsn_reader_open(&reader, chosen);
  tsn_visit v;
  while (has_events && found <= most && tsn_walk_next(&now.walk, &reader, &v)) {
    tsanom_speedup_event event;
    if (!take(&now, which, &v, &event) || now.count++ < first) continue;
    if (events && found < most) events[found] = event;
    if (++found == most) kept = now;
  }
  tsanom_status status = tsn_reader_end(&reader);
  if (status < 0) return status;
  bool is_more = found > most;
  *level = is_more ? kept : now;
  *count = is_more ? most : found;
  return is_more ? TSANOM_PARTIAL : TSANOM_OK;
}
