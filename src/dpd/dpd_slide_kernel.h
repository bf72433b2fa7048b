/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums N d(m) of eq. 1 as the window slides: for each delay m a term enters
 * and a term leaves,
 *
 *   s(m) += |x[t] - x[t-m]| - |x[t-N] - x[t-N-m]|.
 *
 * Samples are kept newest first, so that x[t-m] of all delays lie one after the
 * other; s(m) is at index m - 1. The kernels read samples in whole vectors: up to
 * TSN_DPD_PADDING beyond those they need. */
#ifndef TSN_DPD_SLIDE_KERNEL_H
#define TSN_DPD_SLIDE_KERNEL_H

#include <stddef.h>

#include "core/isa.h"

enum {
  TSN_DPD_PADDING = 16,
  TSN_DPD_BLOCK = 8 /* samples that the kernels of blocks take at a time */
};

typedef struct {
  /* Slide by the sample newest[0]; gives the least of the first `lags` sums and,
   * unless NULL, their total. */
  double (*slide_f64)(const double *newest, size_t window, double *sum, size_t lags,
                      double *total);
  uint32_t (*slide_u32)(const int32_t *newest, size_t window, uint32_t *sum, size_t lags,
                        uint64_t *total);
  /* Slide by newest[TSN_DPD_BLOCK - 1], ..., newest[0], from one array of sums to
   * another: the least after each of them, the total after the last. Each sum is
   * the same as if slid one by one. */
  void (*slide_block_f64)(const double *newest, size_t window, const double *from,
                          double *to, size_t lags, double *least, double *total);
  void (*slide_block_u32)(const int32_t *newest, size_t window, const uint32_t *from,
                          uint32_t *to, size_t lags, uint32_t *least, uint64_t *total);
  /* sum_i |x[i] - y[i]| */
  double (*distance_f64)(const double *x, const double *y, size_t count);
} tsn_dpd_slide_kernels;

TSN_KERNEL_TABLE(tsn_dpd_slide_kernels);

#endif
