/* SPDX-License-Identifier: BSD-3-Clause */
/* The butterflies of the transforms in dpd_find.c, per ISA level. */
#ifndef TSN_DPD_SPECTRUM_KERNEL_H
#define TSN_DPD_SPECTRUM_KERNEL_H

#include <stddef.h>

#include "core/isa.h"

/* Real and imaginary parts apart, so that a vector has one kind. */
typedef struct {
  double *re, *im;
} tsn_parts;

/* Transforms in place, of `count` elements, a power of two, at least
 * TSN_SPECTRUM_LEAST. turn[half + k] = exp(-pi i k / half) for k < half, half a power of
 * two below `count`. */
typedef struct {
  /* X[k] = sum_t x[t] exp(-2 pi i k t / count), in the order of reversed bits. */
  void (*forward)(tsn_parts x, tsn_parts turn, size_t count);
  /* The inverse, times count: from the order of reversed bits. */
  void (*backward)(tsn_parts x, tsn_parts turn, size_t count);
} tsn_dpd_spectrum_kernels;

enum { TSN_SPECTRUM_LEAST = 8 };

TSN_KERNEL_TABLE(tsn_dpd_spectrum_kernels);

#endif
