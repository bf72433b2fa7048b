/* SPDX-License-Identifier: BSD-3-Clause */
/* Algebra of upper triangles of at most 64 columns, stored by columns. With A the
 * weighted design matrix, A = Q R and A^T A = R^T R, everything after the sums follows
 * from R and R^-1:
 *
 *     c = R^-1 z                  z = R^-T A^T y                     coefficients
 *     var(c_k) = sigma^2 ||row k of R^-1||^2                         standard errors
 *     condition = ||R D||_F ||(R D)^-1||_F                           choice of the method
 *
 * R^-1 is computed once, in O(terms^3), here from the R of a QR or of a stream, by
 * polyfit_factor.h from the sums of a fit. It is then applied in O(terms^2) for each
 * right-hand side; the standard errors need it in any case. Refinement corrects its
 * rounding errors. Column-oriented loops of this size cost less than a call of BLAS. */
#include "polyfit/polyfit_algebra.h"

#include <math.h>
#include <stddef.h>

#define FACTOR_PART double
#define FACTOR_WIDTH 1
#include "polyfit/polyfit_factor.h"

/* The operations of factor_rows() for two terms: the coefficients of 4 samples take 102
 * ns instead of 114 (Zen 5, AVX-512), as long as by the bare normal equations of Eigen. */
static int factor_two(const double *sums, double least, int ld, double *inverse,
                      double *z) {
  double *second = inverse + ld, diagonal = (sums[2] + sums[0]) / 2;
  double reciprocal = 1 / sums[0], root = sqrt(sums[0]) * reciprocal;
  double multiple = sums[1] * reciprocal;
  double pivot = diagonal - multiple * sums[1];
  if (!(sums[0] > least * sums[0] && pivot > least * diagonal)) return 0;
  double last_reciprocal = 1 / pivot, last_root = sqrt(pivot) * last_reciprocal;
  inverse[0] = root;
  second[0] = (0 - multiple) * last_root;
  second[1] = last_root;
  z[0] = sums[3] * root;
  z[1] = (sums[4] - multiple * sums[3]) * last_root;
  return 1;
}

int tsn_polyfit_factor_few(const double *sums, int terms, double least, int ld,
                           double *rows, double *inverse, double *z) {
  if (terms == 2) return factor_two(sums, least, ld, inverse, z);
  return factor_rows(sums, terms, least, ld, rows, inverse, z);
}

static inline const double *column_of(const double *matrix, int ld, int column) {
  return matrix + (ptrdiff_t)column * ld;
}

/* In one order at every level: this file is not compiled per level. */
static double dot(const double *a, const double *b, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += a[i] * b[i];
  return sum;
}

void tsn_polyfit_invert(const double *r, int terms, double *inverse, double *norms) {
  for (int k = 0; k < terms; k++) {
    double *column = inverse + (ptrdiff_t)k * terms;
    norms[k] = dot(column_of(r, terms, k), column_of(r, terms, k), k + 1);
    for (int i = 0; i < k; i++) column[i] = 0;
    column[k] = 1 / r[k + (ptrdiff_t)k * terms];
    /* Rows above: R^-1 e_k by back substitution; the diagonal of the inverse
     * holds the reciprocals. */
    for (int j = k; j > 0; j--) {
      const double *r_column = column_of(r, terms, j);
      for (int i = 0; i < j; i++) column[i] -= r_column[i] * column[j];
      column[j - 1] *= inverse[(j - 1) + (ptrdiff_t)(j - 1) * terms];
    }
  }
}

void tsn_polyfit_apply_transposed(const double *inverse, int ld, int count,
                                  const double *in, double *out) {
  for (int k = 0; k < count; k++) out[k] = dot(column_of(inverse, ld, k), in, k + 1);
}

void tsn_polyfit_apply(const double *inverse, int ld, int count, const double *in,
                       double *out) {
  for (int i = 0; i < count; i++) {
    double sum = 0;
    for (int k = i; k < count; k++) sum += column_of(inverse, ld, k)[i] * in[k];
    out[i] = sum;
  }
}

/* With D scaling the columns of R to unit norm, the rows of (R D)^-1 are those of R^-1
 * times the norms: ||R D||_F = sqrt(count), and ||(R D)^-1||_F^2 = sum_k ||column k||^2
 * ||row k of R^-1||^2. Equilibration removes what the choice of units of the columns adds
 * to the condition number, which does not affect the accuracy. */
double tsn_polyfit_condition(const double *norms, const double *inverse, int ld,
                             int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) {
    double row = 0;
    for (int k = i; k < count; k++) {
      row += column_of(inverse, ld, k)[i] * column_of(inverse, ld, k)[i];
    }
    sum += norms[i] * row;
  }
  return sqrt((double)count * sum);
}

/* |r_kk| is the norm of the part of column k that is orthogonal to all lower ones. The
 * comparison is false for a NaN. */
int tsn_polyfit_count_determined(const double *r, int terms, double tolerance) {
  for (int k = 0; k < terms; k++) {
    const double *column = column_of(r, terms, k);
    if (!(fabs(column[k]) > tolerance * sqrt(dot(column, column, k + 1)))) return k;
  }
  return terms;
}
