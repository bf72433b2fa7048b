/* SPDX-License-Identifier: BSD-3-Clause */
/* The watch of a run: what is kept of it, silences that nothing explains, verdicts at points of its
 * data, anomalies from update to update, and the object. */
#include <math.h>
#include <string.h>

#include "core/environment.h"
#include "core/size.h"
#include "core/sort.h"
#include "core/versioned.h"
#include "diagnosis/causes.h"
#include "diagnosis/watch.h"

/* ---- points */

/* A program that runs is judged at points of its data, never at a look: looking more often
 * would find something in more of the normal runs. With K points until the end of a normal
 * run and alpha / K at each, at most alpha of the normal runs have a verdict before their
 * end, where alpha is tested once more.
 *
 *   beats of the slowest  ........16..18..20..22...
 *   passed                |     |       |  |      |     of a whole run all, of a watch pieces
 *   points                       16  18  20  22
 */

static const double more = 1.1;

/* A point is at most this long after the one before, in seconds of data. */
static const double longest_step = 300;

/* Beats that a thread has longest_step after the latest point. */
static uint64_t beats_late(const tsanom_diagnosis_watch *w, const tsn_watch_thread *t) {
  const tsanom_hsa_series left = {.time = t->next, .beats = t->left};
  if (t->until_late < t->pulse.beats) return t->until_late;
  return t->pulse.beats + tsn_diagnosis_beats_until(&left, w->point + longest_step);
}

/* A thread with at most this share of the beats of the busiest one is silent. */
static const double silent_share = 1e-6;

/* Whether a thread beats in normal runs, as far as that is known. */
static bool is_waited_for(const tsanom_diagnosis_watch *w, size_t thread) {
  const tsn_model *m = &w->search.model;
  return !(m->processors > 0) || m->share[thread] > silent_share;
}

/* Beats of the thread that the first point waits for. */
static uint64_t fewest_beats(const tsanom_diagnosis_watch *w) {
  uint64_t fewest = w->thread[tsn_watch_busiest(w)].pulse.beats;
  for (size_t i = 0; i < w->threads; i++) {
    uint64_t made = w->thread[i].pulse.beats;
    if (is_waited_for(w, i) && made < fewest) fewest = made;
  }
  return fewest;
}

/* Whether a point is in what is known, and which. */
static bool find_point(const tsanom_diagnosis_watch *w, uint64_t *beats, double *time) {
  *beats = w->next_point;
  *time = w->point;
  for (size_t i = 0; isfinite(w->point) && i < w->threads; i++) {
    if (!is_waited_for(w, i)) continue;
    uint64_t late = beats_late(w, &w->thread[i]) + 1;
    if (late < *beats) *beats = late;
  }
  for (size_t i = 0; i < w->threads; i++) {
    const tsn_watch_thread *t = &w->thread[i];
    uint64_t made = t->pulse.beats;
    if (!is_waited_for(w, i) || made >= *beats) continue;
    if (made + t->left < *beats) return false;
    *time = fmax(*time, t->next[*beats - made - 1]);
  }
  return isfinite(*time) != 0;
}

/* Chance of a finding at a point. */
static double chance_at_point(const tsn_model *m) {
  if (!(m->processors > 0)) return TSN_CHANCE;
  double points = log(m->beats / TSANOM_DIAGNOSIS_FIRST_POINT) / log(more);
  return TSN_CHANCE / fmax(1, points);
}

/* ---- what is kept */

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

/* ---- processor time of an iteration
 *
 * The most processor time that an iteration of a thread has taken, by its samples. Two
 * bounds hold for an iteration that ends in a window of samples with beats:
 *
 *     beats      x     x      x               x       x
 *     samples  u         v                u'      v'       cpu_s
 *              |-- W ----|------- W' --------------|        W, W': processor time
 *                             |--- d ---------|             d: its duration
 *
 * it took at most its duration, and at most what the thread used in its window and in the
 * one before, in which it began. A window without beats is a part of the next one. */

static void add_iteration(tsn_watch_cost *cost, double duration) {
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

static void add_cost(tsn_watch_cost *cost, const tsanom_hsa_vital *v) {
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

/* ---- beats */

/* The latest beat of a thread, and those before it; `back` < TSN_WATCH_RING and less than
 * its beats. */
static double beat_before(const tsn_watch_thread *t, size_t back) {
  return t->ring[(t->pulse.beats - 1 - back) % TSN_WATCH_RING];
}

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
static void add_beat(tsanom_diagnosis_watch *w, size_t thread) {
  tsn_watch_thread *t = &w->thread[thread];
  double at = *t->next++, last = t->pulse.last, time = fmax(at, last);
  t->left--;
  if (t->pulse.beats) {
    tsn_add_gap(&t->gaps, &w->search.model.pauses,
                (tsn_gap){time - last, last, time, thread, (double)t->pulse.beats});
    add_iteration(&t->cost, time - last);
  }
  t->ring[t->pulse.beats++ % TSN_WATCH_RING] = time;
  t->pulse.last = time;
  w->first = fmin(w->first, time);
  w->last = fmax(w->last, time);
  if (at <= w->point + longest_step) t->until_late = t->pulse.beats;
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
  double taken = t->pulse.last - beat_before(t, window);
  t->pulse.rate = taken > 0 ? (double)window / taken : NAN;
}

/* Beats of the busiest thread until a time that is not before this piece. */
static uint64_t beats_until(const tsanom_diagnosis_watch *w, const tsanom_hsa_run *news,
                            size_t busiest, double time) {
  uint64_t before = w->thread[busiest].before;
  if (busiest >= news->thread_count) return before;
  return before + tsn_diagnosis_beats_until(&news->threads[busiest], time);
}

/* Beats and samples of a thread in the order of their times, until one. */
static void add_thread(tsanom_diagnosis_watch *w, const tsanom_hsa_series *news,
                       size_t thread, double time) {
  tsn_watch_thread *to = &w->thread[thread];
  while (to->next_sample < news->vital_count &&
         !(news->vital[to->next_sample].time > time)) {
    const tsanom_hsa_vital *v = &news->vital[to->next_sample++];
    while (to->left && *to->next <= v->time) add_beat(w, thread);
    add_sample(&to->vital, v);
    add_cost(&to->cost, v);
  }
  while (to->left && *to->next <= time) add_beat(w, thread);
}

/* All that is not after a time. */
static void add_until(tsanom_diagnosis_watch *w, const tsanom_hsa_run *news,
                      double time) {
  for (size_t t = 0; t < news->thread_count; t++) {
    add_thread(w, &news->threads[t], t, time);
  }
  size_t busiest = tsn_watch_busiest(w);
  while (w->next_sample < news->vital_count &&
         !(news->vital[w->next_sample].time > time)) {
    tsanom_hsa_vital v = news->vital[w->next_sample++];
    v.beats = beats_until(w, news, busiest, v.time);
    add_sample(&w->vital, &v);
  }
}

/* ---- silences: waiting for a processor
 *
 * For how long a silent thread was ready to run without a processor, by its samples.
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
static void add_waits(tsn_watch_wait *wait, const tsanom_hsa_series *news, double since) {
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
static double waited_until(const tsn_watch_wait *wait, double now, double limit) {
  return wait->seconds + wait->share * fmin(limit, fmax(0, now - wait->latest.time));
}

/* ---- silences: which are too long, and which nothing explains. tsn_find_owners() has the rule
 * for which of them hang.
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
  return beat_before(t, back) - beat_before(t, back + 1);
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
  add_waits(&t->wait, news, t->since);
  if (since == t->since) return;
  if (t->wait.seconds > t->pulse.limit / 2) t->woke = since;
  t->since = since;
  t->wait = before;
  t->wait.seconds = t->wait.share = t->wait.cpu = 0;
  t->computes = false;
  add_waits(&t->wait, news, since);
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
    t->pulse.waited = waited_until(&t->wait, w->now, t->pulse.limit);
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

/* Set the status of each thread; `running`: hangs are judged. */
static void find_hangs(tsanom_diagnosis_watch *w, const tsanom_hsa_run *news,
                       bool running) {
  update_silence(w, news);
  measure_silence(w);
  if (running) judge(w);
  for (size_t i = 0; i < w->threads; i++) {
    if (w->thread[i].pulse.status == TSANOM_HSA_HANG) w->thread[i].pulse.rate = 0;
  }
}

/* The confidence that the silence of a thread is not one of its intervals. */
static double hang_confidence(const tsn_watch_thread *t) {
  size_t count = intervals_of(t), longer = 0;
  for (size_t i = 0; i < count; i++) longer += interval_of(t, i) >= t->silence;
  return 1 - (double)(longer + 1) / (double)(count + 1);
}

/* ---- verdicts */

/* Verdicts of a watch at points of the data, by the same function as those about a whole run:
 * the pieces of a run are added until the time of a point, and judged, so that a verdict does
 * not depend on the updates. */

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

static void measure(tsanom_diagnosis_watch *w, const tsanom_hsa_run *run) {
  tsanom_diagnosis_signs *signs = w->search.signs;
  tsn_diagnosis_measure(run, signs);
  for (size_t t = 0; t < w->threads; t++) {
    signs[t].beats = w->thread[t].pulse.beats;
    signs[t].value[TSANOM_DIAGNOSIS_SIGN_GAP] = w->thread[t].gaps.longest;
  }
}

size_t tsn_watch_gaps(tsanom_diagnosis_watch *w, const tsanom_hsa_run *run,
                      tsn_gap *gap) {
  tsn_gap *all = w->search.candidates;
  size_t count = 0;
  double most = w->threads ? (double)w->thread[tsn_watch_busiest(w)].pulse.beats : 0;
  for (size_t t = 0; t < w->threads; t++) {
    const tsn_watch_thread *of = &w->thread[t];
    if (!of->pulse.beats) continue;
    tsn_gap last = {NAN, of->pulse.last, w->last, t, (double)of->pulse.beats};
    count += tsn_take_gaps(run, &of->gaps, last, most, all + count);
  }
  return tsn_select_gaps(run, all, count, gap);
}

/* Of a run of which each time of a beat stands for `scale` of them. */
static void judge_run(tsanom_diagnosis_watch *w, const tsanom_hsa_run *run, double scale,
                      double chance) {
  tsn_search *q = &w->search;
  q->run = run;
  q->scale = scale;
  q->chance = chance;
  q->first = w->first;
  q->gaps = tsn_watch_gaps(w, run, q->gap);
  measure(w, run);
  tsn_diagnosis_find(q);
}

/* Judge what was added until the time of a point. */
static void judge_point(tsanom_diagnosis_watch *w, const tsanom_hsa_run *news,
                        uint64_t beats, double time) {
  tsanom_hsa_run run = run_of(w, news);
  run.end = time;
  run.state = TSANOM_RUN_RUNNING;
  judge_run(w, &run, (double)w->stride, chance_at_point(&w->search.model));
  w->point = time;
  w->next_point = (uint64_t)ceil(more * (double)beats);
  for (size_t t = 0; t < w->threads; t++) {
    w->thread[t].until_late = w->thread[t].pulse.beats;
  }
}

/* Whether a run without a point is comparable. Threads begin to beat one after the other. */
static void compare(tsanom_diagnosis_watch *w, const tsanom_hsa_run *news) {
  uint64_t beats = w->threads ? w->thread[tsn_watch_busiest(w)].pulse.beats : 0;
  if (w->threads < w->normal.thread_count && beats < TSN_DIAGNOSIS_FEW_BEATS) return;
  tsanom_hsa_run run = run_of(w, news);
  w->search.run = &run;
  w->search.count = 0;
  (void)tsn_diagnosis_compare_conditions(&w->search);
}

/* ---- anomalies */

/* Anomalies by cause, thread and sign. Each update notes what holds now: what was not noted
 * before begins, what is not noted any more has ended.
 *
 * What is found by a model is found at points of the data, and holds until the next point.
 * Hangs are found by the silences at each update, and end with a beat: that a
 * program paused before is no anomaly of a watch. That a program was killed is known without
 * a model. */

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

/* The name that the thread of a finding has in its latest sample while it ran. */
static void name_thread(tsanom_diagnosis_finding *f, const tsanom_hsa_vital *vital,
                        size_t count) {
  while (count && !vital[count - 1].state) count--;
  if (count) memcpy(f->name, vital[count - 1].name, sizeof f->name);
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
  if (c->thread >= 0) {
    const tsn_watch_samples *s = &w->thread[c->thread].vital;
    name_thread(&a->cause, s->kept, s->count);
  }
  a->confidence = confidence;
  return a;
}

/* Of a thread: a hang, or a silence that a missing processor explains. Appends at most one. */
static void find_silence(const tsanom_diagnosis_watch *w, size_t thread,
                         tsanom_diagnosis_finding *found, size_t *count) {
  const tsn_watch_thread *t = &w->thread[thread];
  bool hangs = t->pulse.status == TSANOM_HSA_HANG;
  if (!hangs && t->pulse.status != TSANOM_HSA_CONTENTION) return;
  tsanom_diagnosis_finding *f = tsn_add_finding(
      found, count, t->pulse.status, (int32_t)thread, TSANOM_DIAGNOSIS_DETAIL_NONE);
  f->sign = TSANOM_DIAGNOSIS_SIGN_GAP;
  f->value = w->now - t->since;
  f->limit = t->pulse.limit;
  f->begin = t->since;
  f->end = INFINITY;
  f->iteration = t->pulse.beats;
  if (!hangs) f->ready_s = t->pulse.waited;
  for (size_t i = 0; hangs && i < w->threads; i++) {
    f->threads += w->thread[i].pulse.status == TSANOM_HSA_WAITING;
  }
}

static void note_silences(tsanom_diagnosis_watch *w) {
  for (size_t i = 0; i < w->threads; i++) {
    const tsn_watch_thread *t = &w->thread[i];
    tsanom_diagnosis_finding f;
    size_t count = 0;
    find_silence(w, i, &f, &count);
    if (!count) continue;
    tsanom_diagnosis_anomaly *a = note(w, &f, hang_confidence(t));
    if (f.cause != TSANOM_HSA_HANG && a->phase != TSANOM_DIAGNOSIS_ANOMALY_BEGAN)
      continue;
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

/* Causes that each update finds without a model, or that say nothing of a run that goes on. */
static bool is_skipped(const tsanom_diagnosis_finding *c) {
  return c->cause == TSANOM_HSA_HANG || c->cause == TSANOM_HSA_UNKNOWN ||
         (c->cause == TSANOM_HSA_SHUTDOWN && c->thread == TSANOM_HSA_PROCESS);
}

/* Where an anomaly that an update found first began. */
static void set_onset(tsanom_diagnosis_anomaly *a) {
  if (a->phase != TSANOM_DIAGNOSIS_ANOMALY_BEGAN || !isfinite(a->cause.begin)) return;
  a->onset = a->cause.begin;
  a->iteration = a->cause.iteration;
}

/* The limit of a range that is learned from n normal runs is above all of them. */
static double confidence_of(const tsanom_diagnosis_watch *w,
                            const tsanom_diagnosis_finding *c) {
  double n = (double)w->normal.run_count;
  if (isnan(c->limit) && isnan(c->faults_limit)) return 1;
  if (c->sign < TSANOM_DIAGNOSIS_SIGN_SLOWDOWN) return n / (n + 1);
  return 1 - w->search.chance;
}

static void note_findings(tsanom_diagnosis_watch *w) {
  for (size_t i = 0; i < w->search.count; i++) {
    const tsanom_diagnosis_finding *c = &w->search.cause[i];
    if (!is_skipped(c)) set_onset(note(w, c, confidence_of(w, c)));
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
static void judge_update(tsanom_diagnosis_watch *w, const tsanom_hsa_run *news) {
  bool running = news->state == TSANOM_RUN_RUNNING || news->state == TSANOM_RUN_UNKNOWN;
  begin(w);
  find_hangs(w, news, running && news->end > 0);
  note_silences(w);
  if (news->state == TSANOM_RUN_KILLED) note_end(w, news->exit_code);
  if (!w->normal.thread_count) return;
  if (!running) {
    tsanom_hsa_run run = run_of(w, news);
    judge_run(w, &run, (double)w->stride, TSN_CHANCE);
  } else if (!isfinite(w->point)) {
    compare(w, news);
  }
  note_findings(w);
}

/* ---- a piece of a run */

/* Add a checked piece of the run, and judge at the points in it. */
static void feed(tsanom_diagnosis_watch *w, const tsanom_hsa_run *news) {
  uint64_t beats;
  double time;
  w->threads = tsn_larger(w->threads, news->thread_count);
  w->next_sample = 0;
  for (size_t t = 0; t < w->threads; t++) {
    tsn_watch_thread *to = &w->thread[t];
    to->before = to->pulse.beats;
    to->next_sample = to->left = 0;
    if (t >= news->thread_count) continue;
    to->next = news->threads[t].time;
    to->left = news->threads[t].beats;
  }
  while (w->threads == w->normal.thread_count && find_point(w, &beats, &time)) {
    add_until(w, news, time);
    judge_point(w, news, beats, time);
  }
  add_until(w, news, INFINITY);
  for (size_t t = 0; t < news->thread_count; t++) {
    if (news->threads[t].beats) set_rate(&w->thread[t]);
  }
  w->now = news->end > 0 ? news->end : fmax(w->now, w->last);
}

/* ---- options */

static const tsanom_diagnosis_watch_options defaults = {.struct_size = sizeof defaults};

static const tsn_versioned options_type = {
    .size = sizeof(tsanom_diagnosis_watch_options),
    .first_size = sizeof(tsanom_diagnosis_watch_options),
    .defaults = &defaults};

tsanom_status tsanom_diagnosis_watch_options_init(tsanom_diagnosis_watch_options *options,
                                                  size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

/* ---- memory */

/* Anomalies of earlier updates and their successors may all be in the list, of which each
 * has another cause or thread. A number of threads for which `causes` overflows is too large
 * for the beats, too. */
void tsn_watch_layout(tsn_arena *arena, void *frame) {
  tsn_watch_frame *f = frame;
  tsanom_diagnosis_watch *own = &f->own;
  size_t n = f->threads, causes = n * TSN_CAUSES_EACH + TSN_CAUSES_OF_RUN;
  size_t numbers =
      f->normal.ledger_count ? tsn_ledger_numbers(f->normal.thread_count) : 0;
  f->watch = tsn_arena_take(arena, 1, sizeof *f->watch);
  own->thread = tsn_arena_take(arena, n, sizeof *own->thread);
  own->scratch = tsn_arena_take(arena, TSANOM_DIAGNOSIS_WATCH_INTERVALS, sizeof(double));
  own->series = tsn_arena_take(arena, n, sizeof *own->series);
  tsn_search_layout(arena, &own->search, n);
  own->anomaly = tsn_arena_take(arena, causes, 2 * sizeof *own->anomaly);
  own->normal.range =
      tsn_arena_take(arena, tsn_range_count(&f->normal), sizeof *own->normal.range);
  own->normal.ledger = tsn_arena_take(arena, numbers, sizeof(double));
  own->vital.kept =
      tsn_arena_take(arena, TSANOM_DIAGNOSIS_WATCH_SAMPLES, sizeof(tsanom_hsa_vital));
  f->store = tsn_arena_take(arena, n, sizeof *f->store);
}

static void copy_normal(tsn_watch_frame *f, tsanom_diagnosis_watch *w) {
  const tsanom_diagnosis_normal *from = &f->normal;
  tsanom_diagnosis_normal *to = &w->normal;
  tsanom_hsa_range *range = to->range;
  double *ledger = to->ledger;
  *to = *from;
  to->range = range;
  to->ledger = from->ledger ? ledger : NULL;
  if (from->range) memcpy(range, from->range, tsn_range_count(from) * sizeof *range);
  if (from->ledger)
    memcpy(ledger, from->ledger, tsn_ledger_numbers(from->thread_count) * sizeof *ledger);
  if (tsn_has_ledger(to)) w->search.model = tsn_model_of(to);
}

static tsanom_diagnosis_watch *begin_watch(tsn_watch_frame *f) {
  tsanom_diagnosis_watch *w = f->watch;
  *w = f->own;
  copy_normal(f, w);
  w->stride = 1;
  w->search.normal = &w->normal;
  w->search.is_comparable = true;
  w->next_point = TSANOM_DIAGNOSIS_FIRST_POINT;
  w->point = -INFINITY;
  w->capacity = f->threads;
  w->first = INFINITY;
  w->last = -INFINITY;
  w->vital.stride = 1;
  for (size_t t = 0; t < f->threads; t++) {
    tsn_watch_store *store = &f->store[t];
    w->thread[t] =
        (tsn_watch_thread){.pulse = {.last = NAN, .rate = NAN, .limit = INFINITY},
                           .limit = INFINITY,
                           .ring = store->ring,
                           .mark = store->mark,
                           .gaps = {.gap = store->gap, .longest = NAN},
                           .vital = {.kept = store->sample, .stride = 1},
                           .since = NAN};
  }
  return w;
}

typedef struct {
  tsn_watch_frame frame; /* first: its layout is that of the object */
  tsanom_exec exec;
  tsanom_diagnosis_watch **wanted;
} creation;

static tsanom_status check(void *context) {
  const creation *c = context;
  if (!c->wanted) return tsn_reject_null(&c->exec, "watch", TSANOM_NONE);
  return c->frame.normal.thread_count
             ? tsn_diagnosis_check_normal(&c->frame.normal, &c->exec)
             : TSANOM_OK;
}

tsanom_status tsanom_diagnosis_watch_create(size_t thread_count,
                                            const tsanom_diagnosis_normal *normal,
                                            const tsanom_diagnosis_watch_options *options,
                                            const tsanom_exec *exec,
                                            tsanom_diagnosis_watch **watch) {
  creation c = {.frame = {.threads = thread_count}, .wanted = watch};
  tsanom_diagnosis_watch_options *own = &c.frame.own.options;
  tsanom_status status = tsn_exec_read(&c.exec, exec);
  if (status < 0) return status;
  status = thread_count ? TSANOM_E_OVERFLOW : TSANOM_E_COUNT;
  status = tsn_require_size(&c.exec, status, "thread_count", thread_count, 1, INT32_MAX);
  if (status == TSANOM_OK && normal) {
    status = tsn_diagnosis_read_normal(&c.frame.normal, normal, &c.exec);
  }
  if (status < 0) return status;
  status = tsn_struct_read(&c.exec, &options_type, own, options, "options");
  if (status < 0) return status;
  double hang = own->hang;
  if (!isgreaterequal(hang, 0) || isinf(hang)) {
    return tsn_reject_value(&c.exec, TSANOM_E_OPTION, "options.hang", TSANOM_NONE,
                            TSANOM_NONE, hang, "at least 0 and finite is expected");
  }
  status = tsn_object_create(&c.exec, tsn_watch_layout, check, &c, &c.frame.own.owner);
  if (status == TSANOM_OK) *watch = begin_watch(&c.frame);
  return status;
}

/* The owner is copied first: it lies in the block that is released. */
void tsanom_diagnosis_watch_destroy(tsanom_diagnosis_watch *watch) {
  if (!watch) return;
  tsn_object owner = watch->owner;
  tsn_object_release(&owner);
}

/* ---- a whole run */

tsanom_status tsn_watch_check_run(tsn_watch_frame *f, const tsanom_hsa_run *run,
                                  const tsanom_exec *exec) {
  tsanom_status status = tsn_hsa_check_run(run, "run", TSANOM_NONE, exec);
  if (status < 0) return status;
  f->threads = run->thread_count;
  return tsn_require_size(exec, TSANOM_E_OVERFLOW, "run.thread_count", f->threads, 1,
                          INT32_MAX);
}

/* What its recorder did not end is judged as a run that goes on. A run that ended is not judged
 * at points. */
tsanom_diagnosis_watch *tsn_watch_whole(tsn_watch_frame *f, const tsanom_hsa_run *run) {
  tsanom_diagnosis_watch *w = begin_watch(f);
  tsanom_hsa_run now = *run;
  bool goes_on = tsn_is_observed(run);
  now.state = TSANOM_RUN_RUNNING;
  now.end = fmax(tsn_run_end(run), run->start);
  if (!goes_on) w->next_point = UINT64_MAX;
  feed(w, &now);
  if (goes_on) judge_update(w, &now);
  return w;
}

typedef struct {
  tsn_watch_frame frame; /* first: its layout is that of the call */
  tsanom_exec exec;
  const tsanom_hsa_run *run;
  tsanom_diagnosis_signs *signs; /* the caller's, as the next three */
  tsanom_diagnosis_finding *cause;
  size_t capacity, *count;
} whole;

static tsanom_status check_whole(void *context) {
  const whole *c = context;
  enum { EACH = TSN_DIAGNOSIS_CAUSES_EACH, OF_RUN = TSN_DIAGNOSIS_CAUSES_OF_RUN };
  size_t threads = c->run->thread_count;
  if (!c->signs) return tsn_reject_null(&c->exec, "signs", threads);
  if (!c->cause) return tsn_reject_null(&c->exec, "causes", c->capacity);
  if (!c->count) return tsn_reject_null(&c->exec, "count", TSANOM_NONE);
  if (c->capacity >= OF_RUN && (c->capacity - OF_RUN) / EACH >= threads) return TSANOM_OK;
  return tsn_reject_is(&c->exec, TSANOM_E_COUNT, "capacity", TSANOM_NONE,
                       "%zu; at least %d for each of %zu threads and %d is expected",
                       c->capacity, EACH, threads, OF_RUN);
}

/* A run that goes on has what it had at its latest point, or if it has none yet, too few beats;
 * of one that ended all of its beats and samples count, and not only those that are kept. */
static tsanom_status judge_whole(void *context) {
  whole *c = context;
  tsanom_status status = tsn_diagnosis_check_normal(&c->frame.normal, &c->exec);
  if (status == TSANOM_OK) {
    status = tsn_diagnosis_check_vitals(c->run, "run", TSANOM_NONE, &c->exec);
  }
  if (status < 0) return status;
  tsanom_diagnosis_watch *w = tsn_watch_whole(&c->frame, c->run);
  tsn_search *q = &w->search;
  if (c->run->state != TSANOM_RUN_RUNNING) {
    judge_run(w, c->run, 1, TSN_CHANCE);
  } else if (!isfinite(w->point)) {
    measure(w, c->run);
    if (q->is_comparable)
      tsn_add_few_beats(q, fewest_beats(w), TSANOM_DIAGNOSIS_FIRST_POINT);
  }
  for (size_t t = 0; q->is_comparable && t < w->threads; t++) {
    find_silence(w, t, q->cause, &q->count);
  }
  tsn_diagnosis_sort_causes(q->cause, q->count);
  for (size_t i = 0; i < q->count; i++) {
    if (q->cause[i].thread < 0) continue;
    const tsanom_hsa_series *of = &c->run->threads[q->cause[i].thread];
    name_thread(&q->cause[i], of->vital, of->vital_count);
  }
  memcpy(c->signs, q->signs, w->threads * sizeof *q->signs);
  memcpy(c->cause, q->cause, q->count * sizeof *q->cause);
  *c->count = q->count;
  return TSANOM_OK;
}

tsanom_status tsanom_diagnosis_find_causes(const tsanom_diagnosis_normal *normal,
                                           const tsanom_hsa_run *run,
                                           const tsanom_exec *exec,
                                           tsanom_diagnosis_signs *signs,
                                           tsanom_diagnosis_finding *causes,
                                           size_t capacity, size_t *count) {
  whole c = {
      .run = run, .signs = signs, .cause = causes, .capacity = capacity, .count = count};
  tsanom_status status = tsn_exec_read(&c.exec, exec);
  if (status < 0) return status;
  if (!run) return tsn_reject_null(&c.exec, "run", TSANOM_NONE);
  status = tsn_diagnosis_read_normal(&c.frame.normal, normal, &c.exec);
  if (status == TSANOM_OK) status = tsn_watch_check_run(&c.frame, run, &c.exec);
  if (status < 0) return status;
  return tsn_workspace_run(&c.exec, tsn_watch_layout, check_whole, judge_whole, &c);
}

/* ---- updates */

tsanom_status tsanom_diagnosis_watch_update(tsanom_diagnosis_watch *watch,
                                            const tsanom_hsa_run *news,
                                            const tsanom_exec *exec,
                                            const tsanom_diagnosis_anomaly **anomalies,
                                            size_t *count) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read(&own, exec);
  if (status < 0) return status;
  if (!watch) return tsn_reject_null(&own, "watch", TSANOM_NONE);
  if (!news) return tsn_reject_null(&own, "news", TSANOM_NONE);
  if (!anomalies) return tsn_reject_null(&own, "anomalies", TSANOM_NONE);
  if (!count) return tsn_reject_null(&own, "count", TSANOM_NONE);
  tsn_environment before = tsn_environment_enter();
  status = tsn_diagnosis_check_vitals(news, "news", TSANOM_NONE, &own);
  if (status == TSANOM_OK && news->thread_count > watch->capacity) {
    status = tsn_reject_is(&own, TSANOM_E_COUNT, "news.thread_count", TSANOM_NONE,
                           "%zu; the watch was made for at most %zu", news->thread_count,
                           watch->capacity);
  }
  if (status == TSANOM_OK) {
    watch->waits = false;
    feed(watch, news);
    judge_update(watch, news);
    *anomalies = watch->anomaly;
    *count = watch->anomalies;
  }
  tsn_environment_leave(before);
  return status;
}

tsanom_status tsanom_diagnosis_watch_pulse(const tsanom_diagnosis_watch *watch,
                                           size_t thread, tsanom_diagnosis_pulse *pulse) {
  if (!watch || !pulse) return TSANOM_E_NULL;
  if (thread >= watch->threads) return TSANOM_E_INDEX;
  *pulse = watch->thread[thread].pulse;
  pulse->status = tsn_watch_status(watch, thread);
  return TSANOM_OK;
}
