/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of files and options. strtod(3) accepts more than a table should contain
 * (hexadecimal numbers, infinities, NaN), so the characters are checked as well. What is
 * wrong is returned as the end of a sentence, with the most frequent mistakes by name:
 * another separator, a decimal comma, a missing value. */
#include "number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *number_parse(const char *text, double *value) {
  if (!*text) return "is empty: a finite number such as 1.5 or 2e-3 is expected";
  char *end;
  double parsed = strtod(text, &end);
  int whole = *end == '\0' && end != text;
  if (whole && isfinite(parsed) && strspn(text, "+-.0123456789eE") == strlen(text)) {
    *value = parsed;
    return NULL;
  }
  if (whole && isnan(parsed)) return "is not finite: a missing value must be left out";
  if (whole && isinf(parsed)) return "is not finite: the largest number is 1.79e308";
  if (strpbrk(text, "; \t")) {
    return "is not a number: commas, semicolons, tabs or blanks separate fields, in all "
           "rows the same";
  }
  if (strchr(text, ',')) return "is not a number: the decimal sign is a point";
  return "is not a number: a finite number such as 1.5 or 2e-3 is expected";
}

number_text number_exact(double value) {
  enum { FEW = 6, MANY = 17 };
  number_text number;
  for (int digits = FEW; digits <= MANY; digits++) {
    (void)snprintf(number.text, sizeof number.text, "%.*g", digits, value);
    if (strtod(number.text, NULL) == value) break;
  }
  return number;
}
