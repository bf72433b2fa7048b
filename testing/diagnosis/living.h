/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs with vital signs that never happened, of known kinds. */
#ifndef TSANOM_TEST_DIAGNOSIS_LIVING_H
#define TSANOM_TEST_DIAGNOSIS_LIVING_H

#include <tsanom/diagnosis.h>

enum { LIVING_THREADS = 8 };

/* How a thread fares. */
typedef struct {
  double pace;   /* its seconds between beats over those of the run */
  double cpu;    /* its processor time per beat over the run's period */
  double wait;   /* its time without a processor, though ready, likewise */
  double faults; /* page faults per beat */
  double leak;   /* bytes that it takes at each beat and keeps */
  size_t stop;   /* it stops after this many beats; 0: never */
} living_thread;

typedef struct {
  size_t threads, beats;  /* beats of a thread in a complete run */
  double period;          /* seconds between beats */
  double noise;           /* standard deviation of paces and of a period, relative */
  double every;           /* seconds between samples; 0: no vital signs */
  double pause, pause_at; /* seconds for which all threads stop, and after which share of
                             the beats */
  double silence;         /* seconds for which the run is observed after its last beat */
  double startup;         /* bytes that are allocated during the first tenth */
  size_t cut;             /* the run is cut after this many beats; 0: it is not */
  int32_t state;
  living_thread thread[LIVING_THREADS];
} living_kind;

/* Two threads of 2000 beats in 2 s, half of the time on a processor. */
living_kind living_normal(void);

/* Make a run; living_free() takes it back. */
tsanom_hsa_run living_run(const living_kind *kind, uint64_t *seed);
void living_free(tsanom_hsa_run *run);

#endif
