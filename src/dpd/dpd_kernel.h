/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSN_DPD_KERNEL_H
#define TSN_DPD_KERNEL_H

#include <stddef.h>

#include "core/isa.h"

/* Samples are kept newest first, so that x[t-m] of all delays m >= 1 lie one
 * after the other: `lagged` below points at x[t-1]. What belongs to delay m is
 * at index m - 1. */

enum { TSN_DPD_PADDING = 16 };

/* Of the sums that were brought up to date. */
typedef struct {
  double least;
  double total;
} tsn_dpd_extent;

typedef struct {
  /* run[m-1]: events in a row, up to this one, that equal the one m before. */
  void (*advance_runs)(const uint64_t *lagged, uint64_t event, uint32_t *run,
                       size_t lags);
  /* Slide the window: sum[m-1] += |sample - lagged| - |leaving - leaving_lagged|,
   * where `leaving` is the sample that was in the window before `sample` was. */
  tsn_dpd_extent (*slide_f64)(const double *lagged, double sample,
                              const double *leaving_lagged, double leaving, double *sum,
                              size_t lags);
  /* The same; gives the gain of all sums together, and the lowest sum. Reads and
   * writes whole vectors: up to TSN_DPD_PADDING more than `lags`. */
  int64_t (*slide_i32)(const int32_t *lagged, int32_t sample,
                       const int32_t *leaving_lagged, int32_t leaving, uint32_t *sum,
                       size_t lags, uint32_t *lowest);
  /* sum_i |x[i] - y[i]| */
  double (*distance_f64)(const double *x, const double *y, size_t count);
} tsn_dpd_kernels;

TSN_KERNEL_TABLE(tsn_dpd_kernels);

#endif
