/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of hundreds of attributes, of which few differ. */
#include <string.h>

#include "roughset/tables.h"
#include "support/check.h"
#include "support/random.h"

enum { ROWS = 40, NARROW = 12, WIDE = 512, WORDS = WIDE / 64 };

/* Random but for two rows of different decisions, which only attribute `core`
 * discerns. */
static void fill(int32_t *values, int32_t *decision, size_t core, uint64_t *seed) {
  for (size_t k = 0; k < (size_t)ROWS * NARROW; k++) {
    values[k] = (int32_t)(random_bits(seed) % 3);
  }
  for (size_t i = 0; i < ROWS; i++) decision[i] = (int32_t)i;
  memcpy(values + NARROW, values, NARROW * sizeof *values);
  values[NARROW + core]++;
}

/* Attributes of one value change no reduct. With 512, the elements that a search learns
 * fill their part of the workspace to its last byte. */
Test(roughset_wide, constant_attributes_change_no_reduct) {
  static int32_t narrow[ROWS * NARROW], wide[ROWS * WIDE], decision[ROWS];
  uint64_t seed = 5;
  for (int trial = 0; trial < CASES(100); trial++) {
    fill(narrow, decision, (size_t)trial % NARROW, &seed);
    memset(wide, 0, sizeof wide);
    for (size_t i = 0; i < ROWS; i++) {
      memcpy(wide + i * WIDE, narrow + i * NARROW, NARROW * sizeof *narrow);
    }
    tsanom_roughset_table few = table_of(narrow, decision, ROWS, NARROW);
    tsanom_roughset_table many = table_of(wide, decision, ROWS, WIDE);
    tsanom_roughset_bounds bounds[2];
    uint64_t expected = 0, reduct[WORDS] = {0};
    CHECK_STATUS(
        tsanom_roughset_minimum(&few, NULL, NULL, NULL, &bounds[0], &expected, NULL),
        TSANOM_OK);
    CHECK_STATUS(
        tsanom_roughset_minimum(&many, NULL, NULL, NULL, &bounds[1], reduct, NULL),
        TSANOM_OK);
    cr_assert(bounds[0].upper == bounds[1].upper && bounds[1].lower == bounds[1].upper);
    cr_assert(expected >> (size_t)trial % NARROW & 1, "it is in the core");
    cr_assert(reduct[0] == expected, "trial %d", trial);
    for (size_t w = 1; w < WORDS; w++) cr_assert(reduct[w] == 0);
  }
}
