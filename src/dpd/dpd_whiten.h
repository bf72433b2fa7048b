/* SPDX-License-Identifier: BSD-3-Clause */
/* A series without its slow part, and with a flat spectrum. */
#ifndef TSN_DPD_WHITEN_H
#define TSN_DPD_WHITEN_H

#include <stdbool.h>

#include "dpd/dpd_spectrum.h"

enum { TSN_WHITEN_LOWEST = 3 }; /* lines below this one are part of the slow part */

typedef struct {
  size_t n; /* of the series prepared for; 0: none */
  tsn_spectrum spectrum;
  double *cosine;       /* pi (t + 1/2) / n */
  double *line_rest;    /* of a straight line, without these cosines */
  double line_square;   /* sum of the squares of it */
  tsn_complex *line;    /* of the whitened series, n / 2 + 1 */
  double *slope, *wave; /* terms of the background at each line */
  double *logarithm;    /* of the power */
  double *used;         /* 1 in the fit, else 0 */
} tsn_whitening;

void tsn_whitening_layout(tsn_arena *arena, size_t n, tsn_whitening *whitening);

/* Prepare for series of n samples, at most those of the layout. What was prepared for the
 * same n stays. */
void tsn_whitening_prepare(tsn_whitening *whitening, size_t n);

/* Subtract the slow part from x and store the whitened series in e. Returns false if
 * nothing is left of x. */
bool tsn_whiten(tsn_whitening *whitening, double *x, double *e);

#endif
