/* SPDX-License-Identifier: BSD-3-Clause */
/* What a watch keeps of beats and vital signs, whose number has no bound.
 *
 *   beats     the latest ones, each stride-th of the whole run, and the longest gaps
 *   samples   each stride-th, and the latest. When all places are taken, each second one
 *             is dropped, and the stride doubles:
 *
 *                 0 1 2 3 4 5 6 7     ->     0 2 4 6  then  0 2 4 6 8
 *
 *             Numbers of samples add up, so that dropping one loses no amount. A number
 *             that is not known in the sample behind a dropped one is taken from that.
 *
 * What is kept depends on the beats and samples, not on how they are split into updates. */
#include <math.h>

#include "core/size.h"
#include "diagnosis/watch.h"

/* ---- samples */

static void take(double *number, double earlier) {
  if (isnan(*number)) *number = earlier;
}

static void merge(tsanom_hsa_vital *v, const tsanom_hsa_vital *dropped) {
  if (v->task != dropped->task) return;
  take(&v->cpu_s, dropped->cpu_s);
  take(&v->wait_s, dropped->wait_s);
  take(&v->minor_faults, dropped->minor_faults);
  take(&v->major_faults, dropped->major_faults);
  take(&v->anonymous, dropped->anonymous);
}

static void thin(tsn_watch_samples *s) {
  for (size_t i = 1; 2 * i < s->count; i++) {
    tsanom_hsa_vital kept = s->kept[2 * i];
    merge(&kept, &s->kept[2 * i - 1]);
    s->kept[i] = kept;
  }
  s->count /= 2;
  s->stride *= 2;
}

static void add_sample(tsn_watch_samples *s, const tsanom_hsa_vital *sample) {
  tsanom_hsa_vital v = *sample;
  if (s->seen && (s->seen - 1) % s->stride) {
    merge(&v, &s->kept[--s->count]);
  } else if (s->count == TSANOM_DIAGNOSIS_WATCH_SAMPLES) {
    merge(&v, &s->kept[s->count - 1]);
    thin(s);
  }
  s->kept[s->count++] = v;
  s->seen++;
}

/* ---- beats */

size_t tsn_watch_busiest(const tsanom_diagnosis_watch *w) {
  size_t busiest = 0;
  for (size_t t = 1; t < w->threads; t++) {
    if (w->thread[t].pulse.beats > w->thread[busiest].pulse.beats) busiest = t;
  }
  return busiest;
}

/* Marks of all threads have the same stride. */
static void thin_marks(tsanom_diagnosis_watch *w) {
  w->stride *= 2;
  for (size_t i = 0; i < w->capacity; i++) {
    tsn_watch_thread *t = &w->thread[i];
    t->marks /= 2;
    for (size_t k = 0; k < t->marks; k++) t->mark[k] = t->mark[2 * k + 1];
  }
}

/* A clock that was measured again may set a beat before the last one. */
static void add_beat(tsanom_diagnosis_watch *w, size_t thread, double at) {
  tsn_watch_thread *t = &w->thread[thread];
  double last = t->pulse.last, time = fmax(at, last);
  tsn_gap gap = {time - last, last, time, thread, (double)t->pulse.beats};
  if (gap.length > 0 && !tsn_is_known(&w->pauses, &gap)) {
    tsn_keep_gap(t->gap, &t->gaps, gap);
  }
  t->ring[t->pulse.beats++ % TSN_WATCH_RING] = time;
  t->pulse.last = time;
  w->first = fmin(w->first, time);
  w->last = fmax(w->last, time);
  if (t->pulse.beats % w->stride) return;
  if (t->marks == TSN_WATCH_MARKS) {
    thin_marks(w);
    if (t->pulse.beats % w->stride) return;
  }
  t->mark[t->marks++] = time;
}

static void set_rate(tsn_watch_thread *t) {
  size_t window = TSANOM_DIAGNOSIS_WATCH_RATE_BEATS;
  if (t->pulse.beats <= window) window = (size_t)t->pulse.beats - 1;
  double taken = t->pulse.last - tsn_watch_beat(t, window);
  t->pulse.rate = taken > 0 ? (double)window / taken : NAN;
}

/* Beats of the busiest thread until a time that is not before this piece. */
static uint64_t beats_until(const tsanom_diagnosis_watch *w, const tsanom_hsa_run *news,
                            size_t busiest, double time) {
  uint64_t before = w->thread[busiest].before;
  if (busiest >= news->thread_count) return before;
  return before + tsn_diagnosis_beats_until(&news->threads[busiest], time);
}

/* All that is not after a time. */
static void add_until(tsanom_diagnosis_watch *w, const tsanom_hsa_run *news,
                      double time) {
  for (size_t t = 0; t < news->thread_count; t++) {
    const tsanom_hsa_series *s = &news->threads[t];
    tsn_watch_thread *to = &w->thread[t];
    const tsn_point_thread *point = &w->points.thread[t];
    while (point->left && *point->next <= time) {
      add_beat(w, t, tsn_points_pass(&w->points, t));
    }
    while (to->next_sample < s->vital_count && !(s->vital[to->next_sample].time > time)) {
      add_sample(&to->vital, &s->vital[to->next_sample++]);
    }
  }
  size_t busiest = tsn_watch_busiest(w);
  while (w->next_sample < news->vital_count &&
         !(news->vital[w->next_sample].time > time)) {
    tsanom_hsa_vital v = news->vital[w->next_sample++];
    v.beats = beats_until(w, news, busiest, v.time);
    add_sample(&w->vital, &v);
  }
}

void tsn_watch_feed(tsanom_diagnosis_watch *w, const tsanom_hsa_run *news) {
  uint64_t beats;
  double time;
  w->threads = w->points.threads = tsn_larger(w->threads, news->thread_count);
  w->next_sample = 0;
  for (size_t t = 0; t < w->threads; t++) {
    w->thread[t].before = w->thread[t].pulse.beats;
    w->thread[t].next_sample = 0;
    w->points.thread[t].left = 0;
    if (t >= news->thread_count) continue;
    w->points.thread[t].next = news->threads[t].time;
    w->points.thread[t].left = news->threads[t].beats;
  }
  while (w->threads == w->normal.thread_count &&
         tsn_points_find(&w->points, &beats, &time)) {
    add_until(w, news, time);
    tsn_watch_judge_point(w, news, time);
    tsn_points_set(&w->points, beats, time);
  }
  add_until(w, news, INFINITY);
  for (size_t t = 0; t < news->thread_count; t++) {
    tsn_watch_add_costs(&w->thread[t].cost, &news->threads[t]);
    if (news->threads[t].beats) set_rate(&w->thread[t]);
  }
  w->now = news->end > 0 ? news->end : fmax(w->now, w->last);
}
