/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that grow, and numbers for words. */
#ifndef TSANOM_COMMAND_RESERVE_H
#define TSANOM_COMMAND_RESERVE_H

#include <stddef.h>
#include <stdint.h>

/* Make space for `needed` items of `size` bytes, doubling the capacity. `array` is the
 * address of the pointer to the items. Returns -1 without memory: nothing changes. */
int reserve(void *array, size_t *capacity, size_t needed, size_t size);

/* Words by the order in which they first occur. Zero it before use. */
typedef struct {
  char **text; /* by number */
  size_t count, capacity;
  uint32_t *slot; /* a hash table: numbers and 1; 0: free */
  size_t slots;
} word_list;

/* The number of a word, a new one for a new word. Returns -1 without memory. */
int words_number(word_list *w, const char *text, size_t *number);
void words_free(word_list *w);

#endif
