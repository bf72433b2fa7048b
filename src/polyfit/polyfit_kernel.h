/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops over samples. Sample i of a block belongs to lane i mod TSN_POLYFIT_LANES at
 * every instruction-set level, and the lanes are added in one order, so that all levels
 * return the same bits:
 *
 *   sample   0  1 ... 15 | 16 17 ... 31 | 32 ...
 *   lane     0  1 ... 15 |  0  1 ... 15 |  0 ...
 *   total    a_l = lane l + lane l+8, then b_l = a_l + a_{l+4}, ... */
#ifndef TSN_POLYFIT_KERNEL_H
#define TSN_POLYFIT_KERNEL_H

#include <stddef.h>

#include "core/isa.h"
#include "core/size.h"
#include "polyfit/dd.h"

enum {
  TSN_POLYFIT_LANES = 16,
  TSN_POLYFIT_MAX_TERMS = 64,
  TSN_POLYFIT_MAX_SUMS = 3 * TSN_POLYFIT_MAX_TERMS, /* of the moments */
  TSN_POLYFIT_ROW = 8 /* doubles: rows of factor() are multiples of it */
};

/* Scaling of the samples to magnitudes near 1, so that no sum overflows. The units are
 * powers of two, so that scaling is exact. */
typedef struct {
  int x_exponent, y_exponent, weight_exponent; /* x 2^x_exponent is at most 1;
                                                  that of the weights is even */
  double x_unit, y_unit, weight_unit;          /* 2^exponent */
  double center, scale;                        /* t = (x x_unit - center) scale */
} tsn_polyfit_map;

/* Consecutive samples; weights NULL: all 1. */
typedef struct {
  const double *x, *y, *weights;
  size_t n;
} tsn_polyfit_samples;

/* `count` samples from index `begin`. */
static inline tsn_polyfit_samples tsn_polyfit_part(const tsn_polyfit_samples *all,
                                                   size_t begin, size_t count) {
  return (tsn_polyfit_samples){.x = all->x + begin,
                               .y = all->y + begin,
                               .weights = all->weights ? all->weights + begin : NULL,
                               .n = count};
}

typedef struct {
  double low, high; /* of the values that are not NaN */
  int finite;       /* whether all values are finite */
} tsn_polyfit_range;

/* Sums of the residual loops, after the gradient. */
enum {
  TSN_POLYFIT_RSS,       /* w r^2 */
  TSN_POLYFIT_DEVIATION, /* w (y - mean) */
  TSN_POLYFIT_SQUARE,    /* w (y - mean)^2 */
  TSN_POLYFIT_RESIDUAL_SUMS
};

/* Scratch of moments() and refine(): their sums in all lanes, up to 49 KB, which would be much for
 * a stack; after them, of the statistics of a model, which need less. A thread's piece of
 * tsn_polyfit_lanes() doubles begins at a multiple of the widest vector. */
enum { TSN_POLYFIT_ALIGNMENT = 64 };

static inline size_t tsn_polyfit_lanes(size_t terms) {
  size_t moments = 3 * terms, refine = 2 * terms + TSN_POLYFIT_RESIDUAL_SUMS + 1;
  return 2 * TSN_POLYFIT_LANES * tsn_larger(moments, refine);
}

/* Doubles of the rows of to_monomials(). */
static inline size_t tsn_polyfit_rows(size_t terms) {
  return 8 * (TSN_POLYFIT_ROW + tsn_round_up(terms, TSN_POLYFIT_ROW));
}

/* The sums of a block in double, in the half of a piece that moments() in double does not use. */
static inline double *tsn_polyfit_plain_sums(double *lanes, int terms) {
  return lanes + (ptrdiff_t)TSN_POLYFIT_LANES * 3 * terms;
}

/* Doubles for the pieces of several threads, at any address. */
static inline size_t tsn_polyfit_lanes_of(size_t threads, size_t terms) {
  return threads * tsn_polyfit_lanes(terms) + TSN_POLYFIT_ALIGNMENT / sizeof(double);
}

/* The first piece in such a block. */
static inline double *tsn_polyfit_lanes_in(double *block) {
  uintptr_t at = (uintptr_t)block;
  return block + (tsn_round_up(at, TSN_POLYFIT_ALIGNMENT) - at) / sizeof *block;
}

/* In double arithmetic; w, t and y are in mapped units. */
typedef struct {
  void (*find_range)(const double *values, size_t n, tsn_polyfit_range *range);
  /* sums[k] = sum w T_k(t) for k < 2 terms - 1, then sum w T_k(t) y for
   * k < terms, then sum w y^2. */
  void (*moments)(const tsn_polyfit_map *map, const tsn_polyfit_samples *samples,
                  int terms, double *scratch, double *sums);
  /* The sums named above, r = y - sum c_k T_k(t). */
  void (*residual)(const tsn_polyfit_map *map, const tsn_polyfit_samples *samples,
                   int terms, const double *c, double mean, double *sums);
  /* The inverse of the Cholesky triangle R of the Gram matrix, from the sums of the
   * moments, and z = R^-T right: columns of leading dimension `ld`, `terms` rounded up to
   * TSN_POLYFIT_ROW; rows: scratch of the same size. Returns 0 if a pivot is below
   * `least` of its diagonal. */
  int (*factor)(const double *sums, int terms, double least, int ld, double *rows,
                double *inverse, double *z);
  /* Rows of the design matrix, by columns of leading dimension ld:
   * sqrt(w) T_k(t), and sqrt(w) y as the last column. */
  void (*fill)(const tsn_polyfit_map *map, const tsn_polyfit_samples *samples, int terms,
               double *a, size_t ld);
  /* values = sum c_k T_k(t), slopes = its derivative by x; either may be NULL. */
  void (*evaluate)(const tsn_polyfit_map *map, int terms, const double *c,
                   const double *x, size_t n, double *values, double *slopes);
} tsn_polyfit_kernels;

TSN_KERNEL_TABLE(tsn_polyfit_kernels);

/* In double-double arithmetic. */
typedef struct {
  /* sums[k] = sum w T_k(t) r for k < terms, then the residual sums. */
  void (*refine)(const tsn_polyfit_map *map, const tsn_polyfit_samples *samples,
                 int terms, const tsn_dd *c, double mean, double *scratch, tsn_dd *sums);
  /* As moments above. */
  void (*moments)(const tsn_polyfit_map *map, const tsn_polyfit_samples *samples,
                  int terms, double *scratch, tsn_dd *sums);
  /* matrix[k·terms + j] = coefficient of u^j in T_k(t), where u = x·x_unit;
   * monomial[j] = sum over k of c[k] matrix[k·terms + j]. Every c[k] is 0 or from 2^-600
   * to 1, so that no product underflows. matrix: as much as a row more;
   * rows: scratch of tsn_polyfit_rows() doubles, aligned as that of refine(). */
  void (*to_monomials)(const tsn_polyfit_map *map, int terms, const tsn_dd *c,
                       double *rows, tsn_dd *monomial, double *matrix);
  /* variances[j] = sum over k of (sum over i <= k of matrix[i·terms + j] inverse[k·ld + i])^2:
   * of the monomials for a residual variance of 1; a multiple of a row, aligned. */
  void (*monomial_variances)(const double *inverse, int ld, const double *matrix,
                             int terms, double *variances);
} tsn_polyfit_dd_kernels;

TSN_KERNEL_TABLE(tsn_polyfit_dd_kernels);

#endif
