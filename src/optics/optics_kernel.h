/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops over points in blocks of 8, one vector lane each: coordinate c of point j is
 * blocks[(j / 8 * dimensions + c) * 8 + j % 8]. Sums run over coordinates within a lane,
 * so that every instruction set rounds alike: a sum within a point's row would be split
 * into one partial sum for each lane of a register.
 *
 *     block 0:  x0 x1 ... x7 | y0 y1 ... y7 | z0 ... z7     block 1:  x8 ... x15 | ... */
#ifndef TSN_OPTICS_KERNEL_H
#define TSN_OPTICS_KERNEL_H

#include <stddef.h>

#include "core/isa.h"
#include "optics/tree.h"

/* Points whose distances are computed together: with two registers of other points, 8 sums
 * in registers at every level. */
enum { TSN_OPTICS_QUERIES = 4 };

/* Raw distances, before the root of the Euclidean, from a query to all lanes of
 * `count` blocks. */
typedef void tsn_optics_row(const double *blocks, size_t count, size_t dimensions,
                            const double *query, double *distance);

/* The same for TSN_OPTICS_QUERIES queries at once: coordinate c of query q is
 * queries[c * TSN_OPTICS_QUERIES + q], its distances start at q * stride. */
typedef void tsn_optics_rows(const double *blocks, size_t count, size_t dimensions,
                             const double *queries, double *distance, size_t stride);

/* The first `capacity` points of a tree within eps of a query by
 * (max(core, distance), index), sorted, and their places; returns their number. If it is
 * less than the capacity, no point of the tree has a distance from eps to `beyond`, which
 * is INFINITY if there are no others. */
typedef size_t tsn_optics_nearest(const tsn_optics_tree *tree, const double *query,
                                  double core, double eps, size_t capacity, double *key,
                                  uint32_t *number, uint32_t *place, double *beyond);

/* A raw distance such that larger ones belong to distances above `distance`, with a
 * margin for rounding and for squares too small to be normal. Squares are compared with
 * it before a root is taken; the margin only lets some roots through that were not
 * needed, and the distance itself decides. */
static inline double tsn_optics_raw_limit(double distance, int is_squared) {
  return is_squared ? distance * distance * (1 + 0x1p-50) + 1e-300 : distance;
}

/* The kernels of one instruction set. All levels return the same bits. */
typedef struct {
  tsn_optics_row *row[3];   /* by metric */
  tsn_optics_rows *rows[3]; /* by metric */
  /* The k-th smallest of count >= k values; `nearest` holds k elements. */
  double (*kth_smallest)(const double *values, size_t count, size_t k, double *nearest);
  tsn_optics_nearest *nearest[3]; /* by metric */
} tsn_optics_kernels;

TSN_KERNEL_TABLE(tsn_optics_kernels);

#endif
