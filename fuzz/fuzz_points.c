/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a table of points, of all columns and of some: rejected with a message, or
 * finite coordinates, each row with the line that it comes from. */
#include <math.h>
#include <series.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_points(const uint8_t *data, size_t size, const char *names) {
  stdin = fmemopen((void *)data, size, "r");
  points p = {0};
  failure why = {""};
  if (points_read("-", names, &p, &why)) {
    if (!*why.text) abort();
  } else {
    if (p.count == 0 || p.dimensions == 0) abort();
    for (size_t i = 0; i < p.count * p.dimensions; i++) {
      if (!isfinite(p.value[i])) abort();
    }
    for (size_t i = 1; i < p.count; i++) {
      if (p.line[i] <= p.line[i - 1]) abort();
    }
    for (size_t c = 0; c < p.dimensions; c++) {
      if (p.at[c] >= p.fields) abort();
    }
  }
  points_free(&p);
  (void)fclose(stdin);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  read_points(data, size, NULL);
  read_points(data, size, "y,x");
  return 0;
}
