/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorting in place without allocation: qsort() may allocate, and glibc's does beyond a
 * kilobyte. */
#ifndef TSN_CORE_SORT_H
#define TSN_CORE_SORT_H

#include <stddef.h>

/* Define the function NAME(values, count), which sorts values of a type in place, a value
 * before another where BEFORE(a, b), a strict weak order of pointers to them, is true.
 * Heapsort (J. Williams, Comm. ACM 7 (1964) 347-348): without recursion, and
 * O(count log count) in the worst case, which quicksort is not. The sift moves a root
 * down until the heap below it, the last value first, is one again. */
#define TSN_HEAPSORT(NAME, TYPE, BEFORE)                                        \
  static void NAME##_sift(TYPE *heap, size_t root, size_t count) {              \
    TYPE moved = heap[root];                                                    \
    for (size_t child; (child = 2 * root + 1) < count; root = child) {          \
      if (child + 1 < count && BEFORE(&heap[child], &heap[child + 1])) child++; \
      if (!BEFORE(&moved, &heap[child])) break;                                 \
      heap[root] = heap[child];                                                 \
    }                                                                           \
    heap[root] = moved;                                                         \
  }                                                                             \
                                                                                \
  void NAME(TYPE *values, size_t count) {                                       \
    for (size_t i = count / 2; i-- > 0;) NAME##_sift(values, i, count);         \
    for (size_t i = count; i-- > 1;) {                                          \
      TYPE top = values[0];                                                     \
      values[0] = values[i];                                                    \
      values[i] = top;                                                          \
      NAME##_sift(values, 0, i);                                                \
    }                                                                           \
  }

/* Sort numbers, none of them a NaN, the least first. O(count log count). */
void tsn_sort(double *values, size_t count);

/* Permute numbers, none of them a NaN, so that values[k], k < count, is what it would be
 * if they were sorted; those before it are at most, those behind it at least that.
 * O(count) on average. */
void tsn_select(double *values, size_t count, size_t k);

/* The median of numbers, none of them a NaN, which get permuted: of an even count the mean
 * of both in the middle; 0 of none. O(count) on average. */
double tsn_median(double *values, size_t count);

#endif
