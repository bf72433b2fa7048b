/* SPDX-License-Identifier: BSD-3-Clause */
/* What threads did in iterations, by their region events. The time between two events of
 * a thread belongs to what is open in between:
 *
 *   BEGIN a      WORK a       END a           BEGIN b    SHARE s     END b
 *     | region a   | wait in a  | code before b | region s | region b  |
 *
 * A thread other than the one of the iterations does nothing outside of regions. */
#include "iterations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reserve.h"
#include "rows.h"
#include "run_open.h"

enum { DEPTH = 64, KINDS = 4, UNKNOWN_CLASS = -1 };

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
  size_t most = 0;
  for (size_t t = 0; t < it->beats->thread_count; t++) {
    if (it->beats->threads[t].beats <= most) continue;
    most = it->beats->threads[t].beats;
    it->thread = t;
  }
  it->begin = it->beats->threads[it->thread].time;
  it->count = most ? most - 1 : 0;
  it->seconds = calloc(it->count + 1, sizeof *it->seconds);
  if (!it->seconds) return fail(why, "out of memory");
  for (size_t i = 0; i < it->count; i++) it->seconds[i] = it->begin[i + 1] - it->begin[i];
  return 0;
}

int iterations_read(const char *path, const tsanom_exec *exec, int salvage,
                    iterations *it, failure *why) {
  if (run_open(path, 0, exec, salvage, &it->run, why)) return -1;
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
  free(it->seconds);
  tsanom_runs_close(it->run);
  *it = (iterations){0};
}

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

/* The time since the last event was spent on `what`. */
static int add_time(walk *w, int32_t what, size_t place, double time) {
  double seconds = time - w->last;
  size_t i = iteration_at(w, w->last + seconds / 2);
  w->last = time;
  if (i == w->it->count || seconds > 1.5 * w->it->seconds[i]) return 0;
  int32_t class = w->class_of[i];
  if (class == UNKNOWN_CLASS) return 0;
  double *sum = seconds_of(w, what, place);
  if (!sum) return -1;
  sum[class] += seconds;
  return 0;
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

static int walk_stream(const iterations *it, const tsanom_runs_stream *stream,
                       const int32_t *class_of, activities *a, failure *why) {
  walk w = {.it = it,
            .class_of = class_of,
            .a = a,
            .thread = stream->thread,
            .is_own = stream->thread == (int32_t)it->thread,
            .last = -INFINITY};
  w.item_of = calloc((size_t)TSANOM_REGIONS_PLACES_MAX * KINDS, sizeof *w.item_of);
  int failed = !w.item_of;
  for (size_t i = 0; i < stream->count && !failed; i++) {
    tsanom_runs_event event;
    if (tsanom_runs_decode(stream->tag[i], &event) != TSANOM_OK) continue;
    failed = add_event(&w, &event, stream->time[i]);
  }
  free(w.item_of);
  return failed ? fail(why, "out of memory") : 0;
}

int activities_read(const iterations *it, const int32_t *class_of, size_t classes,
                    activities *a, failure *why) {
  tsanom_runs_stream stream;
  a->classes = classes;
  for (size_t i = 0; it->count && tsanom_runs_stream_at(it->run, TSANOM_RUNS_REGIONS, i,
                                                        &stream) == TSANOM_OK;
       i++) {
    if (walk_stream(it, &stream, class_of, a, why)) return -1;
  }
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
