/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop that a user would write: two rows, each cell in turn. */
#ifndef TSANOM_BENCH_PLAIN_DTW_H
#define TSANOM_BENCH_PLAIN_DTW_H

#include <cstddef>

double plain_dtw(const double *x, size_t n, const double *y, size_t m, size_t radius,
                 bool squared, double *row);
float plain_dtw(const float *x, size_t n, const float *y, size_t m, size_t radius,
                bool squared, float *row);

#endif
