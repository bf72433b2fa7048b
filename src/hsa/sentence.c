/* SPDX-License-Identifier: BSD-3-Clause */
/* A sentence in the caller's memory: what does not fit is counted, so that the caller
 * learns the size that it needs. */
#include "hsa/sentence.h"

#include <stdarg.h>

#include "core/fault.h"

void tsn_put(tsn_sentence *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t left = s->length < s->size ? s->size - s->length : 0;
  /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is just above */
  int written = tsn_format(left ? s->text + s->length : NULL, left, format, arguments);
  va_end(arguments);
  if (written > 0) s->length += (size_t)written;
}

tsanom_status tsn_sentence_end(const tsn_sentence *s, size_t *length) {
  if (length) *length = s->length;
  return s->length < s->size ? TSANOM_OK : TSANOM_PARTIAL;
}
