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
#include "iterations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beats.h"
#include "reserve.h"
#include "rows.h"
#include "run_open.h"

/* DEPTH: visits have less than that around them. */
enum { DEPTH = 64, KINDS = 4, UNKNOWN_CLASS = -1 };

typedef struct {
  iterations *it;
  size_t next; /* the first beat that is not before the latest visit */
} mover;

/* A thread beats where a region begins, but may lose its processor in between: the
 * iteration begins with the region. A visit with several beats contains the loop. */
static int32_t move_beats(void *user, const tsanom_runs_visit *v) {
  mover *m = user;
  iterations *it = m->it;
  if (v->thread != (int32_t)it->thread) return 1;
  if (v->depth) return 0;
  size_t first = m->next;
  while (m->next <= it->count && it->begin[m->next] < v->time) m->next++;
  if (v->is_known && m->next == first + 1) it->begin[first] = v->begin;
  return m->next > it->count;
}

static void move_to_visits(iterations *it) {
  mover m = {.it = it};
  const tsanom_runs_visitor visitor = {move_beats, &m};
  for (size_t k = 0; tsanom_runs_visits(it->run, k, NULL, &visitor) >= 0; k++) continue;
}

static int take_beats(const char *path, iterations *it, failure *why) {
  tsanom_runs_info info = {.struct_size = sizeof info};
  tsanom_status status = tsanom_runs_describe(it->run, &info);
  if (status >= 0) status = tsanom_runs_hsa(it->run, NULL, &it->beats);
  if (status < 0) return fail_status(why, file_title(path), status);
  if (info.beats_by_time) {
    return fail(why,
                "%s: no iterations were found while the program ran; tsanom record "
                "--beat-at REGION names where one begins",
                file_title(path));
  }
  it->thread = beats_busiest(it->beats);
  size_t most = it->beats->thread_count ? it->beats->threads[it->thread].beats : 0;
  it->count = most ? most - 1 : 0;
  it->begin = calloc(most + 1, sizeof *it->begin);
  it->seconds = calloc(it->count + 1, sizeof *it->seconds);
  if (!it->begin || !it->seconds) return fail(why, "out of memory");
  if (most)
    memcpy(it->begin, it->beats->threads[it->thread].time, most * sizeof *it->begin);
  if (most) move_to_visits(it);
  for (size_t i = 0; i < it->count; i++) it->seconds[i] = it->begin[i + 1] - it->begin[i];
  return 0;
}

int iterations_read(const char *path, const tsanom_exec *exec, int salvage,
                    iterations *it, failure *why) {
  if (run_open(path, 0, exec, salvage, &it->run, why)) return -1;
  return take_beats(path, it, why);
}

int iterations_of(tsanom_runs *run, const char *path, iterations *it, failure *why) {
  it->run = run;
  it->is_lent = 1;
  return take_beats(path, it, why);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

void sort_seconds(double *seconds, size_t count) {
  qsort(seconds, count, sizeof *seconds, ascending);
}

void iterations_free(iterations *it) {
  free(it->begin);
  free(it->seconds);
  if (!it->is_lent) tsanom_runs_destroy(it->run);
  *it = (iterations){0};
}

/* Seconds of all visits, of those whose processor time is known, and that they had. */
typedef struct {
  double seconds, known_s, processor_s;
} processor_share;

/* The pass over one stream. */
typedef struct {
  const iterations *it;
  const int32_t *class_of;
  activities *a;
  int32_t *item_of; /* by place and kind: an index plus 1; 0: none yet */
  int32_t thread;   /* of the stream; -1: it has no visits so far */
  size_t iteration; /* of the latest visit */
  int waits;        /* the work in the innermost region has ended */
  int failed;
  double last;
  /* Of processor times: */
  double *each; /* by iteration; NULL: by activity */
  processor_share *share;
  double inside[DEPTH]; /* of those that are open: what regions in them had */
  double work_end;      /* NaN: none since the last visit */
  double since;         /* what regions had since the last call */
} walk;

/* The iteration at a time, which does not decrease; it->count: none. */
static size_t iteration_at(walk *w, double time) {
  const iterations *it = w->it;
  if (time < it->begin[0]) return it->count;
  size_t i = w->iteration;
  while (i < it->count && it->begin[i + 1] <= time) i++;
  return w->iteration = i;
}

static double *seconds_of(walk *w, int32_t what, size_t place) {
  activities *a = w->a;
  int32_t *index = &w->item_of[place * KINDS + (size_t)what];
  if (!*index) {
    size_t capacity = a->capacity;
    if (reserve(&a->item, &capacity, a->count + 1, sizeof *a->item) ||
        reserve(&a->seconds, &a->capacity, a->count + 1,
                a->classes * sizeof *a->seconds)) {
      return NULL;
    }
    a->item[a->count] = (activity){what, w->thread, place};
    memset(a->seconds + a->count * a->classes, 0, a->classes * sizeof *a->seconds);
    *index = (int32_t)++a->count;
  }
  return a->seconds + (size_t)(*index - 1) * a->classes;
}

/* `seconds` of the time since `begin` were spent on `what`. */
static int add_seconds(walk *w, int32_t what, size_t place, double begin, double time,
                       double seconds) {
  size_t i = iteration_at(w, begin + (time - begin) / 2);
  if (i == w->it->count || time - begin > 1.5 * w->it->seconds[i]) return 0;
  if (w->each) {
    w->each[i] += seconds;
    return 0;
  }
  int32_t class = w->class_of[i];
  if (class == UNKNOWN_CLASS) return 0;
  double *sum = seconds_of(w, what, place);
  if (!sum) return -1;
  sum[class] += seconds;
  return 0;
}

/* The time since the last event was spent on `what`. */
static int add_time(walk *w, int32_t what, size_t place, double time) {
  double last = w->last;
  w->last = time;
  return add_seconds(w, what, place, last, time, time - last);
}

/* Tasks take no time, and what has no end is not known. */
static int is_left_out(const tsanom_runs_visit *v) {
  return v->kind == TSANOM_RUNS_VISIT_TASKS ||
         (v->kind == TSANOM_RUNS_VISIT_END && !v->is_known);
}

static int32_t add_visit(void *user, const tsanom_runs_visit *v) {
  walk *w = user;
  w->thread = v->thread;
  if (is_left_out(v)) return 0;
  int32_t now = w->waits ? ACTIVITY_WAIT : ACTIVITY_REGION;
  size_t place = (size_t)v->place, outer = (size_t)v->outer;
  w->waits = v->kind == TSANOM_RUNS_VISIT_WORK;
  switch (v->kind) {
    case TSANOM_RUNS_VISIT_BEGIN:
      if (v->depth) {
        w->failed = add_time(w, now, outer, v->time);
      } else if (w->thread == (int32_t)w->it->thread) {
        w->failed = add_time(w, ACTIVITY_BEFORE, place, v->time);
      }
      break;
    case TSANOM_RUNS_VISIT_END:
      w->failed = add_time(w, v->is_call ? ACTIVITY_CALL : now, place, v->time);
      break;
    case TSANOM_RUNS_VISIT_PART:
      if (v->depth) w->failed = add_time(w, ACTIVITY_REGION, place, v->time);
      break;
    default:
      if (v->depth) w->failed = add_time(w, ACTIVITY_REGION, outer, v->time);
  }
  w->last = v->time;
  return w->failed;
}

/* What is not measured is shorter: the recorder measures what takes 300 times its clock. */
static const double longest_unmeasured = 1e-4;

/* A visit of a region ends. What is too short to be measured had a processor while it
 * worked; if it took long, it lost it. */
static void end_visit(walk *w, const tsanom_runs_visit *v) {
  double passed = (isnan(w->work_end) ? v->time : w->work_end) - v->begin;
  int is_known = !isnan(v->cpu_s);
  double had = is_known ? v->cpu_s : fmin(passed, longest_unmeasured);
  double own = fmax(had - w->inside[v->depth], 0);
  if (v->depth) {
    w->inside[v->depth - 1] += had;
  } else {
    w->since += had;
    w->share->seconds += passed;
    w->share->known_s += is_known ? passed : 0;
    w->share->processor_s += had;
  }
  w->failed = add_seconds(w, ACTIVITY_REGION, (size_t)v->place, v->begin, v->time, own);
}

/* The same as add_visit(), of processor times. */
static int32_t add_processor(void *user, const tsanom_runs_visit *v) {
  walk *w = user;
  int is_end = v->kind == TSANOM_RUNS_VISIT_END;
  w->thread = v->thread;
  if (is_left_out(v)) return 0;
  if (v->kind == TSANOM_RUNS_VISIT_BEGIN) {
    if (!v->depth && v->is_call && !isnan(v->cpu_s)) {
      w->failed = add_seconds(w, ACTIVITY_BEFORE, (size_t)v->place, w->last, v->time,
                              fmax(v->cpu_s - w->since, 0));
    }
    w->inside[v->depth] = 0;
  } else if (is_end && v->is_call) {
    w->last = v->time;
    w->since = 0;
  } else if (is_end) {
    end_visit(w, v);
  }
  w->work_end = v->kind == TSANOM_RUNS_VISIT_WORK ? v->time : NAN;
  return w->failed;
}

/* Walk over all streams; those with fields of `how`. */
static int walk_streams(const iterations *it, int32_t seconds, const walk *how,
                        size_t *streams, failure *why) {
  size_t bytes = (size_t)TSANOM_RUNS_PLACES_MAX * KINDS * sizeof *how->item_of;
  int32_t *item_of = malloc(bytes);
  int failed = !item_of;
  tsanom_status status = TSANOM_OK;
  for (size_t k = 0; it->count && !failed && status >= 0; k++) {
    walk w = *how;
    w.it = it;
    w.thread = -1;
    w.item_of = memset(item_of, 0, bytes);
    w.last = -INFINITY;
    w.work_end = NAN;
    const tsanom_runs_visitor visitor = {
        seconds == SECONDS_PASSED ? add_visit : add_processor, &w};
    status = tsanom_runs_visits(it->run, k, NULL, &visitor);
    *streams += w.thread >= 0;
    failed = w.failed;
  }
  free(item_of);
  if (failed) return fail(why, "out of memory");
  return status >= 0 || status == TSANOM_E_INDEX
             ? 0
             : fail_status(why, "the region events", status);
}

int activities_read(const iterations *it, int32_t seconds, const int32_t *class_of,
                    size_t classes, activities *a, failure *why) {
  processor_share share = {0};
  size_t streams = 0;
  a->classes = classes;
  walk how = {.class_of = class_of, .a = a, .share = &share};
  return walk_streams(it, seconds, &how, &streams, why);
}

int iterations_processor(const iterations *it, double *mean, double *waited,
                         failure *why) {
  processor_share share = {0};
  size_t streams = 0, without = 0;
  memset(mean, 0, it->count * sizeof *mean);
  walk how = {.each = mean, .share = &share};
  if (walk_streams(it, SECONDS_OF_PROCESSOR, &how, &streams, why)) return -1;
  for (size_t i = 0; i < it->count; i++) {
    mean[i] /= (double)(streams ? streams : 1);
    without += !(mean[i] > 0);
  }
  int is_known = share.known_s > 0.5 * share.seconds && 20 * without <= it->count;
  *waited = is_known ? share.seconds / share.processor_s : 0;
  return 0;
}

void activities_free(activities *a) {
  free(a->item);
  free(a->seconds);
  *a = (activities){0};
}

const char *activity_name(const iterations *it, const activity *item,
                          char text[ACTIVITY_BYTES]) {
  const char *name = "?";
  (void)tsanom_runs_place_name(it->run, item->place, NULL, &name);
  if (item->what != ACTIVITY_BEFORE) return name;
  (void)snprintf(text, ACTIVITY_BYTES, "the code before %s", name);
  return text;
}
