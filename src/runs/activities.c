/* SPDX-License-Identifier: BSD-3-Clause */
/* What threads did in iterations, by their region events. The time between two events of
 * a thread belongs to what is open in between:
 *
 *   BEGIN a      WORK a       END a           BEGIN b    SHARE s     END b
 *     | region a   | wait in a  | code before b | region s | region b  |
 *
 * A thread other than the one of the iterations does nothing outside of regions.
 *
 * The processor time of a visit comes behind its work; what regions inside of it had is
 * theirs. Before a call of MPI it is that since the last call, with the regions in between. */
#include <math.h>
#include <string.h>
#include <tsanom/runs.h>

#include "core/fault.h"
#include "runs/run.h"

enum { KINDS = 4, UNKNOWN_CLASS = -1 };

/* Seconds of all visits, of those whose processor time is known, and that they had. */
typedef struct {
  double seconds, known_s, processor_s;
} processor_share;

typedef struct pass pass;

/* True: the rest of the stream is not needed. */
typedef bool taker(pass *p, const tsn_visit *v);

/* What is made of one stream. */
struct pass {
  taker *take;
  const tsanom_runs_loop *loop;
  const tsanom_exec *exec; /* of the run: for the sums */
  tsn_activities *sums;    /* by class; NULL: by iteration, in loop->processor_s */
  int32_t thread;          /* of the stream */
  const tsn_walk *walk;    /* behind the latest visit */
  size_t
      iteration; /* of the latest visit; of beats that are moved: the first not before it */
  bool waits;    /* the work in the innermost region has ended */
  bool failed;   /* out of memory */
  double last;
  /* Of processor times: */
  processor_share *share;
  double inside[TSN_WALK_DEPTH]; /* of those that are open: what regions in them had */
  double work_end;               /* NaN: none since the last visit */
  double since;                  /* what regions had since the last call */
};

/* Hand each visit of a stream to some passes, until one of them needs no more. Metrics and
 * tasks take no time, and what has no end is not known. */
static tsanom_status take_visits(const tsanom_runs *run, size_t stream,
                                 const tsanom_exec *exec, pass *const *passes,
                                 size_t count, bool *has_visits) {
  const tsn_region_part *part = &run->parts.regions;
  tsn_reader reader = {.channel = &part->channel, .exec = exec};
  int32_t thread = tsn_reader_open(&reader, stream)->thread;
  tsn_walk walk = tsn_walk_begin(&part->places, false);
  tsn_visit v;
  bool ends = false;
  for (size_t i = 0; i < count; i++) {
    passes[i]->thread = thread;
    passes[i]->walk = &walk;
  }
  while (!ends && tsn_walk_next(&walk, &reader, &v)) {
    if (v.kind == TSN_VISIT_METRIC) continue;
    *has_visits = true;
    if (v.kind == TSN_VISIT_TASKS || (v.kind == TSN_VISIT_END && !v.known)) continue;
    for (size_t i = 0; i < count; i++) ends |= passes[i]->take(passes[i], &v);
  }
  return tsn_reader_end(&reader);
}

/* ---- where iterations begin */

/* A thread beats where a region begins, but may lose its processor in between: the
 * iteration begins with the region. A visit with several beats contains the loop. */
static bool move_beats(pass *p, const tsn_visit *v) {
  const tsanom_runs_loop *loop = p->loop;
  if (v->depth) return false;
  size_t first = p->iteration;
  while (p->iteration <= loop->iterations && loop->begin[p->iteration] < v->time)
    p->iteration++;
  if (v->known && p->iteration == first + 1) loop->begin[first] = v->begin;
  return p->iteration > loop->iterations;
}

static tsanom_status move_to_visits(const tsanom_runs *run, const tsanom_exec *exec,
                                    const tsanom_runs_loop *loop) {
  const tsn_channel *channel = &run->parts.regions.channel;
  pass p = {.take = move_beats, .loop = loop}, *const passes[] = {&p};
  bool has_visits = false;
  tsanom_status status = TSANOM_OK;
  for (size_t k = 0; k < channel->stream_count && status == TSANOM_OK; k++) {
    if (tsn_channel_stream(channel, k)->thread == loop->thread)
      status = take_visits(run, k, exec, passes, 1, &has_visits);
  }
  return status;
}

/* ---- sums */

/* The iteration at a time, near that of the latest visit; loop->iterations: none. The middle of a
 * region may be before that of one in it, which ended before. */
static size_t iteration_at(pass *p, double time) {
  const tsanom_runs_loop *loop = p->loop;
  if (time < loop->begin[0]) return loop->iterations;
  size_t i = p->iteration;
  while (loop->begin[i] > time) i--;
  while (i < loop->iterations && loop->begin[i + 1] <= time) i++;
  return p->iteration = i;
}

/* Of an activity: seconds by class, iterations by class, and the latest iteration + 1. */
static size_t sums_for(const tsanom_runs_loop *loop) {
  return 2 * loop->classes + 1;
}

/* The sums of an activity of the stream; NULL: out of memory. */
static double *sums_of(pass *p, int32_t what, size_t place) {
  tsn_activities *a = p->sums;
  size_t sums = sums_for(p->loop), used = a->count * sums;
  int32_t *index = (int32_t *)a->index.data + place * KINDS + (size_t)what;
  if (!*index) {
    if (!tsn_array_reserve(&a->item, p->exec, a->count, a->count + 1,
                           sizeof(tsanom_runs_activity)) ||
        !tsn_array_reserve(&a->sums, p->exec, used, used + sums, sizeof(double)))
      return NULL;
    ((tsanom_runs_activity *)a->item.data)[a->count] =
        (tsanom_runs_activity){.what = what, .thread = p->thread, .place = place};
    memset((double *)a->sums.data + used, 0, sums * sizeof(double));
    *index = (int32_t)++a->count;
  }
  return (double *)a->sums.data + (size_t)(*index - 1) * sums;
}

static void add_to_class(const tsanom_runs_loop *loop, size_t iteration, double seconds,
                         double *sums) {
  size_t class = (size_t)loop->class_of[iteration];
  double *seen = sums + loop->classes, *latest = sums + 2 * loop->classes;
  sums[class] += seconds;
  if (*latest != (double)(iteration + 1)) seen[class]++;
  *latest = (double)(iteration + 1);
}

/* `seconds` of the time since `begin` were spent on `what`. */
static void add_seconds(pass *p, int32_t what, size_t place, double begin, double time,
                        double seconds) {
  const tsanom_runs_loop *loop = p->loop;
  size_t i = iteration_at(p, begin + (time - begin) / 2);
  if (i == loop->iterations || time - begin > 1.5 * (loop->begin[i + 1] - loop->begin[i]))
    return;
  if (!p->sums) {
    loop->processor_s[i] += seconds;
  } else if (loop->class_of[i] != UNKNOWN_CLASS) {
    double *sums = sums_of(p, what, place);
    if (sums) add_to_class(loop, i, seconds, sums);
    p->failed = !sums;
  }
}

/* The time since the last event was spent on `what`. */
static void add_time(pass *p, int32_t what, size_t place, double time) {
  double last = p->last;
  p->last = time;
  add_seconds(p, what, place, last, time, time - last);
}

/* A processor time comes where work ends; so does the event of a thread whose processor
 * time is not measured. */
static bool ends_work(const tsn_visit *v) {
  return v->kind == TSN_VISIT_CPU || v->kind == TSN_VISIT_WORK;
}

static bool add_visit(pass *p, const tsn_visit *v) {
  int32_t now = p->waits ? TSANOM_RUNS_ACTIVITY_WAIT : TSANOM_RUNS_ACTIVITY_REGION;
  size_t place = (size_t)v->place,
         outer = v->depth ? (size_t)p->walk->open[v->depth - 1].place : 0;
  p->waits = ends_work(v);
  switch (v->kind) {
    case TSN_VISIT_BEGIN:
      if (v->depth) {
        add_time(p, now, outer, v->time);
      } else if (p->thread == p->loop->thread) {
        add_time(p, TSANOM_RUNS_ACTIVITY_BEFORE, place, v->time);
      }
      break;
    case TSN_VISIT_END:
      add_time(p, v->what == TSN_WALK_CALL ? TSANOM_RUNS_ACTIVITY_CALL : now, place,
               v->time);
      break;
    default:
      /* The processor time of the code before a call comes before the call, which ends it. */
      if (!v->depth) return false;
      add_time(p, TSANOM_RUNS_ACTIVITY_REGION, v->kind == TSN_VISIT_PART ? place : outer,
               v->time);
  }
  p->last = v->time;
  return p->failed;
}

/* What is not measured is shorter: the recorder measures what takes 300 times its clock. */
static const double longest_unmeasured = 1e-4;

/* A visit of a region ends. What is too short to be measured had a processor while it
 * worked; if it took long, it lost it. */
static void end_visit(pass *p, const tsn_visit *v) {
  double passed = (isnan(p->work_end) ? v->time : p->work_end) - v->begin;
  bool is_known = !isnan(v->used->cpu);
  double had = is_known ? v->used->cpu : fmin(passed, longest_unmeasured);
  double own = fmax(had - p->inside[v->depth], 0);
  if (v->depth) {
    p->inside[v->depth - 1] += had;
  } else {
    p->since += had;
    p->share->seconds += passed;
    p->share->known_s += is_known ? passed : 0;
    p->share->processor_s += had;
  }
  add_seconds(p, TSANOM_RUNS_ACTIVITY_REGION, (size_t)v->place, v->begin, v->time, own);
}

/* The same as add_visit(), of processor times. */
static bool add_processor(pass *p, const tsn_visit *v) {
  bool is_call = v->what == TSN_WALK_CALL;
  if (v->kind == TSN_VISIT_BEGIN) {
    if (!v->depth && is_call && !isnan(v->used->cpu)) {
      add_seconds(p, TSANOM_RUNS_ACTIVITY_BEFORE, (size_t)v->place, p->last, v->time,
                  fmax(v->used->cpu - p->since, 0));
    }
    p->inside[v->depth] = 0;
  } else if (v->kind == TSN_VISIT_END && is_call) {
    p->last = v->time;
    p->since = 0;
  } else if (v->kind == TSN_VISIT_END) {
    end_visit(p, v);
  }
  p->work_end = ends_work(v) ? v->time : NAN;
  return p->failed;
}

/* ---- passes over all streams */

/* One walk for all sums. *streams: those that have visits. */
static tsanom_status add_streams(tsanom_runs *run, const tsanom_exec *exec,
                                 const tsanom_runs_loop *loop, processor_share *share,
                                 size_t *streams) {
  enum { INDICES = TSANOM_RUNS_PLACES_MAX * KINDS };
  const tsn_channel *channel = &run->parts.regions.channel;
  tsn_activities *sums = &run->activities;
  size_t bytes = INDICES * sizeof(int32_t);
  processor_share not_asked_for = {0};
  tsanom_status status = TSANOM_OK;
  sums->count = 0;
  if (loop->class_of &&
      !tsn_array_reserve(&sums->index, &run->exec, 0, INDICES, sizeof(int32_t)))
    return tsn_reject_memory(exec, bytes);
  for (size_t k = 0; k < channel->stream_count && status == TSANOM_OK; k++) {
    pass by_iteration = {.take = add_processor,
                         .loop = loop,
                         .last = -INFINITY,
                         .share = share,
                         .work_end = NAN};
    if (tsn_channel_stream(channel, k)->thread < 0) continue;
    pass by_class = by_iteration, *passes[2];
    size_t count = 0;
    bool has_visits = false;
    by_class.exec = &run->exec;
    by_class.sums = sums;
    by_class.share = &not_asked_for;
    if (!loop->of_processor) by_class.take = add_visit;
    if (loop->class_of) {
      memset(sums->index.data, 0, bytes);
      passes[count++] = &by_class;
    }
    if (loop->processor_s) passes[count++] = &by_iteration;
    status = take_visits(run, k, exec, passes, count, &has_visits);
    *streams += has_visits;
    if (by_class.failed) status = tsn_reject_memory(exec, sums->count * sizeof(double));
  }
  return status;
}

static void finish_processor(const processor_share *share, size_t streams,
                             tsanom_runs_loop *loop) {
  size_t without = 0;
  for (size_t i = 0; i < loop->iterations; i++) {
    loop->processor_s[i] /= (double)(streams ? streams : 1);
    without += !(loop->processor_s[i] > 0);
  }
  bool is_known =
      share->known_s > 0.5 * share->seconds && 20 * without <= loop->iterations;
  loop->waited = is_known ? share->seconds / share->processor_s : 0;
}

static tsanom_status add_up(tsanom_runs *run, const tsanom_exec *exec,
                            tsanom_runs_loop *loop) {
  processor_share share = {0};
  size_t streams = 0;
  tsn_activities *sums = &run->activities;
  if (loop->processor_s) {
    memset(loop->processor_s, 0, loop->iterations * sizeof *loop->processor_s);
  }
  tsanom_status status = add_streams(run, exec, loop, &share, &streams);
  if (status < 0) return status;
  if (loop->processor_s) finish_processor(&share, streams, loop);
  if (!loop->class_of) return TSANOM_OK;
  tsanom_runs_activity *item = sums->item.data;
  for (size_t k = 0; k < sums->count && status == TSANOM_OK; k++) {
    item[k].seconds = (const double *)sums->sums.data + k * sums_for(loop);
    item[k].iterations = item[k].seconds + loop->classes;
    item[k].name = "unknown place";
    if (item[k].place < run->parts.regions.places.count)
      status = tsanom_runs_place_name(run, item[k].place, exec, &item[k].name);
  }
  if (status < 0) return status;
  loop->activity = item;
  loop->count = sums->count;
  return TSANOM_OK;
}

static tsanom_status check(const tsanom_exec *exec, const tsanom_runs_loop *loop) {
  size_t n = loop->iterations;
  tsanom_status status =
      tsn_require_size(exec, TSANOM_E_COUNT, "loop.iterations", n, 1, SIZE_MAX / 16);
  if (status < 0) return status;
  if (!loop->begin) return tsn_reject_null(exec, "loop.begin", n);
  for (size_t i = 0; i <= n; i++) {
    double before = loop->begin[i ? i - 1 : 0];
    if (!isfinite(loop->begin[i])) {
      return tsn_reject_value(exec, TSANOM_E_NONFINITE, "loop.begin", i, TSANOM_NONE,
                              loop->begin[i], "finite times are expected");
    }
    if (loop->begin[i] < before) {
      return tsn_reject_value(exec, TSANOM_E_ORDER, "loop.begin", i, TSANOM_NONE,
                              loop->begin[i],
                              "no less than the time before it is expected");
    }
  }
  if (!loop->class_of) return TSANOM_OK;
  status =
      tsn_require_size(exec, TSANOM_E_COUNT, "loop.classes", loop->classes, 1, INT32_MAX);
  for (size_t i = 0; i < n && status == TSANOM_OK; i++) {
    status = tsn_require_int(exec, TSANOM_E_INDEX, "loop.class_of", loop->class_of[i], -1,
                             (int32_t)loop->classes - 1);
  }
  return status;
}

tsanom_status tsanom_runs_activities(tsanom_runs *run, const tsanom_exec *exec,
                                     tsanom_runs_loop *loop) {
  tsanom_exec own;
  tsanom_status status = tsn_run_enter(exec, run, loop, "loop", &own);
  if (status == TSANOM_OK) status = check(&own, loop);
  if (status < 0) return status;
  loop->waited = 0;
  return loop->class_of || loop->processor_s ? add_up(run, &own, loop)
                                             : move_to_visits(run, &own, loop);
}
