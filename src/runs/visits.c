/* SPDX-License-Identifier: BSD-3-Clause */
/* The walk over region events (walk.h) for callers: without functions, and with a processor
 * time at what it is of, not in front of it. */
#include <math.h>

#include "core/exec.h"
#include "core/fault.h"
#include "runs/run.h"
#include "runs/walk.h"

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
  const tsn_stream *stream = tsn_channel_stream(channel, index);
  const double *time = stream->time.data;
  double last = stream->count ? time[stream->count - 1] : 0;
  tsn_walk walk = tsn_walk_begin(&run->parts.regions.places, false);
  tsn_visit v;
  while (tsn_walk_next(&walk, stream, &v) || tsn_walk_finish(&walk, last, &v)) {
    int32_t kind = kind_of(&v);
    if (kind == NONE) continue;
    tsanom_runs_visit shown = visit_of(&walk, &v, kind);
    if (visitor->visit(visitor->user, &shown)) return TSANOM_STOPPED;
  }
  return TSANOM_OK;
}
