/* SPDX-License-Identifier: BSD-3-Clause */
/* Logarithms without the C library: the preloaded recorder searches for loops in programs that
 * it must not bring a mathematics library into, lgamma() writes a variable that all threads
 * share, and results are the same with every library. Relative errors are below 1e-13. */
#ifndef TSN_CORE_LOGARITHM_H
#define TSN_CORE_LOGARITHM_H

/* log2 of x > 0, which is no subnormal number. */
double tsn_log2(double x);

/* log2 of the gamma function, x > 0. */
double tsn_log2_gamma(double x);

#endif
