/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule for hangs of threads (tsanom/diagnosis.h), for runs of one job. Each run is judged by
 * its own intervals, and all that meet the one that hangs become silent:
 *
 *     rank 0  ──x──x──x──x──|    waits: it beat before it met rank 1
 *     rank 1  ──x──x──x─         hangs: its silence began an interval earlier
 *
 * The rank that is silent longest hangs, and each whose silence began within half of the
 * 0.05 quantile of its intervals after it, or that beat equally often. If it has no
 * processor, it does not hang, and all others that beat as often or more wait for it.
 *
 *     rank 0  ──x──x──x──[ MPI_Recv        waits, and may use its processor meanwhile
 *     rank 1  ──x──x──x── ...              hangs: it is as silent, and not in MPI
 *
 * A rank in a call of MPI waits for those that are as silent and not in a call; if there
 * are none, the silences decide. An endless loop is found early by its processor time
 * (watch.c): not in a rank that may wait for another one so.
 *
 * When the silence of the first one ended, those that waited need time to beat again:
 * theirs counts from then on. Times are those since 1970. */
#include <math.h>
#include <tsanom/speedup.h>

#include "diagnosis/watch.h"

static const double same_time = 0.5;

enum { OUTSIDE = 0, IN_CALL = 1 };

typedef tsanom_diagnosis_rank rank_of_job;

static bool is_judged(const rank_of_job *r) {
  return r->watch && !r->ended;
}

static double since_of(const rank_of_job *r, const tsanom_diagnosis_pulse *p) {
  return fmax(r->start + p->last, r->resumed);
}

static double silence_of(const rank_of_job *r, const tsanom_diagnosis_pulse *p) {
  return r->start + r->watch->now - since_of(r, p);
}

/* Threads of a status. */
static size_t count(const tsanom_diagnosis_watch *w, int32_t status) {
  size_t found = 0;
  for (size_t t = 0; t < w->threads; t++) found += w->thread[t].pulse.status == status;
  return found;
}

/* Whether it hangs only by its processor time, which a limit that was given ignores. */
static bool is_early(const rank_of_job *r) {
  const tsanom_diagnosis_watch *w = r->watch;
  for (size_t t = 0; t < w->threads && !(w->options.hang > 0); t++) {
    const tsanom_diagnosis_pulse *p = &w->thread[t].pulse;
    bool hangs = p->status == TSANOM_HSA_HANG;
    if (hangs && silence_of(r, p) - p->waited > p->limit) return false;
  }
  return !(w->options.hang > 0) && count(w, TSANOM_HSA_HANG);
}

/* The thread of a rank whose silence began first, of those that had time to beat again;
 * none if its silence is no reason to name it. `outside`: a silent rank is not in a call. */
static void find_silent(rank_of_job *r, bool outside) {
  tsanom_diagnosis_watch *w = r->watch;
  w->silent = NULL;
  r->since = INFINITY;
  if ((r->in_call == IN_CALL && outside) || (r->in_call != OUTSIDE && is_early(r)))
    return;
  for (size_t t = 0; t < w->threads; t++) {
    const tsanom_diagnosis_pulse *p = &w->thread[t].pulse;
    if (p->status != TSANOM_HSA_HANG && p->status != TSANOM_HSA_CONTENTION) continue;
    if (silence_of(r, p) <= p->limit || since_of(r, p) >= r->since) continue;
    r->since = since_of(r, p);
    w->silent = p;
  }
}

/* How many of its threads are silent; 0: none of them hangs by its own intervals. */
static size_t silent_threads(const tsanom_diagnosis_watch *w) {
  size_t hang = count(w, TSANOM_HSA_HANG);
  return hang ? hang + count(w, TSANOM_HSA_WAITING) : 0;
}

/* The end of the last hang of a rank, or of its last time without a processor; 0: there
 * was none, or it lasts. */
static double find_resumed(const rank_of_job *r) {
  const tsanom_diagnosis_watch *w = r->watch;
  double resumed = 0;
  bool was_silent = r->status == TSANOM_HSA_HANG || r->status == TSANOM_HSA_CONTENTION;
  if (!was_silent || silent_threads(w) || count(w, TSANOM_HSA_CONTENTION)) return 0;
  for (size_t t = 0; t < w->threads; t++) {
    resumed = fmax(resumed, r->start + w->thread[t].pulse.last);
  }
  return resumed;
}

/* An anomaly that was not reported as a hang begins when it is one. */
static void name_hangs(tsanom_diagnosis_watch *w, bool waited, size_t waiting) {
  for (size_t i = 0; i < w->anomalies; i++) {
    tsanom_diagnosis_anomaly *a = &w->anomaly[i];
    bool ended = a->phase == TSANOM_DIAGNOSIS_ANOMALY_RECOVERED;
    if (a->cause.cause != TSANOM_HSA_HANG) continue;
    if (w->waits || (ended && waited)) {
      a->cause.cause = TSANOM_HSA_WAITING;
      a->cause.threads = 0;
    } else if (!ended) {
      if (waited) a->phase = TSANOM_DIAGNOSIS_ANOMALY_BEGAN;
      a->cause.threads += waiting;
    }
  }
}

/* One that was named stays the first: the others, which use processors while they wait,
 * are known to be silent later, but may have been so earlier. */
static bool is_before(const rank_of_job *a, const rank_of_job *b) {
  bool named = a->status == TSANOM_HSA_HANG;
  return named != (b->status == TSANOM_HSA_HANG) ? named : a->since < b->since;
}

/* Whether a silent rank waits for the first one; not for a processor of one that got
 * further. Ranks that meet in each iteration are at most as many apart as there are; of
 * others, such as a master and its workers, beats are no order. */
static bool waits_for(const rank_of_job *r, const rank_of_job *first, size_t ranks) {
  const tsanom_diagnosis_pulse *own = r->watch->silent;
  if (r == first || !silent_threads(r->watch)) return false;
  if (!first || !own) return true;
  const tsanom_diagnosis_pulse *of_first = first->watch->silent;
  if (of_first->status == TSANOM_HSA_CONTENTION) {
    return own->beats >= of_first->beats || own->beats + ranks < of_first->beats;
  }
  double apart = fabs(r->since - first->since);
  return apart > same_time * of_first->shortest && own->beats != of_first->beats;
}

/* The rank that the others wait for; NULL: none is silent. */
static const rank_of_job *find_first(rank_of_job *rank, size_t ranks) {
  const rank_of_job *first = NULL;
  bool outside = false;
  double resumed = 0;
  for (size_t i = 0; i < ranks; i++) {
    outside = outside || (!rank[i].ended && rank[i].in_call == OUTSIDE);
    if (is_judged(&rank[i])) resumed = fmax(resumed, find_resumed(&rank[i]));
  }
  for (size_t i = 0; i < ranks; i++) {
    rank[i].resumed = fmax(rank[i].resumed, resumed);
    if (!is_judged(&rank[i])) continue;
    find_silent(&rank[i], outside);
    if (!rank[i].watch->silent) continue;
    if (!first || is_before(&rank[i], first)) first = &rank[i];
  }
  return first;
}

static void judge_job(rank_of_job *rank, size_t ranks) {
  const rank_of_job *first = find_first(rank, ranks);
  size_t waiting = 0;
  for (size_t i = 0; i < ranks; i++) {
    if (!is_judged(&rank[i])) continue;
    rank[i].watch->waits = waits_for(&rank[i], first, ranks);
    if (rank[i].watch->waits) waiting += silent_threads(rank[i].watch);
  }
  for (size_t i = 0; i < ranks; i++) {
    if (!is_judged(&rank[i])) continue;
    tsanom_diagnosis_watch *w = rank[i].watch;
    bool waited = rank[i].status == TSANOM_HSA_WAITING;
    rank[i].status = w->waits    ? TSANOM_HSA_WAITING
                     : w->silent ? w->silent->status
                                 : TSANOM_HSA_NORMAL;
    name_hangs(w, waited, waiting);
  }
}

/* ---- the run that holds up the others */

/* When its first thread that hangs became silent; infinity: none hangs. */
static double first_hang(const rank_of_job *r) {
  const tsanom_diagnosis_watch *w = r->watch;
  double first = INFINITY;
  for (size_t t = 0; t < w->threads; t++) {
    const tsanom_diagnosis_pulse *p = &w->thread[t].pulse;
    if (tsn_watch_status(w, t) == TSANOM_HSA_HANG)
      first = fmin(first, r->start + p->last);
  }
  return first;
}

static double lowest_rate(const tsanom_diagnosis_watch *w) {
  double least = INFINITY;
  for (size_t t = 0; t < w->threads; t++) least = fmin(least, w->thread[t].pulse.rate);
  return least;
}

static size_t slowest_run(const rank_of_job *run, size_t runs) {
  size_t slowest = TSANOM_NONE, known = 0;
  double hang = INFINITY, least = INFINITY;
  for (size_t i = 0; i < runs; i++) {
    const tsanom_diagnosis_watch *w = run[i].watch;
    if (!w || !w->threads) continue;
    double since = first_hang(&run[i]), rate = lowest_rate(w);
    known += w->thread[tsn_watch_busiest(w)].pulse.beats > 0;
    if (since > hang || (since == hang && !(rate < least))) continue;
    hang = since;
    least = rate;
    slowest = i;
  }
  return known < 2 ? TSANOM_NONE : slowest;
}

tsanom_status tsanom_diagnosis_judge_job(tsanom_diagnosis_rank *ranks, size_t count,
                                         const tsanom_exec *exec, size_t *slowest) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read(&own, exec);
  if (status < 0) return status;
  status = tsn_require_size(&own, TSANOM_E_OVERFLOW, "count", count, 0,
                            PTRDIFF_MAX / sizeof *ranks);
  if (status < 0) return status;
  if (!ranks && count) return tsn_reject_null(&own, "ranks", count);
  if (!slowest) return tsn_reject_null(&own, "slowest", TSANOM_NONE);
  for (size_t first = 0, i = 1; i <= count; i++) {
    if (i < count && ranks[i].job >= 0 && ranks[i].job == ranks[first].job) continue;
    if (ranks[first].job >= 0) judge_job(ranks + first, i - first);
    first = i;
  }
  *slowest = slowest_run(ranks, count);
  return TSANOM_OK;
}

/* How long a watched program will still run: the iterations of the normal runs, if these have one
 * length, and the prediction of the main loop (tsanom_speedup_summarize()) from the beats of
 * the thread that takes longest for its share of them. So that a look costs the same at any length of the run, g iterations
 * count as one:
 *
 *     beats   | | | | | | | | | | | | | |    n - 1 intervals
 *     parts       |-----|-----|-----|-----|  at most 128, of g intervals each
 *
 * The remaining iterations are predicted as whole parts, at least one, and scaled. */

enum { PARTS_MOST = 128, PARTS_LEAST = 2, PARTS_LEFT_MOST = 1 << 30 };

/* Normal runs whose lengths differ by more do not predict one. */
static const double same_length = 0.99;

/* The end of the parts that the remaining iterations make, in whole parts, and which
 * share of these remains. False: not known. */
static bool predict(const tsanom_hsa_series *s, double iterations, double *share,
                    tsanom_speedup_prediction *p) {
  tsanom_speedup_event part[PARTS_MOST];
  tsanom_dpd_iteration place[PARTS_MOST];
  tsanom_speedup_loop loop;
  size_t intervals = s->beats ? s->beats - 1 : 0;
  size_t parts = intervals < PARTS_MOST ? intervals : PARTS_MOST;
  if (parts < PARTS_LEAST) return false;
  size_t each = intervals / parts;
  const double *time = s->time + intervals - parts * each;
  for (size_t i = 0; i < parts; i++) {
    part[i] = (tsanom_speedup_event){
        .begin = time[i * each], .end = time[(i + 1) * each], .threads = 1};
    place[i] = (tsanom_dpd_iteration){.first = i, .end = i + 1};
  }
  double left = iterations / (double)each;
  double whole = fmin(fmax(1, nearbyint(left)), PARTS_LEFT_MOST);
  *share = left / whole;
  tsanom_status status = tsanom_speedup_summarize(
      part, parts, place, parts, NULL, parts + (uint64_t)whole, NULL, &loop, p);
  return status == TSANOM_OK;
}

/* From `now` on, if the part `share` of what is left until `end` remains. */
static double scale(const tsanom_hsa_series *s, double share, double end, double now) {
  double last = s->time[s->beats - 1];
  double left = last + share * (end - last) - now;
  return left < 0 ? 0 : left; /* NaN: not known */
}

void tsn_watch_predict(const tsanom_hsa_series *s, double iterations, double now,
                       tsanom_diagnosis_remaining *r) {
  tsanom_speedup_prediction p = {.struct_size = sizeof p};
  double share = 0;
  if (!predict(s, iterations, &share, &p)) return;
  r->drifts = p.drifts;
  r->seconds = scale(s, share, p.total_s, now);
  r->low = scale(s, share, p.low_s, now);
  r->high = scale(s, share, p.high_s, now);
}

static double iterations_left(const tsanom_diagnosis_watch *w,
                              const tsanom_hsa_run *run) {
  double most = (double)w->normal.beats, fewest = (double)w->normal.fewest;
  if (!w->normal.thread_count || run->state != TSANOM_RUN_RUNNING) return NAN;
  double made = w->threads ? (double)w->thread[tsn_watch_busiest(w)].pulse.beats : 0;
  return fewest < same_length * most || made > most ? NAN : most - made;
}

/* Beats that a thread has left if the busiest one has `left`; it may have a part of them. */
static double left_of(const tsanom_diagnosis_watch *w, size_t thread, double left) {
  const tsn_model *m = &w->search.model;
  double most = (double)w->thread[tsn_watch_busiest(w)].pulse.beats;
  double made = (double)w->thread[thread].pulse.beats;
  if (thread >= m->threads) return left * made / most; /* not known */
  return fmax(0, m->share[thread] * (most + left) - made);
}

/* The thread that takes longest for what is left; the first one if none has a rate. */
static size_t slowest_thread(const tsanom_diagnosis_watch *w, double left) {
  size_t slowest = 0;
  double longest = -1;
  for (size_t t = 0; t < w->threads; t++) {
    double rate = w->thread[t].pulse.rate;
    double seconds = rate == 0 ? INFINITY : left_of(w, t, left) / rate;
    if (!(seconds > longest)) continue;
    longest = seconds;
    slowest = t;
  }
  return slowest;
}

tsanom_status tsanom_diagnosis_predict(const tsanom_diagnosis_watch *watch,
                                       const tsanom_hsa_run *run, const tsanom_exec *exec,
                                       tsanom_diagnosis_remaining *remaining) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read(&own, exec);
  if (status < 0) return status;
  if (!watch) return tsn_reject_null(&own, "watch", TSANOM_NONE);
  if (!run) return tsn_reject_null(&own, "run", TSANOM_NONE);
  if (!remaining) return tsn_reject_null(&own, "remaining", TSANOM_NONE);
  *remaining = (tsanom_diagnosis_remaining){
      .iterations = iterations_left(watch, run), .seconds = NAN, .low = NAN, .high = NAN};
  if (isnan(remaining->iterations)) return TSANOM_OK;
  size_t slowest = slowest_thread(watch, remaining->iterations);
  if (slowest >= watch->threads || slowest >= run->thread_count ||
      !(watch->thread[slowest].pulse.rate > 0)) {
    return TSANOM_OK;
  }
  tsn_watch_predict(&run->threads[slowest],
                    left_of(watch, slowest, remaining->iterations), watch->now,
                    remaining);
  return TSANOM_OK;
}
