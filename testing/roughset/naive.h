/* SPDX-License-Identifier: BSD-3-Clause */
/* Rough sets straight from the definitions: every subset of up to 16 attributes
 * is tried. */
#ifndef TSANOM_TEST_ROUGHSET_NAIVE_H
#define TSANOM_TEST_ROUGHSET_NAIVE_H

#include <stdbool.h>
#include <tsanom/roughset.h>

/* Whether a set of attributes does not tell two rows apart. */
static inline bool naive_alike(const tsanom_roughset_table *t, uint64_t set, bool wild,
                               size_t x, size_t y) {
  for (size_t a = 0; a < t->attributes; a++) {
    int32_t u = t->values[x * t->attributes + a], v = t->values[y * t->attributes + a];
    if (!(set >> a & 1) || u == v) continue;
    if (wild && (u == TSANOM_ROUGHSET_MISSING || v == TSANOM_ROUGHSET_MISSING)) continue;
    return false;
  }
  return true;
}

/* Whether decision d is among those of the rows alike to x. */
static inline bool naive_possible(const tsanom_roughset_table *t, uint64_t set, bool wild,
                                  size_t x, int32_t d) {
  for (size_t y = 0; y < t->rows; y++) {
    if (t->decision[y] == d && naive_alike(t, set, wild, x, y)) return true;
  }
  return false;
}

static inline bool naive_certain(const tsanom_roughset_table *t, uint64_t set, bool wild,
                                 size_t x) {
  for (size_t y = 0; y < t->rows; y++) {
    if (t->decision[y] != t->decision[x] && naive_alike(t, set, wild, x, y)) return false;
  }
  return true;
}

/* Whether a set of attributes preserves what the reading asks for: not by pairs
 * and elements but by what the reading says of every row. */
static inline bool naive_preserves(const tsanom_roughset_table *t, int32_t reading,
                                   bool wild, uint64_t set) {
  uint64_t all = ((uint64_t)1 << t->attributes) - 1;
  for (size_t x = 0; x < t->rows; x++) {
    if (reading == TSANOM_ROUGHSET_POSITIVE_REGION) {
      if (naive_certain(t, all, wild, x) && !naive_certain(t, set, wild, x)) return false;
      continue;
    }
    for (size_t y = 0; y < t->rows; y++) {
      if (reading == TSANOM_ROUGHSET_GENERALIZED) {
        int32_t d = t->decision[y];
        if (naive_possible(t, set, wild, x, d) && !naive_possible(t, all, wild, x, d)) {
          return false;
        }
      } else if (t->decision[x] != t->decision[y] && naive_alike(t, set, wild, x, y) &&
                 !naive_alike(t, all, wild, x, y)) {
        return false;
      }
    }
  }
  return true;
}

/* How many rows the positive region of a set of attributes has. */
static inline size_t naive_positive(const tsanom_roughset_table *t, bool wild,
                                    uint64_t set) {
  size_t size = 0;
  for (size_t x = 0; x < t->rows; x++) size += naive_certain(t, set, wild, x);
  return size;
}

/* The reducts in increasing order; returns their number. `good` and `reducts` have 2^m
 * elements. */
static inline size_t naive_reducts(const tsanom_roughset_table *t,
                                   const tsanom_roughset_options *o, bool *good,
                                   uint64_t *reducts) {
  bool wild = o->missing == TSANOM_ROUGHSET_WILDCARD;
  size_t count = 0;
  for (uint64_t set = 0; set >> t->attributes == 0; set++) {
    good[set] = naive_preserves(t, o->reading, wild, set);
    bool minimal = good[set];
    for (size_t a = 0; a < t->attributes; a++) {
      if (set >> a & 1 && good[set & ~((uint64_t)1 << a)]) minimal = false;
    }
    if (minimal) reducts[count++] = set;
  }
  return count;
}

#endif
