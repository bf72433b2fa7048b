/* SPDX-License-Identifier: BSD-3-Clause */
/* The normal equations, for a file that defines FACTOR_PART, a part of a row, and
 * FACTOR_WIDTH, the number of its doubles. With the Gram matrix G = R^T R, elimination
 * without pivoting turns
 *
 *     [ G | I | b ]   into   [ D U | L^-1 | L^-1 b ],   R = D^(1/2) U,  L = U^T
 *
 * and a division of row k by sqrt(D_k) turns its last two parts into column k of R^-1 and
 * entry k of z = R^-T b. So there is no back substitution, and the only chain of
 * dependent operations has a division, two products and a difference for each row; the
 * square roots are not in it. The parts of a row are vectors, all of which are updated
 * alike:
 *
 *     row i  -=  (G_ki / D_k) row k        for k < i
 *
 * Up to degree 7 each part is one vector of AVX-512. Every entry is the result of the
 * same operations at every level. */
#ifndef TSN_POLYFIT_FACTOR_H
#define TSN_POLYFIT_FACTOR_H

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "polyfit/polyfit_kernel.h"

typedef FACTOR_PART factor_part;

/* Entries from that of the diagonal on; others of the same part are of no use.
 * T_i T_j = (T_{i+j} + T_{|i-j|}) / 2: row i is the mean of two windows of the sums. */
static inline void gram_rows(const double *sums, int terms, int ld, double *rows) {
  double padded[FACTOR_WIDTH + TSN_POLYFIT_MAX_SUMS], *from = padded + FACTOR_WIDTH;
  int powers = 2 * terms - 1;
  for (int k = 0; k < FACTOR_WIDTH; k++) from[-k] = from[powers + k] = 0;
  memcpy(from, sums, (size_t)powers * sizeof *from);
  for (int i = 0; i < terms; i++) {
    for (int j = i - i % FACTOR_WIDTH; j < terms; j += FACTOR_WIDTH) {
      factor_part later = *(factor_part *)(from + i + j);
      factor_part earlier = *(factor_part *)(from + j - i);
      *(factor_part *)(rows + (ptrdiff_t)i * ld + j) = (later + earlier) / 2;
    }
  }
}

static inline void identity_rows(int terms, int ld, double *rows) {
  static const double one[2 * TSN_POLYFIT_ROW] = {[TSN_POLYFIT_ROW] = 1};
  const double *zero = one;
  for (int i = 0; i < terms; i++) {
    for (int j = 0; j <= i; j += FACTOR_WIDTH) {
      const double *from = j + FACTOR_WIDTH <= i ? zero : one + TSN_POLYFIT_ROW - (i - j);
      *(factor_part *)(rows + (ptrdiff_t)i * ld + j) = *(const factor_part *)from;
    }
  }
}

/* Columns begin ... end-1, and the others of their parts. */
static inline void subtract_row(double *restrict row, const double *restrict other,
                                double multiple, int begin, int end) {
  for (int j = begin; j < end; j += FACTOR_WIDTH) {
    *(factor_part *)(row + j) -= multiple * *(const factor_part *)(other + j);
  }
}

/* As tsn_polyfit_kernels.factor. A square root does not wait for the division. */
static inline int factor_rows(const double *sums, int terms, double least, int ld,
                              double *rows, double *inverse, double *z) {
  gram_rows(sums, terms, ld, rows);
  identity_rows(terms, ld, inverse);
  for (int k = 0; k < terms; k++) z[k] = sums[2 * terms - 1 + k];
  for (int k = 0; k < terms; k++) {
    const double *row = rows + (ptrdiff_t)k * ld;
    double *column = inverse + (ptrdiff_t)k * ld;
    if (!(row[k] > least * ((sums[2 * k] + sums[0]) / 2))) return 0;
    double reciprocal = 1 / row[k], root = sqrt(row[k]) * reciprocal;
    for (int i = k + 1; i < terms; i++) {
      double multiple = row[i] * reciprocal;
      subtract_row(rows + (ptrdiff_t)i * ld, row, multiple, i - i % FACTOR_WIDTH, terms);
      subtract_row(inverse + (ptrdiff_t)i * ld, column, multiple, 0, k + 1);
      z[i] -= multiple * z[k];
    }
    for (int j = 0; j <= k; j += FACTOR_WIDTH) *(factor_part *)(column + j) *= root;
    z[k] *= root;
  }
  return 1;
}

#endif
