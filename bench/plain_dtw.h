/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop that a user would write: two rows, each cell in turn. */
#ifndef TSANOM_BENCH_PLAIN_DTW_H
#define TSANOM_BENCH_PLAIN_DTW_H

#include <cstddef>

/* Of double and float; `row` holds m + 1 cells. */
template <class T>
T plain_dtw(const T *x, size_t n, const T *y, size_t m, size_t radius, bool squared,
            T *row);

#endif
