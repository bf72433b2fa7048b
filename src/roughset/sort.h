/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorting without allocation: qsort() may call malloc(), and a function with a workspace
 * of the caller allocates nothing. Both sorts are stable and take scratch of the same
 * length. */
#ifndef TSN_ROUGHSET_SORT_H
#define TSN_ROUGHSET_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Sort keys in increasing order; scratch holds `count` keys. O(count), radix. */
void tsn_rs_sort(uint64_t *keys, uint64_t *scratch, size_t count);

/* Sort the numbers 0 ... count - 1 in `order` so that the sets of `words` words
 * they stand for come in order of size, then of their words from the last to the
 * first. size[i] is the size of set i; scratch holds count numbers. */
void tsn_rs_sort_sets(const uint64_t *sets, size_t words, const uint32_t *size,
                      size_t count, uint32_t *order, uint32_t *scratch);

#endif
