/* SPDX-License-Identifier: BSD-3-Clause */
/* Anomalies by cause and thread. Each update notes what holds now: what was not noted
 * before begins, what is not noted any more has ended.
 *
 * A sign near the end of its range is above it at one update and below it at the next.
 * While the program runs, an anomaly by ranges ends with the update by which
 * TSANOM_HSA_WATCH_RECOVERY in a row did not note it:
 *
 *     noted      1 0 1 1 0 0 1 0 0 0 0 0 0 0 0
 *     anomaly    |---------------------------|
 *
 * A hang ends with a beat, which is a fact.
 *
 * What a thread needs for a beat scatters, most of all while few samples are known. A
 * slowdown or an imbalance begins with the update by which as many in a row noted it, if
 * an eighth more beats were made meanwhile; its onset is the first of these updates.
 *
 * The rule for hangs of watch_hang.c replaces that of the normal ranges, which knows a
 * run only as a whole, and that a program was killed is known without ranges. */
#include <math.h>

#include "diagnosis/watch.h"

/* The end of the list: it is not in it. */
static tsanom_hsa_anomaly *find(const tsanom_hsa_watch *w, const tsanom_hsa_cause *c) {
  tsanom_hsa_anomaly *a = w->anomaly, *end = w->anomaly + w->anomalies;
  while (a < end && (a->cause.cause != c->cause || a->cause.thread != c->thread)) a++;
  return a;
}

/* The anomaly, found by an earlier update or added. */
static tsanom_hsa_anomaly *note(tsanom_hsa_watch *w, const tsanom_hsa_cause *c,
                                double confidence) {
  tsanom_hsa_anomaly *a = find(w, c), *end = w->anomaly + w->anomalies;
  w->missed[a - w->anomaly] = 0;
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
  tsanom_hsa_cause c = {
      .cause = t->pulse.status,
      .thread = (int32_t)thread,
      .sign = TSANOM_HSA_SIGN_SILENCE,
      .value = w->now - t->since,
      .range = {0, t->pulse.limit},
      .strength = (w->now - t->since) / t->pulse.limit,
      .number = {hangs ? t->since : t->pulse.waited, hangs ? INFINITY : NAN},
      .waiting = hangs ? waiting : 0};
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
  tsanom_hsa_cause c = {.cause = TSANOM_HSA_SHUTDOWN,
                        .thread = TSANOM_HSA_PROCESS,
                        .sign = -1,
                        .detail = TSANOM_HSA_DETAIL_KILLED,
                        .value = NAN,
                        .range = {-INFINITY, INFINITY},
                        .strength = INFINITY,
                        .number = {NAN, NAN}};
  if (exit_code) c.number[0] = exit_code;
  if (w->threads) c.value = (double)w->thread[tsn_watch_busiest(w)].pulse.beats;
  if (w->normal.thread_count) c.range.high = (double)w->normal.beats;
  (void)note(w, &c, 1);
}

/* Causes that this file judges itself, or that say nothing of a run that goes on: what a
 * slow thread waits for is known when there are samples of it, too. */
static bool is_skipped(const tsanom_hsa_watch *w, const tsanom_hsa_cause *c,
                       bool running) {
  if (c->cause == TSANOM_HSA_SLOWDOWN && c->detail == TSANOM_HSA_DETAIL_NO_CPU &&
      running && w->vital.seen) {
    return true;
  }
  return c->cause == TSANOM_HSA_HANG || c->cause == TSANOM_HSA_UNKNOWN ||
         (c->cause == TSANOM_HSA_SHUTDOWN && c->thread == TSANOM_HSA_PROCESS);
}

/* Threads begin to beat one after the other. */
static bool has_begun(const tsanom_hsa_watch *w) {
  uint64_t beats = w->threads ? w->thread[tsn_watch_busiest(w)].pulse.beats : 0;
  return w->threads >= w->normal.thread_count || beats >= TSN_HSA_FEW_BEATS;
}

static bool is_known(const tsanom_hsa_watch *w, const tsanom_hsa_cause *c) {
  return find(w, c) < w->anomaly + w->anomalies;
}

/* Those of a slowdown or an imbalance of a thread, with this update; NULL: the cause
 * begins at once. */
static const tsn_watch_streak *extend_streak(tsanom_hsa_watch *w,
                                             const tsanom_hsa_cause *c) {
  bool slower = c->cause == TSANOM_HSA_SLOWDOWN;
  if (!slower && c->cause != TSANOM_HSA_IMBALANCE) return NULL;
  tsn_watch_streak *s =
      &w->thread[c->thread].streak[slower ? TSN_WATCH_SLOWDOWNS : TSN_WATCH_IMBALANCES];
  if (!s->found || s->latest + 1 != w->updates) {
    *s = (tsn_watch_streak){.beats = w->thread[tsn_watch_busiest(w)].pulse.beats,
                            .time = w->now};
  }
  s->latest = w->updates;
  s->found++;
  return s;
}

static bool is_long(const tsanom_hsa_watch *w, const tsn_watch_streak *s) {
  uint64_t beats = w->thread[tsn_watch_busiest(w)].pulse.beats;
  return s->found >= TSANOM_HSA_WATCH_RECOVERY && beats - s->beats >= s->beats / 8;
}

/* Where an anomaly that an update found first began. */
static void set_onset(const tsanom_hsa_watch *w, const tsn_watch_streak *streak,
                      tsanom_hsa_anomaly *a) {
  if (a->phase != TSANOM_HSA_ANOMALY_BEGAN) return;
  if (streak) {
    a->onset = streak->time;
    a->iteration = streak->beats;
  } else if (a->cause.cause == TSANOM_HSA_MEMORY_LEAK) {
    const tsanom_hsa_vital *onset = tsn_watch_leak_onset(&w->vital);
    if (!onset) return;
    a->onset = onset->time;
    a->iteration = onset->beats;
  }
}

/* The limit of a range that is learned from n normal runs is above all of them. */
static void note_causes(tsanom_hsa_watch *w, const tsanom_hsa_run *news, bool running) {
  tsanom_hsa_run run = tsn_watch_measure(w, news);
  size_t causes = tsn_hsa_judge(&w->normal, &run, w->signs, w->cause);
  for (size_t i = 0; i < causes; i++) {
    const tsanom_hsa_cause *c = &w->cause[i];
    if (is_skipped(w, c, running)) continue;
    const tsn_watch_streak *streak = extend_streak(w, c);
    if (streak && running && !is_long(w, streak) && !is_known(w, c)) continue;
    double n = (double)w->normal.run_count;
    set_onset(w, streak, note(w, c, isinf(c->strength) ? 1 : n / (n + 1)));
  }
}

/* The end of the last update, and the beginning of this one. */
static void begin(tsanom_hsa_watch *w) {
  size_t kept = 0;
  for (size_t i = 0; i < w->anomalies; i++) {
    if (w->anomaly[i].phase == TSANOM_HSA_ANOMALY_RECOVERED) continue;
    w->missed[kept] = w->missed[i] + 1;
    w->anomaly[kept] = w->anomaly[i];
    w->anomaly[kept++].phase = TSANOM_HSA_ANOMALY_RECOVERED;
  }
  w->anomalies = kept;
}

static void hold(tsanom_hsa_watch *w) {
  for (size_t i = 0; i < w->anomalies; i++) {
    tsanom_hsa_anomaly *a = &w->anomaly[i];
    if (a->phase == TSANOM_HSA_ANOMALY_RECOVERED && a->cause.cause != TSANOM_HSA_HANG &&
        w->missed[i] < TSANOM_HSA_WATCH_RECOVERY) {
      a->phase = TSANOM_HSA_ANOMALY_LASTS;
    }
  }
}

/* Hangs stay as they were when the program ended. */
void tsn_watch_judge(tsanom_hsa_watch *w, const tsanom_hsa_run *news) {
  bool running =
      news->state == TSANOM_HSA_STATE_RUNNING || news->state == TSANOM_HSA_STATE_UNKNOWN;
  w->updates++;
  begin(w);
  tsn_watch_find_hangs(w, news, running && news->end > 0);
  note_silences(w);
  if (news->state == TSANOM_HSA_STATE_KILLED) note_end(w, news->exit_code);
  if (w->normal.thread_count && (has_begun(w) || !running)) note_causes(w, news, running);
  if (running) hold(w);
}
