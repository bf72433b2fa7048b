/* SPDX-License-Identifier: BSD-3-Clause */
/* The maximum does not depend on the order of the places, so that every level returns the
 * same bits. A place is counted in 32 bits within a part of the series, because only level
 * v4 converts vectors of longer integers to double. */
#include "change/change_kernel.h"

#include <stdint.h>

#include "core/size.h"

enum { PART = 1 << 20 };

static double scan(const double *sum, size_t count, size_t side) {
  double n = (double)count, mean = (sum[count] - sum[0]) / n, best = 0;
  size_t end = count - side + 1;
  for (size_t first = side; first < end; first += PART) {
    int32_t places = (int32_t)tsn_smaller(PART, end - first);
    double base = (double)first;
#pragma omp simd reduction(max : best)
    for (int32_t i = 0; i < places; i++) {
      double gain = tsn_change_gain(sum[first + (size_t)i] - sum[0], n, mean, base + i);
      best = gain > best ? gain : best;
    }
  }
  return best;
}

const tsn_change_kernels TSN_LEVEL(tsn_change_kernels) = {.scan = scan};
