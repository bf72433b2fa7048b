/* SPDX-License-Identifier: BSD-3-Clause */
#include "runs/walk.h"

#include <math.h>
#include <string.h>

#include "core/exec.h"
#include "core/fault.h"
#include "runs/run.h"

/* The walk over region events (walk.h) for callers: without functions, and with a processor
 * time at what it is of, not in front of it. */

enum { NONE = -1 };

/* A processor time comes where work ends; so does the event of a thread whose processor
 * time is not measured. */
static int32_t kind_of(const tsn_visit *v) {
  switch (v->kind) {
    case TSN_VISIT_BEGIN:
      return TSANOM_RUNS_VISIT_BEGIN;
    case TSN_VISIT_END:
      return TSANOM_RUNS_VISIT_END;
    case TSN_VISIT_PART:
      return TSANOM_RUNS_VISIT_PART;
    case TSN_VISIT_CPU:
    case TSN_VISIT_WORK:
      return TSANOM_RUNS_VISIT_WORK;
    case TSN_VISIT_TASKS:
      return TSANOM_RUNS_VISIT_TASKS;
    default:
      return NONE;
  }
}

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
    int32_t kind = kind_of(&v);
    if (kind == NONE) continue;
    tsanom_runs_visit shown = visit_of(&walk, &v, kind);
    shown.thread = stream->thread;
    stopped = visitor->visit(visitor->user, &shown);
  }
  status = tsn_reader_end(&reader);
  return stopped ? TSANOM_STOPPED : status;
}

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
