/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs whose threads do, at each moment, what a script says. */
#ifndef TSANOM_TEST_DIAGNOSIS_SCRIPTED_H
#define TSANOM_TEST_DIAGNOSIS_SCRIPTED_H

#include <tsanom/diagnosis.h>

enum { SCRIPTED_THREADS = 4, SCRIPTED_BEATS = 512, SCRIPTED_SAMPLES = 256 };

/* A run and its memory. */
typedef struct {
  tsanom_hsa_run run;
  tsanom_hsa_series series[SCRIPTED_THREADS];
  double time[SCRIPTED_THREADS][SCRIPTED_BEATS];
  tsanom_hsa_vital vital[SCRIPTED_THREADS][SCRIPTED_SAMPLES];
} scripted_run;

/* A run of a team, whose threads beat `beats_per_s` times in a second, and are sampled each
 * `every` seconds. scripts[t] has a letter for each 0.1 s: 'c' on a processor, 'r' ready
 * without one, '-' off it, 'b' off it for a device, 'w' on it and waiting for
 * the team. */
void scripted_make(scripted_run *made, const char *const *scripts, size_t threads,
                   double beats_per_s, double every);

/* Let the samples know the states of the threads. */
void scripted_know_states(scripted_run *made, const char *const *scripts);

#endif
