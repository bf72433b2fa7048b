/* SPDX-License-Identifier: BSD-3-Clause */
/* The dips of d(m) of one series, and the period that they show; the idea is at the head
 * of dpd_dips.c. */
#ifndef TSN_DPD_DIPS_H
#define TSN_DPD_DIPS_H

#include <stdbool.h>
#include <tsanom/base.h>

#include "core/arena.h"

/* The whitened series and its autocorrelation rho. */
typedef struct {
  const tsanom_exec *exec;
  size_t n;                  /* length of the whitened series */
  size_t max_period, delays; /* longest period tested; delays of rho, from 1 */
  double *padded;            /* zeros, the whitened series, zeros */
  double *e;                 /* the whitened series */
  double *rho;               /* [0, delays], then up to a whole tile */
  double *sum;               /* sum[m] = rho(0) + ... + rho(m-1) */
  double norm;               /* sum of e^2 */
} tsn_dips;

/* What the dips show. */
typedef struct {
  size_t period, candidate;
  double dip, score, probability, consistency;
} tsn_dips_choice;

enum { TSN_DIPS_PERIODS_NEEDED = 4 /* of a period, in the series */ };

/* Take the buffers for series of up to n samples and periods up to max_period. */
void tsn_dips_layout(tsn_arena *arena, size_t n, size_t max_period, tsn_dips *dips);

/* Compute rho of the series. TSANOM_INFEASIBLE: nothing is left after whitening. */
tsanom_status tsn_dips_correlate(tsn_dips *dips, const double *x, size_t n,
                                 size_t max_period);

/* The period, if noise shows such a score at one of the tested periods, from `least` on,
 * with at most the chance `significance`. */
tsn_dips_choice tsn_dips_choose(const tsn_dips *dips, size_t least, double significance);

#endif
