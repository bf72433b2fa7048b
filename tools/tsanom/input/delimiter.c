/* SPDX-License-Identifier: BSD-3-Clause */
#include "delimiter.h"

#include <string.h>

#include "number.h"

enum { NUMBER_BYTES = 64 };

static int is_blank(char byte) {
  return byte == ' ' || byte == '\t';
}

/* The next word at or behind *at; its bytes, or 0 at the end of the line. */
static size_t next_word(const char *line, size_t bytes, size_t *at) {
  while (*at < bytes && is_blank(line[*at])) ++*at;
  size_t end = *at;
  while (end < bytes && !is_blank(line[end])) end++;
  return end - *at;
}

static int is_number(const char *word, size_t bytes) {
  char text[NUMBER_BYTES];
  double value;
  if (bytes >= sizeof text) return 0;
  memcpy(text, word, bytes);
  text[bytes] = '\0';
  return !number_parse(text, &value);
}

size_t delimiter_words(const char *line, size_t bytes) {
  size_t words = 0, at = 0;
  for (size_t length; (length = next_word(line, bytes, &at)) > 0; at += length) words++;
  return words;
}

size_t delimiter_numbers(const char *line, size_t bytes) {
  size_t words = 0, at = 0;
  for (size_t length; (length = next_word(line, bytes, &at)) > 0; at += length) {
    if (!is_number(line + at, length)) return 0;
    words++;
  }
  return words;
}

int delimiter_of(const char *line, size_t bytes) {
  int is_quoted = 0, has_quotes = 0, has_semicolon = 0, has_comma = 0;
  for (size_t i = 0; i < bytes; i++) {
    if (line[i] == '"') {
      is_quoted = !is_quoted;
      has_quotes = 1;
    } else if (!is_quoted) {
      if (line[i] == '\t') return '\t';
      has_semicolon |= line[i] == ';';
      has_comma |= line[i] == ',';
    }
  }
  if (has_semicolon) return ';';
  if (has_comma || has_quotes || delimiter_words(line, bytes) < 2) return ',';
  return delimiter_numbers(line, bytes) ? DELIMITER_BLANKS : DELIMITER_UNDECIDED;
}

size_t delimiter_to_tabs(char *line, size_t bytes) {
  size_t kept = 0, at = 0;
  for (size_t length; (length = next_word(line, bytes, &at)) > 0; at += length) {
    if (kept) line[kept++] = '\t';
    memmove(line + kept, line + at, length);
    kept += length;
  }
  return kept;
}
