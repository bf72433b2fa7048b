/* SPDX-License-Identifier: BSD-3-Clause */
/* Small dense algebra on upper triangles, stored by columns. */
#ifndef TSN_POLYFIT_ALGEBRA_H
#define TSN_POLYFIT_ALGEBRA_H

/* The triangle R with R^T R = the Gram matrix of the Chebyshev polynomials
 * below `terms`, from sums[k] = sum w T_k, k < 2 terms - 1; returns 0 if a
 * pivot is below `least` of its diagonal. */
int tsn_polyfit_cholesky(const double *sums, int terms, double least, double *r);

/* inverse = R^-1. */
void tsn_polyfit_invert(const double *r, int terms, double *inverse);

/* out = inverse^T in, for the first `count` entries; ld is that of inverse. */
void tsn_polyfit_apply_transposed(const double *inverse, int ld, int count,
                                  const double *in, double *out);

/* out = inverse in, for the first `count` entries. */
void tsn_polyfit_apply(const double *inverse, int ld, int count, const double *in,
                       double *out);

/* ||R D||_F ||(R D)^-1||_F of the leading `count` columns, with D making the
 * columns of R D unit vectors. */
double tsn_polyfit_condition(const double *r, const double *inverse, int ld, int count);

/* How many columns from the first on have more than `tolerance` of their norm
 * on the diagonal. */
int tsn_polyfit_count_determined(const double *r, int terms, double tolerance);

#endif
