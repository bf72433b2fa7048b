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

/* The second row is written over the first. */
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

}  // namespace

template <class T>
T plain_dtw(const T *x, size_t n, const T *y, size_t m, size_t radius, bool squared,
            T *row) {
  return squared ? sweep(x, n, y, m, radius, row, squared_difference())
                 : sweep(x, n, y, m, radius, row, absolute());
}

template double plain_dtw(const double *, size_t, const double *, size_t, size_t, bool,
                          double *);
template float plain_dtw(const float *, size_t, const float *, size_t, size_t, bool,
                         float *);
