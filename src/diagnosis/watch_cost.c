/* SPDX-License-Identifier: BSD-3-Clause */
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
#include <math.h>

#include "diagnosis/watch.h"

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
