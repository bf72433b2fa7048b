/* SPDX-License-Identifier: BSD-3-Clause */
/* Householder QR of the weighted design matrix, by blocks of rows. */
#ifndef TSN_POLYFIT_QR_H
#define TSN_POLYFIT_QR_H

#include "polyfit/polyfit_passes.h"

/* Doubles of scratch that tsn_polyfit_qr() needs; bounded for every n. */
size_t tsn_polyfit_qr_scratch(size_t n, size_t terms, int threads);

/* R (terms x terms, by columns) and z = Q^T y of all samples. */
tsanom_status tsn_polyfit_qr(tsn_polyfit_passes *passes, int terms, double *scratch,
                             double *r, double *z);

#endif
