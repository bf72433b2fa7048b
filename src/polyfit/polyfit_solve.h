/* SPDX-License-Identifier: BSD-3-Clause */
/* A fit of checked arguments in a given workspace. */
#ifndef TSN_POLYFIT_SOLVE_H
#define TSN_POLYFIT_SOLVE_H

#include <tsanom/polyfit.h>

#include "polyfit/polyfit_model.h"

/* Doubles of scratch that tsn_polyfit_solve() needs; bounded for every n. */
size_t tsn_polyfit_scratch(size_t n, size_t terms, int threads);

/* Returns a status of tsanom_polyfit_fit(). `options` and `exec` are checked. */
tsanom_status tsn_polyfit_solve(const tsn_polyfit_samples *samples,
                                const tsanom_polyfit_options *options,
                                const tsanom_exec *exec, double *scratch,
                                tsanom_polyfit_model *model);

/* Small dense algebra on upper triangles, stored by columns. */

/* The kernel `factor`, and the same bits; faster for few terms (Zen 5, AVX-512: a fit of
 * 2 terms takes 92 instead of 115 ns, of 5 terms 178 instead of 184, of 6 as long). */
enum { TSN_POLYFIT_FEW_TERMS = 5 };
int tsn_polyfit_factor_few(const double *sums, int terms, double least, int ld,
                           double *rows, double *inverse, double *z);

/* inverse = R^-1, of the leading `count` columns; norms[k] = ||column k of R||^2; ld is that
 * of both. */
void tsn_polyfit_invert(const double *r, int ld, int count, double *inverse,
                        double *norms);

/* ||R D||_F ||(R D)^-1||_F of the leading `count` columns, with D making the
 * columns of R D unit vectors, from factor's inverse and norms; sets factor->rows. */
double tsn_polyfit_condition(tsn_polyfit_factor *factor, int count);

#endif
