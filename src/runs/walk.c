/* SPDX-License-Identifier: BSD-3-Clause */
/* The walker of region events (walk.h), and the public functions that read the events of one
 * run by it: visits for callers, events of one level, the number of active threads. */
#include "runs/walk.h"

#include <math.h>
#include <string.h>
#include <tsanom/runs.h>
#include <tsanom/speedup.h>

#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "runs/run.h"

static void forget_counts(double count[TSN_REGIONS_METRICS]) {
  for (size_t m = 0; m < TSN_REGIONS_METRICS; m++) count[m] = NAN;
}

/* Most runs have no metrics, so their counts stay as they began. */
static void forget_usage(tsn_walk *w) {
  w->used.cpu = w->last_part.cpu = NAN;
  w->forgets = false;
  if (!w->counts) return;
  forget_counts(w->used.count);
  forget_counts(w->last_part.count);
  forget_counts(w->count);
  w->counts = false;
}

tsn_walk tsn_walk_begin(const tsn_places *calls, bool functions) {
  tsn_walk w = {.calls = calls, .functions = functions, .counts = true};
  forget_usage(&w);
  return w;
}

static bool is_function(const tsn_walk *w, size_t k) {
  return w->open[k].what == TSN_WALK_FUNCTION;
}

static bool end(tsn_walk *w, bool known, tsn_visit *v) {
  const tsn_walk_open *o = &w->open[--w->depth];
  w->regions -= !is_function(w, w->depth);
  v->kind = TSN_VISIT_END;
  v->what = o->what;
  v->place = o->place;
  v->begin = o->begin;
  v->depth = w->depth;
  v->regions = w->regions;
  v->known = known;
  return true;
}

static bool begin(tsn_walk *w, int32_t what, tsn_visit *v) {
  if (w->depth == TSN_WALK_DEPTH) {
    *(what == TSN_WALK_FUNCTION ? &w->deeper_functions : &w->deeper_regions) += 1;
    return false;
  }
  v->kind = TSN_VISIT_BEGIN;
  v->what = what;
  w->open[w->depth++] =
      (tsn_walk_open){.begin = v->time, .place = v->place, .what = what};
  w->regions += what != TSN_WALK_FUNCTION;
  return true;
}

static bool drop(tsn_walk *w) {
  w->unmatched++;
  return false;
}

/* Whether what an end closes is not visited, as its begin was not. */
static bool is_deeper(size_t *deeper) {
  if (!*deeper) return false;
  --*deeper;
  return true;
}

static bool end_region(tsn_walk *w, tsn_visit *v) {
  if (is_deeper(&w->deeper_regions)) return false;
  if (!w->regions) return drop(w);
  w->deeper_functions = 0;
  return end(w, true, v);
}

static bool end_function(tsn_walk *w, tsn_visit *v) {
  if (is_deeper(&w->deeper_functions)) return false;
  bool is_innermost = w->depth && !w->deeper_regions && is_function(w, w->depth - 1) &&
                      w->open[w->depth - 1].place == v->place;
  return is_innermost ? end(w, true, v) : drop(w);
}

/* Whether an event first ends the innermost function, which was left by longjmp(). */
static bool is_left(const tsn_walk *w, const tsn_region_event *event) {
  size_t k = w->depth;
  if (!k || !is_function(w, k - 1)) return false;
  if (w->deeper_regions) return false;
  if (event->kind == TSN_REGIONS_END) return w->regions > 0;
  if (event->kind != TSN_REGIONS_FUNCTION || w->deeper_functions ||
      event->threads != TSN_REGIONS_LEFT || w->open[k - 1].place == event->place) {
    return false;
  }
  while (k > 0 && is_function(w, k - 1) && w->open[k - 1].place != event->place) k--;
  return k > 0 && is_function(w, k - 1);
}

static bool take_usage(tsn_walk *w, const tsn_region_event *event, tsn_visit *v) {
  v->kind = event->kind == TSN_REGIONS_CPU ? TSN_VISIT_CPU : TSN_VISIT_METRIC;
  if (event->kind == TSN_REGIONS_METRIC) {
    v->count = event->count;
    w->counts = true;
    if (event->place < TSN_REGIONS_METRICS) w->count[event->place] = event->count;
    return true;
  }
  w->last_part.cpu = w->used.cpu;
  w->used.cpu = event->cpu_s;
  if (!w->counts) return true;
  memcpy(w->last_part.count, w->used.count, sizeof w->count);
  memcpy(w->used.count, w->count, sizeof w->count);
  forget_counts(w->count);
  return true;
}

static bool take_function(tsn_walk *w, tsn_visit *v) {
  if (!w->functions) return false;
  if (v->threads == TSN_REGIONS_ENTERED) return begin(w, TSN_WALK_FUNCTION, v);
  if (v->threads == TSN_REGIONS_LEFT) return end_function(w, v);
  v->kind = TSN_VISIT_DROPPED;
  return v->threads == TSN_REGIONS_DROPPED;
}

static bool is_call(const tsn_walk *w, int32_t place) {
  return w->calls && (size_t)place < w->calls->count &&
         tsn_places_at(w->calls, (size_t)place)->about.call;
}

static bool take(tsn_walk *w, const tsn_region_event *event, tsn_visit *v) {
  switch (event->kind) {
    case TSN_REGIONS_BEGIN:
      return begin(w, is_call(w, event->place) ? TSN_WALK_CALL : TSN_WALK_REGION, v);
    case TSN_REGIONS_END:
      return end_region(w, v);
    case TSN_REGIONS_FUNCTION:
      return take_function(w, v);
    case TSN_REGIONS_SHARE:
      v->kind = TSN_VISIT_PART;
      return true;
    case TSN_REGIONS_TASK:
      v->kind = TSN_VISIT_TASKS;
      return true;
    case TSN_REGIONS_WORK:
      v->kind = TSN_VISIT_WORK;
      return true;
    default:
      return take_usage(w, event, v);
  }
}

/* Kinds that may come between the usage and what it is of. */
static const uint32_t keep_usage = 1u << TSN_REGIONS_CPU | 1u << TSN_REGIONS_METRIC |
                                   1u << TSN_REGIONS_TASK | 1u << TSN_REGIONS_WORK;

/* A record that ends several is taken when the last of them has ended. */
bool tsn_walk_next(tsn_walk *w, tsn_reader *reader, tsn_visit *v) {
  while (tsn_reader_has(reader, w->at)) {
    size_t k = w->at - reader->first;
    tsn_region_event event = tsn_region_decode(reader->tag[k]);
    if (w->forgets) forget_usage(w);
    *v = (tsn_visit){.time = reader->time[k],
                     .place = event.place,
                     .threads = event.threads,
                     .depth = w->depth,
                     .regions = w->regions,
                     .used = &w->used,
                     .last_part = &w->last_part};
    if (is_left(w, &event)) return end(w, false, v);
    w->at++;
    w->forgets = !(1u << event.kind & keep_usage);
    if (take(w, &event, v)) return true;
  }
  return false;
}

bool tsn_walk_finish(tsn_walk *w, double last, tsn_visit *v) {
  if (w->forgets) forget_usage(w);
  *v = (tsn_visit){.time = last, .used = &w->used, .last_part = &w->last_part};
  return w->depth && end(w, false, v);
}

/* The walk over region events (walk.h) for callers: without functions, and with a processor
 * time at what it is of, not in front of it. */

enum { NONE = -1 };

/* A processor time comes where work ends; so does the event of a thread whose processor
 * time is not measured. */
static const int32_t shown_kind[] = {[TSN_VISIT_BEGIN] = TSANOM_RUNS_VISIT_BEGIN,
                                     [TSN_VISIT_END] = TSANOM_RUNS_VISIT_END,
                                     [TSN_VISIT_PART] = TSANOM_RUNS_VISIT_PART,
                                     [TSN_VISIT_CPU] = TSANOM_RUNS_VISIT_WORK,
                                     [TSN_VISIT_METRIC] = NONE,
                                     [TSN_VISIT_TASKS] = TSANOM_RUNS_VISIT_TASKS,
                                     [TSN_VISIT_WORK] = TSANOM_RUNS_VISIT_WORK,
                                     [TSN_VISIT_DROPPED] = NONE};

static tsanom_runs_visit visit_of(const tsn_walk *w, const tsn_visit *v, int32_t kind) {
  bool is_end = kind == TSANOM_RUNS_VISIT_END, is_work = kind == TSANOM_RUNS_VISIT_WORK;
  bool spans = is_end || kind == TSANOM_RUNS_VISIT_BEGIN;
  return (tsanom_runs_visit){
      .time = v->time,
      .begin = is_end ? v->begin : 0,
      .cpu_s = kind == TSANOM_RUNS_VISIT_TASKS ? NAN : v->used->cpu,
      .depth = v->depth,
      .kind = kind,
      .place = is_work ? NONE : v->place,
      .outer = v->depth ? w->open[v->depth - 1].place : NONE,
      .threads = v->threads,
      .is_call = spans && v->what == TSN_WALK_CALL,
      .is_known = is_end && v->known,
  };
}

tsanom_status tsanom_runs_visits(const tsanom_runs *run, size_t index,
                                 const tsanom_exec *exec,
                                 const tsanom_runs_visitor *visitor) {
  tsanom_exec own;
  tsanom_status status = tsn_run_enter(exec, run, visitor, "visitor", &own);
  if (status < 0) return status;
  if (!visitor->visit) return tsn_require(&own, NULL, "visitor.visit");
  const tsn_channel *channel = &run->parts.regions.channel;
  if (index >= channel->stream_count) {
    return tsn_reject_is(&own, TSANOM_E_INDEX, "index", TSANOM_NONE,
                         "%zu; the run has %zu streams of region events", index,
                         channel->stream_count);
  }
  tsn_reader reader = {.channel = channel, .exec = &own};
  const tsn_stream *stream = tsn_reader_open(&reader, index);
  double last = stream->count ? tsn_stream_last(channel, stream) : 0;
  tsn_walk walk = tsn_walk_begin(&run->parts.regions.places, false);
  tsn_visit v;
  bool stopped = false;
  while (!stopped && (tsn_walk_next(&walk, &reader, &v) ||
                      (reader.status == TSANOM_OK && tsn_walk_finish(&walk, last, &v)))) {
    int32_t kind = shown_kind[v.kind];
    if (kind == NONE) continue;
    tsanom_runs_visit shown = visit_of(&walk, &v, kind);
    shown.thread = stream->thread;
    stopped = visitor->visit(visitor->user, &shown);
  }
  status = tsn_reader_end(&reader);
  return stopped ? TSANOM_STOPPED : status;
}

static tsanom_status require_events(const tsanom_runs *run, const tsanom_exec *exec) {
  if (run->parts.present & TSANOM_RUNS_REGIONS) return TSANOM_OK;
  return tsn_run_reject(exec, run, "the run has no region events");
}

/* Threads that open outermost regions have the number 0. Of several, the one with the
 * most records: which of them came first is chance. Without any, stream 0. */
static size_t opener_stream(const tsn_channel *channel) {
  size_t chosen = 0, most = 0;
  for (size_t i = 0; i < channel->stream_count; i++) {
    const tsn_stream *stream = tsn_channel_stream(channel, i);
    if (stream->thread != 0 || stream->count <= most) continue;
    chosen = i;
    most = stream->count;
  }
  return chosen;
}

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

/* Whether a visit completes an event. *event is filled in any case, and kept by the
 * caller only then. */
static bool completes(tsn_level *level, int32_t which, const tsn_visit *v,
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

/* Another stream may have overtaken the chosen one since the last call; then the
 * conversion begins anew. It goes on where `capacity` events were written, to see whether
 * there are more; the next call continues from there. */
static tsanom_status read_level(tsn_level *level, int32_t which,
                                const tsn_channel *channel, size_t first,
                                const tsanom_exec *exec, tsanom_speedup_event *events,
                                size_t capacity, size_t *count) {
  size_t chosen = opener_stream(channel), found = 0;
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
    if (!completes(&now, which, &v, &event) || now.count++ < first) continue;
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

tsanom_status tsanom_runs_events(tsanom_runs *run, int32_t level, size_t first,
                                 const tsanom_exec *exec, tsanom_speedup_event *events,
                                 size_t capacity, size_t *count) {
  tsanom_exec own;
  tsanom_status status = tsn_run_enter(exec, run, count, "count", &own);
  if (status < 0) return status;
  if (!events && capacity) return tsn_reject_null(&own, "events", capacity);
  status = tsn_require_int(&own, TSANOM_E_OPTION, "level", level, 0, TSN_LEVELS - 1);
  if (status < 0) return status;
  status = require_events(run, &own);
  if (status < 0) return status;
  tsn_region_part *part = &run->parts.regions;
  return read_level(&part->level[level], level, &part->channel, first, &own, events,
                    capacity, count);
}

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

static tsanom_status fill_active(const tsn_channel *channel, double last,
                                 const timeline *line, const tsanom_exec *exec) {
  size_t opener = opener_stream(channel);
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
  status = require_events(run, &own);
  if (status < 0) return status;
  const tsn_channel *channel = &run->parts.regions.channel;
  double last = tsn_channel_last(channel), intervals = floor(last / interval);
  if (!(intervals < (double)(PTRDIFF_MAX / sizeof *active))) {
    return tsn_reject_is(&own, TSANOM_E_OVERFLOW, "interval", TSANOM_NONE,
                         "%.9g; the run has %.9g s, too many intervals", interval, last);
  }
  timeline line = {interval, active, tsn_smaller((size_t)intervals, capacity)};
  if (line.count) status = fill_active(channel, last, &line, &own);
  if (status < 0) return status;
  *count = (size_t)intervals;
  return *count > capacity ? TSANOM_PARTIAL : TSANOM_OK;
}
