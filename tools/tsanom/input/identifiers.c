/* SPDX-License-Identifier: BSD-3-Clause */
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
