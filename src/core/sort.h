/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSN_CORE_SORT_H
#define TSN_CORE_SORT_H

#include <stddef.h>

/* Sort numbers, none of them a NaN, in place: qsort() may allocate, and glibc's
 * does beyond a kilobyte. O(count log count). */
void tsn_sort(double *values, size_t count);

#endif
