/* SPDX-License-Identifier: BSD-3-Clause */
#include "plain.h"

#include <algorithm>
#include <cmath>
#include <deque>

namespace {

double square(double d) {
  return d * d;
}

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
  std::fill(row, row + m + 1, (T)INFINITY);
  row[0] = 0;
  for (size_t i = 0; i < n; i++) {
    size_t first = i > radius ? i - radius : 0;
    size_t last = std::min(radius < m ? i + radius : m - 1, m - 1);
    T diagonal = row[first], left = INFINITY;
    row[first] = INFINITY;
    for (size_t j = first; j <= last; j++) {
      T best = std::min(std::min(row[j + 1], diagonal), left);
      diagonal = row[j + 1];
      left = cost(x[i], y[j]) + best;
      row[j + 1] = left;
    }
  }
  return row[m];
}

/* DTW row by row, given up when a row with what the bound says of the rest
 * exceeds `limit`. */
double abandoning_dtw(const double *x, const double *y, size_t n, size_t radius,
                      const double *tail, double limit, std::vector<double> &rows) {
  rows.assign(2 * (n + 1), INFINITY);
  double *above = rows.data(), *row = above + n + 1;
  above[0] = 0;
  for (size_t i = 1; i <= n; i++) {
    size_t first = i > radius ? i - radius : 1, last = std::min(n, i + radius);
    row[first - 1] = INFINITY;
    double least = INFINITY;
    for (size_t j = first; j <= last; j++) {
      double best = std::min(above[j - 1], std::min(above[j], row[j - 1]));
      row[j] = square(x[i - 1] - y[j - 1]) + best;
      least = std::min(least, row[j]);
    }
    if (last < n) row[last + 1] = INFINITY;
    if (least + tail[std::min(i + radius, n)] > limit) return INFINITY;
    std::swap(above, row);
  }
  return above[n];
}

/* Terms of LB_Keogh summed from the end. */
void plain_tail(const double *c, const double *lower, const double *upper, size_t n,
                double *tail) {
  tail[n] = 0;
  for (size_t i = n; i-- > 0;) {
    double d = c[i] > upper[i] ? c[i] - upper[i] : c[i] < lower[i] ? lower[i] - c[i] : 0;
    tail[i] = tail[i + 1] + square(d);
  }
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

void plain_envelope(const double *x, size_t n, size_t radius, double *lower,
                    double *upper) {
  std::deque<size_t> low, high;
  for (size_t i = 0; i < n + radius; i++) {
    if (i < n) {
      while (!low.empty() && x[low.back()] >= x[i]) low.pop_back();
      while (!high.empty() && x[high.back()] <= x[i]) high.pop_back();
      low.push_back(i);
      high.push_back(i);
    }
    if (i < radius) continue;
    size_t at = i - radius;
    if (low.front() + radius < at) low.pop_front();
    if (high.front() + radius < at) high.pop_front();
    lower[at] = x[low.front()];
    upper[at] = x[high.front()];
  }
}

double plain_keogh(const double *c, const double *lower, const double *upper, size_t n,
                   double limit) {
  double sum = 0;
  for (size_t i = 0; i < n && sum <= limit; i++) {
    if (c[i] > upper[i]) {
      sum += square(c[i] - upper[i]);
    } else if (c[i] < lower[i]) {
      sum += square(c[i] - lower[i]);
    }
  }
  return sum;
}

plain_match plain_nearest(const double *query, const double *series, const double *lower,
                          const double *upper, size_t count, size_t n, size_t radius) {
  std::vector<double> low(n), high(n), tail(n + 1), rows;
  plain_envelope(query, n, radius, low.data(), high.data());
  plain_match best = {INFINITY, 0};
  for (size_t i = 0; i < count; i++) {
    const double *c = series + i * n;
    if (square(c[0] - query[0]) + square(c[n - 1] - query[n - 1]) > best.distance)
      continue;
    if (plain_keogh(c, low.data(), high.data(), n, best.distance) > best.distance)
      continue;
    if (plain_keogh(query, lower + i * n, upper + i * n, n, best.distance) >
        best.distance)
      continue;
    plain_tail(c, low.data(), high.data(), n, tail.data());
    double distance =
        abandoning_dtw(query, c, n, radius, tail.data(), best.distance, rows);
    if (distance < best.distance) best = {distance, i};
  }
  return best;
}

plain_match plain_stream(const double *query, size_t n, const double *stream,
                         size_t samples, size_t radius) {
  std::vector<double> low(n), high(n), lower(samples), upper(samples), z(n), zl(n), zu(n),
      tail(n + 1), rows;
  plain_envelope(query, n, radius, low.data(), high.data());
  plain_envelope(stream, samples, radius, lower.data(), upper.data());
  plain_match best = {INFINITY, 0};
  double sum = 0, squares = 0;
  for (size_t i = 0; i + 1 < n; i++) {
    sum += stream[i];
    squares += square(stream[i]);
  }
  for (size_t i = 0; i + n <= samples; i++) {
    sum += stream[i + n - 1];
    squares += square(stream[i + n - 1]);
    double mean = sum / (double)n;
    double inverse = 1 / std::sqrt(squares / (double)n - mean * mean);
    sum -= stream[i];
    squares -= square(stream[i]);
    const double *x = stream + i;
    double kim = square((x[0] - mean) * inverse - query[0]) +
                 square((x[n - 1] - mean) * inverse - query[n - 1]);
    if (kim > best.distance) continue;
    double keogh = 0;
    for (size_t k = 0; k < n && keogh <= best.distance; k++) {
      double c = (x[k] - mean) * inverse;
      keogh += c > high[k] ? square(c - high[k]) : c < low[k] ? square(c - low[k]) : 0;
    }
    if (keogh > best.distance) continue;
    for (size_t k = 0; k < n; k++) {
      z[k] = (x[k] - mean) * inverse;
      zl[k] = (lower[i + k] - mean) * inverse;
      zu[k] = (upper[i + k] - mean) * inverse;
    }
    if (plain_keogh(query, zl.data(), zu.data(), n, best.distance) > best.distance)
      continue;
    plain_tail(z.data(), low.data(), high.data(), n, tail.data());
    double distance =
        abandoning_dtw(query, z.data(), n, radius, tail.data(), best.distance, rows);
    if (distance < best.distance) best = {distance, i};
  }
  return best;
}
