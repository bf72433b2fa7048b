/* SPDX-License-Identifier: BSD-3-Clause */
/* Anomalies by cause, thread and sign. Each update notes what holds now: what was not noted
 * before begins, what is not noted any more has ended.
 *
 * What is found by a model is found at points of the data, and holds until the next point.
 * Hangs are found by the rule of watch_hang.c at each update, and end with a beat: that a
 * program paused before is no anomaly of a watch. That a program was killed is known without
 * a model. */
#include <math.h>
#include <string.h>

#include "diagnosis/watch.h"

/* ---- verdicts */

/* Verdicts of a watch at points of the data (point.c), by the same function as those about
 * a whole run: the pieces of a run are added until the time of a point, and judged, so that
 * a verdict does not depend on the updates. */

/* As that of a whole run, of what is kept. */
static tsanom_hsa_run run_of(tsanom_diagnosis_watch *w, const tsanom_hsa_run *news) {
  tsanom_hsa_run run = *news;
  for (size_t t = 0; t < w->threads; t++) {
    const tsn_watch_thread *of = &w->thread[t];
    w->series[t] = (tsanom_hsa_series){.time = of->mark,
                                       .beats = of->marks,
                                       .vital = of->vital.kept,
                                       .vital_count = of->vital.count};
  }
  run.threads = w->series;
  run.thread_count = w->threads;
  run.vital = w->vital.kept;
  run.vital_count = w->vital.count;
  return run;
}

static void set_gaps(tsanom_diagnosis_watch *w, const tsanom_hsa_run *run) {
  tsn_inquiry *l = &w->search.ledger;
  double end = tsn_run_end(run);
  double most = w->threads ? (double)w->thread[tsn_watch_busiest(w)].pulse.beats : 0;
  l->candidate_count = 0;
  l->first = w->first;
  for (size_t t = 0; t < w->threads; t++) {
    tsn_watch_thread *of = &w->thread[t];
    tsn_gap *to = l->candidates + l->candidate_count;
    size_t count = of->gaps;
    memcpy(to, of->gap, count * sizeof *to);
    double begin = of->pulse.last, beats = (double)of->pulse.beats;
    double stop = tsn_is_observed(run) ? end : tsn_stop(beats, most, begin, w->last);
    if (stop > begin)
      tsn_keep_gap(to, &count, (tsn_gap){stop - begin, begin, stop, t, beats});
    l->candidate_count += count;
  }
}

static void judge_run(tsanom_diagnosis_watch *w, const tsanom_hsa_run *run,
                      double chance) {
  tsn_search *q = &w->search;
  tsn_inquiry *l = &q->ledger;
  q->normal = &w->normal;
  q->run = run;
  q->signs = w->signs;
  q->scale = (double)w->stride;
  l->threads = w->threads;
  tsn_diagnosis_measure(run, w->signs);
  for (size_t t = 0; t < w->threads; t++) w->signs[t].beats = w->thread[t].pulse.beats;
  set_gaps(w, run);
  tsn_diagnosis_find(q, chance);
  memcpy(w->verdict, q->cause, q->count * sizeof *w->verdict);
  w->findings = q->count;
  w->chance = chance;
}

void tsn_watch_judge_point(tsanom_diagnosis_watch *w, const tsanom_hsa_run *news,
                           double time) {
  tsanom_hsa_run run = run_of(w, news);
  run.end = time;
  run.state = TSANOM_RUN_RUNNING;
  judge_run(w, &run, tsn_point_chance(&w->normal));
}

/* Whether a run without a point is comparable. Threads begin to beat one after the other. */
static void compare(tsanom_diagnosis_watch *w, const tsanom_hsa_run *news) {
  uint64_t beats = w->threads ? w->thread[tsn_watch_busiest(w)].pulse.beats : 0;
  if (w->threads < w->normal.thread_count && beats < TSN_DIAGNOSIS_FEW_BEATS) return;
  tsanom_hsa_run run = run_of(w, news);
  w->search.normal = &w->normal;
  w->search.run = &run;
  w->search.signs = w->signs;
  w->search.count = 0;
  (void)tsn_diagnosis_compare_conditions(&w->search);
  memcpy(w->verdict, w->search.cause, w->search.count * sizeof *w->verdict);
  w->findings = w->search.count;
}

/* ---- onset of a leak */

/* The onset of a leak: memory is constant, and grows from some sample k on.
 *
 *     y_i = a + b max(0, x_i - x_k)                          a ________/ b
 *                                                                     k
 * For each k, least squares in a and b explain the share S_uy^2 / (S_uu S_yy) of the
 * scatter of y, where u_i = max(0, x_i - x_k), and S are the sums of products about the
 * means. The k is chosen for which it is greatest, and b > 0.
 *
 * Programs allocate while they begin, so that the two lines fit only what is behind that:
 * the first samples are left out, until the lines explain enough. O(samples^2), once for
 * a leak: less than 0.1 ms. */

static const double enough = 0.95;

enum { FEWEST = 4 };

/* The share that growth from x on explains; `all`: the sums from the first sample on. */
static double explained(const tsn_watch_sums *all, const tsn_watch_sums *after,
                        double x) {
  double u = after->x - after->n * x;
  double uu = after->xx - 2 * x * after->x + after->n * x * x - u * u / all->n;
  double uy = after->xy - x * after->y - u * all->y / all->n;
  double yy = all->yy - all->y * all->y / all->n;
  return uu > 0 && uy > 0 && yy > 0 ? uy * uy / (uu * yy) : 0;
}

/* Sums from each sample on, about the latest one. Returns the number of samples that are
 * known, the indices of which are set. */
static size_t add_up(const tsn_watch_samples *s, uint16_t *index, tsn_watch_sums *from) {
  const tsanom_hsa_vital *origin = NULL;
  size_t first = TSANOM_DIAGNOSIS_WATCH_SAMPLES;
  tsn_watch_sums sum = {0, 0, 0, 0, 0, 0};
  for (size_t i = s->count; i-- > 0;) {
    const tsanom_hsa_vital *v = &s->kept[i];
    if (isnan(v->anonymous) || isnan(v->time)) continue;
    if (!origin) origin = v;
    double x = v->time - origin->time, y = v->anonymous - origin->anonymous;
    sum = (tsn_watch_sums){sum.n + 1,      sum.x + x,      sum.y + y,
                           sum.xx + x * x, sum.xy + x * y, sum.yy + y * y};
    from[--first] = sum;
    index[first] = (uint16_t)i;
  }
  return TSANOM_DIAGNOSIS_WATCH_SAMPLES - first;
}

static const tsanom_hsa_vital *find_leak_onset(const tsanom_diagnosis_watch *w) {
  const tsn_watch_samples *s = &w->vital;
  uint16_t index[TSANOM_DIAGNOSIS_WATCH_SAMPLES];
  size_t end = TSANOM_DIAGNOSIS_WATCH_SAMPLES;
  tsn_watch_sums *from = w->sums;
  size_t known = add_up(s, index, from);
  for (size_t first = end - known; first + FEWEST <= end; first++) {
    double best = 0;
    size_t found = first;
    for (size_t k = first; k < end; k++) {
      double x = s->kept[index[k]].time - s->kept[index[end - 1]].time;
      double share = explained(&from[first], &from[k], x);
      if (share <= best) continue;
      best = share;
      found = k;
    }
    if (best >= enough) return &s->kept[index[found]];
  }
  return NULL;
}

/* ---- anomalies */

/* The end of the list: it is not in it. */
static tsanom_diagnosis_anomaly *find(const tsanom_diagnosis_watch *w,
                                      const tsanom_diagnosis_finding *c) {
  tsanom_diagnosis_anomaly *a = w->anomaly, *end = w->anomaly + w->anomalies;
  while (a < end && (a->cause.cause != c->cause || a->cause.thread != c->thread ||
                     a->cause.sign != c->sign)) {
    a++;
  }
  return a;
}

/* The anomaly, found by an earlier update or added. */
static tsanom_diagnosis_anomaly *note(tsanom_diagnosis_watch *w,
                                      const tsanom_diagnosis_finding *c,
                                      double confidence) {
  tsanom_diagnosis_anomaly *a = find(w, c), *end = w->anomaly + w->anomalies;
  if (a == end) {
    w->anomalies++;
    *a = (tsanom_diagnosis_anomaly){
        .phase = TSANOM_DIAGNOSIS_ANOMALY_BEGAN,
        .onset = w->now,
        .iteration = w->thread[tsn_watch_busiest(w)].pulse.beats};
  } else if (a->phase == TSANOM_DIAGNOSIS_ANOMALY_RECOVERED) {
    a->phase = TSANOM_DIAGNOSIS_ANOMALY_LASTS;
  }
  a->cause = *c;
  a->confidence = confidence;
  return a;
}

void tsn_watch_find_silences(const tsanom_diagnosis_watch *w,
                             tsanom_diagnosis_finding *found, size_t *count) {
  size_t waiting = 0;
  for (size_t i = 0; i < w->threads; i++) {
    waiting += w->thread[i].pulse.status == TSANOM_HSA_WAITING;
  }
  for (size_t i = 0; i < w->threads; i++) {
    const tsn_watch_thread *t = &w->thread[i];
    bool hangs = t->pulse.status == TSANOM_HSA_HANG;
    if (!hangs && t->pulse.status != TSANOM_HSA_CONTENTION) continue;
    tsanom_diagnosis_finding *f = tsn_add_finding(
        found, count, t->pulse.status, (int32_t)i, TSANOM_DIAGNOSIS_DETAIL_NONE);
    f->sign = TSANOM_DIAGNOSIS_SIGN_GAP;
    f->value = w->now - t->since;
    f->limit = t->pulse.limit;
    f->begin = t->since;
    f->end = INFINITY;
    f->iteration = t->pulse.beats;
    if (hangs) f->threads = waiting;
    if (!hangs) f->ready_s = t->pulse.waited;
  }
}

static void note_silences(tsanom_diagnosis_watch *w) {
  tsanom_diagnosis_finding *found = w->search.cause;
  size_t count = 0;
  tsn_watch_find_silences(w, found, &count);
  for (size_t i = 0; i < count; i++) {
    const tsn_watch_thread *t = &w->thread[found[i].thread];
    tsanom_diagnosis_anomaly *a = note(w, &found[i], tsn_watch_hang_confidence(t));
    if (found[i].cause != TSANOM_HSA_HANG && a->phase != TSANOM_DIAGNOSIS_ANOMALY_BEGAN) {
      continue;
    }
    a->onset = t->since;
    a->iteration = t->pulse.beats;
  }
}

static void note_end(tsanom_diagnosis_watch *w, int32_t exit_code) {
  tsanom_diagnosis_finding c;
  size_t count = 0;
  tsn_add_finding(&c, &count, TSANOM_HSA_SHUTDOWN, TSANOM_HSA_PROCESS,
                  TSANOM_DIAGNOSIS_DETAIL_KILLED);
  c.exit_code = exit_code;
  if (w->threads) c.beats = w->thread[tsn_watch_busiest(w)].pulse.beats;
  if (w->normal.thread_count) c.normal_beats = w->normal.beats;
  (void)note(w, &c, 1);
}

/* Causes that this file judges itself, or that say nothing of a run that goes on. */
static bool is_skipped(const tsanom_diagnosis_finding *c) {
  return c->cause == TSANOM_HSA_HANG || c->cause == TSANOM_HSA_UNKNOWN ||
         (c->cause == TSANOM_HSA_SHUTDOWN && c->thread == TSANOM_HSA_PROCESS);
}

/* Where an anomaly that an update found first began. */
static void set_onset(const tsanom_diagnosis_watch *w, tsanom_diagnosis_anomaly *a) {
  if (a->phase != TSANOM_DIAGNOSIS_ANOMALY_BEGAN) return;
  if (isfinite(a->cause.begin)) {
    a->onset = a->cause.begin;
    a->iteration = a->cause.iteration;
  } else if (a->cause.cause == TSANOM_HSA_MEMORY_LEAK) {
    const tsanom_hsa_vital *onset = find_leak_onset(w);
    if (!onset) return;
    a->onset = onset->time;
    a->iteration = onset->beats;
  }
}

/* The limit of a range that is learned from n normal runs is above all of them. */
static double confidence_of(const tsanom_diagnosis_watch *w,
                            const tsanom_diagnosis_finding *c) {
  double n = (double)w->normal.run_count;
  if (isnan(c->limit)) return 1;
  bool is_range =
      c->sign < TSANOM_DIAGNOSIS_SIGN_SLOWDOWN || c->sign == TSANOM_DIAGNOSIS_SIGN_EARLY;
  if (is_range) return n / (n + 1);
  return 1 - w->chance;
}

static void note_findings(tsanom_diagnosis_watch *w) {
  for (size_t i = 0; i < w->findings; i++) {
    const tsanom_diagnosis_finding *c = &w->verdict[i];
    if (!is_skipped(c)) set_onset(w, note(w, c, confidence_of(w, c)));
  }
}

/* The end of the last update, and the beginning of this one. */
static void begin(tsanom_diagnosis_watch *w) {
  size_t kept = 0;
  for (size_t i = 0; i < w->anomalies; i++) {
    if (w->anomaly[i].phase == TSANOM_DIAGNOSIS_ANOMALY_RECOVERED) continue;
    tsanom_diagnosis_anomaly *a = &w->anomaly[kept++];
    *a = w->anomaly[i];
    a->phase = TSANOM_DIAGNOSIS_ANOMALY_RECOVERED;
    if (a->cause.cause == TSANOM_HSA_WAITING)
      a->cause.cause = TSANOM_HSA_HANG; /* job.c */
  }
  w->anomalies = kept;
}

/* Hangs stay as they were when the program ended. */
void tsn_watch_judge(tsanom_diagnosis_watch *w, const tsanom_hsa_run *news) {
  bool running = news->state == TSANOM_RUN_RUNNING || news->state == TSANOM_RUN_UNKNOWN;
  begin(w);
  tsn_watch_find_hangs(w, news, running && news->end > 0);
  note_silences(w);
  if (news->state == TSANOM_RUN_KILLED) note_end(w, news->exit_code);
  if (!w->normal.thread_count) return;
  if (!running) {
    tsanom_hsa_run run = run_of(w, news);
    judge_run(w, &run, TSN_CHANCE);
  } else if (!isfinite(w->points.time)) {
    compare(w, news);
  }
  note_findings(w);
}
