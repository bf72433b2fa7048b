/* SPDX-License-Identifier: BSD-3-Clause */
/* Random series with known changes, the same on every machine: samples around a level of 1,
 * normal or not, autocorrelated, with outliers, periodic slow samples, a drift, or steps. */
#ifndef TSANOM_TESTING_CHANGE_SERIES_H
#define TSANOM_TESTING_CHANGE_SERIES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "support/random.h"

/* A standard normal number (G. Box, M. Muller, Ann. Math. Stat. 29 (1958) 610-611). */
static inline double change_normal(uint64_t *state) {
  double radius = sqrt(-2 * log(1 - random_unit(state)));
  return radius * cos(6.283185307179586 * random_unit(state));
}

enum {
  CHANGE_NORMAL,
  CHANGE_EXPONENTIAL,
  CHANGE_LOGNORMAL,
  CHANGE_STUDENT,
  CHANGE_UNIFORM
};

/* Standard normal, exponential, log-normal, Student's t of two degrees, uniform. */
static inline double change_noise(uint64_t *state, int noise) {
  if (noise == CHANGE_EXPONENTIAL) return -log(1 - random_unit(state));
  if (noise == CHANGE_UNIFORM) return random_unit(state);
  double z = change_normal(state);
  if (noise == CHANGE_LOGNORMAL) return exp(z);
  return noise == CHANGE_STUDENT ? z / sqrt(-log(1 - random_unit(state))) : z;
}

typedef struct {
  const char *name;
  int noise;    /* CHANGE_* */
  double share; /* of samples in a second mode, `apart` times the scatter away */
  double apart;
  double phi;     /* correlation of neighbors */
  double scatter; /* standard deviation */
  int outliers;   /* 1: 2 % of the samples are longer, by 0.8 on average */
  int period;     /* of samples that take three times as long; 0: none */
  double drift;   /* from the first to the last sample */
  double step;    /* from sample `at` on */
  size_t at;
} change_kind;

static inline void change_series(uint64_t *state, const change_kind *kind, double *x,
                                 size_t n) {
  double z = change_noise(state, kind->noise), rest = sqrt(1 - kind->phi * kind->phi);
  for (size_t i = 0; i < n; i++) {
    if (i) z = kind->phi * z + rest * change_noise(state, kind->noise);
    x[i] = 1 + kind->scatter * z + kind->drift * (double)i / (double)n;
    if (kind->share > 0 && random_unit(state) < kind->share) {
      x[i] += kind->scatter * kind->apart;
    }
    if (kind->outliers && random_unit(state) < 0.02) {
      x[i] -= 0.8 * log(1 - random_unit(state));
    }
    if (kind->step != 0 && i >= kind->at) x[i] += kind->step;
    if (kind->period && i % (size_t)kind->period == 0) x[i] *= 3;
  }
}

#endif
