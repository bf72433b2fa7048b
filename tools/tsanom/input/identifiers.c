/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers for words: each new word gets the next number. The words are in a balanced
 * tree of the C library (tsearch(3)), O(log n) comparisons for each; a node holds its
 * word, so that one allocation serves both. */
#include "identifiers.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "reserve.h"

/* A node of the tree; its text follows it. */
typedef struct {
  uint64_t number;
  char text[];
} entry;

/* What is looked up is the text alone; entries are compared by theirs. */
static const char *text_of(const void *node) {
  return ((const entry *)node)->text;
}

static int by_text(const void *a, const void *b) {
  return strcmp(text_of(a), text_of(b));
}

/* A node is made before the search, because tsearch() inserts what it does not find; of
 * a known word it is freed again. */
int identifiers_number(identifiers *ids, const char *word, uint64_t *number) {
  size_t bytes = strlen(word) + 1;
  entry *fresh = malloc(sizeof *fresh + bytes);
  if (!fresh || reserve(&ids->word, &ids->capacity, ids->count + 1, sizeof *ids->word)) {
    free(fresh);
    return -1;
  }
  fresh->number = ids->count;
  memcpy(fresh->text, word, bytes);
  entry **found = (entry **)tsearch(fresh, &ids->tree, by_text);
  if (!found) {
    free(fresh);
    return -1;
  }
  *number = (*found)->number;
  if (*found == fresh) {
    ids->word[ids->count++] = fresh->text;
  } else {
    free(fresh);
  }
  return 0;
}

void identifiers_free(identifiers *ids) {
  tdestroy(ids->tree, free);
  free(ids->word);
  *ids = (identifiers){0};
}
