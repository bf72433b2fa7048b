/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of a team that meets at the end of each iteration, of which the truth is known. */
#ifndef TSANOM_TEST_DIAGNOSIS_TEAM_H
#define TSANOM_TEST_DIAGNOSIS_TEAM_H

#include <tsanom/diagnosis.h>

enum { TEAM_THREADS = 4, TEAM_BEATS = 400, TEAM_SAMPLES = 4000 };

/* Seconds of an iteration, and what is wrong with it. */
typedef struct {
  size_t threads, beats;
  double work;    /* of each thread on a processor */
  double noise;   /* standard deviation of the logarithm of a run's work */
  double ready;   /* of each thread without a processor */
  double blocked; /* in which nobody runs */
  double
      turns; /* in which only one thread runs, as under a lock, each for a part of its work */
  double heavy; /* times the work of thread `who` */
  size_t who;
  double pause; /* seconds once, after half of the beats, for which thread `who` waits for
                      something else than a thread */
  double run_loop;   /* the same, and it runs */
  size_t every;      /* iterations from one checkpoint to the next; 0: there are none */
  double checkpoint; /* seconds, in which nobody runs */
  double lock;       /* the same: it waits for a lock, and the others for their team */
  double factor; /* times the work of all in eighth `part` of the beats; 0: as usual */
  size_t part;
  int32_t state;
} team_kind;

team_kind team_normal(void);

typedef struct {
  tsanom_hsa_run run;
  tsanom_hsa_series series[TEAM_THREADS];
  double time[TEAM_THREADS][TEAM_BEATS];
  tsanom_hsa_vital vital[TEAM_THREADS][TEAM_SAMPLES];
} team_run;

void team_make(team_run *made, const team_kind *kind, uint64_t *seed);

#endif
