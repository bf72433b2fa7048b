/* SPDX-License-Identifier: BSD-3-Clause */
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
#include <math.h>

#include "diagnosis/watch.h"

static bool is_ready(const tsanom_hsa_vital *v) {
  return v->state == 'R';
}

static void add(tsn_watch_wait *wait, const tsanom_hsa_vital *v, double since) {
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
      add(wait, v, since);
    } else {
      *wait = (tsn_watch_wait){.seconds = wait->seconds};
    }
    wait->latest = *v;
  }
}

double tsn_watch_waited(const tsn_watch_wait *wait, double now, double limit) {
  return wait->seconds + wait->share * fmin(limit, fmax(0, now - wait->latest.time));
}
