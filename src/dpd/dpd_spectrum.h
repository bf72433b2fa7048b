/* SPDX-License-Identifier: BSD-3-Clause */
/* Discrete Fourier transforms of a series of any length n, and its autocorrelation, in
 * O(n log n). */
#ifndef TSN_DPD_SPECTRUM_H
#define TSN_DPD_SPECTRUM_H

#include "core/arena.h"
#include "dpd/dpd_spectrum_kernel.h"

typedef struct {
  double re, im;
} tsn_complex;

typedef struct {
  const tsn_dpd_spectrum_kernels *kernels;
  size_t n;            /* of the series prepared for; 0: none */
  size_t values;       /* complex ones of a series: n / 2 if n is even, else n */
  size_t padded;       /* a power of two, at least 2 values */
  size_t most;         /* the power of two of the longest series: at least its length */
  tsn_parts turn;      /* of the kernels */
  tsn_complex *twist;  /* exp(-pi i k / 2 most), k <= most */
  tsn_complex *circle; /* exp(-pi i k / values), k < 2 values */
  tsn_parts filter;    /* transform of the inverse chirp, over padded */
  tsn_parts work;
} tsn_spectrum;

/* Take the buffers for series of at most n samples, at least 1. */
void tsn_spectrum_layout(tsn_arena *arena, size_t n, tsn_spectrum *spectrum);

/* Prepare for series of n samples, at most those of the layout. Costs nothing if it has
 * just been prepared for n; the first call must be after the memory was cleared of other
 * uses, with spectrum->n = 0. */
void tsn_spectrum_prepare(tsn_spectrum *spectrum, size_t n);

/* line[k] = sum_t x[t] exp(-2 pi i k t / n) for k <= n / 2. */
void tsn_spectrum_forward(tsn_spectrum *spectrum, const double *x, tsn_complex *line);

/* The series that has these lines. */
void tsn_spectrum_inverse(tsn_spectrum *spectrum, const tsn_complex *line, double *x);

/* product[m] = sum_t x[t] x[t-m] for m < n. */
void tsn_spectrum_products(tsn_spectrum *spectrum, const double *x, double *product);

#endif
