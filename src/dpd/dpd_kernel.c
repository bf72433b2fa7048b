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

static inline uint32_t absolute_difference(int32_t a, int32_t b) {
  int32_t difference = a - b;
  return (uint32_t)(difference < 0 ? -difference : difference);
}

/* The total is gathered in halves of 16 bits: 2^16 steps cannot overflow them. */
static tsn_dpd_extent slide_i32(const int32_t *lagged, int32_t sample,
                                const int32_t *leaving_lagged, int32_t leaving,
                                uint32_t *sum, size_t lags) {
  uint32_t least[LANES], low[LANES] = {0}, high[LANES] = {0};
  for (size_t k = 0; k < LANES; k++) least[k] = UINT32_MAX;
  size_t m = 0;
  for (; m + LANES <= lags; m += LANES) {
#pragma omp simd
    for (size_t k = 0; k < LANES; k++) {
      uint32_t s = sum[m + k] + absolute_difference(sample, lagged[m + k]) -
                   absolute_difference(leaving, leaving_lagged[m + k]);
      sum[m + k] = s;
      least[k] = s < least[k] ? s : least[k];
      low[k] += s & 0xFFFF;
      high[k] += s >> 16;
    }
  }
  for (size_t k = 0; m < lags; m++, k++) {
    uint32_t s = sum[m] + absolute_difference(sample, lagged[m]) -
                 absolute_difference(leaving, leaving_lagged[m]);
    sum[m] = s;
    least[k] = s < least[k] ? s : least[k];
    low[k] += s & 0xFFFF;
    high[k] += s >> 16;
  }
  uint32_t lowest = UINT32_MAX;
  uint64_t total = 0;
  for (size_t k = 0; k < LANES; k++) {
    lowest = least[k] < lowest ? least[k] : lowest;
    total += low[k] + ((uint64_t)high[k] << 16);
  }
  return (tsn_dpd_extent){(double)lowest, (double)total};
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
