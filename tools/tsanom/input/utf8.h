/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_UTF8_H
#define TSANOM_COMMAND_UTF8_H

#include <stddef.h>

/* Tell whether `text` is UTF-8 as RFC 3629 has it: no overlong forms, no
 * surrogates, nothing above U+10FFFF. If not, *bad is the first byte that does
 * not belong. */
int utf8_valid(const char *text, size_t bytes, size_t *bad);

#endif
