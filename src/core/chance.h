/* SPDX-License-Identifier: BSD-3-Clause */
/* Distribution functions that several modules compare scores with. Relative errors are at
 * most 1e-9, also far out in the tail, where 1 minus the other tail has no digits. */
#ifndef TSN_CORE_CHANCE_H
#define TSN_CORE_CHANCE_H

/* P(X > x) of a gamma variate of this shape > 0 and scale 1: the upper regularized
 * incomplete gamma function. */
double tsn_gamma_tail(double shape, double x);

/* P(T > t) of Student's t; freedom > 0, not necessarily an integer. */
double tsn_student_tail(double t, double freedom);

/* The t >= 0 with P(T > t) = tail, tail in (0, 1/2]. */
double tsn_student_quantile(double tail, double freedom);

#endif
