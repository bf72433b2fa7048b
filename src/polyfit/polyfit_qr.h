/* SPDX-License-Identifier: BSD-3-Clause */
/* Householder QR of the weighted design matrix, by blocks of rows. */
#ifndef TSN_POLYFIT_QR_H
#define TSN_POLYFIT_QR_H

#include "polyfit/polyfit_kernel.h"

/* What the passes of a fit read. */
typedef struct {
  const tsanom_exec *exec;
  const tsn_polyfit_kernels *kernels;
  const tsn_polyfit_dd_kernels *dd_kernels;
  tsn_polyfit_samples samples;
  tsn_polyfit_map map;
} tsn_polyfit_passes;

/* Doubles of scratch that tsn_polyfit_qr() needs; bounded for every n. */
size_t tsn_polyfit_qr_scratch(size_t n, size_t terms, int threads);

/* R (terms x terms, by columns) and z = Q^T y of all samples. `done` and `total`: for the
 * poll. */
tsanom_status tsn_polyfit_qr(const tsn_polyfit_passes *passes, uint64_t done,
                             uint64_t total, int terms, double *scratch, double *r,
                             double *z);

#endif
