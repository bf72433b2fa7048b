/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of a thread by its samples, piece by piece. */
#include <math.h>

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

void tsn_watch_add_waits(tsn_watch_wait *wait, const tsanom_hsa_series *news,
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

double tsn_watch_waited(const tsn_watch_wait *wait, double now, double limit) {
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

/* Beats of the piece until a time; `next` is the first that was not seen. */
static void pass_beats(tsn_watch_cost *cost, const tsanom_hsa_series *news, size_t *next,
                       double until) {
  for (; *next < news->beats && news->time[*next] <= until; ++*next) {
    double time = news->time[*next];
    if (cost->has_beat) {
      cost->longest = fmax(cost->longest, time - cost->last);
      cost->ended++;
    }
    cost->last = time;
    cost->has_beat = true;
  }
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

void tsn_watch_add_costs(tsn_watch_cost *cost, const tsanom_hsa_series *news) {
  size_t next = 0;
  for (size_t i = 0; i < news->vital_count; i++) {
    const tsanom_hsa_vital *v = &news->vital[i];
    if (isnan(v->time) || isnan(v->cpu_s)) continue;
    pass_beats(cost, news, &next, v->time);
    if (v->task == cost->task) {
      cost->used += fmax(0, v->cpu_s - cost->cpu_s);
      if (cost->ended) close_window(cost);
    } else {
      *cost = (tsn_watch_cost){.most = cost->most,
                               .iterations = cost->iterations,
                               .before = INFINITY,
                               .last = cost->last,
                               .has_beat = cost->has_beat};
    }
    cost->task = v->task;
    cost->cpu_s = v->cpu_s;
  }
  pass_beats(cost, news, &next, INFINITY);
}
