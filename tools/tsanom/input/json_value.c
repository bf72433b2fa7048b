/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that JSON does not have: numbers that are not finite are null, and names that are
 * not UTF-8 have '?' for each of their bytes outside of ASCII. */
#include "json_value.h"

#include <math.h>
#include <stdlib.h>

#include "reserve.h"

json_t *json_finite(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_numbers(const double *values, size_t count) {
  json_t *array = json_array();
  for (size_t i = 0; i < count; i++) json_array_append_new(array, json_finite(values[i]));
  return array;
}

json_t *json_name(const char *name) {
  json_t *text = json_string(name);
  if (text) return text;
  char *plain = make_text("%s", name);
  for (char *byte = plain; *byte; byte++) {
    if ((unsigned char)*byte >= 0x80) *byte = '?';
  }
  text = json_string(plain);
  free(plain);
  return text;
}
