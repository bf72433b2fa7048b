/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums N d(m) of eq. 1 as the window slides: for each delay m a term enters
 * and a term leaves,
 *
 *   s(m) += |x[t] - x[t-m]| - |x[t-N] - x[t-N-m]|.
 *
 * Samples are stored newest first, so that x[t-m] of all delays are contiguous; s(m) is
 * at index m - 1. The kernels read whole vectors: up to TSN_DPD_PADDING samples after the
 * needed ones. */
#ifndef TSN_DPD_SLIDE_KERNEL_H
#define TSN_DPD_SLIDE_KERNEL_H

#include <stddef.h>

#include "core/isa.h"

enum {
  TSN_DPD_PADDING = 16,
  TSN_DPD_BLOCK = 8 /* most samples that a call slides by */
};

typedef struct {
  /* Slide the first `lags` sums s(m) by the samples newest[samples - 1], ..., newest[0],
   * with the result of sliding by one after the other. Returns the minimum of these s(m)
   * after the last sample and, unless `total` is NULL, their total. */
  double (*slide_f64)(const double *newest, size_t window, size_t samples, double *sum,
                      size_t lags, double *total);
  /* sum_i |x[i] - y[i]| */
  double (*distance_f64)(const double *x, const double *y, size_t count);
} tsn_dpd_slide_kernels;

TSN_KERNEL_TABLE(tsn_dpd_slide_kernels);

#endif
