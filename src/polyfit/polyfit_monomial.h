/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSN_POLYFIT_MONOMIAL_H
#define TSN_POLYFIT_MONOMIAL_H

#include "polyfit/dd.h"

/* The powers of x in each Chebyshev polynomial, for `terms` polynomials of
 * t = (x - center) scale: matrix[k * terms + j] receives the coefficient of x^j
 * in T_k(t), and monomial[j] the sum over k of coefficient[k] times it. */
void tsn_polyfit_to_monomials(double center, double scale, int terms,
                              const tsn_dd *coefficient, tsn_dd *monomial,
                              double *matrix);

#endif
