/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule for hangs.
 *
 * The limit follows from the run's own intervals, so that a time-out need not be guessed.
 * A quantile ignores rare long iterations, such as a checkpoint; the factor 3 and the
 * least limit of 1 s are margins for those of a busy machine.
 *
 * Where threads meet at barriers, all of a team are silent if one stops:
 *
 *     thread 0  ──x──x──x──x──|    waits: it reached the barrier and beat before it
 *     thread 1  ──x──x──x─         hangs: its silence began an interval earlier
 *
 * If the whole process stops, the silences begin within a part of an interval. */
#include "hang.h"

#include <math.h>
#include <stdlib.h>
#include <tsanom/hsa.h>

static const double limit_least = 1, limit_factor = 3, quantile = 0.99, same_time = 0.5;

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void hang_learn(hang_thread *thread, const double *time, size_t beats, double fixed) {
  double interval[HANG_INTERVALS];
  size_t count = beats ? beats - 1 : 0;
  thread->typical = 0;
  thread->limit = beats && fixed > 0 ? fixed : INFINITY;
  if (count > HANG_INTERVALS) count = HANG_INTERVALS;
  if (!count) return;
  const double *latest = time + (beats - 1 - count);
  for (size_t i = 0; i < count; i++) interval[i] = latest[i + 1] - latest[i];
  qsort(interval, count, sizeof *interval, compare);
  thread->typical = interval[count / 2];
  if (fixed > 0 || count < HANG_INTERVALS_LEAST) return;
  size_t rank = (size_t)ceil(quantile * (double)count);
  thread->limit = fmax(limit_factor * interval[rank - 1], limit_least);
}

void hang_find(hang_thread *thread, size_t threads, double now) {
  double first = INFINITY, slack = 0;
  for (size_t t = 0; t < threads; t++) {
    hang_thread *one = &thread[t];
    one->status = now - one->since > one->limit ? TSANOM_HSA_WAITING : TSANOM_HSA_NORMAL;
    if (one->status == TSANOM_HSA_NORMAL || one->since >= first) continue;
    first = one->since;
    slack = same_time * one->typical;
  }
  for (size_t t = 0; t < threads; t++) {
    if (thread[t].status == TSANOM_HSA_WAITING && thread[t].since <= first + slack) {
      thread[t].status = TSANOM_HSA_HANG;
    }
  }
}
