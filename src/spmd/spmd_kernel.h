/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances from one point to a tile of points, one vector lane each: coordinate d of
 * point j of a tile is tile[(j / 8 * stride + d) * 8 + j % 8]. */
#ifndef TSN_SPMD_KERNEL_H
#define TSN_SPMD_KERNEL_H

#include <stddef.h>

#include "core/isa.h"

enum { TSN_SPMD_LANES = 8, TSN_SPMD_TILE = 64, TSN_SPMD_LEAF = 16 };

/* The kernels of one instruction set. All levels return the same bits. */
typedef struct {
  /* The largest squared distance from a point of `stride` coordinates, a multiple of 8,
   * to the TSN_SPMD_TILE points of a tile. Sums are added in the order of
   * tsn_spmd_square_distance(). */
  double (*farthest)(const double *tile, const double *point, size_t stride);
  /* Which of `count` points, at most TSN_SPMD_LEAF, have a squared distance of at most
   * `limit` from a point of `width` coordinates, as bits: coordinate d of point j is
   * leaf[d * count + j]. All lanes are read. */
  unsigned (*near)(const double *leaf, size_t count, const double *point, size_t width,
                   double limit);
} tsn_spmd_kernels;

TSN_KERNEL_TABLE(tsn_spmd_kernels);

#endif
