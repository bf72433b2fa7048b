/* SPDX-License-Identifier: BSD-3-Clause */
/* The scan over all places of one change. */
#ifndef TSN_CHANGE_KERNEL_H
#define TSN_CHANGE_KERNEL_H

#include <stddef.h>

#include "core/isa.h"

typedef struct {
  /* The largest gain of one change in `count` innovations, whose sums from the first one
   * on are sum[0 .. count]; at least `side` innovations are on each side. 2 side <= count.
   * See tsn_change_gain(). */
  double (*scan)(const double *sum, size_t count, size_t side);
} tsn_change_kernels;

TSN_KERNEL_TABLE(tsn_change_kernels);

/* What a change before innovation k explains of the sum of squares, where s is the sum of
 * the first k of n innovations: (s - k mean)^2 / (k (n - k) / n). One formula for the scan
 * and for what looks up its place, so that both have the same bits. */
static inline double tsn_change_gain(double s, double n, double mean, double k) {
  double d = s - k * mean;
  return d * d * n / (k * (n - k));
}

#endif
