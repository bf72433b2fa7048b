/* SPDX-License-Identifier: BSD-3-Clause */
/* The core; and one reduct: a greedy one, or the smallest by an implicit hitting set.
 *
 *   1. greedy: the core, then attribute by attribute; its size is the upper bound
 *   2. for k = lower bound, ...: a set of k attributes that meets all learned elements
 *        does the table discern everything with it?  yes: it is a smallest reduct
 *        no: learn the elements of pairs that it does not discern; search again
 *      no set of size k is left: the lower bound is k + 1
 *
 * Correctness: a set that meets only some of the elements is a relaxation, so its least
 * size is a lower bound of the least size of a reduct; a candidate that the table accepts
 * meets all elements, so it has that size and is minimal. Both bounds hold at every
 * moment, and are the result of a call that is stopped. Each question either accepts or
 * adds an element that the candidate does not meet, so the search ends. (Implicit hitting
 * sets: E. Moreno-Centeno and R. Karp, 2013.)
 *
 * A few hundred elements are learned where the matrix would have millions: computing all
 * elements first, without the search after it, takes 6 times as long for 100 rows of 40
 * attributes and 47 times for 1000 (bench_roughset). With wildcards, indiscernibility is
 * not transitive and no index finds such pairs: then all elements are computed first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/roughset.h>

#include "core/exec.h"
#include "core/parallel.h"
#include "core/size.h"
#include "roughset/cover.h"
#include "roughset/elements.h"
#include "roughset/units.h"

static const int32_t *unit_values(const tsn_rs_input *input, const tsn_rs_units *units,
                                  size_t u) {
  return input->table.values + units->row[u] * input->table.ld;
}

/* The core without elements: attribute a is in the core iff two units of different labels
 * agree on all other attributes. The hash of a row is a sum over attributes, so that the
 * hash without a follows by one subtraction:
 *
 *     h(u) = key_0 u_0 + ... + key_m u_m,      h(u without a) = h(u) - key_a u_a
 *
 * For each attribute the units are looked up by it in an empty index: O(rows *
 * attributes) in all, where hashing each row without each attribute would be O(rows *
 * attributes^2) and the elements of all pairs O(rows^2 * attributes / 64). The search for
 * an attribute ends at the first pair of units that proves it.
 *
 * With wildcards the relation cannot be hashed (relation.c), and all pairs are compared:
 * those whose element has one attribute. */

enum {
  CORE_USES = TSN_RS_READING | TSN_RS_MISSING,
  BATCH_WORDS = 1 << 15,
  /* Units whose slots are fetched ahead of being looked at. */
  AHEAD = 64
};

/* Classes: no two units are equal, so that two that agree without an attribute differ in
 * it alone. */

static bool agree_without(const tsn_rs_input *input, const tsn_rs_units *units, size_t u,
                          size_t v, size_t attribute) {
  const int32_t *a = unit_values(input, units, u), *b = unit_values(input, units, v);
  size_t rest = input->table.attributes - attribute - 1;
  return memcmp(a, b, attribute * sizeof *a) == 0 &&
         memcmp(a + attribute + 1, b + attribute + 1, rest * sizeof *a) == 0;
}

/* Look the unit up among those before it, and add it; whether one of them has another
 * label and differs in the attribute alone. Rows are compared only where tags agree and
 * labels differ. */
static bool meets_another(const tsn_rs_input *input, tsn_rs_unit_buffers *b, size_t u,
                          uint64_t hash, size_t attribute) {
  const tsn_rs_units *units = &b->units;
  uint64_t *slot = b->index.slot, tag = hash & ~(uint64_t)UINT32_MAX;
  size_t mask = b->index.slots - 1, s = hash & mask;
  for (; slot[s] != 0; s = (s + 1) & mask) {
    uint32_t v = (uint32_t)slot[s] - 1;
    if ((slot[s] & ~(uint64_t)UINT32_MAX) != tag) continue;
    if (units->label[v] == units->label[u]) continue;
    if (agree_without(input, units, u, v, attribute)) return true;
  }
  slot[s] = tag | (u + 1);
  return false;
}

/* Whether the attribute is in the core. Units go in blocks, whose slots are prefetched,
 * as in table.c. */
static bool is_core(const tsn_rs_input *input, tsn_rs_unit_buffers *b,
                    const uint64_t *hash, size_t attribute) {
  const tsn_rs_units *units = &b->units;
  uint64_t key = tsn_rs_key(attribute), rest[AHEAD];
  memset(b->index.slot, 0, b->index.slots * sizeof *b->index.slot);
  for (size_t begin = 0; begin < units->units; begin += AHEAD) {
    size_t end = units->units - begin < AHEAD ? units->units : begin + AHEAD;
    for (size_t u = begin; u < end; u++) {
      uint32_t code = (uint32_t)unit_values(input, units, u)[attribute];
      rest[u - begin] = tsn_rs_finish(hash[u] - key * code);
      __builtin_prefetch(&b->index.slot[rest[u - begin] & (b->index.slots - 1)], 1);
    }
    for (size_t u = begin; u < end; u++) {
      if (meets_another(input, b, u, rest[u - begin], attribute)) return true;
    }
  }
  return false;
}

/* Add to `core` every attribute without which two units of different labels are
 * indiscernible; `hash` holds a word for each unit. */
static tsanom_status core_of_classes(const tsn_rs_input *input, tsn_rs_unit_buffers *b,
                                     uint64_t *hash, uint64_t *core) {
  size_t attributes = input->table.attributes;
  for (size_t u = 0; u < b->units.units; u++) {
    const int32_t *values = unit_values(input, &b->units, u);
    hash[u] = 0;
    for (size_t a = 0; a < attributes; a++) {
      hash[u] += tsn_rs_key(a) * (uint32_t)values[a];
    }
  }
  for (size_t a = 0; a < attributes; a++) {
    if (tsn_exec_stop(&input->exec, a, attributes)) return TSANOM_STOPPED;
    if (is_core(input, b, hash, a)) tsn_rs_add(core, a);
  }
  return TSANOM_OK;
}

typedef struct {
  tsn_rs_unit_buffers units;
  uint64_t *hash;  /* of each unit, over all attributes, before it is finished */
  uint64_t *batch; /* wildcards: elements of a unit with others */
  uint64_t *core;  /* copied to the caller's only if the call succeeds */
} core_buffers;

typedef struct {
  tsn_rs_input input;
  core_buffers buffers;
  uint64_t *core; /* the caller's */
} core_call;

static void core_layout(tsn_arena *arena, void *context) {
  core_call *c = context;
  const tsn_rs_input *input = &c->input;
  core_buffers *b = &c->buffers;
  bool pairs = input->options.missing == TSANOM_ROUGHSET_WILDCARD;
  size_t words = tsn_rs_words(input->table.attributes);
  tsn_rs_units_layout(arena, input, pairs, &b->units);
  b->hash = tsn_arena_take(arena, input->table.rows, sizeof *b->hash);
  b->batch = tsn_arena_take(arena, pairs ? BATCH_WORDS + words : 0, sizeof *b->batch);
  b->core = tsn_arena_take(arena, words, sizeof *b->core);
}

/* The attributes that are elements alone, from all pairs that must be discerned. Elements
 * go in batches of 256 KiB and are never stored all. */
static tsanom_status core_of_pairs(const tsn_rs_input *input, core_buffers *b) {
  const tsn_rs_units *units = &b->units.units;
  const tsn_rs_elements_kernels *kernels = tsn_rs_elements_kernels_at(input->exec.isa);
  size_t words = units->packed.set_words;
  if (words == 0) return TSANOM_OK;
  size_t most = BATCH_WORDS / words + 1;
  for (size_t i = 0; i < units->units; i++) {
    if (tsn_exec_stop(&input->exec, i, units->units)) return TSANOM_STOPPED;
    for (size_t first = units->next[i]; first < units->units; first += most) {
      size_t last = units->units - first < most ? units->units : first + most;
      kernels->list(&units->packed, i, first, last, b->batch);
      for (size_t j = first; j < last; j++) {
        const uint64_t *set = b->batch + (j - first) * words;
        if (tsn_rs_size(set, words) != 1 || !tsn_rs_required(units, i, j)) continue;
        size_t w = 0;
        while (set[w] == 0) w++;
        tsn_rs_add(b->core, units->attribute[64 * w + (size_t)__builtin_ctzll(set[w])]);
      }
    }
  }
  return TSANOM_OK;
}

static tsanom_status core_check(void *context) {
  const core_call *c = context;
  tsanom_status status = tsn_rs_check_table(&c->input);
  return status < 0 ? status : tsn_require(&c->input.exec, c->core, "core");
}

static tsanom_status core_body(void *context) {
  core_call *c = context;
  core_buffers *b = &c->buffers;
  size_t bytes = tsn_rs_words(c->input.table.attributes) * sizeof *c->core;
  memset(b->core, 0, bytes);
  bool pairs = c->input.options.missing == TSANOM_ROUGHSET_WILDCARD;
  tsanom_status status = tsn_rs_units_form(&c->input, pairs, &b->units);
  if (status != TSANOM_OK) return status;
  status = pairs ? core_of_pairs(&c->input, b)
                 : core_of_classes(&c->input, &b->units, b->hash, b->core);
  if (status == TSANOM_OK) memcpy(c->core, b->core, bytes);
  return status;
}

tsanom_status tsanom_roughset_core(const tsanom_roughset_table *table,
                                   const tsanom_roughset_options *options,
                                   const tsanom_exec *exec, uint64_t *core) {
  core_call c = {.core = core};
  tsanom_status status = tsn_rs_read(&c.input, CORE_USES, table, options, exec);
  if (status < 0) return status;
  return tsn_workspace_run(&c.input.exec, core_layout, core_check, core_body, &c);
}

/* A greedy reduct by refinement of a partition. Classes of rows that the chosen
 * attributes do not discern form blocks. For each attribute, count the pairs of different
 * labels within blocks that it leaves indiscernible; choose the attribute with the fewest
 * (of equal ones the lowest), and split the blocks by it. Blocks of one label are
 * dropped. Each step costs O(units in blocks * attributes); no pair is ever listed.
 *
 *     block (labels)     by attribute a       pairs that a leaves
 *     0 0 1 1 1 2        codes 5 5 5 7 7 7    code 5: (0,1) twice; code 7: (1,2) twice
 *                        -> 0 0 1 | 1 1 2     4 of 11 pairs
 *
 * Choosing elements by the pairs that they leave is the greedy set cover of all pairs to
 * be discerned: the reduct is at most 1 + ln(pairs) times as large as a smallest one (D.
 * S. Johnson, J. Computer and System Sciences 9, 1974). It starts from the core, which
 * every reduct contains, and ends without the attributes that the others make
 * superfluous, so that it is a reduct and not only a set that discerns. */

/* Buffers, O(rows * attributes): cells and counters are numbered in 32 bits, so rows
 * times attributes must be below 2^32. */
typedef struct {
  uint32_t *cell;    /* counter of the code of each unit and attribute, row-major */
  uint32_t *count;   /* counters of codes, zero between uses */
  uint32_t *order;   /* units of the blocks not yet pure, block by block */
  uint32_t *ordered; /* the same after the next refinement */
  uint32_t *begin;   /* of each block in `order`, and its end */
  uint32_t *begun;
  uint64_t *left; /* per attribute: pairs it would leave left */
  uint32_t *column;
  int32_t *values;          /* a column, while it is being coded */
  int32_t *least, *largest; /* per attribute, as the next two */
  uint32_t *base;           /* counter of the value 0 */
  uint8_t *sparse;          /* whether the values were numbered */
} greedy_buffers;

enum {
  /* Fewer units than this are counted by one thread. */
  PARALLEL_UNITS = 4096,
  /* Attributes counted together: their codes share cache lines, and 64 of 4 bytes are
   * four of them. */
  CHUNK_ATTRIBUTES = 64,
  /* Units between two polls. */
  POLL_UNITS = 1 << 14
};

/* Marks a counter that has become a place; units are fewer than 2^31. */
#define PLACED ((uint32_t)1 << 31)

static void greedy_layout(tsn_arena *arena, const tsn_rs_input *input,
                          greedy_buffers *b) {
  size_t rows = input->table.rows, attributes = input->table.attributes;
  size_t cells = tsn_product(rows, attributes);
  if (cells > UINT32_MAX) cells = SIZE_MAX;
  b->cell = tsn_arena_take(arena, cells, sizeof *b->cell);
  b->count = tsn_arena_take(arena, cells, sizeof *b->count);
  b->order = tsn_arena_take(arena, rows, sizeof *b->order);
  b->ordered = tsn_arena_take(arena, rows, sizeof *b->ordered);
  b->begin = tsn_arena_take(arena, rows + 1, sizeof *b->begin);
  b->begun = tsn_arena_take(arena, rows + 1, sizeof *b->begun);
  b->left = tsn_arena_take(arena, attributes, sizeof *b->left);
  b->column = tsn_arena_take(arena, rows, sizeof *b->column);
  b->values = tsn_arena_take(arena, rows, sizeof *b->values);
  b->least = tsn_arena_take(arena, attributes, sizeof *b->least);
  b->largest = tsn_arena_take(arena, attributes, sizeof *b->largest);
  b->base = tsn_arena_take(arena, attributes, sizeof *b->base);
  b->sparse = tsn_arena_take(arena, attributes, sizeof *b->sparse);
}

/* Number the values of a column by first appearance; returns their number. */
static size_t code_sparse_column(const tsn_rs_input *input, tsn_rs_unit_buffers *u,
                                 size_t attribute, size_t base, greedy_buffers *b) {
  size_t units = u->units.units, attributes = input->table.attributes;
  for (size_t k = 0; k < units; k++)
    b->values[k] = unit_values(input, &u->units, k)[attribute];
  tsn_rs_projection p = {.values = b->values, .stride = 1, .count = 1, .rows = units};
  size_t codes = tsn_rs_group(&p, &u->index, b->column);
  for (size_t k = 0; k < units; k++) {
    b->cell[k * attributes + attribute] = (uint32_t)base + b->column[k];
  }
  return codes;
}

static bool is_stopped(const tsn_rs_watch *watch, size_t unit) {
  return unit % POLL_UNITS == POLL_UNITS - 1 &&
         tsn_exec_stop(watch->exec, watch->done, watch->total);
}

/* Give every value of every attribute a counter: value - least where that is dense
 * enough, else by grouping. An attribute has at most as many counters as there are units,
 * so that rows times attributes suffice. Cells hold the number of the counter, not the
 * value: a count is then one load, whatever the values are. Returns whether the poll let
 * it end. */
static bool code_cells(const tsn_rs_input *input, tsn_rs_unit_buffers *u,
                       const tsn_rs_watch *watch, greedy_buffers *b) {
  size_t units = u->units.units, attributes = input->table.attributes, next = 0;
  for (size_t a = 0; a < attributes; a++) {
    b->least[a] = INT32_MAX;
    b->largest[a] = INT32_MIN;
  }
  for (size_t k = 0; k < units; k++) {
    const int32_t *values = unit_values(input, &u->units, k);
    if (is_stopped(watch, k)) return false;
    for (size_t a = 0; a < attributes; a++) {
      b->least[a] = values[a] < b->least[a] ? values[a] : b->least[a];
      b->largest[a] = values[a] > b->largest[a] ? values[a] : b->largest[a];
    }
  }
  for (size_t a = 0; a < attributes; a++) {
    uint32_t range = (uint32_t)b->largest[a] - (uint32_t)b->least[a];
    b->base[a] = (uint32_t)next - (uint32_t)b->least[a];
    b->sparse[a] = range >= units;
    next += b->sparse[a] ? code_sparse_column(input, u, a, next, b) : (size_t)range + 1;
  }
  for (size_t k = 0; k < units; k++) {
    const int32_t *values = unit_values(input, &u->units, k);
    uint32_t *cell = b->cell + k * attributes;
    if (is_stopped(watch, k)) return false;
    for (size_t a = 0; a < attributes; a++) {
      cell[a] = b->sparse[a] ? cell[a] : (uint32_t)values[a] + b->base[a];
    }
  }
  memset(b->count, 0, next * sizeof *b->count);
  return true;
}

/* The partition so far: block k is order[begin[k] ... begin[k + 1] - 1], and all blocks
 * have units of several labels. */
typedef struct {
  const tsn_rs_units *units;
  greedy_buffers *buffers;
  size_t attributes, blocks;
  const tsn_rs_watch *watch;
  size_t touched; /* by thread 0 since the last poll */
  bool stopped;   /* by the poll; thread 0 alone writes it */
} refinement;

enum { COUNT, RAISE, CLEAR };

/* For the units order[first ... last - 1] and the attributes begin ... end - 1, add up,
 * raise or clear the counters of their codes. Counters are cleared by walking over the
 * units again: their number is that of all codes, of which a block uses few. */
static inline void touch(const refinement *r, size_t first, size_t last, size_t begin,
                         size_t end, int what) {
  greedy_buffers *b = r->buffers;
  for (size_t i = first; i < last; i++) {
    const uint32_t *cell = b->cell + b->order[i] * r->attributes;
    for (size_t a = begin; a < end; a++) {
      uint32_t *count = b->count + cell[a];
      if (what == COUNT) {
        b->left[a] += *count;
      } else {
        *count = what == RAISE ? *count + 1 : 0;
      }
    }
  }
}

/* Count units of which the calling thread has done a step, and poll after many. */
static bool stops_after(refinement *r, size_t units) {
  r->touched += units;
  if (r->touched >= POLL_UNITS) {
    r->touched = 0;
    r->stopped = tsn_exec_stop(r->watch->exec, r->watch->done, r->watch->total) != 0;
  }
  return r->stopped;
}

/* The same in pieces, between which thread 0 polls. */
static void touch_all(refinement *r, size_t first, size_t last, size_t begin, size_t end,
                      int what, int thread) {
  for (size_t piece; first < last && !(thread == 0 && r->stopped); first += piece) {
    piece = last - first < POLL_UNITS ? last - first : POLL_UNITS;
    touch(r, first, first + piece, begin, end, what);
    if (thread == 0) (void)stops_after(r, piece);
  }
}

/* For each attribute, count the pairs of different labels in a block that it leaves
 * indiscernible. The units of a block are sorted by label, so that those counted before
 * the units of a label have other labels. One thread has all blocks of its attributes,
 * whose counters no other thread touches. */
static void count_chunk(void *context, size_t begin, size_t end, int thread) {
  refinement *r = context;
  const greedy_buffers *b = r->buffers;
  const uint32_t *label = r->units->label;
  for (size_t a = begin; a < end; a++) b->left[a] = 0;
  for (size_t k = 0; k < r->blocks && !(thread == 0 && r->stopped); k++) {
    size_t first = b->begin[k], last = b->begin[k + 1];
    for (size_t i = first, run = first; i < last; run = i) {
      while (i < last && label[b->order[i]] == label[b->order[run]]) i++;
      if (run > first) touch_all(r, run, i, begin, end, COUNT, thread);
      if (i < last) touch_all(r, run, i, begin, end, RAISE, thread);
    }
    touch_all(r, first, last, begin, end, CLEAR, thread);
  }
}

/* Split every block by the attribute, keeping the order within the parts, and
 * drop the parts of one label. The calling thread does this. */
static void split_blocks(refinement *r, size_t attribute) {
  greedy_buffers *b = r->buffers;
  const uint32_t *label = r->units->label, *cell = b->cell + attribute;
  uint32_t *count = b->count;
  size_t blocks = 0, filled = 0;
  for (size_t k = 0; k < r->blocks; k++) {
    size_t begin = b->begin[k], end = b->begin[k + 1], place = begin;
    if (stops_after(r, end - begin)) return;
    for (size_t i = begin; i < end; i++) count[cell[b->order[i] * r->attributes]]++;
    /* Turn counts into places, part by part in order of first appearance; the
     * place is marked by being beyond every count. */
    for (size_t i = begin; i < end; i++) {
      uint32_t unit = b->order[i], *c = &count[cell[unit * r->attributes]];
      if (!(*c & PLACED)) {
        uint32_t size = *c;
        *c = PLACED | (uint32_t)place;
        place += size;
      }
      b->ordered[(*c)++ & ~PLACED] = unit;
    }
    for (size_t i = begin; i < end; i++) count[cell[b->order[i] * r->attributes]] = 0;
    for (size_t i = begin; i < end;) {
      size_t part = i;
      uint32_t code = cell[b->ordered[i] * r->attributes];
      while (i < end && cell[b->ordered[i] * r->attributes] == code) i++;
      if (label[b->ordered[part]] == label[b->ordered[i - 1]]) continue;
      b->begun[blocks++] = (uint32_t)filled;
      memmove(b->ordered + filled, b->ordered + part, (i - part) * sizeof *b->ordered);
      filled += i - part;
    }
  }
  b->begun[blocks] = (uint32_t)filled;
  r->blocks = blocks;
  uint32_t *swap = b->order;
  b->order = b->ordered;
  b->ordered = swap;
  swap = b->begin;
  b->begin = b->begun;
  b->begun = swap;
}

enum {
  /* Elements learned at most; if they do not suffice, the bounds so far are returned. */
  LEARNED = 1 << 16,
  /* Indiscernible pairs sought for a candidate, and elements learned from them: the
   * smallest ones, which exclude the most candidates. */
  PAIRS_ASKED = 1 << 12,
  LEARNED_AT_ONCE = 8
};
enum {
  GREEDY_USES = TSN_RS_READING | TSN_RS_MISSING | TSN_RS_ELEMENT_LIMIT,
  MINIMUM_USES = GREEDY_USES | TSN_RS_REDUCT_LIMIT
};

/* One call, of either function; a greedy reduct is the first half of the other. */
typedef struct {
  tsn_rs_input input;
  size_t words;
  bool pairwise; /* wildcards: all elements are held */
  /* Not pairwise: classes, their hashes for the core, pairs that the table returns. */
  tsn_rs_unit_buffers units;
  greedy_buffers greedy;
  uint64_t *hash;
  uint32_t *pair;
  /* Pairwise: all minimal elements. */
  tsn_rs_element_buffers elements;
  /* Both. */
  tsn_rs_cover cover;
  uint64_t *set; /* scratch */
  uint64_t *core, *candidates, *learned, *best;
  uint32_t *core_list, *list;
  size_t core_size;
  tsanom_roughset_bounds bounds;
  tsanom_roughset_visitor visitor; /* of every smallest reduct; visit NULL: one */
  size_t found;
  tsanom_roughset_bounds *bounds_out; /* the caller's; NULL for one greedy reduct */
  uint64_t *reduct_out;
  size_t *count_out;
} minimum_run;

/* The classes by the first `count` of r->list. */
static tsn_rs_projection classes_by(const minimum_run *r, size_t count,
                                    const tsn_rs_watch *watch) {
  tsn_rs_projection p = tsn_rs_rows(&r->input, watch);
  p.list = r->list;
  p.count = count;
  p.row = r->units.units.row;
  p.rows = r->units.units.units;
  return p;
}

/* Whether there are classes that the first `count` of r->list do not discern;
 * TSN_RS_STOPPED if the poll stopped it. */
static size_t is_missed(minimum_run *r, size_t count) {
  const tsn_rs_watch watch = {&r->input.exec, count, r->input.table.attributes};
  tsn_rs_projection p = classes_by(r, count, &watch);
  return tsn_rs_find_indiscernible(&p, r->units.units.label, &r->units.index, r->pair, 1);
}

/* Attributes that discern all labels, grown from the core: the first *size of r->list, of
 * which the first *core_size are the core. One block of all units is split by these first.
 * Returns TSANOM_OK or TSANOM_STOPPED. */
static tsanom_status grow_from_core(minimum_run *r, size_t *core_size, size_t *size) {
  const tsn_rs_input *input = &r->input;
  greedy_buffers *b = &r->greedy;
  size_t count = tsn_rs_list(r->core, input->table.attributes, r->list);
  *size = *core_size = count;
  size_t missed = is_missed(r, count);
  if (missed != 1) return missed ? TSANOM_STOPPED : TSANOM_OK;
  tsn_rs_watch watch = {&input->exec, count, input->table.attributes};
  refinement to = {.units = &r->units.units,
                   .buffers = b,
                   .attributes = input->table.attributes,
                   .blocks = 1,
                   .watch = &watch};
  tsanom_exec quiet = input->exec;
  quiet.poll = NULL;
  size_t share = to.attributes / (size_t)quiet.threads + 1;
  size_t grain = share < CHUNK_ATTRIBUTES ? share : CHUNK_ATTRIBUTES;
  if (!code_cells(input, &r->units, &watch, b)) return TSANOM_STOPPED;
  for (size_t k = 0; k < to.units->units; k++) b->order[k] = (uint32_t)k;
  b->begin[0] = 0;
  b->begin[1] = (uint32_t)to.units->units;
  for (size_t k = 0; k < count && !to.stopped; k++) split_blocks(&to, r->list[k]);
  if (to.stopped) return TSANOM_STOPPED;
  while (to.blocks > 0) {
    watch.done = count;
    if (tsn_exec_stop(&input->exec, count, to.attributes)) return TSANOM_STOPPED;
    if (b->begin[to.blocks] < PARALLEL_UNITS) quiet.threads = 1;
    tsn_parallel_for(&quiet, to.attributes, grain, count_chunk, &to, NULL);
    if (to.stopped) return TSANOM_STOPPED;
    size_t best = 0;
    for (size_t a = 1; a < to.attributes; a++) {
      if (b->left[a] < b->left[best]) best = a;
    }
    split_blocks(&to, best);
    if (to.stopped) return TSANOM_STOPPED;
    r->list[count++] = (uint32_t)best;
  }
  *size = count;
  return TSANOM_OK;
}

static void layout(tsn_arena *arena, void *context) {
  minimum_run *r = context;
  size_t rows = r->input.table.rows, attributes = r->input.table.attributes;
  size_t limit = r->input.options.element_limit;
  size_t deepest = attributes < rows ? attributes : rows;
  r->words = tsn_rs_words(attributes);
  r->pairwise = r->input.options.missing == TSANOM_ROUGHSET_WILDCARD;
  if (r->pairwise) {
    tsn_rs_elements_layout(arena, &r->input, &r->elements);
  } else {
    tsn_rs_units_layout(arena, &r->input, false, &r->units);
    greedy_layout(arena, &r->input, &r->greedy);
    r->hash = tsn_arena_take(arena, rows, sizeof *r->hash);
    r->pair = tsn_arena_take(arena, PAIRS_ASKED, 2 * sizeof *r->pair);
  }
  if (limit > LEARNED) limit = LEARNED;
  tsn_rs_cover_layout(arena, attributes, limit, deepest, &r->cover);
  r->core = tsn_arena_take(arena, r->words, sizeof *r->core);
  r->set = tsn_arena_take(arena, r->words, sizeof *r->set);
  r->candidates = tsn_arena_take(arena, r->words, sizeof *r->candidates);
  r->best = tsn_arena_take(arena, r->words, sizeof *r->best);
  r->learned =
      tsn_arena_take(arena, (LEARNED_AT_ONCE + 1) * r->words, sizeof *r->learned);
  r->core_list = tsn_arena_take(arena, attributes, sizeof *r->core_list);
  r->list = tsn_arena_take(arena, attributes, sizeof *r->list);
}

/* ---- elements that a set of attributes does not meet: hash the rows projected on it,
 * and take pairs of rows that agree; or with wildcards, look through all elements */

/* Take the element behind the `count` learned ones, unless it is among them; if there are
 * too many, drop the largest. Returns their number. Small elements are kept because the
 * search branches on them: fewer vertices, fewer branches. The first ones instead take
 * 1.2 to 3.5 times as long (bench_roughset, AMD EPYC Zen 5). */
static size_t keep_smallest(uint64_t *learned, size_t count, size_t words) {
  const uint64_t *last = learned + count * words;
  size_t size = tsn_rs_size(last, words), largest = 0, place = count;
  for (size_t k = 0; k < count; k++) {
    const uint64_t *other = learned + k * words;
    size_t other_size = tsn_rs_size(other, words);
    if (memcmp(other, last, words * sizeof *last) == 0) return count;
    if (other_size > largest) {
      largest = other_size;
      place = k;
    }
  }
  if (count < LEARNED_AT_ONCE) return count + 1;
  if (size < largest) memcpy(learned + place * words, last, words * sizeof *last);
  return count;
}

/* The element of two units, from the codes of the table: a few are needed, so that
 * packing the units would cost more. */
static void differing_attributes(const minimum_run *r, uint32_t i, uint32_t j,
                                 uint64_t *set) {
  const tsanom_roughset_table *t = &r->input.table;
  const int32_t *a = t->values + r->units.units.row[i] * t->ld;
  const int32_t *b = t->values + r->units.units.row[j] * t->ld;
  memset(set, 0, r->words * sizeof *set);
  for (size_t k = 0; k < t->attributes; k++) {
    set[k / 64] |= (uint64_t)(a[k] != b[k]) << (k % 64);
  }
}

/* Elements of pairs of classes that the first `count` of r->list do not discern. */
static size_t learn_from_table(minimum_run *r, size_t count) {
  tsn_rs_projection p = classes_by(r, count, NULL);
  size_t pairs = tsn_rs_find_indiscernible(&p, r->units.units.label, &r->units.index,
                                           r->pair, PAIRS_ASKED);
  size_t learned = 0;
  for (size_t k = 0; k < pairs; k++) {
    differing_attributes(r, r->pair[2 * k], r->pair[2 * k + 1],
                         r->learned + learned * r->words);
    learned = keep_smallest(r->learned, learned, r->words);
  }
  return learned;
}

/* The same with wildcards: the first elements that the set does not meet, which are the
 * smallest, as the family is sorted by size. */
static size_t learn_from_elements(minimum_run *r, size_t count) {
  const tsn_rs_family *f = &r->elements.family;
  size_t learned = 0;
  memset(r->set, 0, r->words * sizeof *r->set);
  for (size_t k = 0; k < count; k++) tsn_rs_add(r->set, r->list[k]);
  for (size_t i = 0; i < f->count && learned < LEARNED_AT_ONCE; i++) {
    uint64_t *set = r->learned + learned * r->words, met = 0;
    tsn_rs_elements_write(&r->elements, i, r->words, set);
    for (size_t w = 0; w < r->words; w++) met |= set[w] & r->set[w];
    if (!met) learned++;
  }
  return learned;
}

/* Write elements that the first `count` of r->list do not meet to r->learned; returns
 * their number: 0 if the list discerns everything. */
static size_t missed_elements(minimum_run *r, size_t count) {
  return r->pairwise ? learn_from_elements(r, count) : learn_from_table(r, count);
}

/* ---- a greedy reduct */

/* The first `count` of r->list are the smallest set known that discerns everything. */
static void keep_best(minimum_run *r, size_t count) {
  memset(r->best, 0, r->words * sizeof *r->best);
  for (size_t k = 0; k < count; k++) tsn_rs_add(r->best, r->list[k]);
  r->bounds.upper = count;
}

/* Greedy on the minimal elements: the attribute in most of those left. Returns the number
 * of attributes in r->list. */
static size_t greedy_elements(minimum_run *r) {
  const tsn_rs_element_buffers *e = &r->elements;
  const tsn_rs_family *f = &e->family;
  size_t count = 0, attributes = r->input.table.attributes;
  memset(r->best, 0, r->words * sizeof *r->best);
  for (;;) {
    uint32_t *hits = r->core_list;
    memset(hits, 0, attributes * sizeof *hits);
    for (size_t i = 0; i < f->count; i++) {
      uint64_t met = 0;
      tsn_rs_elements_write(e, i, r->words, r->set);
      for (size_t w = 0; w < r->words; w++) met |= r->set[w] & r->best[w];
      for (size_t a = 0; a < attributes && !met; a++) hits[a] += tsn_rs_has(r->set, a);
    }
    size_t best = 0;
    for (size_t a = 1; a < attributes; a++) best = hits[a] > hits[best] ? a : best;
    if (hits[best] == 0) break;
    r->list[count++] = (uint32_t)best;
    tsn_rs_add(r->best, best);
  }
  return count;
}

/* Drop what the rest makes superfluous from the first *count of r->list, from the last to
 * the first, but for the core. A chosen attribute can be superfluous: others that were
 * chosen after it may discern its pairs too. O(rows * count^2), or TSANOM_STOPPED. */
static tsanom_status drop_superfluous(minimum_run *r, size_t core_size, size_t *count) {
  for (size_t k = *count; k-- > core_size;) {
    uint32_t attribute = r->list[k];
    size_t left = *count - 1, bytes = (left - k) * sizeof *r->list;
    memmove(r->list + k, r->list + k + 1, bytes);
    size_t missed = r->pairwise ? learn_from_elements(r, left) : is_missed(r, left);
    if (missed == TSN_RS_STOPPED) return TSANOM_STOPPED;
    if (missed == 0) {
      *count = left;
    } else {
      memmove(r->list + k + 1, r->list + k, bytes);
      r->list[k] = attribute;
    }
  }
  return TSANOM_OK;
}

static tsanom_status find_core(minimum_run *r) {
  memset(r->core, 0, r->words * sizeof *r->core);
  if (!r->pairwise) {
    return core_of_classes(&r->input, &r->units, r->hash, r->core);
  }
  for (size_t i = 0; i < r->elements.family.count; i++) {
    tsn_rs_elements_write(&r->elements, i, r->words, r->set);
    if (tsn_rs_size(r->set, r->words) != 1) break; /* they come by size */
    for (size_t w = 0; w < r->words; w++) r->core[w] |= r->set[w];
  }
  return TSANOM_OK;
}

static tsanom_status find_greedy(minimum_run *r) {
  tsanom_status status;
  size_t size = 0, core_size = 0;
  if (r->pairwise) {
    tsn_rs_input absorbed = r->input;
    absorbed.options.absorb = 1;
    status = tsn_rs_elements_find(&absorbed, &r->elements);
  } else {
    status = tsn_rs_units_form(&r->input, false, &r->units);
  }
  if (status == TSANOM_OK) status = find_core(r);
  if (status != TSANOM_OK) return status;
  if (r->pairwise) {
    size = greedy_elements(r);
  } else {
    status = grow_from_core(r, &core_size, &size);
  }
  if (status == TSANOM_OK) status = drop_superfluous(r, core_size, &size);
  if (status == TSANOM_OK) keep_best(r, size);
  return status;
}

/* ---- the smallest reducts */

/* A candidate that discerns everything: visit it, or end the search if one is enough. */
static tsanom_status accept(minimum_run *r, size_t count) {
  const tsanom_roughset_visitor *v = &r->visitor;
  keep_best(r, count);
  r->bounds.lower = count;
  if (!v->visit) return TSANOM_CUTOFF;
  if (r->found == r->input.options.reduct_limit) return TSANOM_PARTIAL;
  r->found++;
  return v->visit(v->user, r->best, count) ? TSANOM_STOPPED : TSANOM_INFEASIBLE;
}

/* Called for each candidate of the search (cover.h). */
static tsanom_status examine(void *context, tsn_rs_cover *cover) {
  minimum_run *r = context;
  size_t count = r->core_size + cover->depth;
  memcpy(r->list, r->core_list, r->core_size * sizeof *r->list);
  memcpy(r->list + r->core_size, cover->chosen, cover->depth * sizeof *r->list);
  size_t learned = missed_elements(r, count);
  if (learned == 0) return accept(r, count);
  for (size_t k = 0; k < learned; k++) {
    if (!tsn_rs_cover_add(cover, r->learned + k * r->words)) return TSANOM_PARTIAL;
  }
  return TSANOM_OK;
}

/* Every reduct contains the core: search for the others only, from the size of the core
 * on, until the bounds meet; then visit every smallest reduct if there is a visitor. */
static tsanom_status find_minimum(minimum_run *r) {
  size_t attributes = r->input.table.attributes;
  r->core_size = tsn_rs_list(r->core, attributes, r->core_list);
  r->bounds.lower = r->core_size;
  memset(r->candidates, 0, r->words * sizeof *r->candidates);
  for (size_t a = 0; a < attributes; a++) {
    if (!tsn_rs_has(r->core, a)) tsn_rs_add(r->candidates, a);
  }
  tsn_rs_cover_clear(&r->cover, attributes);
  while (r->bounds.lower < r->bounds.upper || r->visitor.visit) {
    tsanom_status status = tsn_rs_cover_search(&r->cover, r->bounds.lower - r->core_size,
                                               r->candidates, &r->input.exec, examine, r);
    if (status == TSANOM_CUTOFF) return TSANOM_OK;
    if (status != TSANOM_OK || r->found > 0) return status;
    r->bounds.lower++;
  }
  return TSANOM_OK;
}

static tsanom_status minimum_check(void *context) {
  const minimum_run *r = context;
  const tsanom_exec *exec = &r->input.exec;
  tsanom_status status = tsn_rs_check_table(&r->input);
  if (status < 0 || (status = tsn_require(exec, r->bounds_out, "bounds")) < 0) {
    return status;
  }
  return tsn_require_array(exec, r->reduct_out, r->words, "reduct");
}

static tsanom_status minimum_body(void *context) {
  minimum_run *r = context;
  size_t attributes = r->input.table.attributes;
  /* Until there is a better one, all attributes are a set that suffices. */
  for (size_t a = 0; a < attributes; a++) r->list[a] = (uint32_t)a;
  keep_best(r, attributes);
  tsanom_status status = find_greedy(r);
  if (status == TSANOM_OK) status = find_minimum(r);
  if (status < 0) return tsn_rs_reject_limit(&r->input, status);
  *r->bounds_out = r->bounds;
  memcpy(r->reduct_out, r->best, r->words * sizeof *r->best);
  if (r->count_out) *r->count_out = r->found;
  return status;
}

tsanom_status tsanom_roughset_minimum(const tsanom_roughset_table *table,
                                      const tsanom_roughset_options *options,
                                      const tsanom_exec *exec,
                                      const tsanom_roughset_visitor *visitor,
                                      tsanom_roughset_bounds *bounds, uint64_t *reduct,
                                      size_t *found) {
  minimum_run run = {.bounds_out = bounds, .reduct_out = reduct, .count_out = found};
  if (visitor) run.visitor = *visitor;
  tsanom_status status = tsn_rs_read(&run.input, MINIMUM_USES, table, options, exec);
  if (status < 0) return status;
  return tsn_workspace_run(&run.input.exec, layout, minimum_check, minimum_body, &run);
}

static tsanom_status greedy_check(void *context) {
  const minimum_run *r = context;
  tsanom_status status = tsn_rs_check_table(&r->input);
  return status < 0
             ? status
             : tsn_require_array(&r->input.exec, r->reduct_out, r->words, "reduct");
}

static tsanom_status greedy_body(void *context) {
  minimum_run *r = context;
  tsanom_status status = find_greedy(r);
  if (status < 0) return tsn_rs_reject_limit(&r->input, status);
  if (status != TSANOM_OK) return status;
  memcpy(r->reduct_out, r->best, r->words * sizeof *r->best);
  if (r->count_out) *r->count_out = r->bounds.upper;
  return TSANOM_OK;
}

tsanom_status tsanom_roughset_greedy(const tsanom_roughset_table *table,
                                     const tsanom_roughset_options *options,
                                     const tsanom_exec *exec, uint64_t *reduct,
                                     size_t *size) {
  minimum_run run = {.reduct_out = reduct, .count_out = size};
  tsanom_status status = tsn_rs_read(&run.input, GREEDY_USES, table, options, exec);
  if (status < 0) return status;
  return tsn_workspace_run(&run.input.exec, layout, greedy_check, greedy_body, &run);
}
