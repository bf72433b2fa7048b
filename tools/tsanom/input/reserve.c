/* SPDX-License-Identifier: BSD-3-Clause */
#include "reserve.h"

#include <stdlib.h>
#include <string.h>

int reserve(void *array, size_t *capacity, size_t needed, size_t size) {
  if (needed <= *capacity) return 0;
  size_t grown = *capacity ? *capacity : 64, bytes;
  while (grown < needed) grown *= 2;
  if (__builtin_mul_overflow(grown, size, &bytes)) return -1;
  void *items;
  memcpy(&items, array, sizeof items);
  if (!(items = realloc(items, bytes))) return -1;
  memcpy(array, &items, sizeof items);
  *capacity = grown;
  return 0;
}
