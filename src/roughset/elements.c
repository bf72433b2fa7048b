/* SPDX-License-Identifier: BSD-3-Clause */
/* The discernibility elements of all pairs of units, distinct and optionally absorbed.
 * Two ways:
 *
 *   bitmap  one bit for each of the 2^attributes subsets; an element is one bit set, so
 *           that duplicates cost nothing
 *   lists   elements of a batch of pairs are inserted into a hash set
 *
 * The bitmap costs attributes * 2^attributes / 64 word operations and 2^attributes / 8
 * bytes for each thread whatever the number of pairs, so it is limited to 26 attributes
 * (8 MiB) and to tables with pairs enough. Measured (bench_roughset, AMD EPYC Zen 5; time
 * of the lists in units of that of the bitmap): 3.7 for 100 rows of 20 attributes, 18 for
 * 1000 and 26 for 10,000. The lists serve more attributes and wildcards.
 *
 *     units (units.c) --kernel--> elements --+-- bitmap of each thread -- united, closed,
 *     pairs of different labels              |   minimal members (lattice_kernel.c)
 *                                            +-- batch -- hash set, absorbed
 *
 * Either way the family ends up sorted by size and words, so that the result does not
 * depend on the way, the number of threads, or the order of the pairs. */
#include "roughset/elements.h"

#include <stdatomic.h>
#include <string.h>

#include "core/exec.h"
#include "core/parallel.h"
#include "core/size.h"
#include "roughset/lattice_kernel.h"

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

/* Add a set known to be new, outside of the hash index; false: no capacity. */
static bool append_set(tsn_rs_family *f, const uint64_t *set) {
  if (f->count == f->capacity) return false;
  memcpy(f->sets + f->count * f->words, set, f->words * sizeof *set);
  f->count++;
  return true;
}

/* Make the hash index anew, after a sort. */
static void reindex(tsn_rs_family *f) {
  use_slots(f, f->used);
  for (size_t i = 0; i < f->count; i++) {
    *find_slot(f, f->sets + i * f->words) = (uint32_t)i + 1;
  }
}

bool tsn_rs_family_insert(tsn_rs_family *f, const uint64_t *set) {
  uint32_t *slot = find_slot(f, set);
  if (*slot != 0) return true;
  if (!append_set(f, set)) return false;
  *slot = (uint32_t)f->count;
  if (f->count > f->used / 2) {
    f->used = f->slots / GROWTH < f->used ? f->slots : GROWTH * f->used;
    reindex(f);
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

/* Whether set i comes after set j. By size first: absorption needs it, as a set can only
 * contain smaller ones. */
static bool comes_after(const tsn_rs_family *f, uint32_t i, uint32_t j) {
  if (f->size[i] != f->size[j]) return f->size[i] > f->size[j];
  const uint64_t *a = f->sets + i * f->words, *b = f->sets + j * f->words;
  for (size_t w = f->words; w-- > 0;) {
    if (a[w] != b[w]) return a[w] > b[w];
  }
  return false;
}

static void merge(const tsn_rs_family *f, const uint32_t *from, size_t begin,
                  size_t middle, size_t end, uint32_t *to) {
  size_t i = begin, j = middle;
  for (size_t k = begin; k < end; k++) {
    bool right = i >= middle || (j < end && comes_after(f, from[i], from[j]));
    to[k] = right ? from[j++] : from[i++];
  }
}

/* Sort the numbers of the sets into `order`, by size, then by words from the last to the
 * first. A merge sort from runs of one: qsort() may allocate. Most comparisons end at the
 * sizes. */
static void sort_sets(tsn_rs_family *f) {
  uint32_t *from = f->order, *to = f->scratch;
  for (size_t i = 0; i < f->count; i++) {
    from[i] = (uint32_t)i;
    f->size[i] = (uint32_t)tsn_rs_size(f->sets + i * f->words, f->words);
  }
  for (size_t run = 1; run < f->count; run *= 2) {
    for (size_t begin = 0; begin < f->count; begin += 2 * run) {
      size_t middle = tsn_smaller(begin + run, f->count);
      merge(f, from, begin, middle, tsn_smaller(middle + run, f->count), to);
    }
    uint32_t *swap = from;
    from = to;
    to = swap;
  }
  f->order = from;
  f->scratch = to;
}

void tsn_rs_family_sort(tsn_rs_family *f, bool absorb, const tsanom_exec *exec) {
  sort_sets(f);
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

enum {
  /* Most attributes of a bitmap: 8 MiB. */
  BITMAP_ATTRIBUTES = 26,
  /* Pairs between two chances to stop. */
  PAIRS_PER_CHUNK = 1 << 16,
  /* A batch of the list path: pieces of a unit's pairs. A piece has at most 4096 pairs
   * and 256 KiB of elements, a batch 16 MiB. */
  PIECES = 64,
  PIECE_PAIRS = 4096,
  PIECE_WORDS = 1 << 15
};

/* Attributes of the bitmap that the workspace provides. A table with more attributes may
 * have few that vary, so that it can use the bitmap too. */
static unsigned bitmap_attributes(size_t attributes) {
  return attributes < BITMAP_ATTRIBUTES ? (unsigned)attributes : BITMAP_ATTRIBUTES;
}

/* Pairs of a piece for elements of this length; at least 16, so that calls are few. */
static size_t piece_pairs(size_t set_words) {
  size_t pairs = PIECE_WORDS / (set_words ? set_words : 1);
  return pairs < 16 ? 16 : pairs > PIECE_PAIRS ? PIECE_PAIRS : pairs;
}

/* There are no more elements than pairs, and than sets of attributes. Without the second
 * bound, tables of 1200 rows and more need 32 MiB, blocks of which the C library maps
 * and unmaps for each call: 60 us (Zen 4). */
static size_t family_capacity(const tsn_rs_input *input) {
  size_t rows = input->table.rows, attributes = input->table.attributes;
  size_t pairs = tsn_larger(1, tsn_product(rows, rows - 1) / 2);
  size_t sets = attributes < 32 ? (size_t)1 << attributes : SIZE_MAX;
  return tsn_smaller(tsn_smaller(pairs, sets), input->options.element_limit);
}

void tsn_rs_elements_layout(tsn_arena *arena, const tsn_rs_input *input,
                            tsn_rs_element_buffers *b) {
  size_t attributes = input->table.attributes, words = tsn_rs_words(attributes);
  size_t bitmaps = (size_t)input->exec.threads + 1;
  tsn_rs_units_layout(arena, input, true, &b->units);
  tsn_rs_family_layout(arena, attributes, family_capacity(input), input->exec.threads,
                       &b->family);
  b->bitmap =
      tsn_arena_take(arena, bitmaps * tsn_rs_lattice_words(bitmap_attributes(attributes)),
                     sizeof *b->bitmap);
  b->batch = tsn_arena_take(arena, tsn_product(PIECES * piece_pairs(words), words),
                            sizeof *b->batch);
}

static uint64_t count_pairs(const tsn_rs_units *units) {
  uint64_t pairs = 0;
  for (size_t u = 0; u < units->units; u++) pairs += units->units - units->next[u];
  return pairs;
}

/* ---- bitmaps of all subsets */

/* Marking of all pairs, shared by the threads. A bitmap for each thread avoids atomic
 * operations; they are united at the end. */
typedef struct {
  const tsn_rs_elements_kernels *kernels;
  const tsn_rs_units *units;
  uint64_t *bitmap; /* of thread 0, the others behind it */
  size_t words;
} marking;

static void mark_chunk(void *context, size_t begin, size_t end, int thread) {
  const marking *m = context;
  uint64_t *bitmap = m->bitmap + (size_t)thread * m->words;
  for (size_t i = begin; i < end; i++) {
    m->kernels->mark(&m->units->packed, i, m->units->next[i], m->units->units, bitmap);
  }
}

static tsanom_status mark_all(const tsn_rs_input *input, marking *m,
                              unsigned attributes) {
  const tsn_rs_lattice_kernels *lattice = tsn_rs_lattice_kernels_at(input->exec.isa);
  size_t bitmaps = (size_t)input->exec.threads;
  memset(m->bitmap, 0, bitmaps * m->words * sizeof *m->bitmap);
  size_t grain = PAIRS_PER_CHUNK / m->units->units + 1;
  tsanom_status status =
      tsn_parallel_for(&input->exec, m->units->units, grain, mark_chunk, m, NULL);
  for (size_t k = 1; k < bitmaps; k++) {
    lattice->unite(m->bitmap, m->bitmap + k * m->words, attributes);
  }
  return status;
}

/* Mark, close upwards, keep the minimal members, and list them. */
static tsanom_status find_by_bitmap(const tsn_rs_input *input,
                                    tsn_rs_element_buffers *b) {
  const tsn_rs_lattice_kernels *lattice = tsn_rs_lattice_kernels_at(input->exec.isa);
  unsigned attributes = (unsigned)b->units.units.effective;
  bool absorb = input->options.absorb != 0;
  marking m = {.kernels = tsn_rs_elements_kernels_at(input->exec.isa),
               .units = &b->units.units,
               .bitmap = b->bitmap,
               .words = tsn_rs_lattice_words(attributes)};
  tsanom_status status = mark_all(input, &m, attributes);
  b->bitmap[0] &= ~(uint64_t)1; /* the empty element of an inconsistent pair */
  const uint64_t *found = b->bitmap;
  if (absorb) {
    lattice->close_up(b->bitmap, attributes);
    lattice->minimal(b->bitmap, attributes, b->bitmap + m.words);
    found = b->bitmap + m.words;
  }
  for (size_t w = 0; w < m.words; w++) {
    for (uint64_t bits = found[w]; bits; bits &= bits - 1) {
      uint64_t set = 64 * w + (size_t)__builtin_ctzll(bits);
      if (!append_set(&b->family, &set)) return TSANOM_E_WORKSPACE;
    }
  }
  tsn_rs_family_sort(&b->family, false, &input->exec);
  return status;
}

/* ---- lists, batch by batch */

typedef struct {
  size_t unit, first, last; /* the pairs of a unit with first ... last - 1 */
} piece;

/* A batch of pieces: threads compute its elements, then the calling thread inserts them.
 * The hash set is not shared, so that the order of insertion is that of the pairs. */
typedef struct {
  const tsn_rs_elements_kernels *kernels;
  const tsn_rs_units *units;
  piece pieces[PIECES];
  size_t count;
  size_t stride; /* words of the batch for each piece */
  uint64_t *batch;
} batch_work;

/* With wildcards some pairs of different labels do not count: empty their elements. */
static void drop_unrequired(const tsn_rs_units *units, const piece *p, uint64_t *sets) {
  size_t words = units->packed.set_words;
  for (size_t j = p->first; j < p->last; j++) {
    if (tsn_rs_required(units, p->unit, j)) continue;
    memset(sets + (j - p->first) * words, 0, words * sizeof *sets);
  }
}

static void list_pieces(void *context, size_t begin, size_t end, int thread) {
  batch_work *work = context;
  (void)thread;
  for (size_t k = begin; k < end; k++) {
    const piece *p = &work->pieces[k];
    uint64_t *sets = work->batch + k * work->stride;
    work->kernels->list(&work->units->packed, p->unit, p->first, p->last, sets);
    if (work->units->delta || work->units->consistent) {
      drop_unrequired(work->units, p, sets);
    }
  }
}

/* Cut the pairs from (unit, first) on into pieces; moves both on. The pairs of a long row
 * are divided, so that pieces cost about the same and threads are balanced. */
static void next_batch(batch_work *work, size_t *unit, size_t *first) {
  size_t most = piece_pairs(work->units->packed.set_words);
  work->count = 0;
  while (work->count < PIECES && *unit < work->units->units) {
    if (*first < work->units->next[*unit]) *first = work->units->next[*unit];
    size_t left = work->units->units - *first;
    if (left == 0) {
      (*unit)++;
      *first = 0;
      continue;
    }
    size_t pairs = left < most ? left : most;
    work->pieces[work->count++] =
        (piece){.unit = *unit, .first = *first, .last = *first + pairs};
    *first += pairs;
    if (*first == work->units->units) {
      (*unit)++;
      *first = 0;
    }
  }
}

/* Insert an element. When the family is full, absorb it and go on: the limit then holds
 * for the minimal elements, not for those met on the way. False: it is still full. */
static bool keep_element(const tsn_rs_input *input, tsn_rs_element_buffers *b,
                         const uint64_t *set) {
  if (tsn_rs_family_insert(&b->family, set)) return true;
  if (input->options.absorb == 0) return false;
  tsn_rs_family_sort(&b->family, true, &input->exec);
  reindex(&b->family);
  /* If absorption frees less than an eighth, repeating it would not end. */
  if (b->family.count > b->family.capacity - b->family.capacity / 8) return false;
  return tsn_rs_family_insert(&b->family, set);
}

static bool collect_batch(const tsn_rs_input *input, tsn_rs_element_buffers *b,
                          const batch_work *work) {
  size_t words = work->units->packed.set_words;
  for (size_t k = 0; k < work->count; k++) {
    const uint64_t *set = work->batch + k * work->stride;
    for (size_t j = work->pieces[k].first; j < work->pieces[k].last; j++, set += words) {
      if (!tsn_rs_is_empty(set, words) && !keep_element(input, b, set)) return false;
    }
  }
  return true;
}

static tsanom_status find_by_lists(const tsn_rs_input *input, uint64_t pairs,
                                   tsn_rs_element_buffers *b) {
  const tsn_rs_units *units = &b->units.units;
  batch_work work = {
      .kernels = tsn_rs_elements_kernels_at(input->exec.isa),
      .units = units,
      .stride = piece_pairs(units->packed.set_words) * units->packed.set_words,
      .batch = b->batch};
  tsanom_exec quiet = input->exec;
  quiet.poll = NULL;
  tsanom_status status = TSANOM_OK;
  uint64_t done = 0;
  for (size_t unit = 0, first = 0; unit < units->units;) {
    if (tsn_exec_stop(&input->exec, done, pairs)) {
      status = TSANOM_STOPPED;
      break;
    }
    next_batch(&work, &unit, &first);
    for (size_t k = 0; k < work.count; k++) {
      done += work.pieces[k].last - work.pieces[k].first;
    }
    if (pairs < PAIRS_PER_CHUNK) {
      list_pieces(&work, 0, work.count, 0);
    } else {
      tsn_parallel_for(&quiet, work.count, 1, list_pieces, &work, NULL);
    }
    if (!collect_batch(input, b, &work)) return TSANOM_E_WORKSPACE;
  }
  tsn_rs_family_sort(&b->family, input->options.absorb != 0, &input->exec);
  return status;
}

/* Pairs on the list path that take as long as the sweeps over a bitmap, about: a sweep
 * costs words * attributes operations, on vectors of several words, and a pair with its
 * insertion as much as some hundred of them. */
static size_t bitmap_cost(unsigned attributes) {
  return tsn_rs_lattice_words(attributes) * attributes / 256;
}

tsanom_status tsn_rs_elements_find(const tsn_rs_input *input, tsn_rs_element_buffers *b) {
  b->family.count = 0;
  tsanom_status status = tsn_rs_units_form(input, true, &b->units);
  if (status != TSANOM_OK) return status;
  const tsn_rs_units *units = &b->units.units;
  tsn_rs_family_clear(&b->family, units->effective);
  uint64_t pairs = count_pairs(units);
  if (units->effective == 0 || pairs == 0) return TSANOM_OK;
  bool all_required = !units->delta && !units->consistent;
  if (all_required && units->effective <= BITMAP_ATTRIBUTES &&
      pairs > bitmap_cost((unsigned)units->effective)) {
    return find_by_bitmap(input, b);
  }
  return find_by_lists(input, pairs, b);
}

/* The family numbers the attributes that vary; the caller's table numbers all. */
void tsn_rs_elements_write(const tsn_rs_element_buffers *b, size_t i, size_t words,
                           uint64_t *set) {
  const tsn_rs_family *family = &b->family;
  memset(set, 0, words * sizeof *set);
  for (size_t w = 0; w < family->words; w++) {
    for (uint64_t bits = family->sets[i * family->words + w]; bits; bits &= bits - 1) {
      size_t e = 64 * w + (size_t)__builtin_ctzll(bits);
      tsn_rs_add(set, b->units.units.attribute[e]);
    }
  }
}

/* tsanom_roughset_elements() is a count-then-fill function: `*count` is the number of
 * elements even if fewer fit, so that a caller can come back with enough capacity. The
 * elements are written as sets of the table's attributes; those above are of the
 * attributes that vary. */
enum { USES = TSN_RS_READING | TSN_RS_MISSING | TSN_RS_ABSORB | TSN_RS_ELEMENT_LIMIT };

typedef struct {
  tsn_rs_input input;
  tsn_rs_element_buffers buffers;
  uint64_t *elements;
  size_t capacity, *count;
} elements_call;

static void layout(tsn_arena *arena, void *context) {
  elements_call *c = context;
  tsn_rs_elements_layout(arena, &c->input, &c->buffers);
}

static tsanom_status check(void *context) {
  const elements_call *c = context;
  tsanom_status status = tsn_rs_check_table(&c->input);
  if (status < 0) return status;
  status = tsn_require(&c->input.exec, c->count, "count");
  if (status < 0 || c->capacity == 0) return status;
  return tsn_require_array(&c->input.exec, c->elements, c->capacity, "elements");
}

static tsanom_status body(void *context) {
  elements_call *c = context;
  tsanom_status status = tsn_rs_elements_find(&c->input, &c->buffers);
  if (status < 0) return tsn_rs_reject_limit(&c->input, status);
  size_t words = tsn_rs_words(c->input.table.attributes);
  size_t found = c->buffers.family.count;
  for (size_t i = 0; i < tsn_smaller(found, c->capacity); i++) {
    tsn_rs_elements_write(&c->buffers, i, words, c->elements + i * words);
  }
  *c->count = found;
  return status == TSANOM_OK && found > c->capacity ? TSANOM_PARTIAL : status;
}

tsanom_status tsanom_roughset_elements(const tsanom_roughset_table *table,
                                       const tsanom_roughset_options *options,
                                       const tsanom_exec *exec, uint64_t *elements,
                                       size_t capacity, size_t *count) {
  elements_call c = {.elements = elements, .capacity = capacity, .count = count};
  tsanom_status status = tsn_rs_read(&c.input, USES, table, options, exec);
  if (status < 0) return status;
  return tsn_workspace_run(&c.input.exec, layout, check, body, &c);
}
