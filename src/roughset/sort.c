/* SPDX-License-Identifier: BSD-3-Clause */
/* Radix sort of 64-bit keys, and a merge sort of sets.
 *
 * The radix sort takes 8 bits at a time from the lowest; each pass is stable, so that the
 * earlier ones decide among equal digits. A digit that all keys share is skipped: keys of
 * a class and a decision, both small, take 2 to 4 passes of the 8.
 *
 * Sets have many words, and what is sorted is their numbers: a merge sort from runs of
 * one, O(count * log count) comparisons, most of which end at the sizes. */
#include "roughset/sort.h"

#include <stdbool.h>
#include <string.h>

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

void tsn_rs_sort(uint64_t *keys, uint64_t *scratch, size_t count) {
  uint64_t *from = keys, *to = scratch;
  for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
    size_t start[DIGITS] = {0};
    for (size_t i = 0; i < count; i++) start[from[i] >> shift & (DIGITS - 1)]++;
    if (count == 0 || start[from[0] >> shift & (DIGITS - 1)] == count) continue;
    size_t sum = 0;
    for (size_t digit = 0; digit < DIGITS; digit++) {
      size_t here = start[digit];
      start[digit] = sum;
      sum += here;
    }
    for (size_t i = 0; i < count; i++) {
      to[start[from[i] >> shift & (DIGITS - 1)]++] = from[i];
    }
    uint64_t *swap = from;
    from = to;
    to = swap;
  }
  if (from != keys) memcpy(keys, from, count * sizeof *keys);
}

/* The sets that the numbers to sort stand for. */
typedef struct {
  const uint64_t *sets;
  size_t words;
  const uint32_t *size;
} set_list;

/* By size first: absorption needs it, as a set can only contain smaller ones. */
static bool comes_after(const set_list *list, uint32_t i, uint32_t j) {
  if (list->size[i] != list->size[j]) return list->size[i] > list->size[j];
  const uint64_t *a = list->sets + i * list->words, *b = list->sets + j * list->words;
  for (size_t w = list->words; w-- > 0;) {
    if (a[w] != b[w]) return a[w] > b[w];
  }
  return false;
}

static void merge(const set_list *list, const uint32_t *from, size_t begin, size_t middle,
                  size_t end, uint32_t *to) {
  size_t i = begin, j = middle;
  for (size_t k = begin; k < end; k++) {
    bool right = i >= middle || (j < end && comes_after(list, from[i], from[j]));
    to[k] = right ? from[j++] : from[i++];
  }
}

void tsn_rs_sort_sets(const uint64_t *sets, size_t words, const uint32_t *size,
                      size_t count, uint32_t *order, uint32_t *scratch) {
  const set_list list = {.sets = sets, .words = words, .size = size};
  uint32_t *from = order, *to = scratch;
  for (size_t i = 0; i < count; i++) order[i] = (uint32_t)i;
  for (size_t run = 1; run < count; run *= 2) {
    for (size_t begin = 0; begin < count; begin += 2 * run) {
      size_t middle = count - begin < run ? count : begin + run;
      size_t end = count - middle < run ? count : middle + run;
      merge(&list, from, begin, middle, end, to);
    }
    uint32_t *swap = from;
    from = to;
    to = swap;
  }
  if (from != order) memcpy(order, from, count * sizeof *order);
}
