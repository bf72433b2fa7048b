/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops over delays. Each is bound by its loads: slide_f64 reads two unaligned
 * vectors and reads and writes one of sums for 8 delays. */
#include "dpd/dpd_kernel.h"

#include <math.h>

static void advance_runs(const uint64_t *lagged, uint64_t event, uint32_t *run,
                         size_t lags) {
#pragma omp simd
  for (size_t m = 0; m < lags; m++) {
    uint32_t longer = run[m] + (run[m] != UINT32_MAX);
    run[m] = lagged[m] == event ? longer : 0;
  }
}

/* Lanes are fixed in the source, so that every level adds in the same order. */
enum { LANES = 16 };

static inline double smaller(double a, double b) {
  return a < b ? a : b;
}

/* By halves, so that the lanes are not one chain of additions. */
static inline double add_lanes(double *lane) {
  for (size_t half = LANES / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; k++) lane[k] += lane[k + half];
  }
  return lane[0];
}

static inline double least_lane(double *lane) {
  for (size_t half = LANES / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; k++) lane[k] = smaller(lane[k], lane[k + half]);
  }
  return lane[0];
}

static tsn_dpd_extent slide_f64(const double *lagged, double sample,
                                const double *leaving_lagged, double leaving, double *sum,
                                size_t lags) {
  double least[LANES], total[LANES] = {0};
  for (size_t k = 0; k < LANES; k++) least[k] = INFINITY;
  size_t m = 0;
  for (; m + LANES <= lags; m += LANES) {
#pragma omp simd
    for (size_t k = 0; k < LANES; k++) {
      double s = sum[m + k] +
                 (fabs(sample - lagged[m + k]) - fabs(leaving - leaving_lagged[m + k]));
      sum[m + k] = s;
      least[k] = smaller(s, least[k]);
      total[k] += s;
    }
  }
  for (size_t k = 0; m < lags; m++, k++) {
    double s = sum[m] + (fabs(sample - lagged[m]) - fabs(leaving - leaving_lagged[m]));
    sum[m] = s;
    least[k] = smaller(s, least[k]);
    total[k] += s;
  }
  return (tsn_dpd_extent){least_lane(least), add_lanes(total)};
}

static inline int32_t absolute_difference(int32_t a, int32_t b) {
  int32_t difference = a - b;
  return difference < 0 ? -difference : difference;
}

/* One step of LANES delays; of the last step only `lanes` are there. */
static inline void slide_lanes_i32(const int32_t *lagged, int32_t sample,
                                   const int32_t *leaving_lagged, int32_t leaving,
                                   uint32_t *sum, size_t lanes, uint32_t *least,
                                   int32_t *gain) {
#pragma omp simd
  for (size_t k = 0; k < LANES; k++) {
    int32_t step = absolute_difference(sample, lagged[k]) -
                   absolute_difference(leaving, leaving_lagged[k]);
    int there = k < lanes;
    step = there ? step : 0;
    uint32_t s = sum[k] + (uint32_t)step;
    uint32_t candidate = there ? s : UINT32_MAX;
    sum[k] = s;
    least[k] = candidate < least[k] ? candidate : least[k];
    gain[k] += step;
  }
}

/* A lane's gain fits: it is at most M / LANES steps of (2^32 - 2) / N, M <= N. */
static int64_t slide_i32(const int32_t *lagged, int32_t sample,
                         const int32_t *leaving_lagged, int32_t leaving, uint32_t *sum,
                         size_t lags, uint32_t *lowest) {
  uint32_t least[LANES];
  int32_t gain[LANES] = {0};
  for (size_t k = 0; k < LANES; k++) least[k] = UINT32_MAX;
  size_t m = 0;
  for (; m + LANES <= lags; m += LANES) {
    slide_lanes_i32(lagged + m, sample, leaving_lagged + m, leaving, sum + m, LANES,
                    least, gain);
  }
  if (m < lags) {
    slide_lanes_i32(lagged + m, sample, leaving_lagged + m, leaving, sum + m, lags - m,
                    least, gain);
  }
  for (size_t half = LANES / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; k++) {
      least[k] = least[k + half] < least[k] ? least[k + half] : least[k];
    }
  }
  int64_t total = 0;
  for (size_t k = 0; k < LANES; k++) total += gain[k];
  *lowest = least[0];
  return total;
}

static double distance_f64(const double *x, const double *y, size_t count) {
  double total[LANES] = {0};
  size_t i = 0;
  for (; i + LANES <= count; i += LANES) {
#pragma omp simd
    for (size_t k = 0; k < LANES; k++) total[k] += fabs(x[i + k] - y[i + k]);
  }
  for (size_t k = 0; i < count; i++, k++) total[k] += fabs(x[i] - y[i]);
  return add_lanes(total);
}

const tsn_dpd_kernels TSN_LEVEL(tsn_dpd_kernels) = {
    .advance_runs = advance_runs,
    .slide_f64 = slide_f64,
    .slide_i32 = slide_i32,
    .distance_f64 = distance_f64,
};
