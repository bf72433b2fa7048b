/* SPDX-License-Identifier: BSD-3-Clause */
/* A table reduced to units: classes of equal rows, labeled so that only units with
 * different labels must be discerned, sorted by label, with codes packed into words for
 * the kernels. A consistent class has its decision as label; the label of a mixed class
 * depends on the reading (docs/roughset.md):
 *
 *     rows         codes  decisions    label: ordinary   positive region   generalized
 *     0, 1          0 1   0                      0              0               0
 *     2             1 1   1                      1              1               1
 *     3, 4          1 0   0, 1                   3              3               3
 *     5, 6          0 0   1, 0                   4              3               3
 *     7, 8          0 2   1, 2                   5              3               4
 *
 *     ordinary         every pair that some attribute discerns: a label for each class
 *     positive region  only whether a class is mixed matters: one label for all
 *     generalized      the set of decisions matters: one label for each set
 *
 * All readings thus cost about the same, and no later step depends on them. The classes
 * replace the rows: c classes have c^2 / 2 pairs, where n rows have n^2 / 2 (the matrix
 * of A. Skowron and C. Rauszer, 1992).
 *
 * With wildcards a missing value equals every value. Then equal rows do not form classes,
 * since x = y and y = z do not imply x = z. Units are classes of identical rows of one
 * decision, and which pairs count follows from comparing all of them, in quadratic time.
 *
 * Otherwise, expected O(rows * attributes): grouping (table.c), one radix sort,
 * packing. */
#include "roughset/units.h"

#include <string.h>

#include "core/exec.h"
#include "core/size.h"

static bool wildcards(const tsn_rs_input *input) {
  return input->options.missing == TSANOM_ROUGHSET_WILDCARD;
}

static void pack_layout(tsn_arena *arena, const tsn_rs_input *input,
                        tsn_rs_unit_buffers *b) {
  size_t rows = input->table.rows, attributes = input->table.attributes;
  /* Fields have at most 32 bits, so that every word but the last has at least two. */
  size_t words = attributes / 2 + 1;
  tsn_rs_units *units = &b->units;
  tsn_rs_packed *p = &units->packed;
  p->codes = tsn_arena_take(arena, tsn_product(rows, words), sizeof *p->codes);
  p->high = tsn_arena_take(arena, words, sizeof *p->high);
  p->low = tsn_arena_take(arena, words, sizeof *p->low);
  p->offset = tsn_arena_take(arena, words, sizeof *p->offset);
  b->word = tsn_arena_take(arena, attributes, sizeof *b->word);
  b->shift = tsn_arena_take(arena, attributes, sizeof *b->shift);
  b->least = tsn_arena_take(arena, attributes, sizeof *b->least);
  b->largest = tsn_arena_take(arena, attributes, sizeof *b->largest);
  units->attribute = tsn_arena_take(arena, attributes, sizeof *units->attribute);
  if (!wildcards(input)) return;
  p->missing = tsn_arena_take(arena, tsn_product(rows, tsn_rs_words(attributes)),
                              sizeof *p->missing);
  b->set = tsn_arena_take(arena, tsn_rs_words(attributes), sizeof *b->set);
  if (input->options.reading == TSANOM_ROUGHSET_GENERALIZED) {
    units->delta = tsn_arena_take(arena, tsn_product(rows, tsn_rs_words(rows)),
                                  sizeof *units->delta);
  } else if (input->options.reading == TSANOM_ROUGHSET_POSITIVE_REGION) {
    units->consistent = tsn_arena_take(arena, rows, sizeof *units->consistent);
  }
}

void tsn_rs_units_layout(tsn_arena *arena, const tsn_rs_input *input, bool pack,
                         tsn_rs_unit_buffers *b) {
  size_t rows = input->table.rows;
  tsn_rs_index_layout(arena, rows, input->table.attributes + 2, &b->index);
  b->group = tsn_arena_take(arena, rows, sizeof *b->group);
  b->decision = tsn_arena_take(arena, rows, sizeof *b->decision);
  b->unit_label = tsn_arena_take(arena, rows, sizeof *b->unit_label);
  b->unit_row = tsn_arena_take(arena, rows, sizeof *b->unit_row);
  b->starts = tsn_arena_take(arena, 2 * rows + 2, sizeof *b->starts);
  b->key = tsn_arena_take(arena, rows, sizeof *b->key);
  b->key_scratch = tsn_arena_take(arena, rows, sizeof *b->key_scratch);
  b->pairs = tsn_arena_take(arena, rows, 2 * sizeof *b->pairs);
  b->units.row = tsn_arena_take(arena, rows, sizeof *b->units.row);
  b->units.label = tsn_arena_take(arena, rows, sizeof *b->units.label);
  b->units.next = tsn_arena_take(arena, rows, sizeof *b->units.next);
  if (pack) pack_layout(arena, input, b);
}

/* What the label of a class is while labels are being given. There are at most n
 * decisions and n / 2 mixed classes of n < 2^31 rows, so that these values, as 32 bits
 * without sign, are free. */
enum { UNSEEN = -1, MIXED = -2 };

/* Whether two sets of decisions, sorted in the low halves of keys, are equal. */
static bool lists_equal(const uint64_t *key, const uint32_t *begin, size_t i, size_t j) {
  size_t length = begin[i + 1] - begin[i];
  if (begin[j + 1] - begin[j] != length) return false;
  for (size_t k = 0; k < length; k++) {
    if ((uint32_t)key[begin[i] + k] != (uint32_t)key[begin[j] + k]) return false;
  }
  return true;
}

/* Give the mixed classes labels from `first` on, equal iff their sets of decisions are.
 * Returns the number of labels there then are. The pairs (class, decision) of all rows
 * are sorted as one integer each, which lists the decisions of a class in order and
 * without repetition after one pass; the lists are then looked up in the hash index:
 *
 *     key     2|0  2|1  3|0  3|1  4|1  4|2      class | decision
 *     begin    0         2         4         6 */
static size_t label_decision_sets(const tsn_rs_input *input, tsn_rs_unit_buffers *b,
                                  size_t first) {
  size_t count = 0, distinct = 0, lists = 0;
  for (size_t r = 0; r < input->table.rows; r++) {
    if (b->unit_label[b->group[r]] == (uint32_t)MIXED) {
      b->key[count++] = (uint64_t)b->group[r] << 32 | b->decision[r];
    }
  }
  tsn_rs_sort(b->key, b->key_scratch, count);
  uint32_t *begin = b->starts;
  for (size_t i = 0; i < count; i++) {
    if (distinct > 0 && b->key[distinct - 1] == b->key[i]) continue;
    bool opens = distinct == 0 || b->key[distinct - 1] >> 32 != b->key[i] >> 32;
    if (opens) begin[lists++] = (uint32_t)distinct;
    b->key[distinct++] = b->key[i];
  }
  begin[lists] = (uint32_t)distinct;
  memset(b->index.slot, 0, b->index.slots * sizeof *b->index.slot);
  for (size_t i = 0; i < lists; i++) {
    uint64_t hash = 0;
    for (size_t k = begin[i]; k < begin[i + 1]; k++) {
      hash += tsn_rs_finish((uint32_t)b->key[k] + 1);
    }
    size_t slot = tsn_rs_finish(hash) & (b->index.slots - 1);
    while (b->index.slot[slot] != 0 &&
           !lists_equal(b->key, begin, i, b->index.slot[slot] - 1)) {
      slot = (slot + 1) & (b->index.slots - 1);
    }
    uint32_t *label = &b->unit_label[b->key[begin[i]] >> 32];
    if (b->index.slot[slot] == 0) {
      b->index.slot[slot] = i + 1;
      *label = (uint32_t)first++;
    } else {
      *label = b->unit_label[b->key[begin[b->index.slot[slot] - 1]] >> 32];
    }
  }
  return first;
}

/* Classes of equal rows as units; returns the number of labels, or TSN_RS_STOPPED.
 * Decisions are numbered 0
 * ... decisions - 1 here, so that labels of mixed classes start at `decisions`. */
static size_t form_classes(const tsn_rs_input *input, size_t decisions,
                           const tsn_rs_watch *watch, tsn_rs_unit_buffers *b) {
  const tsanom_roughset_table *table = &input->table;
  tsn_rs_projection rows = tsn_rs_rows(input, watch);
  size_t classes = tsn_rs_group(&rows, &b->index, b->group);
  if (classes == TSN_RS_STOPPED) return TSN_RS_STOPPED;
  memcpy(b->unit_row, b->index.first, classes * sizeof *b->unit_row);
  for (size_t c = 0; c < classes; c++) b->unit_label[c] = (uint32_t)UNSEEN;
  for (size_t r = 0; r < table->rows; r++) {
    uint32_t *label = &b->unit_label[b->group[r]];
    if (*label == (uint32_t)UNSEEN) *label = b->decision[r];
    if (*label != b->decision[r]) *label = (uint32_t)MIXED;
  }
  b->units.units = classes;
  if (input->options.reading == TSANOM_ROUGHSET_GENERALIZED) {
    return label_decision_sets(input, b, decisions);
  }
  /* Two mixed classes are discerned in the ordinary reading, but belong to the same
   * boundary of the positive region. */
  bool apart = input->options.reading == TSANOM_ROUGHSET_ORDINARY;
  size_t labels = decisions;
  for (size_t c = 0; c < classes; c++) {
    if (b->unit_label[c] != (uint32_t)MIXED) continue;
    b->unit_label[c] = (uint32_t)labels;
    if (apart) labels++;
  }
  return apart ? labels : labels + 1;
}

/* Identical rows of one decision as units; the label is the decision. Rows are grouped
 * first by their codes and then by (group, decision): two passes of O(1) per row in place
 * of copying the decision behind the codes. Returns whether the poll let it end. */
static bool form_rows(const tsn_rs_input *input, const tsn_rs_watch *watch,
                      tsn_rs_unit_buffers *b) {
  const tsanom_roughset_table *table = &input->table;
  tsn_rs_projection rows = tsn_rs_rows(input, watch);
  if (tsn_rs_group(&rows, &b->index, b->group) == TSN_RS_STOPPED) return false;
  for (size_t r = 0; r < table->rows; r++) {
    b->pairs[2 * r] = (int32_t)b->group[r];
    b->pairs[2 * r + 1] = (int32_t)b->decision[r];
  }
  tsn_rs_projection pairs = {
      .values = b->pairs, .stride = 2, .count = 2, .rows = table->rows, .watch = watch};
  b->units.units = tsn_rs_group(&pairs, &b->index, b->group);
  if (b->units.units == TSN_RS_STOPPED) return false;
  memcpy(b->unit_row, b->index.first, b->units.units * sizeof *b->unit_row);
  for (size_t u = 0; u < b->units.units; u++) {
    b->unit_label[u] = b->decision[b->unit_row[u]];
  }
  return true;
}

/* Order the units by label, keeping the order of appearance within one: a counting sort,
 * O(units + labels). After it, start[l] is the end of label l, which is `next`. */
static void sort_by_label(tsn_rs_unit_buffers *b, size_t labels) {
  tsn_rs_units *units = &b->units;
  uint32_t *start = b->starts;
  units->labels = labels;
  memset(start, 0, (labels + 1) * sizeof *start);
  for (size_t u = 0; u < units->units; u++) start[b->unit_label[u] + 1]++;
  for (size_t l = 0; l < labels; l++) start[l + 1] += start[l];
  for (size_t u = 0; u < units->units; u++) {
    uint32_t at = start[b->unit_label[u]]++;
    units->row[at] = b->unit_row[u];
    units->label[at] = b->unit_label[u];
  }
  for (size_t u = 0; u < units->units; u++) units->next[u] = start[units->label[u]];
}

/* A table with more rows has polls between the steps that pass over all of it. */
enum { MANY_ROWS = 1 << 14 };

static bool stopped(const tsn_rs_input *input) {
  return input->table.rows > MANY_ROWS &&
         tsn_exec_stop(&input->exec, 0, input->table.attributes);
}

/* What the field of an attribute must hold. */
typedef struct {
  int32_t least;
  uint32_t codes; /* the largest code, those of a missing value included; 0: constant */
} code_range;

/* Codes of an attribute among the units: its values less the least one; then one
 * more for missing values, unless they equal everything. */
static code_range range_of(const tsn_rs_input *input, const tsn_rs_units *units,
                           size_t attribute) {
  const tsanom_roughset_table *table = &input->table;
  int32_t least = INT32_MAX, largest = TSANOM_ROUGHSET_MISSING;
  bool missing = false;
  for (size_t u = 0; u < units->units; u++) {
    int32_t value = table->values[units->row[u] * table->ld + attribute];
    if (value == TSANOM_ROUGHSET_MISSING) {
      missing = true;
    } else {
      if (value < least) least = value;
      if (value > largest) largest = value;
    }
  }
  if (largest == TSANOM_ROUGHSET_MISSING) return (code_range){.codes = 0};
  uint32_t codes = (uint32_t)largest - (uint32_t)least;
  if (missing && !wildcards(input)) codes++;
  return (code_range){.least = least, .codes = codes};
}

/* Place the fields of the attributes that vary. An attribute gets as many bits as its
 * largest code needs; a field never straddles two words, so that one comparison of words
 * covers it (elements_kernel.c). A binary table has 64 attributes in a word. Returns
 * whether the poll let it end. */
static bool place_fields(const tsn_rs_input *input, tsn_rs_unit_buffers *b) {
  tsn_rs_units *units = &b->units;
  tsn_rs_packed *p = &units->packed;
  unsigned used = 64;
  p->words = 0;
  units->effective = 0;
  for (size_t a = 0; a < input->table.attributes; a++) {
    if (stopped(input)) return false;
    code_range range = range_of(input, units, a);
    if (range.codes == 0) continue;
    unsigned bits = 32 - (unsigned)__builtin_clz(range.codes);
    if (used + bits > 64) {
      size_t word = p->words++;
      p->offset[word] = (uint32_t)units->effective;
      p->high[word] = p->low[word] = 0;
      used = 0;
    }
    size_t word = p->words - 1, e = units->effective++;
    p->high[word] |= (uint64_t)1 << (used + bits - 1);
    p->low[word] |= (((uint64_t)1 << (bits - 1)) - 1) << used;
    units->attribute[e] = (uint32_t)a;
    b->word[e] = (uint32_t)word;
    b->shift[e] = used;
    b->least[e] = range.least;
    b->largest[e] = range.codes;
    used += bits;
  }
  return true;
}

/* Write the codes of each unit into its fields. Without wildcards a missing value is the
 * largest code, a value as any other. With wildcards its code is 0 and the kernels clear
 * the attribute by the set `missing`. Returns whether the poll let it end. */
static bool pack_units(const tsn_rs_input *input, tsn_rs_unit_buffers *b) {
  const tsanom_roughset_table *table = &input->table;
  tsn_rs_units *units = &b->units;
  tsn_rs_packed *p = &units->packed;
  if (!place_fields(input, b)) return false;
  size_t words = p->words, set_words = tsn_rs_words(units->effective);
  p->set_words = set_words;
  memset(p->codes, 0, units->units * words * sizeof *p->codes);
  if (p->missing) {
    memset(p->missing, 0, units->units * set_words * sizeof *p->missing);
  }
  for (size_t u = 0; u < units->units; u++) {
    if (u % MANY_ROWS == MANY_ROWS - 1 && stopped(input)) return false;
    const int32_t *values = table->values + units->row[u] * table->ld;
    for (size_t e = 0; e < units->effective; e++) {
      int32_t value = values[units->attribute[e]];
      uint64_t code = (uint32_t)value - (uint32_t)b->least[e];
      if (value == TSANOM_ROUGHSET_MISSING) {
        if (p->missing) tsn_rs_add(p->missing + u * set_words, e);
        code = p->missing ? 0 : b->largest[e];
      }
      p->codes[u * words + b->word[e]] |= code << (b->shift[e] & 63);
    }
  }
  return true;
}

/* Whether no attribute discerns two units of different labels; `set` is scratch. */
static bool indiscernible(const tsn_rs_elements_kernels *kernels,
                          const tsn_rs_units *units, size_t i, size_t j, uint64_t *set) {
  if (units->effective == 0) return true;
  kernels->list(&units->packed, i, j, j + 1, set);
  return tsn_rs_is_empty(set, units->packed.set_words);
}

/* With wildcards: delta of each unit, from all pairs, or only whether it has more than
 * one decision. O(units^2) elements, the price of a relation that is not transitive; the
 * poll is called for each unit. Units are fewer than rows where rows repeat. */
static tsanom_status relate_units(const tsn_rs_input *input, tsn_rs_unit_buffers *b) {
  const tsn_rs_elements_kernels *kernels = tsn_rs_elements_kernels_at(input->exec.isa);
  tsn_rs_units *units = &b->units;
  units->decision_words = tsn_rs_words(units->labels);
  if (units->delta) {
    memset(units->delta, 0, units->units * units->decision_words * sizeof *units->delta);
  }
  if (units->consistent) memset(units->consistent, 1, units->units);
  for (size_t i = 0; i < units->units; i++) {
    if (tsn_exec_stop(&input->exec, i, units->units)) return TSANOM_STOPPED;
    if (units->delta)
      tsn_rs_add(units->delta + i * units->decision_words, units->label[i]);
    for (size_t j = units->next[i]; j < units->units; j++) {
      if (!indiscernible(kernels, units, i, j, b->set)) continue;
      if (units->delta) {
        tsn_rs_add(units->delta + i * units->decision_words, units->label[j]);
        tsn_rs_add(units->delta + j * units->decision_words, units->label[i]);
      } else {
        units->consistent[i] = units->consistent[j] = 0;
      }
    }
  }
  return TSANOM_OK;
}

tsanom_status tsn_rs_units_form(const tsn_rs_input *input, bool pack,
                                tsn_rs_unit_buffers *b) {
  const tsanom_roughset_table *table = &input->table;
  const tsn_rs_watch watch = {&input->exec, 0, table->attributes};
  tsn_rs_projection decision = {.values = table->decision,
                                .stride = 1,
                                .count = 1,
                                .rows = table->rows,
                                .watch = &watch};
  size_t decisions = tsn_rs_group(&decision, &b->index, b->decision), labels = decisions;
  if (decisions == TSN_RS_STOPPED) return TSANOM_STOPPED;
  if (wildcards(input)) {
    if (!form_rows(input, &watch, b)) return TSANOM_STOPPED;
  } else {
    labels = form_classes(input, decisions, &watch, b);
    if (labels == TSN_RS_STOPPED) return TSANOM_STOPPED;
  }
  if (stopped(input)) return TSANOM_STOPPED;
  sort_by_label(b, labels);
  if (!pack) return TSANOM_OK;
  if (!pack_units(input, b)) return TSANOM_STOPPED;
  return b->units.delta || b->units.consistent ? relate_units(input, b) : TSANOM_OK;
}
