/* SPDX-License-Identifier: BSD-3-Clause */
/* Validity of UTF-8 by the table of RFC 3629, section 4. The second byte of some forms
 * has a smaller range: this excludes overlong forms (e0, f0), surrogates (ed) and what
 * lies above U+10FFFF (f4). */
#include "utf8.h"

typedef struct {
  unsigned char first_low, first_high;   /* the leading byte */
  unsigned char second_low, second_high; /* the byte after it */
  unsigned char length;
} form;

/* RFC 3629, section 4. */
static const form forms[] = {
    {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

static const form *form_of(unsigned char first) {
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    if (first >= forms[i].first_low && first <= forms[i].first_high) return &forms[i];
  }
  return NULL;
}

int utf8_valid(const char *text, size_t bytes, size_t *bad) {
  const unsigned char *byte = (const unsigned char *)text;
  for (size_t i = 0; i < bytes;) {
    const form *f = form_of(byte[i]);
    *bad = i;
    if (!f) return 0;
    for (size_t k = 1; k < f->length; k++) {
      unsigned char low = k == 1 ? f->second_low : 0x80;
      unsigned char high = k == 1 ? f->second_high : 0xbf;
      if (i + k == bytes || byte[i + k] < low || byte[i + k] > high) return 0;
    }
    i += f->length;
  }
  return 1;
}
