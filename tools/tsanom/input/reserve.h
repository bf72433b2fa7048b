/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for the command, which ends with a message if there is none; and numbers for words. */
#ifndef TSANOM_COMMAND_RESERVE_H
#define TSANOM_COMMAND_RESERVE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Ends the command with "out of memory" and EXIT_INPUT. */
__attribute__((noreturn)) void end_without_memory(void);

/* Zeroed items, at least one, to be freed. */
__attribute__((returns_nonnull)) void *allocate(size_t count, size_t size);

/* Make space for `needed` items of `size` bytes, doubling the capacity. `array` is the
 * address of the pointer to the items. */
void reserve(void *array, size_t *capacity, size_t needed, size_t size);

/* A text in memory of its own, to be freed. */
__attribute__((format(printf, 1, 2), returns_nonnull)) char *make_text(const char *format,
                                                                       ...);

/* A stream whose bytes close_text() leaves in *text, to be freed. */
FILE *open_text(char **text, size_t *bytes);
void close_text(FILE *stream);

/* Words by the order in which they first occur. Zero it before use. */
typedef struct {
  char **text; /* by number */
  size_t count, capacity;
  uint32_t *slot; /* a hash table: numbers and 1; 0: free */
  size_t slots;
} word_list;

/* The number of a word, a new one for a new word. */
size_t words_number(word_list *w, const char *text);
void words_free(word_list *w);

#endif
