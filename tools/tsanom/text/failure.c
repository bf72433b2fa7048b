/* SPDX-License-Identifier: BSD-3-Clause */
/* Why an input was rejected: one line, with the words of the input quoted. */
#include "failure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int fail(failure *why, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why->text, sizeof why->text, format, arguments);
  va_end(arguments);
  return -1;
}

int fail_errno(failure *why, const char *name, const char *verb) {
  char reason[128];
  return fail(why, "%s: cannot %s: %s", name, verb,
              strerror_r(errno, reason, sizeof reason));
}

const char *quoted(char shown[QUOTED_BYTES], const char *text) {
  const size_t longest = QUOTED_BYTES - sizeof "\"\\xNN...\"";
  size_t used = 0;
  shown[used++] = '"';
  while (*text && used < longest) {
    unsigned char byte = (unsigned char)*text++;
    if (byte < 0x20 || byte == 0x7f) {
      used += (size_t)snprintf(shown + used, sizeof "\\xNN", "\\x%02x", byte);
    } else {
      shown[used++] = (char)byte;
    }
  }
  if (*text) {
    while (((unsigned char)*text & 0xc0) == 0x80 && used > 1) {
      text--;
      used--;
    }
    used += (size_t)snprintf(shown + used, sizeof "...", "...");
  }
  shown[used++] = '"';
  shown[used] = '\0';
  return shown;
}
