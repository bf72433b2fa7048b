/* SPDX-License-Identifier: BSD-3-Clause */
/* A family of distinct bitsets: a hash index for insertion, and absorption, which drops
 * the sets that contain another. For absorption the sets are sorted by size and
 * transposed: row a of a block of 512 sets has bit i if set i contains attribute a. The
 * subsets of a set s in the block are the sets without any attribute outside s: and-not
 * of the rows outside s, 512 candidates at a time:
 *
 *     sets 0: {a, c}, 1: {b}, 2: {a, d}         is one of them within s = {a, c, e}?
 *
 *     set      0 1 2                            exists           1 1 1
 *     exists   1 1 1                            without b        1 0 1
 *     a        1 0 1                            without d        1 0 0   set 0 is
 *     b        0 1 0
 *     c        1 0 0
 *     d        0 0 1
 *
 * The candidates are usually gone after a few rows. A test of each smaller set takes 1.5
 * to 22 times as long (bench_roughset, AMD EPYC Zen 5: 22 for the elements of 1000 rows
 * of 40 attributes, 3.4 of 100 rows, 1.5 to 4.0 for families that are searched for
 * reducts). The kernel of the base level takes up to 1.3 times as long as that of v4.
 *
 * Sets are taken size by size. Only smaller sets can absorb, and these are all in the
 * index by then, absorbed themselves; sets of one size are independent, which makes them
 * the work of threads. */
#include "roughset/family.h"

#include <string.h>

#include "core/parallel.h"
#include "core/size.h"

enum {
  /* Sets of a chunk: with fewer of a size, one thread does them. */
  ABSORB_GRAIN = 256,
  /* The hash index begins with 4 KiB in use, and grows to four times as soon as half of
   * it is full: its capacity is for the most elements possible, and may be 1000 times as
   * large as what is needed. */
  FIRST_SLOTS = 1 << 10,
  GROWTH = 4
};

static size_t blocks_of(size_t sets) {
  return sets / TSN_RS_BLOCK + (sets % TSN_RS_BLOCK != 0);
}

void tsn_rs_family_layout(tsn_arena *arena, size_t attributes, size_t capacity,
                          int threads, tsn_rs_family *f) {
  size_t words = tsn_rs_words(attributes), set_words = tsn_product(capacity, words);
  f->capacity = capacity;
  f->slots = 16;
  while (f->slots / 2 < capacity) f->slots *= 2;
  f->sets = tsn_arena_take(arena, set_words, sizeof *f->sets);
  f->spare = tsn_arena_take(arena, set_words, sizeof *f->spare);
  f->slot = tsn_arena_take(arena, f->slots, sizeof *f->slot);
  f->size = tsn_arena_take(arena, capacity, sizeof *f->size);
  f->order = tsn_arena_take(arena, capacity, sizeof *f->order);
  f->scratch = tsn_arena_take(arena, capacity, sizeof *f->scratch);
  f->rows = tsn_arena_take(
      arena, tsn_product(blocks_of(capacity) * TSN_RS_BLOCK_WORDS, attributes + 1),
      sizeof *f->rows);
  f->common = tsn_arena_take(arena, blocks_of(capacity) * words, sizeof *f->common);
  f->absorbed = tsn_arena_take(arena, capacity, sizeof *f->absorbed);
  f->outside = tsn_arena_take(arena, (size_t)threads * attributes, sizeof *f->outside);
}

/* Use the first slots of the hash index, all free. */
static void use_slots(tsn_rs_family *f, size_t slots) {
  f->used = slots;
  memset(f->slot, 0, slots * sizeof *f->slot);
}

void tsn_rs_family_clear(tsn_rs_family *f, size_t attributes) {
  f->attributes = attributes;
  f->words = tsn_rs_words(attributes);
  f->count = 0;
  use_slots(f, f->slots < FIRST_SLOTS ? f->slots : FIRST_SLOTS);
}

/* Each word is mixed with all before it. Unlike the hash of a row (table.c), no part of
 * it is ever taken out. */
static uint64_t hash_set(const uint64_t *set, size_t words) {
  uint64_t hash = 0;
  for (size_t w = 0; w < words; w++) hash = tsn_rs_finish(hash + set[w]) + w;
  return tsn_rs_finish(hash);
}

static bool same_set(const uint64_t *a, const uint64_t *b, size_t words) {
  for (size_t w = 0; w < words; w++) {
    if (a[w] != b[w]) return false;
  }
  return true;
}

/* The slot of a set: that where it is, or a free one. */
static uint32_t *find_slot(const tsn_rs_family *f, const uint64_t *set) {
  size_t s = hash_set(set, f->words) & (f->used - 1);
  while (f->slot[s] != 0 &&
         !same_set(f->sets + (f->slot[s] - 1) * f->words, set, f->words)) {
    s = (s + 1) & (f->used - 1);
  }
  return &f->slot[s];
}

bool tsn_rs_family_append(tsn_rs_family *f, const uint64_t *set) {
  if (f->count == f->capacity) return false;
  memcpy(f->sets + f->count * f->words, set, f->words * sizeof *set);
  f->count++;
  return true;
}

void tsn_rs_family_reindex(tsn_rs_family *f) {
  use_slots(f, f->used);
  for (size_t i = 0; i < f->count; i++) {
    *find_slot(f, f->sets + i * f->words) = (uint32_t)i + 1;
  }
}

bool tsn_rs_family_insert(tsn_rs_family *f, const uint64_t *set) {
  uint32_t *slot = find_slot(f, set);
  if (*slot != 0) return true;
  if (!tsn_rs_family_append(f, set)) return false;
  *slot = (uint32_t)f->count;
  if (f->count > f->used / 2) {
    f->used = f->slots / GROWTH < f->used ? f->slots : GROWTH * f->used;
    tsn_rs_family_reindex(f);
  }
  return true;
}

/* An absorption in progress. Threads read the index and write `absorbed` of their
 * sets. */
typedef struct {
  tsn_rs_family *family;
  const tsn_rs_elements_kernels *kernels;
  size_t first; /* of the sorted sets being looked at */
  size_t kept;  /* sets in the index, all smaller than those being looked at */
} absorption;

/* Sets first + begin ... first + end - 1 of the spare, sorted copy. */
static void look_for_subsets(void *context, size_t begin, size_t end, int thread) {
  absorption *a = context;
  tsn_rs_family *f = a->family;
  tsn_rs_transposed index = {.rows = f->rows,
                             .common = f->common,
                             .attributes = f->attributes,
                             .words = f->words};
  uint32_t *outside = f->outside + (size_t)thread * f->attributes;
  for (size_t i = a->first + begin; i < a->first + end; i++) {
    const uint64_t *set = f->spare + i * f->words;
    size_t count = 0;
    for (size_t v = 0; v < f->attributes; v++) {
      if (!tsn_rs_has(set, v)) outside[count++] = (uint32_t)v;
    }
    f->absorbed[i] =
        (uint8_t)a->kernels->has_subset(&index, blocks_of(a->kept), set, outside, count);
  }
}

/* Add a set as number `at` to the transposed index: row 0 of a block has the sets that
 * exist, row v + 1 those with attribute v. A block is cleared at its first set. */
static void add_to_index(tsn_rs_family *f, size_t at, const uint64_t *set) {
  size_t block = at / TSN_RS_BLOCK, k = at % TSN_RS_BLOCK;
  size_t row_words = (f->attributes + 1) * TSN_RS_BLOCK_WORDS;
  uint64_t *rows = f->rows + block * row_words, *common = f->common + block * f->words;
  if (k == 0) {
    memset(rows, 0, row_words * sizeof *rows);
    memset(common, 0xFF, f->words * sizeof *common);
  }
  tsn_rs_add(rows, k);
  for (size_t w = 0; w < f->words; w++) {
    common[w] &= set[w];
    for (uint64_t bits = set[w]; bits; bits &= bits - 1) {
      size_t v = 64 * w + (size_t)__builtin_ctzll(bits);
      tsn_rs_add(rows + (v + 1) * TSN_RS_BLOCK_WORDS, k);
    }
  }
}

/* Take the sorted sets of `spare` size by size: those of one size cannot absorb each
 * other. Those that remain are written back to `sets`, in order. Returns their number. */
static size_t absorb_sorted(tsn_rs_family *f, const tsanom_exec *exec) {
  tsanom_exec quiet = *exec;
  quiet.poll = NULL;
  absorption a = {.family = f, .kernels = tsn_rs_elements_kernels_at(exec->isa)};
  for (size_t begin = 0; begin < f->count;) {
    size_t end = begin;
    while (end < f->count && f->size[f->order[end]] == f->size[f->order[begin]]) end++;
    a.first = begin;
    tsn_parallel_for(&quiet, end - begin, ABSORB_GRAIN, look_for_subsets, &a, NULL);
    for (size_t i = begin; i < end; i++) {
      if (f->absorbed[i]) continue;
      const uint64_t *set = f->spare + i * f->words;
      memcpy(f->sets + a.kept * f->words, set, f->words * sizeof *set);
      add_to_index(f, a.kept++, set);
    }
    begin = end;
  }
  return a.kept;
}

/* The sets that the numbers to sort stand for. */
typedef struct {
  const uint64_t *sets;
  size_t words;
  const uint32_t *size;
} set_list;

/* By size first: absorption needs it, as a set can only contain smaller ones. */
static bool comes_after(const set_list *list, uint32_t i, uint32_t j) {
  if (list->size[i] != list->size[j]) return list->size[i] > list->size[j];
  const uint64_t *a = list->sets + i * list->words, *b = list->sets + j * list->words;
  for (size_t w = list->words; w-- > 0;) {
    if (a[w] != b[w]) return a[w] > b[w];
  }
  return false;
}

static void merge(const set_list *list, const uint32_t *from, size_t begin, size_t middle,
                  size_t end, uint32_t *to) {
  size_t i = begin, j = middle;
  for (size_t k = begin; k < end; k++) {
    bool right = i >= middle || (j < end && comes_after(list, from[i], from[j]));
    to[k] = right ? from[j++] : from[i++];
  }
}

/* Sort the numbers 0 ... count - 1 in `order` so that their sets come in order of size, then
 * of their words from the last to the first; scratch holds count numbers. A merge sort from
 * runs of one: stable, and qsort() may allocate. Most comparisons end at the sizes. */
static void sort_sets(const uint64_t *sets, size_t words, const uint32_t *size,
                      size_t count, uint32_t *order, uint32_t *scratch) {
  const set_list list = {.sets = sets, .words = words, .size = size};
  uint32_t *from = order, *to = scratch;
  for (size_t i = 0; i < count; i++) order[i] = (uint32_t)i;
  for (size_t run = 1; run < count; run *= 2) {
    for (size_t begin = 0; begin < count; begin += 2 * run) {
      size_t middle = count - begin < run ? count : begin + run;
      size_t end = count - middle < run ? count : middle + run;
      merge(&list, from, begin, middle, end, to);
    }
    uint32_t *swap = from;
    from = to;
    to = swap;
  }
  if (from != order) memcpy(order, from, count * sizeof *order);
}

void tsn_rs_family_sort(tsn_rs_family *f, bool absorb, const tsanom_exec *exec) {
  for (size_t i = 0; i < f->count; i++) {
    f->size[i] = (uint32_t)tsn_rs_size(f->sets + i * f->words, f->words);
  }
  sort_sets(f->sets, f->words, f->size, f->count, f->order, f->scratch);
  for (size_t i = 0; i < f->count; i++) {
    memcpy(f->spare + i * f->words, f->sets + f->order[i] * f->words,
           f->words * sizeof *f->sets);
  }
  if (absorb) {
    f->count = absorb_sorted(f, exec);
  } else {
    uint64_t *sorted = f->spare;
    f->spare = f->sets;
    f->sets = sorted;
  }
}
