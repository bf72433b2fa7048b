/* SPDX-License-Identifier: BSD-3-Clause */
/* The period of a series, without the checks of tsanom_dpd_find(). */
#ifndef TSN_DPD_FIND_H
#define TSN_DPD_FIND_H

#include <tsanom/dpd.h>

#include "dpd/dpd_whiten.h"

/* The whitened series and its autocorrelation rho. */
typedef struct {
  size_t n;
  tsn_whitening whitening;
  double *e;   /* the whitened series */
  double *rho; /* at delay m < n */
  double *sum; /* sum[m] = rho(0) + ... + rho(m-1) */
} tsn_dips;

enum {
  TSN_DIPS_PERIODS_NEEDED = 4, /* of a period, in the series */
  TSN_DIPS_LEAST_PERIOD = 2
};

/* A search: its input, its buffers and its result. What it prepares for a number of
 * samples stays for the next one. */
typedef struct {
  const double *x;
  size_t n; /* at least TSN_FIND_LEAST */
  const tsanom_exec *exec;
  double significance;
  size_t max_period; /* at most n / TSN_DIPS_PERIODS_NEEDED */
  double *value;     /* the scaled series, later without its slow part */
  tsn_dips dips;
  tsanom_dpd_found found;
} tsn_find;

enum { TSN_FIND_LEAST = 8 };

/* Take the buffers for at most n samples. */
void tsn_find_layout(tsn_arena *arena, size_t n, tsn_find *find);

/* TSANOM_STOPPED if the caller is polled and stops it. */
tsanom_status tsn_find_run(tsn_find *find);

#endif
