/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that double, and a list of distinct words, found by a hash table with open
 * addressing. */
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

/* The slot of a word, or the free one where it belongs. The number of slots is a power of
 * two, at least twice that of the words. */
static size_t find_slot(const word_list *w, const char *text) {
  uint32_t hash = 2166136261u; /* FNV-1a */
  for (const char *c = text; *c; c++) hash = (hash ^ (unsigned char)*c) * 16777619u;
  size_t s = hash & (w->slots - 1);
  while (w->slot[s] && strcmp(w->text[w->slot[s] - 1], text) != 0) {
    s = (s + 1) & (w->slots - 1);
  }
  return s;
}

/* Twice the words, and a new hash table. Numbers stay as they are. */
static int grow(word_list *w) {
  size_t capacity = w->capacity;
  if (reserve(&w->text, &capacity, w->count + 1, sizeof *w->text)) return -1;
  uint32_t *slot = calloc(2 * capacity, sizeof *slot);
  if (!slot || capacity > INT32_MAX / 4) {
    free(slot);
    return -1;
  }
  free(w->slot);
  w->slot = slot;
  w->slots = 2 * capacity;
  w->capacity = capacity;
  for (size_t k = 0; k < w->count; k++) {
    w->slot[find_slot(w, w->text[k])] = (uint32_t)k + 1;
  }
  return 0;
}

int words_number(word_list *w, const char *text, size_t *number) {
  if (w->count == w->capacity && grow(w)) return -1;
  size_t s = find_slot(w, text);
  if (!w->slot[s]) {
    char *copy = strdup(text);
    if (!copy) return -1;
    w->text[w->count++] = copy;
    w->slot[s] = (uint32_t)w->count;
  }
  *number = w->slot[s] - 1;
  return 0;
}

void words_free(word_list *w) {
  for (size_t k = 0; k < w->count; k++) free(w->text[k]);
  free(w->text);
  free(w->slot);
  *w = (word_list){0};
}
