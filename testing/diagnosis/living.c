/* SPDX-License-Identifier: BSD-3-Clause */
#include "living.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "hsa/synthetic.h"

living_kind living_normal(void) {
  living_kind k = {.threads = 2,
                   .beats = 2000,
                   .period = 0.001,
                   .noise = 0.02,
                   .every = 0.05,
                   .startup = 8e6,
                   .state = TSANOM_RUN_FINISHED};
  for (int t = 0; t < LIVING_THREADS; t++) {
    k.thread[t] = (living_thread){.pace = 1, .cpu = 0.5, .wait = 0.01, .faults = 0.001};
  }
  return k;
}

static tsanom_hsa_series beats_of(const living_kind *k, size_t t, double speed,
                                  uint64_t *seed) {
  const living_thread *l = &k->thread[t];
  double *time = malloc(k->beats * sizeof *time), now = 0.01;
  size_t most = l->stop ? l->stop : k->beats;
  if (k->cut && k->cut < most) most = k->cut;
  for (size_t i = 0; i < most; i++) {
    double noise = fmax(-0.5, fmin(0.5, k->noise * synthetic_gauss(seed)));
    now += k->period * l->pace * speed * (1 + noise);
    if (k->pause > 0 && i == (size_t)(k->pause_at * (double)k->beats)) now += k->pause;
    time[i] = now;
  }
  return (tsanom_hsa_series){.time = time, .beats = most};
}

static size_t beats_until(const tsanom_hsa_series *s, double time) {
  size_t beats = 0;
  while (beats < s->beats && s->time[beats] <= time) beats++;
  return beats;
}

/* In each period all threads begin together, and sleep when they have had their processor
 * time. */
static int32_t state_of(const living_kind *k, const tsanom_hsa_series *s, size_t t,
                        double time) {
  const living_thread *l = &k->thread[t];
  double phase = fmod(time / k->every * 0.618034, 1);
  bool awake =
      phase < (l->cpu + l->wait) / l->pace && s->beats && time <= s->time[s->beats - 1];
  return awake ? 'R' : 'S';
}

/* Processor time and waiting follow the beats, so that a thread that stopped has none. */
static tsanom_hsa_vital sample_thread(const living_kind *k, const tsanom_hsa_series *s,
                                      size_t t, double time) {
  const living_thread *l = &k->thread[t];
  double beats = (double)beats_until(s, time);
  return (tsanom_hsa_vital){.time = time,
                            .cpu_s = beats * k->period * l->cpu,
                            .wait_s = beats * k->period * l->wait,
                            .voluntary = NAN,
                            .involuntary = NAN,
                            .minor_faults = 1000 + beats * l->faults,
                            .major_faults = 0,
                            .resident = NAN,
                            .anonymous = NAN,
                            .threads = NAN,
                            .beats = (uint64_t)beats,
                            .thread = (int32_t)t,
                            .task = 100 + (int32_t)t,
                            .name = {'n', (char)('0' + t % 10)},
                            .state = state_of(k, s, t, time)};
}

static tsanom_hsa_vital sample_process(const living_kind *k,
                                       const tsanom_hsa_series *threads, double time) {
  double share = (double)beats_until(&threads[0], time) / (double)k->beats;
  double memory = 1e8 + k->startup * fmin(1, share / 0.1);
  for (size_t t = 0; t < k->threads; t++) {
    memory += (double)beats_until(&threads[t], time) * k->thread[t].leak;
  }
  return (tsanom_hsa_vital){.time = time,
                            .cpu_s = NAN,
                            .wait_s = NAN,
                            .voluntary = NAN,
                            .involuntary = NAN,
                            .resident = memory + 1e6,
                            .anonymous = memory,
                            .threads = (double)k->threads,
                            .thread = TSANOM_HSA_PROCESS,
                            .task = 100,
                            .state = 'R'};
}

static void sample(const living_kind *k, tsanom_hsa_series *threads, double last,
                   tsanom_hsa_run *run) {
  size_t count = (size_t)(last / k->every) + 2;
  tsanom_hsa_vital *process = calloc(count, sizeof *process);
  for (size_t t = 0; t < k->threads; t++) {
    tsanom_hsa_vital *vital = calloc(count, sizeof *vital);
    for (size_t i = 0; i < count; i++) {
      vital[i] =
          sample_thread(k, &threads[t], t, fmin(last, 0.02 + k->every * (double)i));
    }
    threads[t].vital = vital;
    threads[t].vital_count = count;
  }
  for (size_t i = 0; i < count; i++) {
    process[i] = sample_process(k, threads, fmin(last, k->every * (double)i));
  }
  run->vital = process;
  run->vital_count = count;
}

tsanom_hsa_run living_run(const living_kind *k, uint64_t *seed) {
  tsanom_hsa_series *threads = calloc(k->threads, sizeof *threads);
  double last = 0, speed = exp(k->noise * synthetic_gauss(seed));
  for (size_t t = 0; t < k->threads; t++) {
    threads[t] = beats_of(k, t, speed, seed);
    if (threads[t].beats) last = fmax(last, threads[t].time[threads[t].beats - 1]);
  }
  tsanom_hsa_run run = {.threads = threads,
                        .thread_count = k->threads,
                        .end = last + k->silence,
                        .state = k->state,
                        .program = "living",
                        .machine = "here"};
  if (k->every > 0) sample(k, threads, last + k->silence, &run);
  return run;
}

void living_free(tsanom_hsa_run *run) {
  for (size_t t = 0; t < run->thread_count; t++) {
    free((void *)run->threads[t].time);
    free((void *)run->threads[t].vital);
  }
  free((void *)run->threads);
  free((void *)run->vital);
}
