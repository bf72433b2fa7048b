/* SPDX-License-Identifier: BSD-3-Clause */
/* Silences of a running program. tsn_find_owners() has the rule for which of them hang.
 *
 * The limit follows from the run's own intervals, so that a time-out need not be guessed.
 * A quantile ignores rare long iterations, such as a checkpoint; the factor 3 and the
 * least limit of 1 s are margins for those of a busy machine.
 *
 * Time without a processor is no silence: neither that of the thread itself, nor that of
 * one that it may wait for, which did not beat more often:
 *
 *     thread 0  ──x──x──x──|             blocked: it waits for thread 1
 *     thread 1  ──x──x──x. . . . . .     has no processor; both are normal
 *
 * An endless loop that has a share of a processor is found when its processor time
 * exceeds the limit, or, beyond the limit, three times that of any iteration so far and a
 * quarter of the limit: then no missing processor explains the silence. The quarter is
 * the margin for an iteration that is longer than all before, beside other programs.
 * Threads may also compute while they wait (OMP_WAIT_POLICY=active); so this holds only
 * if each thread that it may wait for does the same, or sleeps until another wakes it. */
#include <math.h>

#include "core/sort.h"
#include "diagnosis/watch.h"

/* ---- waiting for a processor */

/* For how long a silent thread was ready to run without a processor, by its samples.
 *
 * The kernel adds this time to wait_s when the thread gets a processor, not before:
 *
 *     thread     runs |------ ready, without a processor ------| runs
 *     state       R          R            R            R           R
 *     cpu_s       0.3        0.3          0.3          0.3         0.35
 *     wait_s      0          0            0            0           1.2
 *
 * Between two samples in which it is ready (R), the time that is no processor time was
 * waiting time; what wait_s adds later of the same time does not count again. Between
 * other samples, wait_s counts.
 *
 * A sampler that gets no processor either takes no samples. So a thread that was ready in
 * the latest one is taken to go on as before it, but no longer than its limit: a program
 * that is stopped may have stopped its sampler, too. */

static bool is_ready(const tsanom_hsa_vital *v) {
  return v->state == 'R';
}

static void add_wait(tsn_watch_wait *wait, const tsanom_hsa_vital *v, double since) {
  const tsanom_hsa_vital *before = &wait->latest;
  double cpu = v->cpu_s - before->cpu_s, silent = v->time - fmax(before->time, since);
  double dispatched = fmax(0, v->wait_s - before->wait_s); /* 0: not known */
  double waited = fmax(0, dispatched - wait->queued);
  if (is_ready(before) && is_ready(v)) {
    waited = fmax(0, v->time - before->time - cpu);
    wait->queued = fmax(0, wait->queued + waited - dispatched);
  } else {
    wait->queued = 0;
  }
  if (!(v->time > since)) return;
  wait->seconds = fmin(wait->seconds + waited, v->time - since);
  wait->share = is_ready(v) && silent > 0 ? fmax(0, 1 - cpu / silent) : 0;
  wait->cpu += fmax(0, cpu - fmax(0, since - before->time));
}

/* Add the samples of a piece; the silence began at `since`. */
static void watch_add_waits(tsn_watch_wait *wait, const tsanom_hsa_series *news,
                            double since) {
  for (size_t i = 0; i < news->vital_count; i++) {
    const tsanom_hsa_vital *v = &news->vital[i];
    if (isnan(v->time) || isnan(v->cpu_s)) continue;
    if (v->task == wait->latest.task) {
      add_wait(wait, v, since);
    } else {
      *wait = (tsn_watch_wait){.seconds = wait->seconds};
    }
    wait->latest = *v;
  }
}

/* Seconds of the silence until now; `limit`: most seconds after the latest sample. */
static double watch_waited(const tsn_watch_wait *wait, double now, double limit) {
  return wait->seconds + wait->share * fmin(limit, fmax(0, now - wait->latest.time));
}

/* ---- processor time of an iteration */

/* The most processor time that an iteration of a thread has taken, by its samples. Two
 * bounds hold for an iteration that ends in a window of samples with beats:
 *
 *     beats      x     x      x               x       x
 *     samples  u         v                u'      v'       cpu_s
 *              |-- W ----|------- W' --------------|        W, W': processor time
 *                             |--- d ---------|             d: its duration
 *
 * it took at most its duration, and at most what the thread used in its window and in the
 * one before, in which it began. A window without beats is a part of the next one. */

void tsn_watch_add_iteration(tsn_watch_cost *cost, double duration) {
  cost->longest = fmax(cost->longest, duration);
  cost->ended++;
}

/* An iteration that began before the first sample is not bounded. */
static void close_window(tsn_watch_cost *cost) {
  if (isfinite(cost->before)) {
    cost->most = fmax(cost->most, fmin(cost->before + cost->used, cost->longest));
    cost->iterations += cost->ended;
  }
  cost->before = cost->used;
  cost->used = cost->longest = 0;
  cost->ended = 0;
}

void tsn_watch_add_cost(tsn_watch_cost *cost, const tsanom_hsa_vital *v) {
  if (isnan(v->time) || isnan(v->cpu_s)) return;
  if (v->task == cost->task) {
    cost->used += fmax(0, v->cpu_s - cost->cpu_s);
    if (cost->ended) close_window(cost);
  } else {
    *cost = (tsn_watch_cost){
        .most = cost->most, .iterations = cost->iterations, .before = INFINITY};
  }
  cost->task = v->task;
  cost->cpu_s = v->cpu_s;
}

static const double limit_least = 1, limit_factor = 3, quantile = 0.99, same_time = 0.5;
static const double least_cost = 0.25; /* of the limit */

/* The limit is learned again when this part of the intervals is new: with 64 threads and
 * 4 updates per second, sorting them at each update took more than half of the time. */
enum { LEARN_PART = 8 };

/* On a busy machine the usual interval is longer than the one in which a thread hung, but
 * few are shorter than the twentieth part of all. */
enum { SHORT_PART = 20 };

static size_t intervals_of(const tsn_watch_thread *t) {
  uint64_t count = t->pulse.beats ? t->pulse.beats - 1 : 0;
  return (size_t)(count < TSANOM_DIAGNOSIS_WATCH_INTERVALS
                      ? count
                      : TSANOM_DIAGNOSIS_WATCH_INTERVALS);
}

static double interval_of(const tsn_watch_thread *t, size_t back) {
  return tsn_watch_beat(t, back) - tsn_watch_beat(t, back + 1);
}

static void learn_limit(const tsanom_diagnosis_watch *w, tsn_watch_thread *t) {
  size_t count = intervals_of(t);
  double fixed = w->options.hang;
  if (t->pulse.beats == t->learned ||
      t->pulse.beats - t->learned < (count + 1) / LEARN_PART) {
    return;
  }
  t->learned = t->pulse.beats;
  if (fixed > 0) t->limit = fixed;
  if (!count) return;
  for (size_t i = 0; i < count; i++) w->scratch[i] = interval_of(t, i);
  tsn_select(w->scratch, count, count / SHORT_PART);
  t->pulse.shortest = w->scratch[count / SHORT_PART];
  if (fixed > 0 || count < TSANOM_DIAGNOSIS_WATCH_FEW_INTERVALS) return;
  size_t rank = (size_t)ceil(quantile * (double)count) - 1;
  tsn_select(w->scratch, count, rank);
  t->limit = fmax(limit_factor * w->scratch[rank], limit_least);
}

/* What normal runs have may take twice as long. */
static void set_limit(const tsanom_diagnosis_watch *w, tsn_watch_thread *t) {
  const tsn_model *m = &w->search.model;
  bool pauses = tsn_pauses_at(&m->pauses, (double)t->pulse.beats);
  double longest = pauses ? m->pauses.longest : m->longest_gap;
  learn_limit(w, t);
  t->pulse.limit = w->options.hang > 0 ? t->limit : fmax(t->limit, 2 * longest);
}

/* Add the samples of the silence that ends, and those of the one that begins. */
static void set_silence(tsn_watch_thread *t, const tsanom_hsa_series *news,
                        double since) {
  tsn_watch_wait before = t->wait;
  watch_add_waits(&t->wait, news, t->since);
  if (since == t->since) return;
  if (t->wait.seconds > t->pulse.limit / 2) t->woke = since;
  t->since = since;
  t->wait = before;
  t->wait.seconds = t->wait.share = t->wait.cpu = 0;
  t->computes = false;
  watch_add_waits(&t->wait, news, since);
}

/* After a hang, the threads that waited need time to beat again: their silence begins
 * when the thread that hung resumed. */
static void update_silence(tsanom_diagnosis_watch *w, const tsanom_hsa_run *news) {
  static const tsanom_hsa_series nothing = {.beats = 0};
  double resumed = 0;
  for (size_t i = 0; i < w->threads; i++) {
    tsn_watch_thread *t = &w->thread[i];
    if (t->pulse.status == TSANOM_HSA_HANG && t->pulse.last > t->since) {
      t->resumed = t->pulse.last;
      t->pulse.status = TSANOM_HSA_NORMAL;
    }
    resumed = fmax(resumed, t->resumed);
  }
  for (size_t i = 0; i < w->threads; i++) {
    tsn_watch_thread *t = &w->thread[i];
    if (!t->pulse.beats) continue;
    double since = fmax(t->pulse.last, resumed);
    if (t->pulse.status == TSANOM_HSA_HANG) since = t->since;
    set_silence(t, i < news->thread_count ? &news->threads[i] : &nothing, since);
    set_limit(w, t);
    t->pulse.waited = watch_waited(&t->wait, w->now, t->pulse.limit);
  }
}

/* Seconds of the silence in which a thread, or one that it may wait for, had no
 * processor; what that one waited before does not count. A thread behind a barrier is at
 * most one beat ahead of those that wait there: when it has a processor again, they need
 * time to beat. */
static double excused(const tsanom_diagnosis_watch *w, const tsn_watch_thread *t) {
  double most = t->pulse.waited, woke = t->since;
  for (size_t i = 0; i < w->threads; i++) {
    const tsn_watch_thread *other = &w->thread[i];
    uint64_t beats = other->pulse.beats;
    if (!beats || beats > t->pulse.beats + 1) continue;
    woke = fmax(woke, other->woke);
    if (beats > t->pulse.beats) continue;
    most = fmax(most, other->pulse.waited - fmax(0, t->since - other->since));
  }
  return most + (woke - t->since);
}

/* By a sample in its silence. */
static int waits_for(const tsn_watch_thread *t) {
  const tsanom_hsa_vital *v = &t->wait.latest;
  if (!(v->time > t->since)) return TSN_ALONE;
  if (v->waits == TSANOM_HSA_WAITS_TEAM) return TSN_FOR_TEAM;
  return v->waits == TSANOM_HSA_WAITS_THREAD ? TSN_FOR_THREAD : TSN_ALONE;
}

static bool costs_more(const tsn_watch_thread *t) {
  return t->cost.iterations >= TSANOM_DIAGNOSIS_WATCH_FEW_INTERVALS &&
         t->wait.cpu > fmax(limit_factor * t->cost.most, least_cost * t->pulse.limit);
}

/* Whether a thread computes for longer than any iteration did, and waits for none that
 * may need a processor. */
static bool computes(const tsanom_diagnosis_watch *w, const tsn_watch_thread *t) {
  if (!costs_more(t) || t->wait.latest.state != 'R' || waits_for(t)) return false;
  for (size_t i = 0; i < w->threads; i++) {
    const tsn_watch_thread *other = &w->thread[i];
    uint64_t beats = other->pulse.beats;
    if (!beats || beats > t->pulse.beats || waits_for(other)) continue;
    if (!costs_more(other)) return false;
  }
  return true;
}

static void measure_silence(tsanom_diagnosis_watch *w) {
  for (size_t i = 0; i < w->threads; i++) {
    tsn_watch_thread *t = &w->thread[i];
    t->silence = w->now - t->since;
    if (!(t->silence > t->pulse.limit) || w->options.hang > 0) continue;
    if (!t->computes) t->computes = computes(w, t);
    if (!t->computes) t->silence -= excused(w, t);
  }
}

/* The silence of a thread that waits began later, and may be below its limit when that of
 * the one that hangs has reached it: beyond half of the limit it is no usual interval. */
static int32_t status_of(const tsn_watch_thread *t, const tsn_silence *s, double now,
                         bool any) {
  double time = now - t->since, limit = t->pulse.limit;
  if (s->is_owner) return TSANOM_HSA_HANG;
  double ready = t->pulse.waited, own = time - ready;
  if (time > limit && own <= limit && ready > limit / 2) return TSANOM_HSA_CONTENTION;
  return own > (any ? limit / 2 : limit) ? TSANOM_HSA_WAITING : TSANOM_HSA_NORMAL;
}

/* One that runs may wait at a barrier in a loop, unless its recorder knows that it does not;
 * what a sleeping one waits for may not be known. */
static bool is_known(const tsn_watch_thread *t) {
  const tsanom_hsa_vital *v = &t->wait.latest;
  if (!(v->time > t->since)) return false;
  if (v->state == 'R') return !isnan(v->spun_s);
  return v->state != 'S' || v->waits != TSANOM_HSA_WAITS_UNKNOWN;
}

static void judge(tsanom_diagnosis_watch *w) {
  tsn_silence *s = w->search.silence;
  bool any = false;
  for (size_t i = 0; i < w->threads; i++) {
    const tsn_watch_thread *t = &w->thread[i];
    s[i] = (tsn_silence){
        .since = t->since,
        .beats = (double)t->pulse.beats,
        .same_time = same_time * t->pulse.shortest,
        .waits = waits_for(t),
        .is_silent = t->silence > t->pulse.limit,
        .is_known = is_known(t),
        .is_stopped = t->wait.latest.time > t->since && t->wait.latest.state == 'T'};
  }
  tsn_find_owners(s, w->threads);
  for (size_t i = 0; i < w->threads; i++) any = any || s[i].is_owner;
  for (size_t i = 0; i < w->threads; i++) {
    tsn_watch_thread *t = &w->thread[i];
    t->pulse.status = status_of(t, &s[i], w->now, any);
  }
}

void tsn_watch_find_hangs(tsanom_diagnosis_watch *w, const tsanom_hsa_run *news,
                          bool running) {
  update_silence(w, news);
  measure_silence(w);
  if (running) judge(w);
  for (size_t i = 0; i < w->threads; i++) {
    if (w->thread[i].pulse.status == TSANOM_HSA_HANG) w->thread[i].pulse.rate = 0;
  }
}

double tsn_watch_hang_confidence(const tsn_watch_thread *t) {
  size_t count = intervals_of(t), longer = 0;
  for (size_t i = 0; i < count; i++) longer += interval_of(t, i) >= t->silence;
  return 1 - (double)(longer + 1) / (double)(count + 1);
}
