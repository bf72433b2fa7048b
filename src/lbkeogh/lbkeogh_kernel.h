/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of the module: the envelope in both precisions, the sums in double. They check
 * nothing and allocate nothing; samples are finite unless stated otherwise. */
#ifndef TSN_LBKEOGH_KERNEL_H
#define TSN_LBKEOGH_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <tsanom/lbkeogh.h>

#include "core/check.h"
#include "core/isa.h"

/* The precision that a file is compiled for. CMake compiles some files of the module
 * twice: as they are, in double, and with -DTSN_F32, in float. The sources use plain
 * names; these lines map each symbol that exists in both precisions to its name with
 * the suffix _f32. */

#ifdef TSN_F32
typedef float real;
#define tsanom_lbkeogh_envelope tsanom_lbkeogh_envelope_f32
#define tsn_all_finite tsn_all_finite_f32
#define tsn_envelope_kernels tsn_envelope_kernels_f32
#define tsn_envelope_kernels_at tsn_envelope_kernels_f32_at
#define tsn_first_nonfinite tsn_first_nonfinite_f32
#else
typedef double real;
#endif

/* Terms of a sum are added in this many lanes at every level, so that every level
 * gives the same bits. */
enum { TSN_LBKEOGH_LANES = 32 };

/* Samples of scratch beyond min(count, 2 radius + 1), which complete a row at either
 * end. */
enum { TSN_ENVELOPE_SLACK = 64 };

/* One table for each precision. */
typedef struct {
  bool (*all_finite)(const real *x, size_t n);
  /* Envelope of x[0 .. n) at positions 0 <= i < count, where count <= n + radius, so that
   * no window is empty. lowest and highest are scratch of min(count, 2 radius + 1) +
   * TSN_ENVELOPE_SLACK each, aligned to a vector. */
  void (*envelope)(const real *x, size_t n, size_t radius, size_t count, real *lowest,
                   real *highest, real *lower, real *upper);
} tsn_envelope_kernels;

#define DECLARE_TABLE(type) TSN_KERNEL_TABLE(type)
DECLARE_TABLE(tsn_envelope_kernels);
#undef DECLARE_TABLE

/* LB_Keogh of n samples against an envelope. A sample that is not finite makes the sum
 * not finite, so a caller checks samples only after such a sum. */
typedef struct {
  double (*bound_absolute)(const double *c, const double *lower, const double *upper,
                           size_t n);
  double (*bound_squared)(const double *c, const double *lower, const double *upper,
                          size_t n);
  /* h_i = c_i clipped to the envelope. */
  void (*clip)(const double *c, const double *lower, const double *upper, size_t n,
               double *h);
} tsn_lbkeogh_kernels;

TSN_KERNEL_TABLE(tsn_lbkeogh_kernels);

#endif
