/* SPDX-License-Identifier: BSD-3-Clause */
/* What separates the fields of a text file. */
#ifndef TSANOM_COMMAND_DELIMITER_H
#define TSANOM_COMMAND_DELIMITER_H

#include <stddef.h>

/* What the first row shows. Blanks are spaces or tabs, one or more. */
enum {
  DELIMITER_BLANKS = -1,   /* numbers, separated by blanks */
  DELIMITER_UNDECIDED = -2 /* words with blanks between: several names, or one name */
};

/* By the first row: the byte that separates fields, or a value above. A tab has
 * precedence over a semicolon, and that over a comma; a row without any has one field. */
int delimiter_of(const char *line, size_t bytes);

/* The number of fields that blanks separate, if all of them are numbers; else 0. */
size_t delimiter_numbers(const char *line, size_t bytes);

/* The number of words that blanks separate. */
size_t delimiter_words(const char *line, size_t bytes);

/* Replace the blanks between words by one tab each and drop those at the ends, in place.
 * Returns the number of bytes left. */
size_t delimiter_to_tabs(char *line, size_t bytes);

#endif
