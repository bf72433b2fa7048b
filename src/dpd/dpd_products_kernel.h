/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSN_DPD_PRODUCTS_KERNEL_H
#define TSN_DPD_PRODUCTS_KERNEL_H

#include <stddef.h>

#include "core/isa.h"

enum {
  /* Samples are processed in blocks that stay in the first-level cache while a chunk of
   * delays passes over them. */
  TSN_PRODUCTS_BLOCK = 2048,
  /* Delays of one call, so that several threads can share them. */
  TSN_PRODUCTS_DELAYS = 256,
  /* Delays that pass over the samples together at the level that takes most. */
  TSN_PRODUCTS_TILE = 8,
  /* Samples go by 8: those of a step that have no partner are multiplied by zeros. */
  TSN_PRODUCTS_PADDING = 16
};

typedef struct {
  /* products[m - first] = sum over t in [m, n) of e[t] e[t-m], for the `count` delays m
   * from `first` on, a multiple of TSN_PRODUCTS_TILE. TSN_PRODUCTS_PADDING elements
   * before e[0] and from e[n] on must be zero. */
  void (*products)(const double *e, size_t n, size_t first, size_t count,
                   double *products);
} tsn_dpd_products_kernels;

TSN_KERNEL_TABLE(tsn_dpd_products_kernels);

#endif
