/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a series and as a table: rejected with a message, or finite numbers in
 * equal columns. */
#include <math.h>
#include <series.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_columns(const uint8_t *data, size_t size, const char *const *names,
                         size_t count) {
  stdin = fmemopen((void *)data, size, "r");
  columns c = {0};
  failure why = {""};
  if (columns_read("-", names, count, &c, &why)) {
    if (!*why.text) abort();
  } else {
    for (size_t k = 0; k < count; k++) {
      for (size_t i = 0; i < c.count; i++) {
        if (!isfinite(c.column[k][i])) abort();
      }
    }
  }
  columns_free(&c);
  (void)fclose(stdin);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"x", "y"};
  if (size == 0) return 0;
  read_columns(data, size, NULL, 1);
  read_columns(data, size, names, 2);
  return 0;
}
