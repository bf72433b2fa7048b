/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums N d(m) of eq. 1 as the window slides: for each delay m a term enters
 * and a term leaves,
 *
 *   s(m) += |x[t] - x[t-m]| - |x[t-N] - x[t-N-m]|.
 *
 * Because |a - b| = 2 max(a, b) - a - b, the sums of integers are also
 *
 *   s(m) = 2 g(m) - w[t] - w[t-m],
 *   g(m) += max(x[t], x[t-m]) - max(x[t-N], x[t-N-m]),
 *
 * where w[t] is the sum of the window that ends at t: a maximum takes one operation, a
 * magnitude two. All arithmetic is modulo 2^32; the s(m) fit.
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
  /* Slide the first `lags` sums s(m), or g(m), by the samples newest[samples - 1], ...,
   * newest[0], with the result of sliding by one after the other. Returns the minimum of
   * these s(m) after the last sample and, unless `total` is NULL, their total. */
  double (*slide_f64)(const double *newest, size_t window, size_t samples, double *sum,
                      size_t lags, double *total);
  uint32_t (*slide_u32)(const int32_t *newest, const uint32_t *newest_window,
                        size_t window, size_t samples, uint32_t *greater, size_t lags,
                        uint64_t *total);
  /* sum_i |x[i] - y[i]| */
  double (*distance_f64)(const double *x, const double *y, size_t count);
} tsn_dpd_slide_kernels;

TSN_KERNEL_TABLE(tsn_dpd_slide_kernels);

#endif
