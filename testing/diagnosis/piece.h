/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of a run, as a watch gets them. */
#ifndef TSANOM_TESTING_DIAGNOSIS_PIECE_H
#define TSANOM_TESTING_DIAGNOSIS_PIECE_H

#include <math.h>
#include <stddef.h>
#include <tsanom/diagnosis.h>

/* Elements of a run until a time. */
static inline size_t beats_until(const tsanom_hsa_series *s, double time) {
  size_t i = 0;
  while (i < s->beats && s->time[i] <= time) i++;
  return i;
}

static inline size_t samples_until(const tsanom_hsa_vital *v, size_t count, double time) {
  size_t i = 0;
  while (i < count && v[i].time <= time) i++;
  return i;
}

/* The part of a run after `from`, until `to`. */
static inline tsanom_hsa_run run_piece(const tsanom_hsa_run *run, double from, double to,
                                       tsanom_hsa_series *threads) {
  tsanom_hsa_run p = *run;
  size_t first = samples_until(run->vital, run->vital_count, from);
  p.threads = threads;
  p.end = fmin(to, run->end);
  p.state = to < run->end ? TSANOM_RUN_RUNNING : run->state;
  p.vital = run->vital ? run->vital + first : NULL;
  p.vital_count = samples_until(run->vital, run->vital_count, to) - first;
  for (size_t t = 0; t < run->thread_count; t++) {
    const tsanom_hsa_series *s = &run->threads[t];
    size_t beat = beats_until(s, from),
           sample = samples_until(s->vital, s->vital_count, from);
    threads[t] = (tsanom_hsa_series){
        .time = s->time + beat,
        .beats = beats_until(s, to) - beat,
        .vital = s->vital ? s->vital + sample : NULL,
        .vital_count = samples_until(s->vital, s->vital_count, to) - sample};
  }
  return p;
}

#endif
