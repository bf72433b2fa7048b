/* SPDX-License-Identifier: BSD-3-Clause */
/* Anomalies by cause, thread and sign. Each update notes what holds now: what was not noted
 * before begins, what is not noted any more has ended.
 *
 * What is found by a model is found at points of the data, and holds until the next point.
 * Hangs are found by the rule of watch_hang.c at each update, and end with a beat: that a
 * program paused before is no anomaly of a watch. That a program was killed is known without
 * a model. */
#include <math.h>

#include "diagnosis/watch.h"

/* The end of the list: it is not in it. */
static tsanom_hsa_anomaly *find(const tsanom_hsa_watch *w, const tsanom_finding *c) {
  tsanom_hsa_anomaly *a = w->anomaly, *end = w->anomaly + w->anomalies;
  while (a < end && (a->cause.cause != c->cause || a->cause.thread != c->thread ||
                     a->cause.sign != c->sign)) {
    a++;
  }
  return a;
}

/* The anomaly, found by an earlier update or added. */
static tsanom_hsa_anomaly *note(tsanom_hsa_watch *w, const tsanom_finding *c,
                                double confidence) {
  tsanom_hsa_anomaly *a = find(w, c), *end = w->anomaly + w->anomalies;
  if (a == end) {
    w->anomalies++;
    *a = (tsanom_hsa_anomaly){.phase = TSANOM_HSA_ANOMALY_BEGAN,
                              .onset = w->now,
                              .iteration = w->thread[tsn_watch_busiest(w)].pulse.beats};
  } else if (a->phase == TSANOM_HSA_ANOMALY_RECOVERED) {
    a->phase = TSANOM_HSA_ANOMALY_LASTS;
  }
  a->cause = *c;
  a->confidence = confidence;
  return a;
}

/* A hang, or a silence that a missing processor explains. */
static void note_silence(tsanom_hsa_watch *w, size_t thread, size_t waiting) {
  const tsn_watch_thread *t = &w->thread[thread];
  bool hangs = t->pulse.status == TSANOM_HSA_HANG;
  tsanom_finding c;
  size_t count = 0;
  tsn_add_finding(&c, &count, t->pulse.status, (int32_t)thread, TSANOM_HSA_DETAIL_NONE);
  c.sign = TSANOM_HSA_SIGN_GAP;
  c.value = w->now - t->since;
  c.limit = t->pulse.limit;
  c.begin = t->since;
  c.end = INFINITY;
  c.iteration = t->pulse.beats;
  if (hangs) c.threads = waiting;
  if (!hangs) c.ready_s = t->pulse.waited;
  tsanom_hsa_anomaly *a = note(w, &c, tsn_watch_hang_confidence(t));
  if (!hangs && a->phase != TSANOM_HSA_ANOMALY_BEGAN) return;
  a->onset = t->since;
  a->iteration = t->pulse.beats;
}

static void note_silences(tsanom_hsa_watch *w) {
  size_t waiting = 0;
  for (size_t i = 0; i < w->threads; i++) {
    waiting += w->thread[i].pulse.status == TSANOM_HSA_WAITING;
  }
  for (size_t i = 0; i < w->threads; i++) {
    int32_t status = w->thread[i].pulse.status;
    if (status == TSANOM_HSA_HANG || status == TSANOM_HSA_CONTENTION) {
      note_silence(w, i, waiting);
    }
  }
}

static void note_end(tsanom_hsa_watch *w, int32_t exit_code) {
  tsanom_finding c;
  size_t count = 0;
  tsn_add_finding(&c, &count, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_PROCESS,
                  TSANOM_HSA_DETAIL_KILLED);
  c.exit_code = exit_code;
  if (w->threads) c.beats = w->thread[tsn_watch_busiest(w)].pulse.beats;
  if (w->normal.thread_count) c.normal_beats = w->normal.beats;
  (void)note(w, &c, 1);
}

/* Causes that this file judges itself, or that say nothing of a run that goes on. */
static bool is_skipped(const tsanom_finding *c) {
  return c->cause == TSANOM_HSA_HANG || c->cause == TSANOM_HSA_UNKNOWN ||
         (c->cause == TSANOM_HSA_SHUTDOWN && c->thread == TSANOM_HSA_PROCESS);
}

/* Where an anomaly that an update found first began. */
static void set_onset(const tsanom_hsa_watch *w, tsanom_hsa_anomaly *a) {
  if (a->phase != TSANOM_HSA_ANOMALY_BEGAN) return;
  if (isfinite(a->cause.begin)) {
    a->onset = a->cause.begin;
    a->iteration = a->cause.iteration;
  } else if (a->cause.cause == TSANOM_HSA_MEMORY_LEAK) {
    const tsanom_hsa_vital *onset = tsn_watch_leak_onset(w);
    if (!onset) return;
    a->onset = onset->time;
    a->iteration = onset->beats;
  }
}

/* The limit of a range that is learned from n normal runs is above all of them. */
static double confidence_of(const tsanom_hsa_watch *w, const tsanom_finding *c) {
  double n = (double)w->normal.run_count;
  if (isnan(c->limit)) return 1;
  bool is_range = c->sign < TSANOM_HSA_SIGN_SLOWDOWN || c->sign == TSANOM_HSA_SIGN_EARLY;
  if (is_range) return n / (n + 1);
  return 1 - w->chance;
}

static void note_findings(tsanom_hsa_watch *w) {
  for (size_t i = 0; i < w->findings; i++) {
    const tsanom_finding *c = &w->verdict[i];
    if (!is_skipped(c)) set_onset(w, note(w, c, confidence_of(w, c)));
  }
}

/* The end of the last update, and the beginning of this one. */
static void begin(tsanom_hsa_watch *w) {
  size_t kept = 0;
  for (size_t i = 0; i < w->anomalies; i++) {
    if (w->anomaly[i].phase == TSANOM_HSA_ANOMALY_RECOVERED) continue;
    tsanom_hsa_anomaly *a = &w->anomaly[kept++];
    *a = w->anomaly[i];
    a->phase = TSANOM_HSA_ANOMALY_RECOVERED;
    if (a->cause.cause == TSANOM_HSA_WAITING)
      a->cause.cause = TSANOM_HSA_HANG; /* job.c */
  }
  w->anomalies = kept;
}

/* Hangs stay as they were when the program ended. */
void tsn_watch_judge(tsanom_hsa_watch *w, const tsanom_hsa_run *news) {
  bool running =
      news->state == TSANOM_HSA_STATE_RUNNING || news->state == TSANOM_HSA_STATE_UNKNOWN;
  begin(w);
  tsn_watch_find_hangs(w, news, running && news->end > 0);
  note_silences(w);
  if (news->state == TSANOM_HSA_STATE_KILLED) note_end(w, news->exit_code);
  if (!w->normal.thread_count) return;
  if (!running) {
    tsn_watch_judge_end(w, news);
  } else if (!isfinite(w->points.time)) {
    tsn_watch_compare(w, news);
  }
  note_findings(w);
}
