/* SPDX-License-Identifier: BSD-3-Clause */
/* Heapsort (J. Williams, Comm. ACM 7 (1964) 347-348): in place, without recursion, and
 * O(count log count) in the worst case, which quicksort is not. */
#include "core/sort.h"

/* Move the root down until the heap below it, the largest value first, is one again. */
static void sift(double *heap, size_t root, size_t count) {
  double value = heap[root];
  for (size_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && heap[child + 1] > heap[child]) child++;
    if (heap[child] <= value) break;
    heap[root] = heap[child];
  }
  heap[root] = value;
}

void tsn_sort(double *values, size_t count) {
  for (size_t i = count / 2; i-- > 0;) sift(values, i, count);
  for (size_t i = count; i-- > 1;) {
    double top = values[0];
    values[0] = values[i];
    values[i] = top;
    sift(values, 0, i);
  }
}
