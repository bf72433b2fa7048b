/* SPDX-License-Identifier: BSD-3-Clause */
/* Householder QR of the weighted design matrix, by blocks of rows. */
#ifndef TSN_POLYFIT_QR_H
#define TSN_POLYFIT_QR_H

#include "core/arena.h"
#include "polyfit/polyfit_passes.h"

typedef struct {
  double *blocks;    /* per thread: a block of rows, then scratch */
  double *triangles; /* of the blocks of one wave */
  double *stack;     /* the merged triangle, the next one below it, then scratch */
} tsn_polyfit_qr_buffers;

void tsn_polyfit_qr_layout(tsn_arena *arena, size_t n, size_t terms, int threads,
                           tsn_polyfit_qr_buffers *buffers);

/* R (terms x terms, by columns) and z = Q^T y of all samples. */
tsanom_status tsn_polyfit_qr(tsn_polyfit_passes *passes, int terms,
                             const tsn_polyfit_qr_buffers *buffers, double *r, double *z);

#endif
