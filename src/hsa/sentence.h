/* SPDX-License-Identifier: BSD-3-Clause */
/* A sentence under construction in the caller's memory. */
#ifndef TSN_HSA_SENTENCE_H
#define TSN_HSA_SENTENCE_H

#include <stddef.h>
#include <tsanom/base.h>

typedef struct {
  char *text;
  size_t size, length;
} tsn_sentence;

/* Append as snprintf() does: `length` counts what the whole text needs, of which `size`
 * is written. So one pass both measures and writes. */
__attribute__((format(printf, 2, 3))) void tsn_put(tsn_sentence *s, const char *format,
                                                   ...);

/* Three digits, or as many as a number has before its point, without an exponent: 3.57, 3571. */
void tsn_put_number(tsn_sentence *s, double number);

/* What a function that wrote the sentence returns; `length` may be NULL. */
tsanom_status tsn_sentence_end(const tsn_sentence *s, size_t *length);

#endif
