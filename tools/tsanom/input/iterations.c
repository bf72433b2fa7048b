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

enum { DEPTH = 64, KINDS = 4, UNKNOWN_CLASS = -1 };

/* A thread beats where a region begins, but may lose its processor in between: the
 * iteration begins with the region. A visit with several beats contains the loop. */
static void move_to_visits(iterations *it) {
  tsanom_runs_stream stream;
  size_t next = 0, depth = 0;
  double begin = 0;
  for (size_t k = 0;
       tsanom_runs_stream_at(it->run, TSANOM_RUNS_REGIONS, k, &stream) == TSANOM_OK;
       k++) {
    if (stream.thread != (int32_t)it->thread) continue;
    for (size_t i = 0; i < stream.count && next <= it->count; i++) {
      tsanom_runs_event e;
      if (tsanom_runs_decode(stream.tag[i], &e) != TSANOM_OK) continue;
      if (e.kind == TSANOM_REGIONS_BEGIN && !depth++) {
        begin = stream.time[i];
        while (next <= it->count && it->begin[next] < begin) next++;
      }
      if (e.kind != TSANOM_REGIONS_END || !depth || --depth) continue;
      size_t first = next;
      while (next <= it->count && it->begin[next] < stream.time[i]) next++;
      if (next == first + 1) it->begin[first] = begin;
    }
  }
}

static int take_beats(const char *path, iterations *it, failure *why) {
  tsanom_runs_info info;
  tsanom_runs_info_init(&info, sizeof info);
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
  if (!it->is_lent) tsanom_runs_close(it->run);
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
  int is_own;       /* the stream of the thread of the iterations */
  int32_t thread;
  size_t iteration; /* of the latest event */
  size_t open[DEPTH], depth;
  int waits; /* the work in the innermost region has ended */
  double last;
  /* Of processor times: */
  double *each; /* by iteration; NULL: by activity */
  processor_share *share;
  double begin[DEPTH], inside[DEPTH]; /* what regions inside had */
  double known, work_end;             /* NaN: none since the last event */
  double since;                       /* what regions had since the last call */
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

static int is_call(const walk *w, size_t place) {
  tsanom_runs_place about;
  return tsanom_runs_place_at(w->it->run, place, &about) == TSANOM_OK && about.call;
}

static int add_event(walk *w, const tsanom_runs_event *e, double time) {
  size_t place = e->place < 0 ? 0 : (size_t)e->place;
  int failed = 0, is_inside = w->depth > 0 && w->depth <= DEPTH;
  size_t inner = is_inside ? w->open[w->depth - 1] : 0;
  int32_t now = w->waits ? ACTIVITY_WAIT : ACTIVITY_REGION;
  switch (e->kind) {
    case TSANOM_REGIONS_BEGIN:
      if (is_inside) {
        failed = add_time(w, now, inner, time);
      } else if (w->is_own && !w->depth) {
        failed = add_time(w, ACTIVITY_BEFORE, place, time);
      }
      if (w->depth < DEPTH) w->open[w->depth] = place;
      w->depth++;
      w->waits = 0;
      break;
    case TSANOM_REGIONS_END:
      if (is_inside) {
        failed = add_time(w, is_call(w, inner) ? ACTIVITY_CALL : now, inner, time);
      }
      if (w->depth) w->depth--;
      w->waits = 0;
      break;
    case TSANOM_REGIONS_SHARE:
      failed = is_inside ? add_time(w, ACTIVITY_REGION, place, time) : 0;
      w->waits = 0;
      break;
    case TSANOM_REGIONS_WORK:
    case TSANOM_REGIONS_CPU: /* of a visit: comes where its work ends */
      failed = is_inside ? add_time(w, ACTIVITY_REGION, inner, time) : 0;
      w->waits = 1;
      break;
    default:
      return 0;
  }
  w->last = time;
  return failed;
}

/* A visit of the innermost region ends, or of what is deeper than that. What is too short
 * to be measured had a processor while it worked. */
static int end_visit(walk *w, double time) {
  if (!w->depth || --w->depth >= DEPTH) return 0;
  size_t k = w->depth, place = w->open[k];
  if (is_call(w, place)) {
    w->last = time;
    w->since = 0;
    return 0;
  }
  double passed = (isnan(w->work_end) ? time : w->work_end) - w->begin[k];
  int is_known = !isnan(w->known);
  double had = is_known ? w->known : passed;
  if (k) {
    w->inside[k - 1] += had;
  } else {
    w->since += had;
    w->share->seconds += passed;
    w->share->known_s += is_known ? passed : 0;
    w->share->processor_s += had;
  }
  return add_seconds(w, ACTIVITY_REGION, place, w->begin[k], time,
                     fmax(had - w->inside[k], 0));
}

/* The same as add_event(), of processor times. */
static int add_processor(walk *w, const tsanom_runs_event *e, double time) {
  size_t place = e->place < 0 ? 0 : (size_t)e->place;
  int failed = 0;
  switch (e->kind) {
    case TSANOM_REGIONS_BEGIN:
      if (!w->depth && !isnan(w->known) && is_call(w, place)) {
        failed = add_seconds(w, ACTIVITY_BEFORE, place, w->last, time,
                             fmax(w->known - w->since, 0));
      }
      if (w->depth < DEPTH) {
        w->open[w->depth] = place;
        w->begin[w->depth] = time;
        w->inside[w->depth] = 0;
      }
      w->depth++;
      break;
    case TSANOM_REGIONS_END:
      failed = end_visit(w, time);
      break;
    case TSANOM_REGIONS_WORK:
      w->work_end = time;
      return 0;
    case TSANOM_REGIONS_CPU:
      w->known = e->cpu_s;
      w->work_end = time;
      return 0;
    case TSANOM_REGIONS_SHARE:
      break;
    default:
      return 0;
  }
  w->known = w->work_end = NAN;
  return failed;
}

/* Walk over all streams; those with fields of `how`. */
static int walk_streams(const iterations *it, int32_t seconds, const walk *how,
                        size_t *streams, failure *why) {
  size_t bytes = (size_t)TSANOM_REGIONS_PLACES_MAX * KINDS * sizeof *how->item_of;
  int32_t *item_of = malloc(bytes);
  int failed = !item_of;
  tsanom_runs_stream stream;
  for (size_t k = 0;
       it->count && !failed &&
       tsanom_runs_stream_at(it->run, TSANOM_RUNS_REGIONS, k, &stream) == TSANOM_OK;
       k++) {
    walk w = *how;
    w.it = it;
    w.item_of = memset(item_of, 0, bytes);
    w.thread = stream.thread;
    w.is_own = stream.thread == (int32_t)it->thread;
    w.last = -INFINITY;
    w.known = w.work_end = NAN;
    *streams += stream.count > 0;
    for (size_t i = 0; i < stream.count && !failed; i++) {
      tsanom_runs_event event;
      if (tsanom_runs_decode(stream.tag[i], &event) != TSANOM_OK) continue;
      failed = seconds == SECONDS_PASSED ? add_event(&w, &event, stream.time[i])
                                         : add_processor(&w, &event, stream.time[i]);
    }
  }
  free(item_of);
  return failed ? fail(why, "out of memory") : 0;
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
