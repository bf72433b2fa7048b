/* SPDX-License-Identifier: BSD-3-Clause */
/* The dips of d(m) of one series, and the period that they show; the idea is at the head
 * of dpd_dips.c. */
#ifndef TSN_DPD_DIPS_H
#define TSN_DPD_DIPS_H

#include <stdbool.h>

#include "core/arena.h"
#include "dpd/dpd_whiten.h"

/* The whitened series and its autocorrelation rho. */
typedef struct {
  size_t n;
  tsn_whitening whitening;
  double *e;   /* the whitened series */
  double *rho; /* at delay m < n */
  double *sum; /* sum[m] = rho(0) + ... + rho(m-1) */
} tsn_dips;

/* What the dips show. */
typedef struct {
  size_t candidate;
  double dip, score;
  double probability; /* that noise has such dips */
  double variation;   /* of the length of a period, relative */
} tsn_dips_choice;

enum {
  TSN_DIPS_PERIODS_NEEDED = 4, /* of a period, in the series */
  TSN_DIPS_LEAST_PERIOD = 2
};

/* Take the buffers for series of at most n samples; `kernels` of its spectrum is set by the
 * caller. */
void tsn_dips_layout(tsn_arena *arena, size_t n, tsn_dips *dips);

/* Subtract the slow part from the n samples of x, and compute rho of the rest, whitened.
 * False: nothing is left. Tables of the last call are used again if n is the same. */
bool tsn_dips_correlate(tsn_dips *dips, size_t n, double *x);

/* The period of the highest score. */
tsn_dips_choice tsn_dips_choose(const tsn_dips *dips, size_t max_period);

/* The period of which p is a part; it may be longer than those that are searched. */
size_t tsn_dips_fundamental(const tsn_dips *dips, size_t p);

/* The cycle whose first dip is the deepest, and the variation of its length. */
size_t tsn_dips_cycle(const tsn_dips *dips, size_t max_period, double *variation);

/* The chance that noise of a smooth spectrum has such lines at the multiples of 1/p, p
 * exact. 0: the series has too few periods. */
double tsn_dips_lines(tsn_dips *dips, size_t p);

#endif
