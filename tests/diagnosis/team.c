/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations end for all threads at once, when the slowest has done its work and the time
 * that the test planted is over: under locks, in checkpoints, in one pause. Samples are
 * interpolated between the ends of iterations. */
#include "team.h"

#include <math.h>
#include <string.h>

#include "hsa/synthetic.h"

static const double sample_every = 0.02;

team_kind team_normal(void) {
  return (team_kind){.threads = 2,
                     .beats = 300,
                     .work = 0.008,
                     .noise = 0.02,
                     .ready = 0.0002,
                     .blocked = 0.0005,
                     .heavy = 1,
                     .state = TSANOM_RUN_FINISHED};
}

/* Numbers of a thread at the end of an iteration. */
typedef struct {
  double time, cpu, ready;
} mark;

static void add_sample(team_run *made, size_t t, const mark *a, const mark *b,
                       double time, size_t beats, const team_kind *k, int paused) {
  tsanom_hsa_series *s = &made->series[t];
  if (s->vital_count == TEAM_SAMPLES) return;
  double share = b->time > a->time ? (time - a->time) / (b->time - a->time) : 1;
  int loops = paused && k->run_loop > 0 && t == k->who;
  int has_turn = k->turns > 0 && s->vital_count % k->threads == t;
  int blocks = paused && k->pause > 0 && t == k->who, locks = paused && k->lock > 0;
  made->vital[t][s->vital_count++] =
      (tsanom_hsa_vital){.time = time,
                         .cpu_s = 5 + a->cpu + share * (b->cpu - a->cpu),
                         .wait_s = 3 + a->ready + share * (b->ready - a->ready),
                         .beats = beats,
                         .thread = (int32_t)t,
                         .task = 100 + (int32_t)t,
                         .state = loops || has_turn ? 'R' : 'S',
                         .waits = blocks                 ? TSANOM_HSA_WAITS_OTHER
                                  : locks && t != k->who ? TSANOM_HSA_WAITS_TEAM
                                  : loops                ? TSANOM_HSA_WAITS_UNKNOWN
                                                         : TSANOM_HSA_WAITS_THREAD};
}

void team_make(team_run *made, const team_kind *k, uint64_t *seed) {
  mark before[TEAM_THREADS] = {{0, 0, 0}}, after[TEAM_THREADS];
  double next = 0, run_noise = exp(k->noise * synthetic_gauss(seed));
  memset(made->series, 0, sizeof made->series);
  for (size_t i = 0; i < k->beats; i++) {
    double pause = k->pause + k->run_loop + k->lock;
    int paused = i == k->beats / 2 && pause > 0;
    double longest = 0, lost = k->blocked + k->turns + (paused ? pause : 0);
    if (k->every && i % k->every == k->every - 1) lost += k->checkpoint;
    for (size_t t = 0; t < k->threads; t++) {
      double c = k->work * run_noise * (1 + 0.02 * synthetic_gauss(seed));
      if (t == k->who) c *= k->heavy;
      if (k->factor > 0 && 8 * i / k->beats == k->part) c *= k->factor;
      after[t] = (mark){0, before[t].cpu + c, before[t].ready + k->ready};
      longest = fmax(longest, c + k->ready);
      if (paused && t == k->who) after[t].cpu += k->run_loop;
    }
    double end = before[0].time + longest + lost;
    for (size_t t = 0; t < k->threads; t++) after[t].time = end;
    for (; next <= end; next += sample_every) {
      for (size_t t = 0; t < k->threads; t++) {
        add_sample(made, t, &before[t], &after[t], next, i, k, paused);
      }
    }
    for (size_t t = 0; t < k->threads; t++) {
      made->time[t][i] = end;
      before[t] = after[t];
    }
  }
  for (size_t t = 0; t < k->threads; t++) {
    add_sample(made, t, &before[t], &before[t], before[t].time, k->beats, k, 0);
    made->series[t].time = made->time[t];
    made->series[t].vital = made->vital[t];
    made->series[t].beats = k->beats;
  }
  made->run = (tsanom_hsa_run){.threads = made->series,
                               .thread_count = k->threads,
                               .state = k->state,
                               .end = before[0].time,
                               .machine = "4 x processor"};
}
