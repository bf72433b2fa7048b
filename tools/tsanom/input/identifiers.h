/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of a file as numbers, by the order in which they first occur. */
#ifndef TSANOM_COMMAND_IDENTIFIERS_H
#define TSANOM_COMMAND_IDENTIFIERS_H

#include <stddef.h>
#include <stdint.h>

/* Zero it before use. */
typedef struct {
  void *tree;  /* of words, for tsearch() */
  char **word; /* by number */
  size_t count, capacity;
} identifiers;

/* The number of a word, a new one if it has none. Returns 0, or -1 when out of
 * memory. */
int identifiers_number(identifiers *ids, const char *word, uint64_t *number);

void identifiers_free(identifiers *ids);

#endif
