/* SPDX-License-Identifier: BSD-3-Clause */
/* Anomalies by cause and thread. Each look notes what holds now: what was not noted
 * before begins, what is not noted any more has ended.
 *
 * The rule for hangs of hang.c replaces that of the model, which knows a run only as a
 * whole, and a run that was killed is seen here with and without a model. The model takes
 * O(beats) for a verdict, so that it judges at most a twentieth of the time, and at the
 * end. */
#include "onset.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "diagnosis.h"
#include "reserve.h"
#include "rows.h"

enum { MODEL_REST = 19 }; /* times as long as a verdict took */

static double clock_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int is_alarm(const anomaly *a) {
  return a->cause != TSANOM_HSA_CONTENTION && a->cause != TSANOM_HSA_WAITING &&
         a->cause != TSANOM_HSA_UNKNOWN && a->cause != TSANOM_HSA_NOT_COMPARABLE;
}

/* The anomaly, found at an earlier look or added; NULL: no memory. */
static anomaly *note(onsets *o, const watched *w, int32_t cause, int32_t thread) {
  for (size_t i = 0; i < o->count; i++) {
    anomaly *a = &o->found[i];
    if (a->cause != cause || a->thread != thread) continue;
    if (a->phase == ANOMALY_ENDED) a->phase = ANOMALY_GOES_ON;
    return a;
  }
  if (reserve(&o->found, &o->capacity, o->count + 1, sizeof *o->found)) return NULL;
  anomaly *a = &o->found[o->count++];
  *a = (anomaly){.cause = cause,
                 .thread = thread,
                 .phase = ANOMALY_NEW,
                 .onset = w->now,
                 .iteration = watched_iteration(w),
                 .strength = INFINITY};
  return a;
}

static int note_hangs(onsets *o, const watched *w) {
  size_t waiting = 0;
  for (size_t t = 0; t < w->threads; t++) {
    waiting += w->silence[t].status == TSANOM_HSA_WAITING;
  }
  for (size_t t = 0; t < w->threads; t++) {
    const hang_thread *s = &w->silence[t];
    char others[64] = "";
    if (s->status != TSANOM_HSA_HANG) continue;
    anomaly *a = note(o, w, TSANOM_HSA_HANG, (int32_t)t);
    if (!a) return -1;
    if (w->state != TSANOM_HSA_STATE_RUNNING) continue;
    if (waiting) {
      (void)snprintf(others, sizeof others, "; %zu other thread%s for it", waiting,
                     waiting == 1 ? " waits" : "s wait");
    }
    a->onset = s->since;
    a->iteration = w->thread[t].beats;
    a->strength = (w->now - s->since) / s->limit;
    (void)snprintf(a->evidence, sizeof a->evidence, "no beat for %.3g s, limit %.3g s%s",
                   w->now - s->since, s->limit, others);
  }
  return 0;
}

static int note_end(onsets *o, const watched *w) {
  if (w->state != TSANOM_HSA_STATE_KILLED) return 0;
  anomaly *a = note(o, w, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_PROCESS);
  if (!a) return -1;
  (void)snprintf(a->evidence, sizeof a->evidence,
                 "the program ended without ending the recording: it was killed");
  return 0;
}

/* Causes that this file judges itself, or that say nothing of a run that goes on. */
static int is_skipped(const tsanom_hsa_cause *c) {
  return c->cause == TSANOM_HSA_HANG || c->cause == TSANOM_HSA_UNKNOWN ||
         (c->cause == TSANOM_HSA_SHUTDOWN && c->thread == TSANOM_HSA_PROCESS);
}

static int note_causes(onsets *o, const watched *w, failure *why) {
  diagnosis d = {.path = w->path};
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  double begin = clock_now();
  int failed = diagnosis_causes(o->model, &w->run, &exec, &d, why);
  for (size_t i = 0; !failed && i < d.causes; i++) {
    const tsanom_hsa_cause *c = &d.cause[i];
    if (is_skipped(c)) continue;
    anomaly *a = note(o, w, c->cause, c->thread);
    if (!a) {
      failed = fail(why, "%s: out of memory", file_title(w->path));
      break;
    }
    a->by_model = 1;
    a->strength = c->strength;
    tsanom_hsa_cause_text(c, a->evidence, sizeof a->evidence, NULL);
  }
  diagnosis_free(&d);
  double end = clock_now();
  o->next = end + MODEL_REST * (end - begin);
  return failed;
}

/* The end of the last look, and the beginning of this one. Without a verdict of the model
 * at this look, its last one stays. */
static void begin_look(onsets *o, int judges) {
  size_t kept = 0;
  for (size_t i = 0; i < o->count; i++) {
    if (o->found[i].phase == ANOMALY_ENDED) continue;
    o->found[kept] = o->found[i];
    o->found[kept++].phase =
        o->found[i].by_model && !judges ? ANOMALY_GOES_ON : ANOMALY_ENDED;
  }
  o->count = kept;
}

int onsets_update(onsets *o, const watched *w, failure *why) {
  int judges = o->model && w->threads > 0 &&
               (w->state != TSANOM_HSA_STATE_RUNNING || clock_now() >= o->next);
  begin_look(o, judges);
  if (note_hangs(o, w) || note_end(o, w)) {
    return fail(why, "%s: out of memory", file_title(w->path));
  }
  return judges ? note_causes(o, w, why) : 0;
}

void onsets_free(onsets *o) {
  free(o->found);
  *o = (onsets){0};
}
