/* SPDX-License-Identifier: BSD-3-Clause */
/* DTW and its search as a user or the literature's programs write them, one sample after the
 * other: what the library's are compared to. */
#ifndef TSANOM_BENCH_PLAIN_H
#define TSANOM_BENCH_PLAIN_H

#include <cstddef>
#include <vector>

/* The distance by one row, each cell in turn; of double and float, `row` holds m + 1 cells. */
template <class T>
T plain_dtw(const T *x, size_t n, const T *y, size_t m, size_t radius, bool squared,
            T *row);

/* Of a search, whose cost is squared. */
struct plain_match {
  double distance;
  size_t index;
};

/* Envelope by two monotone queues (D. Lemire, 2009). */
void plain_envelope(const double *x, size_t n, size_t radius, double *lower,
                    double *upper);

/* LB_Keogh, given up above `limit`. */
double plain_keogh(const double *c, const double *lower, const double *upper, size_t n,
                   double limit);

/* Nearest of `count` series in rows of n samples whose envelopes are known. */
plain_match plain_nearest(const double *query, const double *series, const double *lower,
                          const double *upper, size_t count, size_t n, size_t radius);

/* Nearest z-normalised window of a stream to a normalised query. */
plain_match plain_stream(const double *query, size_t n, const double *stream,
                         size_t samples, size_t radius);

#endif
