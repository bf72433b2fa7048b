/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops over points in blocks of 8, one lane each: coordinate c of point j is
 * blocks[(j / 8 * dimensions + c) * 8 + j % 8]. */
#ifndef TSN_OPTICS_KERNEL_H
#define TSN_OPTICS_KERNEL_H

#include <stddef.h>

#include "core/isa.h"
#include "optics/tree.h"

enum { TSN_OPTICS_LANES = 8 };

/* Raw distances, before the root of the Euclidean, from a query to all lanes of
 * `count` blocks. */
typedef void tsn_optics_row(const double *blocks, size_t count, size_t dimensions,
                            const double *query, double *distance);

/* The first `room` points of a tree by (max(core, distance), number) within eps of a
 * query, sorted so; returns how many there are. */
typedef size_t tsn_optics_nearest(const tsn_optics_tree *tree, const double *query,
                                  double core, double eps, size_t room, double *key,
                                  uint32_t *number);

typedef struct {
  tsn_optics_row *row[3]; /* by metric */
  /* Take roots in place. */
  void (*root)(double *values, size_t count);
  /* The smallest of count >= 1 values, none a NaN. */
  double (*minimum)(const double *values, size_t count);
  tsn_optics_nearest *nearest[3]; /* by metric */
} tsn_optics_kernels;

TSN_KERNEL_TABLE(tsn_optics_kernels);

#endif
