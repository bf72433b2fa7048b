/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory, arrays that double, and a list of distinct words, found by a hash table with open
 * addressing. Nothing can be done without memory, so that what asks for it need not handle
 * that there is none. */
#include "reserve.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

void end_without_memory(void) {
  failure why;
  fail(&why, "out of memory");
  exit(report_failure(&why));
}

void *allocate(size_t count, size_t size) {
  void *items = calloc(count ? count : 1, size);
  if (!items) end_without_memory();
  return items;
}

void reserve(void *array, size_t *capacity, size_t needed, size_t size) {
  if (needed <= *capacity) return;
  size_t grown = *capacity ? *capacity : 64, bytes;
  while (grown < needed) grown *= 2;
  if (__builtin_mul_overflow(grown, size, &bytes)) end_without_memory();
  void *items;
  memcpy(&items, array, sizeof items);
  if (!(items = realloc(items, bytes))) end_without_memory();
  memcpy(array, &items, sizeof items);
  *capacity = grown;
}

char *make_text(const char *format, ...) {
  char *text;
  va_list arguments;
  va_start(arguments, format);
  int length = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (length < 0) end_without_memory();
  return text;
}

FILE *open_text(char **text, size_t *bytes) {
  FILE *stream = open_memstream(text, bytes);
  if (!stream) end_without_memory();
  return stream;
}

void close_text(FILE *stream) {
  if (fclose(stream) != 0) end_without_memory();
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
static void grow(word_list *w) {
  reserve(&w->text, &w->capacity, w->count + 1, sizeof *w->text);
  if (w->capacity > INT32_MAX / 4) end_without_memory();
  free(w->slot);
  w->slots = 2 * w->capacity;
  w->slot = allocate(w->slots, sizeof *w->slot);
  for (size_t k = 0; k < w->count; k++) {
    w->slot[find_slot(w, w->text[k])] = (uint32_t)k + 1;
  }
}

size_t words_number(word_list *w, const char *text) {
  if (w->count == w->capacity) grow(w);
  size_t s = find_slot(w, text);
  if (!w->slot[s]) {
    w->text[w->count++] = make_text("%s", text);
    w->slot[s] = (uint32_t)w->count;
  }
  return w->slot[s] - 1;
}

void words_free(word_list *w) {
  for (size_t k = 0; k < w->count; k++) free(w->text[k]);
  free(w->text);
  free(w->slot);
  *w = (word_list){0};
}
