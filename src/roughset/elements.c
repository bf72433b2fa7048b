/* SPDX-License-Identifier: BSD-3-Clause */
/* The discernibility elements of all pairs of units, distinct and optionally absorbed.
 * Two ways:
 *
 *   bitmap  one bit for each of the 2^attributes subsets; an element is one bit set, so
 *           that duplicates cost nothing
 *   lists   elements of a batch of pairs are inserted into a hash set (family.c)
 *
 * The bitmap costs attributes * 2^attributes / 64 word operations and 2^attributes / 8
 * bytes for each thread whatever the number of pairs, so it is limited to 26 attributes
 * (8 MiB) and to tables with pairs enough. Measured (bench_roughset, AMD EPYC Zen 5; time
 * of the lists in units of that of the bitmap): 3.7 for 100 rows of 20 attributes, 18 for
 * 1000 and 26 for 10,000. The lists serve more attributes and wildcards.
 *
 *     units (units.c) --kernel--> elements --+-- bitmap of each thread -- united, closed,
 *     pairs of different labels              |   minimal members (lattice_kernel.c)
 *                                            +-- batch -- hash set, absorbed (family.c)
 *
 * Either way the family ends up sorted by size and words, so that the result does not
 * depend on the way, the number of threads, or the order of the pairs. A filter by a few
 * small elements before the hash set was measured and removed: without it the time is
 * 0.87 to 1.0 of that with it. */
#include "roughset/elements.h"

#include <stdatomic.h>
#include <string.h>

#include "core/exec.h"
#include "core/parallel.h"
#include "core/size.h"
#include "roughset/lattice_kernel.h"

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

/* There are no more elements than pairs. */
static size_t family_capacity(const tsn_rs_input *input) {
  size_t rows = input->table.rows, pairs = tsn_larger(1, tsn_product(rows, rows - 1) / 2);
  return tsn_smaller(pairs, input->options.element_limit);
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
      if (!tsn_rs_family_append(&b->family, &set)) return TSANOM_E_WORKSPACE;
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
  tsn_rs_family_reindex(&b->family);
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
  c->buffers.family.count = 0;
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
