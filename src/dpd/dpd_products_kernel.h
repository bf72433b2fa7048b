/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSN_DPD_PRODUCTS_KERNEL_H
#define TSN_DPD_PRODUCTS_KERNEL_H

#include <stddef.h>

#include "core/isa.h"

enum {
  /* Samples are processed in blocks that stay in the first-level cache while a chunk of
   * delays passes over them. */
  TSN_PRODUCTS_BLOCK = 2048,
  /* Most delays of one call, and the multiple that calls should use. */
  TSN_PRODUCTS_DELAYS = 256
};

typedef struct {
  /* products[m - first] = sum over t in [0, n) of e[t] e[t-m], for the `count` delays m
   * from `first` on. e[-(first + count)] to e[-1] must be zero, and so must e[n] up to
   * the next multiple of TSN_PRODUCTS_BLOCK. count is a multiple of 8 and at most
   * TSN_PRODUCTS_DELAYS. */
  void (*products)(const double *e, size_t n, size_t first, size_t count,
                   double *products);
} tsn_dpd_products_kernels;

TSN_KERNEL_TABLE(tsn_dpd_products_kernels);

#endif
