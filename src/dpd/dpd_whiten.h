/* SPDX-License-Identifier: BSD-3-Clause */
/* A series without its slow part, and with a flat spectrum. */
#ifndef TSN_DPD_WHITEN_H
#define TSN_DPD_WHITEN_H

#include <stdbool.h>

#include "dpd/dpd_spectrum.h"

enum {
  TSN_WHITEN_SLOW = 3,   /* cosines of up to 1.5 waves that are subtracted */
  TSN_WHITEN_LOWEST = 3, /* lines below this one are part of them */
  TSN_WHITEN_TERMS = 3   /* of the background */
};

typedef struct {
  tsn_spectrum spectrum;
  tsn_complex *line;                /* of the whitened series, n / 2 + 1 */
  double (*term)[TSN_WHITEN_TERMS]; /* of the background at each line */
  double *logarithm, *weight;       /* of the power; in the fit */
} tsn_whitening;

void tsn_whitening_layout(tsn_arena *arena, size_t n, tsn_whitening *whitening);

/* Subtract the slow part from x and store the whitened series in e. Returns false if
 * nothing is left of x. */
bool tsn_whiten(tsn_whitening *whitening, double *x, double *e);

#endif
