/* SPDX-License-Identifier: BSD-3-Clause */
/* Small random tables, degenerate ones among them, with random options. */
#ifndef TSANOM_TEST_ROUGHSET_RANDOM_TABLE_H
#define TSANOM_TEST_ROUGHSET_RANDOM_TABLE_H

#include <stdbool.h>

#include "roughset/tables.h"

enum { ROWS = 14, ATTRIBUTES = 9 };

#define ALL_ATTRIBUTES(table) (((uint64_t)1 << (table)->attributes) - 1)

typedef struct {
  tsanom_roughset_table table;
  tsanom_roughset_options options;
} random_table;

/* Few values, so that equal rows, constant columns and absorbed elements are
 * common. The arrays are static: one table at a time. */
static inline random_table make_random_table(uint64_t *seed) {
  static int32_t values[ROWS * ATTRIBUTES], decision[ROWS];
  random_table r;
  size_t rows = random_between(seed, 1, ROWS), m = random_between(seed, 1, ATTRIBUTES);
  uint64_t kinds = random_between(seed, 1, 4), decisions = random_between(seed, 1, 4);
  uint64_t missing = random_between(seed, 0, 3);
  for (size_t k = 0; k < rows * m; k++) {
    bool lost = missing > 1 && random_bits(seed) % 6 == 0;
    values[k] = lost ? TSANOM_ROUGHSET_MISSING : (int32_t)(random_bits(seed) % kinds) - 1;
  }
  for (size_t i = 0; i < rows; i++) {
    decision[i] = (int32_t)(random_bits(seed) % decisions) * 500000000 - 1;
    if (i > 0 && random_bits(seed) % 4 == 0) {
      for (size_t a = 0; a < m; a++) values[i * m + a] = values[(i - 1) * m + a];
    }
  }
  r.table = table_of(values, decision, rows, m);
  tsanom_roughset_options_init(&r.options, sizeof r.options);
  r.options.reading = (int32_t)random_between(seed, 0, 2);
  r.options.missing = (int32_t)random_between(seed, 0, 1);
  r.options.absorb = (int32_t)random_between(seed, 0, 1);
  return r;
}

#endif
