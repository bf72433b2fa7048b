/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule for hangs of threads (tsanom/watch.h), for ranks. Each rank is judged by its
 * own intervals, and all that meet the one that hangs become silent:
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
 * (watch_hang.c of the library): not in a rank that may wait for another one so.
 *
 * When the silence of the first one ended, those that waited need time to beat again:
 * theirs counts from then on. Times are those since 1970. */
#include "watch_team.h"

#include <math.h>

static const double same_time = 0.5;

enum { OUTSIDE = 0, IN_CALL = 1 };

static double since_of(const watched *w, size_t thread) {
  return fmax(w->start + w->pulse[thread].last, w->resumed);
}

static double silence_of(const watched *w, size_t thread) {
  return w->start + w->now - since_of(w, thread);
}

static int is_hanging(const watched *w, size_t thread) {
  return !w->ended && w->pulse[thread].status == TSANOM_HSA_HANG;
}

static int has_no_processor(const watched *w, size_t thread) {
  return !w->ended && w->pulse[thread].status == TSANOM_HSA_CONTENTION;
}

/* Whether it hangs only by its processor time, which a limit that was given ignores. */
static int is_early(const watched *w) {
  size_t hang = 0;
  for (size_t t = 0; t < w->threads && !(w->hang > 0); t++) {
    if (!is_hanging(w, t)) continue;
    if (silence_of(w, t) - w->pulse[t].waited > w->pulse[t].limit) return 0;
    hang++;
  }
  return hang > 0;
}

/* `outside`: a silent rank is not in a call. */
static int is_blocked(const watched *w, int outside) {
  return (w->in_call == IN_CALL && outside) || (w->in_call != OUTSIDE && is_early(w));
}

/* The thread of a rank whose silence began first, of those that had time to beat again.
 */
static void find_silent(watched *w) {
  w->silent = NULL;
  w->silent_since = INFINITY;
  for (size_t t = 0; t < w->threads && !w->blocked; t++) {
    double since = since_of(w, t);
    if (!is_hanging(w, t) && !has_no_processor(w, t)) continue;
    if (silence_of(w, t) <= w->pulse[t].limit) continue;
    if (since >= w->silent_since) continue;
    w->silent_since = since;
    w->silent = &w->pulse[t];
  }
}

/* How many of its threads are silent; 0: none of them hangs by its own intervals. */
static size_t silent_threads(const watched *w) {
  size_t hang = 0, wait = 0;
  for (size_t t = 0; t < w->threads; t++) {
    hang += (size_t)is_hanging(w, t);
    wait += w->pulse[t].status == TSANOM_HSA_WAITING;
  }
  return hang ? hang + wait : 0;
}

/* The end of the last hang of a rank, or of its last time without a processor; 0: there
 * was none, or it lasts. */
static double find_resumed(const watched *w) {
  double resumed = 0;
  if (!w->hung || silent_threads(w)) return 0;
  for (size_t t = 0; t < w->threads; t++) {
    if (has_no_processor(w, t)) return 0;
    resumed = fmax(resumed, w->start + w->pulse[t].last);
  }
  return resumed;
}

/* An anomaly that was not reported as a hang begins when it is one. */
static void name_hangs(watched *w, size_t waiting) {
  for (size_t i = 0; i < w->anomalies; i++) {
    tsanom_hsa_anomaly *a = &w->anomaly[i];
    int ended = a->phase == TSANOM_HSA_ANOMALY_RECOVERED;
    if (a->cause.cause != TSANOM_HSA_HANG) continue;
    if (w->waits || (ended && w->waited)) {
      a->cause.cause = TSANOM_HSA_WAITING;
      a->cause.threads = 0;
    } else if (!ended) {
      if (w->waited) a->phase = TSANOM_HSA_ANOMALY_BEGAN;
      a->cause.threads += waiting;
    }
  }
  for (size_t t = 0; w->waits && t < w->threads; t++) {
    if (is_hanging(w, t)) w->pulse[t].status = TSANOM_HSA_WAITING;
  }
}

/* One that was named stays the first: the others, which use processors while they wait,
 * are known to be silent later, but may have been so earlier. */
static int is_before(const watched *a, const watched *b) {
  return a->named != b->named ? a->named : a->silent_since < b->silent_since;
}

/* Whether a silent rank waits for the first one; not for a processor of one that got
 * further. Ranks that meet in each iteration are at most as many apart as there are; of
 * others, such as a master and its workers, beats are no order. */
static int waits_for(const watched *w, const watched *first, size_t ranks) {
  if (w == first || !silent_threads(w)) return 0;
  if (!first || !w->silent) return 1;
  uint64_t beats = w->silent->beats, beats_of_first = first->silent->beats;
  if (first->silent->status == TSANOM_HSA_CONTENTION) {
    return beats >= beats_of_first || beats + ranks < beats_of_first;
  }
  double apart = fabs(w->silent_since - first->silent_since);
  return apart > same_time * first->silent->shortest && beats != beats_of_first;
}

void watch_team_judge(watched *rank, size_t ranks) {
  const watched *first = NULL;
  double resumed = 0;
  size_t waiting = 0;
  int outside = 0;
  for (size_t i = 0; i < ranks; i++) resumed = fmax(resumed, find_resumed(&rank[i]));
  for (size_t i = 0; i < ranks; i++) {
    rank[i].resumed = fmax(rank[i].resumed, resumed);
    outside |= !rank[i].ended && rank[i].in_call == OUTSIDE;
  }
  for (size_t i = 0; i < ranks; i++) {
    rank[i].blocked = is_blocked(&rank[i], outside);
    find_silent(&rank[i]);
    if (!rank[i].silent) continue;
    if (!first || is_before(&rank[i], first)) first = &rank[i];
  }
  for (size_t i = 0; i < ranks; i++) {
    rank[i].waits = waits_for(&rank[i], first, ranks);
    if (rank[i].waits) waiting += silent_threads(&rank[i]);
  }
  for (size_t i = 0; i < ranks; i++) {
    if (rank[i].ended) continue;
    rank[i].hung = rank[i].silent && !rank[i].waits;
    rank[i].named = rank[i].hung && rank[i].silent->status == TSANOM_HSA_HANG;
    name_hangs(&rank[i], waiting);
    rank[i].waited = rank[i].waits;
  }
}
