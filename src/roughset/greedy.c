/* SPDX-License-Identifier: BSD-3-Clause */
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
#include "roughset/greedy.h"

#include <string.h>

#include "core/exec.h"
#include "core/parallel.h"

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

void tsn_rs_greedy_layout(tsn_arena *arena, const tsn_rs_input *input,
                          tsn_rs_greedy_buffers *b) {
  size_t rows = input->table.rows, attributes = input->table.attributes, cells = 0;
  if (__builtin_mul_overflow(rows, attributes, &cells) || cells > UINT32_MAX) {
    arena->overflow = true;
  }
  b->cell = tsn_arena_take(arena, cells, sizeof *b->cell);
  b->count = tsn_arena_take(arena, cells, sizeof *b->count);
  b->order = tsn_arena_take(arena, rows, sizeof *b->order);
  b->ordered = tsn_arena_take(arena, rows, sizeof *b->ordered);
  b->begin = tsn_arena_take(arena, rows + 1, sizeof *b->begin);
  b->begun = tsn_arena_take(arena, rows + 1, sizeof *b->begun);
  b->left = tsn_arena_take(arena, attributes, sizeof *b->left);
  b->chosen = tsn_arena_take(arena, attributes, sizeof *b->chosen);
  b->pair = tsn_arena_take(arena, 2, sizeof *b->pair);
  b->column = tsn_arena_take(arena, rows, sizeof *b->column);
  b->values = tsn_arena_take(arena, rows, sizeof *b->values);
  b->least = tsn_arena_take(arena, attributes, sizeof *b->least);
  b->largest = tsn_arena_take(arena, attributes, sizeof *b->largest);
  b->base = tsn_arena_take(arena, attributes, sizeof *b->base);
  b->sparse = tsn_arena_take(arena, attributes, sizeof *b->sparse);
}

static const int32_t *unit_row(const tsn_rs_input *input, const tsn_rs_unit_buffers *u,
                               size_t k) {
  return input->table.values + u->units.row[k] * input->table.ld;
}

/* Number the values of a column by first appearance; returns their number. */
static size_t code_sparse_column(const tsn_rs_input *input, tsn_rs_unit_buffers *u,
                                 size_t attribute, size_t base,
                                 tsn_rs_greedy_buffers *b) {
  size_t units = u->units.units, attributes = input->table.attributes;
  for (size_t k = 0; k < units; k++) b->values[k] = unit_row(input, u, k)[attribute];
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
                       const tsn_rs_watch *watch, tsn_rs_greedy_buffers *b) {
  size_t units = u->units.units, attributes = input->table.attributes, next = 0;
  for (size_t a = 0; a < attributes; a++) {
    b->least[a] = INT32_MAX;
    b->largest[a] = INT32_MIN;
  }
  for (size_t k = 0; k < units; k++) {
    const int32_t *values = unit_row(input, u, k);
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
    const int32_t *values = unit_row(input, u, k);
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
  tsn_rs_greedy_buffers *buffers;
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
  tsn_rs_greedy_buffers *b = r->buffers;
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
  const tsn_rs_greedy_buffers *b = r->buffers;
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
  tsn_rs_greedy_buffers *b = r->buffers;
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

/* 0 if the chosen attributes discern all labels; TSN_RS_STOPPED if the poll stopped it.
 */
static size_t indiscernible(const tsn_rs_input *input, tsn_rs_unit_buffers *u,
                            const tsn_rs_greedy_buffers *b, size_t count) {
  const tsn_rs_watch watch = {&input->exec, count, input->table.attributes};
  tsn_rs_projection p = {.values = input->table.values,
                         .stride = input->table.ld,
                         .list = b->chosen,
                         .count = count,
                         .row = u->units.row,
                         .rows = u->units.units,
                         .watch = &watch};
  return tsn_rs_find_indiscernible(&p, u->units.label, &u->index, b->pair, 1);
}

/* Drop what the rest makes superfluous, from the last chosen to the first, and sort the
 * remainder. The core is never superfluous. A chosen attribute can be: others that were
 * chosen after it may discern its pairs too. O(rows * size^2). Returns their number, or
 * TSN_RS_STOPPED. */
static size_t drop_superfluous(const tsn_rs_input *input, tsn_rs_unit_buffers *u,
                               tsn_rs_greedy_buffers *b, size_t core_size, size_t size) {
  for (size_t k = size; k-- > core_size;) {
    uint32_t attribute = b->chosen[k];
    for (size_t i = k; i + 1 < size; i++) b->chosen[i] = b->chosen[i + 1];
    size_t found = indiscernible(input, u, b, size - 1);
    if (found == TSN_RS_STOPPED) return TSN_RS_STOPPED;
    if (found == 0) {
      size--;
    } else {
      for (size_t i = size - 1; i > k; i--) b->chosen[i] = b->chosen[i - 1];
      b->chosen[k] = attribute;
    }
  }
  for (size_t i = 1; i < size; i++) {
    uint32_t attribute = b->chosen[i];
    size_t k = i;
    for (; k > 0 && b->chosen[k - 1] > attribute; k--) b->chosen[k] = b->chosen[k - 1];
    b->chosen[k] = attribute;
  }
  return size;
}

/* The blocks of the partition by the attributes chosen so far. A counting sort by group
 * keeps the units of a block in the order of their labels, on which counting relies.
 * Returns their number, or TSN_RS_STOPPED. */
static size_t form_blocks(const tsn_rs_input *input, tsn_rs_unit_buffers *u,
                          tsn_rs_greedy_buffers *b, size_t chosen) {
  const tsn_rs_units *units = &u->units;
  const tsn_rs_watch watch = {&input->exec, chosen, input->table.attributes};
  tsn_rs_projection p = {.values = input->table.values,
                         .stride = input->table.ld,
                         .list = b->chosen,
                         .count = chosen,
                         .row = units->row,
                         .rows = units->units,
                         .watch = &watch};
  size_t groups = tsn_rs_group(&p, &u->index, b->column), blocks = 0, filled = 0;
  if (groups == TSN_RS_STOPPED) return TSN_RS_STOPPED;
  uint32_t *start = b->begun;
  memset(start, 0, (groups + 1) * sizeof *start);
  for (size_t k = 0; k < units->units; k++) start[b->column[k] + 1]++;
  for (size_t g = 0; g < groups; g++) start[g + 1] += start[g];
  for (size_t k = 0; k < units->units; k++) {
    b->ordered[start[b->column[k]]++] = (uint32_t)k;
  }
  for (size_t g = 0, begin = 0; g < groups; begin = start[g++]) {
    size_t size = start[g] - begin;
    if (units->label[b->ordered[begin]] == units->label[b->ordered[start[g] - 1]]) {
      continue;
    }
    memcpy(b->order + filled, b->ordered + begin, size * sizeof *b->order);
    b->begin[blocks++] = (uint32_t)filled;
    filled += size;
  }
  b->begin[blocks] = (uint32_t)filled;
  return blocks;
}

tsanom_status tsn_rs_greedy_classes(const tsn_rs_input *input, tsn_rs_unit_buffers *u,
                                    const uint64_t *core, tsn_rs_greedy_buffers *b,
                                    size_t *size) {
  size_t count = tsn_rs_list(core, input->table.attributes, b->chosen);
  size_t core_size = count;
  tsn_rs_watch watch = {&input->exec, count, input->table.attributes};
  refinement r = {.units = &u->units,
                  .buffers = b,
                  .attributes = input->table.attributes,
                  .blocks = form_blocks(input, u, b, count),
                  .watch = &watch};
  if (r.blocks == TSN_RS_STOPPED) return TSANOM_STOPPED;
  tsanom_exec quiet = input->exec;
  quiet.poll = NULL;
  size_t share = r.attributes / (size_t)quiet.threads + 1;
  size_t grain = share < CHUNK_ATTRIBUTES ? share : CHUNK_ATTRIBUTES;
  if (r.blocks > 0 && !code_cells(input, u, &watch, b)) return TSANOM_STOPPED;
  while (r.blocks > 0) {
    watch.done = count;
    if (tsn_exec_stop(&input->exec, count, r.attributes)) return TSANOM_STOPPED;
    if (b->begin[r.blocks] < PARALLEL_UNITS) quiet.threads = 1;
    tsn_parallel_for(&quiet, r.attributes, grain, count_chunk, &r, NULL);
    if (r.stopped) return TSANOM_STOPPED;
    size_t best = 0;
    for (size_t a = 1; a < r.attributes; a++) {
      if (b->left[a] < b->left[best]) best = a;
    }
    split_blocks(&r, best);
    if (r.stopped) return TSANOM_STOPPED;
    b->chosen[count++] = (uint32_t)best;
  }
  *size = drop_superfluous(input, u, b, core_size, count);
  return *size == TSN_RS_STOPPED ? TSANOM_STOPPED : TSANOM_OK;
}
