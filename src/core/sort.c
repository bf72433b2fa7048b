/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/sort.h"

#include <stdbool.h>

static inline bool is_less(const double *a, const double *b) {
  return *a < *b;
}

TSN_HEAPSORT(tsn_sort, double, is_less)
