/* SPDX-License-Identifier: BSD-3-Clause */
/* Heapsort, and the k-th smallest value by splitting the values at a pivot, again and again
 * on the side of k: in place, and never in quadratic time. */
#include "core/sort.h"

#include <stdbool.h>

static inline bool is_less(const double *a, const double *b) {
  return *a < *b;
}

TSN_HEAPSORT(tsn_sort, double, is_less)

/* From MANY values on, a sample costs less than the partitions that it saves. */
enum { MANY = 1 << 16, SAMPLE = 1 << 8 };

/* The median of the ends and the middle: sorted values, a frequent input, are then split
 * in halves. */
static double pivot_of(const double *values, size_t low, size_t high) {
  double a = values[low], b = values[low + (high - low) / 2], c = values[high];
  double less = a < b ? a : b, more = a < b ? b : a;
  return c < less ? less : c > more ? more : c;
}

/* Of many values, that of a sample which is near to value k, on its side of the middle: k is in
 * the smaller part then, or a few more. Partitions look at 1.6 values for each, and at 2.75 by
 * the median of three (after R. Floyd and R. Rivest, Comm. ACM 18 (1975) 165-172). */
static double sampled_pivot(const double *values, size_t low, size_t high, size_t k) {
  double sample[SAMPLE];
  size_t step = (high - low) / SAMPLE | 1;
  for (size_t i = 0; i < SAMPLE; i++) sample[i] = values[low + i * step];
  tsn_sort(sample, SAMPLE);
  double part = (double)(k - low) / (double)(high - low);
  double margin = 1 + 48 * part * (1 - part);
  return sample[(size_t)(part * (SAMPLE - 1) + (part < 0.5 ? margin : -margin))];
}

/* Hoare's quickselect (Comm. ACM 4 (1961) 321-322). Both scans stop at values equal to
 * the pivot, so that many equal values are split evenly too. What bad pivots leave after
 * ROUNDS is sorted: O(count log count) at worst. */
void tsn_select(double *values, size_t count, size_t k) {
  enum { ROUNDS = 64 };
  size_t low = 0, high = count - 1;
  for (int round = 0; low < high; round++) {
    if (round == ROUNDS) {
      tsn_sort(values + low, high - low + 1);
      return;
    }
    double pivot = high - low < MANY ? pivot_of(values, low, high)
                                     : sampled_pivot(values, low, high, k);
    ptrdiff_t i = (ptrdiff_t)low, j = (ptrdiff_t)high;
    while (i <= j) {
      while (values[i] < pivot) i++;
      while (values[j] > pivot) j--;
      if (i > j) break;
      double swapped = values[i];
      values[i++] = values[j];
      values[j--] = swapped;
    }
    if ((ptrdiff_t)k <= j) {
      high = (size_t)j;
    } else if ((ptrdiff_t)k >= i) {
      low = (size_t)i;
    } else {
      return;
    }
  }
}

double tsn_median(double *values, size_t count) {
  if (count == 0) return 0;
  size_t upper = count / 2;
  tsn_select(values, count, upper);
  if (count % 2) return values[upper];
  double below = values[0];
  for (size_t i = 1; i < upper; i++) below = values[i] > below ? values[i] : below;
  return (below + values[upper]) / 2;
}
