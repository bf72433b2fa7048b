/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements, matrix, core and inconsistent pairs against the definitions. */
#include <string.h>

#include "roughset/naive.h"
#include "roughset/random_table.h"
#include "support/check.h"
#include "support/exec.h"

enum { MOST_PAIRS = ROWS * (ROWS - 1) / 2 };

static bool alike(const tsanom_roughset_table *t, bool wild, size_t x, size_t y) {
  return naive_alike(t, ALL_ATTRIBUTES(t), wild, x, y);
}

/* Whether the reading wants two rows told apart. */
static bool naive_required(const tsanom_roughset_table *t,
                           const tsanom_roughset_options *o, size_t x, size_t y) {
  bool wild = o->missing == TSANOM_ROUGHSET_WILDCARD;
  uint64_t all = ALL_ATTRIBUTES(t);
  if (t->decision[x] == t->decision[y] || alike(t, wild, x, y)) return false;
  if (o->reading == TSANOM_ROUGHSET_POSITIVE_REGION) {
    return naive_certain(t, all, wild, x) || naive_certain(t, all, wild, y);
  }
  if (o->reading == TSANOM_ROUGHSET_GENERALIZED) {
    return !naive_possible(t, all, wild, x, t->decision[y]) ||
           !naive_possible(t, all, wild, y, t->decision[x]);
  }
  return true;
}

static uint64_t naive_element(const tsanom_roughset_table *t, bool wild, size_t x,
                              size_t y) {
  uint64_t set = 0;
  for (size_t a = 0; a < t->attributes; a++) {
    if (!naive_alike(t, (uint64_t)1 << a, wild, x, y)) set |= (uint64_t)1 << a;
  }
  return set;
}

static int by_size(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  int size = __builtin_popcountll(x) - __builtin_popcountll(y);
  return size != 0 ? size : (x > y) - (x < y);
}

/* The distinct, and if `absorb` minimal, elements in order. */
static size_t naive_elements(const tsanom_roughset_table *t,
                             const tsanom_roughset_options *o, uint64_t *sets) {
  size_t count = 0, kept = 0;
  bool wild = o->missing == TSANOM_ROUGHSET_WILDCARD;
  for (size_t x = 0; x < t->rows; x++) {
    for (size_t y = x + 1; y < t->rows; y++) {
      if (naive_required(t, o, x, y)) sets[count++] = naive_element(t, wild, x, y);
    }
  }
  if (count > 0) qsort(sets, count, sizeof *sets, by_size);
  for (size_t i = 0; i < count; i++) {
    bool drop = false;
    for (size_t k = 0; k < kept && !drop; k++) {
      drop = sets[k] == sets[i] || (o->absorb && (sets[k] & ~sets[i]) == 0);
    }
    if (!drop) sets[kept++] = sets[i];
  }
  return kept;
}

Test(roughset_elements, equal_the_definition_at_every_level_and_thread_count) {
  uint64_t seed = 11;
  for (int trial = 0; trial < CASES(3000); trial++) {
    random_table r = make_random_table(&seed);
    uint64_t expected[MOST_PAIRS + 1], found[MOST_PAIRS];
    size_t count, wanted = naive_elements(&r.table, &r.options, expected);
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1 + trial % 3);
      CHECK_STATUS(tsanom_roughset_elements(&r.table, &r.options, &exec, found,
                                            MOST_PAIRS, &count),
                   TSANOM_OK);
      cr_assert(count == wanted, "trial %d: %zu elements, not %zu", trial, count, wanted);
      cr_assert(memcmp(found, expected, count * sizeof *found) == 0, "trial %d", trial);
    }
  }
}

Test(roughset_elements, the_matrix_is_the_definition) {
  uint64_t seed = 12;
  for (int trial = 0; trial < CASES(2000); trial++) {
    random_table r = make_random_table(&seed);
    const tsanom_roughset_table *t = &r.table;
    const tsanom_roughset_options *options = use_missing(&r.options);
    bool wild = options->missing == TSANOM_ROUGHSET_WILDCARD;
    uint64_t sets[MOST_PAIRS];
    int32_t kind[MOST_PAIRS];
    size_t pair = 0;
    CHECK_STATUS(tsanom_roughset_matrix(t, options, NULL, sets, kind), TSANOM_OK);
    for (size_t x = 0; x < t->rows; x++) {
      for (size_t y = x + 1; y < t->rows; y++, pair++) {
        bool required = naive_required(t, options, x, y);
        bool lost = t->decision[x] != t->decision[y] && alike(t, wild, x, y);
        cr_assert(kind[pair] == (required ? 1 : lost ? -1 : 0));
        cr_assert(sets[pair] == (required ? naive_element(t, wild, x, y) : 0));
      }
    }
  }
}

Test(roughset_elements, inconsistent_pairs_come_in_order_whatever_the_capacity) {
  uint64_t seed = 13;
  for (int trial = 0; trial < CASES(2000); trial++) {
    random_table r = make_random_table(&seed);
    const tsanom_roughset_table *t = &r.table;
    bool wild = r.options.missing == TSANOM_ROUGHSET_WILDCARD;
    size_t expected[2 * MOST_PAIRS + 1], pairs[2 * MOST_PAIRS], count, wanted = 0;
    for (size_t x = 0; x < t->rows; x++) {
      for (size_t y = x + 1; y < t->rows; y++) {
        if (t->decision[x] == t->decision[y] || !alike(t, wild, x, y)) continue;
        expected[2 * wanted] = x;
        expected[2 * wanted++ + 1] = y;
      }
    }
    size_t capacity = random_between(&seed, 0, wanted + 1);
    CHECK_STATUS(tsanom_roughset_inconsistent(t, use_missing(&r.options), NULL, pairs,
                                              capacity, &count),
                 capacity < wanted ? TSANOM_PARTIAL : TSANOM_OK);
    cr_assert(count == wanted);
    size_t written = capacity < wanted ? capacity : wanted;
    cr_assert(memcmp(pairs, expected, 2 * written * sizeof *pairs) == 0);
  }
}

Test(roughset_elements, the_core_is_the_elements_of_one_attribute) {
  uint64_t seed = 14;
  for (int trial = 0; trial < CASES(3000); trial++) {
    random_table r = make_random_table(&seed);
    uint64_t sets[MOST_PAIRS + 1], expected = 0, core;
    size_t count = naive_elements(&r.table, &r.options, sets);
    for (size_t i = 0; i < count; i++) {
      if (__builtin_popcountll(sets[i]) == 1) expected |= sets[i];
    }
    CHECK_STATUS(tsanom_roughset_core(&r.table, use_reading(&r.options), NULL, &core),
                 TSANOM_OK);
    cr_assert(core == expected, "trial %d", trial);
  }
}

/* The distinct sets of a matrix of one word a set, in order of size and words. */
static size_t distinct_of(uint64_t *sets, const int32_t *kind, size_t pairs) {
  size_t count = 0, kept = 0;
  for (size_t p = 0; p < pairs; p++) {
    if (kind[p] == 1) sets[count++] = sets[p];
  }
  qsort(sets, count, sizeof *sets, by_size);
  for (size_t i = 0; i < count; i++) {
    if (i == 0 || sets[i] != sets[kept - 1]) sets[kept++] = sets[i];
  }
  return kept;
}

/* From four elements to some thousand, of as many pairs: the hash set grows on the way
 * and starts anew in a workspace full of the last call's. */
Test(roughset_elements, a_few_and_thousands_of_elements_are_distinct) {
  uint64_t seed = 16;
  enum { TALL = 150, WIDE = 40, PAIRS = TALL * (TALL - 1) / 2 };
  static int32_t values[TALL * WIDE], decision[TALL], kind[PAIRS];
  static uint64_t expected[PAIRS], found[PAIRS];
  tsanom_roughset_options options;
  tsanom_roughset_options_init(&options, sizeof options);
  options.absorb = 0;
  tsanom_exec exec = exec_at(TSANOM_ISA_AUTO, 1);
  const tsanom_roughset_table largest = {
      .struct_size = sizeof largest, .rows = TALL, .attributes = WIDE};
  tsanom_exec ask = ask_exec(&exec, &exec.work_bytes);
  CHECK_STATUS(tsanom_roughset_elements(&largest, &options, &ask, NULL, 0, NULL),
               TSANOM_E_WORKSPACE);
  exec.work = malloc(exec.work_bytes);
  for (size_t varying = 2; varying <= WIDE; varying += 2) {
    for (size_t k = 0; k < TALL * WIDE; k++) {
      values[k] = k % WIDE < varying ? (int32_t)(random_bits(&seed) % 2) : 0;
    }
    for (size_t i = 0; i < TALL; i++) decision[i] = (int32_t)(random_bits(&seed) % 3);
    size_t rows = random_between(&seed, TALL / 2, TALL), count;
    tsanom_roughset_table table = table_of(values, decision, rows, WIDE);
    CHECK_STATUS(tsanom_roughset_matrix(&table, NULL, NULL, expected, kind), TSANOM_OK);
    size_t wanted = distinct_of(expected, kind, rows * (rows - 1) / 2);
    CHECK_STATUS(tsanom_roughset_elements(&table, &options, &exec, found, PAIRS, &count),
                 TSANOM_OK);
    cr_assert(count == wanted, "%zu elements, not %zu", count, wanted);
    cr_assert(memcmp(found, expected, count * sizeof *found) == 0);
  }
  free(exec.work);
}

/* Few attributes whose values are many: their codes take two or three words. */
Test(roughset_elements, few_attributes_of_many_values) {
  enum { MANY = 160, PAIRS = MANY * (MANY - 1) / 2, MOST = 13 };
  static int32_t values[MANY * MOST], decision[MANY];
  static uint64_t expected[PAIRS + 1], found[PAIRS];
  uint64_t seed = 17;
  for (int trial = 0; trial < 12; trial++) {
    size_t m = random_between(&seed, 9, MOST), kinds = random_between(&seed, 20, MANY);
    for (size_t k = 0; k < MANY * m; k++) {
      bool is_usual = random_between(&seed, 0, 2) == 0;
      values[k] = is_usual ? 0 : (int32_t)random_between(&seed, 0, kinds);
    }
    for (size_t i = 0; i < MANY; i++) decision[i] = (int32_t)random_between(&seed, 0, 1);
    tsanom_roughset_table table = table_of(values, decision, MANY, m);
    tsanom_roughset_options options;
    tsanom_roughset_options_init(&options, sizeof options);
    options.absorb = trial % 2;
    size_t count, wanted = naive_elements(&table, &options, expected);
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1 + trial % 2);
      CHECK_STATUS(
          tsanom_roughset_elements(&table, &options, &exec, found, PAIRS, &count),
          TSANOM_OK);
      cr_assert(count == wanted, "%d: %zu instead of %zu", trial, count, wanted);
      cr_assert(memcmp(found, expected, count * sizeof *found) == 0, "%d", trial);
    }
  }
}

/* Many attributes, wide codes, many threads: both paths, several words. */
Test(roughset_elements, wide_tables_agree_with_their_matrix) {
  uint64_t seed = 15;
  enum { TALL = 60, WIDE = 150 };
  for (int trial = 0; trial < 60; trial++) {
    size_t rows = random_between(&seed, 2, TALL), m = random_between(&seed, 20, WIDE);
    size_t words = (m + 63) / 64, pairs = rows * (rows - 1) / 2, count;
    int32_t *values = malloc(rows * m * sizeof *values), decision[TALL];
    for (size_t k = 0; k < rows * m; k++) {
      uint64_t bits = random_bits(&seed);
      values[k] = k % 7 == 0   ? (int32_t)bits
                  : k % 5 == 0 ? INT32_MAX - (int32_t)(bits % 3)
                               : (int32_t)(bits % 8 == 0);
    }
    for (size_t i = 0; i < rows; i++) decision[i] = (int32_t)(random_bits(&seed) % 3);
    tsanom_roughset_table table = table_of(values, decision, rows, m);
    tsanom_roughset_options options;
    tsanom_roughset_options_init(&options, sizeof options);
    options.absorb = trial % 2;
    uint64_t *matrix = malloc(pairs * words * sizeof *matrix);
    uint64_t *sets = malloc(pairs * words * sizeof *sets);
    int32_t *kind = malloc(pairs * sizeof *kind);
    CHECK_STATUS(tsanom_roughset_matrix(&table, NULL, NULL, matrix, kind), TSANOM_OK);
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1);
      CHECK_STATUS(tsanom_roughset_elements(&table, &options, &exec, sets, pairs, &count),
                   TSANOM_OK);
      for (size_t p = 0; p < pairs; p++) {
        bool equal = false, contained = false;
        for (size_t i = 0; i < count; i++) {
          uint64_t outside = 0, differing = 0;
          for (size_t w = 0; w < words; w++) {
            outside |= sets[i * words + w] & ~matrix[p * words + w];
            differing |= sets[i * words + w] ^ matrix[p * words + w];
          }
          contained = contained || !outside;
          equal = equal || !differing;
        }
        cr_assert(kind[p] != 1 || (options.absorb ? contained : equal));
      }
    }
    free(values);
    free(matrix);
    free(sets);
    free(kind);
  }
}
