/* SPDX-License-Identifier: BSD-3-Clause */
/* Small dense algebra on upper triangles, stored by columns. */
#ifndef TSN_POLYFIT_ALGEBRA_H
#define TSN_POLYFIT_ALGEBRA_H

/* The kernel `factor`, and the same bits; faster for few terms (Zen 5, AVX-512: a fit of
 * 2 terms takes 92 instead of 115 ns, of 5 terms 178 instead of 184, of 6 as long). */
enum { TSN_POLYFIT_FEW_TERMS = 5 };
int tsn_polyfit_factor_few(const double *sums, int terms, double least, int ld,
                           double *rows, double *inverse, double *z);

/* inverse = R^-1; norms[k] = ||column k of R||^2. */
void tsn_polyfit_invert(const double *r, int terms, double *inverse, double *norms);

/* out = inverse^T in, for the first `count` entries; ld is that of inverse. */
void tsn_polyfit_apply_transposed(const double *inverse, int ld, int count,
                                  const double *in, double *out);

/* out = inverse in, for the first `count` entries. */
void tsn_polyfit_apply(const double *inverse, int ld, int count, const double *in,
                       double *out);

/* ||R D||_F ||(R D)^-1||_F of the leading `count` columns, with D making the
 * columns of R D unit vectors; `norms` as above. */
double tsn_polyfit_condition(const double *norms, const double *inverse, int ld,
                             int count);

/* How many columns from the first on have more than `tolerance` of their norm
 * on the diagonal. */
int tsn_polyfit_count_determined(const double *r, int terms, double tolerance);

#endif
