/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs that never happened, of known kinds. */
#ifndef TSANOM_TEST_HSA_SYNTHETIC_H
#define TSANOM_TEST_HSA_SYNTHETIC_H

#include <tsanom/hsa.h>

/* What a synthetic run does. */
typedef struct {
  size_t threads, beats; /* beats of a thread in a complete run */
  double period;         /* seconds between two beats, on average */
  double noise;          /* of a single period: standard deviation, relative */
  double speed_spread;   /* of the whole run's speed: standard deviation, relative */
  double phase_depth;    /* how deeply the rate swings with the program's phases */
  double leak;           /* how much longer periods are at the end, relative */
  double shutdown_at;    /* share of the beats after which all stops; 0: never */
} synthetic_kind;

/* A plain kind: steady, 2 threads, 1000 beats, a little noise. */
synthetic_kind synthetic_steady(void);

/* Make a run; synthetic_free() takes it back. */
tsanom_hsa_run synthetic_run(const synthetic_kind *kind, uint64_t *seed);
void synthetic_free(tsanom_hsa_run *run);

/* A standard normal variate. */
double synthetic_gauss(uint64_t *seed);

#endif
