/* SPDX-License-Identifier: BSD-3-Clause */
/* The search that splits rows, against all subsets of random tables of two values.
 * Internal: the functions of the library reach it only for tables that take long without.
 */
#include <string.h>

#include "core/exec.h"
#include "roughset/split.h"
#include "support/check.h"
#include "support/isa.h"
#include "support/random.h"

enum { MOST_ATTRIBUTES = 11, MOST_ROWS = 40, PADDED = 70, BLOCK = 1 << 20 };

typedef struct {
  size_t rows, attributes, pad; /* attribute a of the problem is pad + a of the table */
  uint64_t row[MOST_ROWS], core;
  int32_t values[MOST_ROWS * (PADDED + MOST_ATTRIBUTES)];
  uint32_t number[MOST_ROWS];
  tsanom_roughset_table table;
  tsn_rs_units units;
  tsn_rs_split split;
  uint64_t found[1 << MOST_ATTRIBUTES];
  size_t count;
} problem;

static problem p;

static bool discerns_all(uint64_t set) {
  for (size_t i = 0; i < p.rows; i++) {
    for (size_t j = 0; j < i; j++) {
      if (((p.row[i] ^ p.row[j]) & set) == 0) return false;
    }
  }
  return true;
}

/* Rows that differ, some attributes rare or constant, and a core of any attributes; every
 * second table has a second word. */
static void make_problem(uint64_t *seed) {
  static _Alignas(64) unsigned char block[BLOCK];
  p.attributes = random_between(seed, 1, MOST_ATTRIBUTES);
  p.pad = random_bits(seed) % 2 ? PADDED - p.attributes / 2 : 0;
  size_t width = p.pad + p.attributes, tries = random_between(seed, 1, MOST_ROWS);
  uint64_t rare = random_bits(seed);
  rare &= random_bits(seed);
  p.rows = 0;
  for (size_t i = 0; i < tries; i++) {
    uint64_t row = random_bits(seed) & (random_bits(seed) | ~rare);
    row &= ((uint64_t)1 << p.attributes) - 1;
    bool is_new = true;
    for (size_t k = 0; k < p.rows; k++) is_new = is_new && p.row[k] != row;
    if (is_new) p.row[p.rows++] = row;
  }
  memset(p.values, 0, sizeof p.values);
  for (size_t i = 0; i < p.rows; i++) {
    p.number[i] = (uint32_t)i;
    for (size_t a = 0; a < p.attributes; a++) {
      p.values[i * width + p.pad + a] = p.row[i] >> a & 1 ? 7 : -3;
    }
  }
  tsanom_roughset_table_init(&p.table, sizeof p.table);
  p.table.values = p.values;
  p.table.ld = p.table.attributes = width;
  p.table.rows = p.rows;
  p.units = (tsn_rs_units){.units = p.rows, .row = p.number, .labels = p.rows};
  p.core = ((uint64_t)1 << p.attributes) - 1;
  for (int k = 0; k < 3; k++) p.core &= random_bits(seed);
  tsn_arena arena = {.base = block, .capacity = sizeof block};
  tsn_rs_split_layout(&arena, p.rows, width, &p.split);
  cr_assert(!arena.overflow && arena.used <= sizeof block);
}

/* The smallest sets with the core, in increasing order; their size, SIZE_MAX: none. */
static size_t naive_smallest(uint64_t *sets, size_t *count) {
  size_t least = SIZE_MAX;
  *count = 0;
  for (uint64_t set = 0; set < (uint64_t)1 << p.attributes; set++) {
    size_t size = (size_t)__builtin_popcountll(set);
    if (size > least || (p.core & ~set) || !discerns_all(set)) continue;
    if (size < least) *count = 0;
    least = size;
    sets[(*count)++] = set;
  }
  return least;
}

static tsanom_status examine(void *context, const uint32_t *chosen, size_t count) {
  uint64_t set = 0;
  (void)context;
  for (size_t k = 0; k < count; k++) set |= (uint64_t)1 << (chosen[k] - p.pad);
  p.found[p.count++] = set;
  return TSANOM_INFEASIBLE;
}

static void find_sets(size_t limit, const tsanom_exec *exec) {
  uint64_t candidates[2] = {0};
  uint32_t core[MOST_ATTRIBUTES];
  size_t core_size = 0;
  for (size_t a = 0; a < p.attributes; a++) {
    if (p.core >> a & 1) {
      core[core_size++] = (uint32_t)(p.pad + a);
    } else {
      tsn_rs_add(candidates, p.pad + a);
    }
  }
  p.count = 0;
  tsn_rs_split_root(&p.split, core, core_size, candidates, exec->isa);
  CHECK_STATUS(tsn_rs_split_search(&p.split, limit, exec, examine, NULL), TSANOM_OK);
}

static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

Test(roughset_split, it_finds_every_smallest_set_once) {
  static uint64_t expected[1 << MOST_ATTRIBUTES];
  uint64_t seed = 73;
  size_t deep = 0;
  for (int trial = 0; trial < 3000; trial++) {
    make_problem(&seed);
    size_t count, least = naive_smallest(expected, &count);
    size_t core = (size_t)__builtin_popcountll(p.core);
    if (least == core) continue; /* the core suffices: the library knows it before */
    deep += least > core + 4;
    FOR_EACH_ISA (isa) {
      tsanom_exec request, exec;
      tsanom_exec_init(&request, sizeof request);
      request.isa = isa;
      CHECK_STATUS(tsn_exec_read(&exec, &request), TSANOM_OK);
      cr_assert(tsn_rs_split_load(&p.split, &p.table, &p.units));
      for (size_t size = core; size <= least && size <= p.attributes; size++) {
        find_sets(size, &exec);
        cr_assert(p.count == (size < least ? 0 : count), "trial %d: %zu, not %zu", trial,
                  p.count, count);
      }
      qsort(p.found, p.count, sizeof *p.found, by_number);
      cr_assert(memcmp(p.found, expected, p.count * sizeof *expected) == 0, "trial %d",
                trial);
    }
  }
  cr_assert(deep > 100, "%zu", deep);
}

Test(roughset_split, it_takes_rows_that_all_differ_in_two_values) {
  uint64_t seed = 74;
  do {
    make_problem(&seed);
  } while (p.rows < 3);
  cr_assert(tsn_rs_split_load(&p.split, &p.table, &p.units));
  p.units.labels--;
  cr_assert(!tsn_rs_split_load(&p.split, &p.table, &p.units));
  p.units.labels++;
  p.values[p.pad] = 1;
  p.values[p.table.ld + p.pad] = 2;
  p.values[2 * p.table.ld + p.pad] = 1;
  for (size_t i = 3; i < p.rows; i++) p.values[i * p.table.ld + p.pad] = 2;
  cr_assert(tsn_rs_split_load(&p.split, &p.table, &p.units));
  p.values[2 * p.table.ld + p.pad] = 3;
  cr_assert(!tsn_rs_split_load(&p.split, &p.table, &p.units));
  p.split.rows = p.rows - 1;
  p.values[2 * p.table.ld + p.pad] = 1;
  cr_assert(!tsn_rs_split_load(&p.split, &p.table, &p.units));
}
