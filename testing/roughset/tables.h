/* SPDX-License-Identifier: BSD-3-Clause */
/* Decision tables for tests, and the paper's. */
#ifndef TSANOM_TEST_ROUGHSET_TABLES_H
#define TSANOM_TEST_ROUGHSET_TABLES_H

#include <stdlib.h>
#include <string.h>
#include <tsanom/roughset.h>

#include "support/random.h"

/* The families of the golden values. */
enum { FAMILY_MIXED = 1, FAMILY_BINARY = 2, FAMILY_PLANTED = 3, FAMILY_INCONSISTENT = 4 };

static inline tsanom_roughset_table table_of(const int32_t *values,
                                             const int32_t *decision, size_t rows,
                                             size_t attributes) {
  tsanom_roughset_table table;
  memset(&table, 0, sizeof table);
  table.struct_size = sizeof table;
  table.values = values;
  table.decision = decision;
  table.rows = rows;
  table.attributes = attributes;
  return table;
}

/* Values of attribute j are 0 ... v(j) - 1: 2 + j % 4 of them, or two. */
static inline void fill_family(int family, size_t rows, size_t attributes,
                               int32_t *values, int32_t *decision) {
  uint64_t seed = (uint64_t)family * 1000000007u + rows * 1000 + attributes;
  int many = family == FAMILY_MIXED || family == FAMILY_PLANTED;
  for (size_t i = 0; i < rows; i++) {
    int32_t *row = values + i * attributes;
    for (size_t j = 0; j < attributes; j++) {
      row[j] = (int32_t)((random_bits(&seed) >> 32) % (many ? 2 + j % 4 : 2));
    }
    if (family == FAMILY_INCONSISTENT && i % 3 == 2) {
      for (size_t j = 0; j < attributes; j++) row[j] = (row - attributes)[j];
    }
    if (family == FAMILY_PLANTED) {
      decision[i] = (row[0] + 2 * row[3] + row[5] * row[7]) % 4;
    } else {
      decision[i] =
          (int32_t)((random_bits(&seed) >> 32) % (family == FAMILY_BINARY ? 2 : 3));
    }
  }
}

/* Table 1 of the SPMD paper: sunny 0, overcast 1; hot 0, cool 1; high 0, low 1;
 * false 0, true 1; N 0, P 1. */
static const int32_t weather_values[] = {0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0};
static const int32_t weather_decision[] = {0, 0, 1, 1};

/* Table 2, of Geo-ST; rows 6 and 7 follow from figure 5 up to labels. */
static const int32_t geost_values[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
                                       1, 1, 0, 0, 0, 2, 0, 1, 0, 0, 3, 1, 1, 0,
                                       1, 4, 1, 2, 0, 1, 3, 1, 2, 0, 0, 4};
static const int32_t geost_decision[] = {0, 1, 1, 2, 3, 4, 3, 4};

/* Options with only those that a function uses: `missing`, or `reading` and `missing`. */
static inline const tsanom_roughset_options *use_missing(
    const tsanom_roughset_options *options) {
  static tsanom_roughset_options own;
  tsanom_roughset_options_init(&own, sizeof own);
  if (options) own.missing = options->missing;
  return &own;
}

static inline const tsanom_roughset_options *use_reading(
    const tsanom_roughset_options *options) {
  static tsanom_roughset_options own;
  own = *use_missing(options);
  if (options) own.reading = options->reading;
  return &own;
}

#endif
