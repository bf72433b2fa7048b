/* SPDX-License-Identifier: BSD-3-Clause */
#include "plain_dtw.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace {

struct absolute {
  template <class T>
  T operator()(T a, T b) const {
    return std::fabs(a - b);
  }
};

struct squared_difference {
  template <class T>
  T operator()(T a, T b) const {
    return (a - b) * (a - b);
  }
};

/* The second row is written over the first; `row` holds m + 1 cells. */
template <class T, class Cost>
T sweep(const T *x, size_t n, const T *y, size_t m, size_t radius, T *row, Cost cost) {
  const T infinity = std::numeric_limits<T>::infinity();
  std::fill(row, row + m + 1, infinity);
  row[0] = 0;
  for (size_t i = 0; i < n; i++) {
    size_t first = i > radius ? i - radius : 0;
    size_t last = std::min(radius < m ? i + radius : m - 1, m - 1);
    T diagonal = row[first], left = infinity;
    row[first] = infinity;
    for (size_t j = first; j <= last; j++) {
      T best = std::min(std::min(row[j + 1], diagonal), left);
      diagonal = row[j + 1];
      left = cost(x[i], y[j]) + best;
      row[j + 1] = left;
    }
  }
  return row[m];
}

template <class T>
T either(const T *x, size_t n, const T *y, size_t m, size_t radius, bool squared,
         T *row) {
  return squared ? sweep(x, n, y, m, radius, row, squared_difference())
                 : sweep(x, n, y, m, radius, row, absolute());
}

}  // namespace

double plain_dtw(const double *x, size_t n, const double *y, size_t m, size_t radius,
                 bool squared, double *row) {
  return either(x, n, y, m, radius, squared, row);
}

float plain_dtw(const float *x, size_t n, const float *y, size_t m, size_t radius,
                bool squared, float *row) {
  return either(x, n, y, m, radius, squared, row);
}
