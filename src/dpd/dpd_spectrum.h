/* SPDX-License-Identifier: BSD-3-Clause */
/* Discrete Fourier transforms of a series of any length n, and its autocorrelation, in
 * O(n log n). */
#ifndef TSN_DPD_SPECTRUM_H
#define TSN_DPD_SPECTRUM_H

#include <stddef.h>

#include "core/arena.h"

typedef struct {
  double re, im;
} tsn_complex;

typedef struct {
  size_t n, padded;    /* padded: a power of two, at least 2 n */
  tsn_complex *turn;   /* exp(-2 pi i k / padded), k < padded / 2 */
  tsn_complex *chirp;  /* exp(-pi i k^2 / n), k < n */
  tsn_complex *kernel; /* transform of the inverse chirp, padded */
  tsn_complex *work;   /* padded */
} tsn_spectrum;

/* Take the buffers for series of n samples, at least 1. */
void tsn_spectrum_layout(tsn_arena *arena, size_t n, tsn_spectrum *spectrum);

/* Compute the tables, once after the layout. */
void tsn_spectrum_prepare(tsn_spectrum *spectrum);

/* Prepare for series of n samples, at most those of the layout. */
void tsn_spectrum_resize(tsn_spectrum *spectrum, size_t n);

/* line[k] = sum_t x[t] exp(-2 pi i k t / n) for k <= n / 2. */
void tsn_spectrum_forward(tsn_spectrum *spectrum, const double *x, tsn_complex *line);

/* The series that has these lines. */
void tsn_spectrum_inverse(tsn_spectrum *spectrum, const tsn_complex *line, double *x);

/* product[m] = sum_t x[t] x[t-m] for m < n. */
void tsn_spectrum_products(tsn_spectrum *spectrum, const double *x, double *product);

#endif
