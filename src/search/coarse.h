/* SPDX-License-Identifier: BSD-3-Clause */
/* A lower bound of DTW in integers of 16 bits, of a batch of up to 32 candidates at once: the last
 * bound before DTW itself. distances.c derives it; first what its loops in coarse_kernel.c
 * take. */
#ifndef TSN_SEARCH_COARSE_H
#define TSN_SEARCH_COARSE_H

#include "search/search_internal.h"

enum {
  TSN_COARSE_LANES = 32,    /* series, whatever the level: a register at level v4 */
  TSN_COARSE_PLACED = 8,    /* series that are transposed together */
  TSN_COARSE_LARGEST = 4095 /* cost of a cell */
};

/* Integers of samples are rounded down from (sample - low) * scale, and are from 0 to
 * `top`. Costs are |x - y|, or (x - y)^2 / 2^16 rounded down: at most TSN_COARSE_LARGEST
 * with these values of `top`. */
typedef struct {
  double low, scale;
  int32_t top;
} tsn_coarse_grid;

enum { TSN_COARSE_TOP_ABSOLUTE = 4095, TSN_COARSE_TOP_SQUARED = 16383 };

/* The matrix of the query (rows) and 32 series (columns); arrays marked [lanes] hold 32
 * integers for each element. */
typedef struct {
  const int16_t *query;
  const int16_t *columns; /* [lanes], n */
  int16_t *row;     /* [lanes], n: cells of the row above, INT16_MAX outside the window */
  int32_t *base;    /* [lanes], 1: what was subtracted from the cells of the row */
  size_t n, radius; /* radius < n */
} tsn_coarse_matrix;

typedef struct {
  void (*round)(const double *x, size_t n, const tsn_coarse_grid *grid, int16_t *to);
  /* Columns of 8 lanes from 8 rows of `padded` integers, a multiple of 8. */
  void (*transpose)(const int16_t *rows, size_t padded, int16_t *columns);
  /* Compute rows begin <= i < end, at most 8, and move the least cell of the last one
   * from the row to `base`. */
  void (*rows[2])(const tsn_coarse_matrix *m, size_t begin, size_t end); /* by cost */
} tsn_coarse_kernels;

TSN_KERNEL_TABLE(tsn_coarse_kernels);

/* Whether the bound of each candidate of a batch exceeds the cut-off, by more than all
 * rounding; none if there is no cut-off, or if the samples do not suit the grid. False:
 * the poll asked to stop, and `removed` is not set. */
bool tsn_search_coarse(const tsn_search_pairs *p, const tsn_search_batch *batch,
                       const tsn_search_work *work, bool *removed);

#endif
