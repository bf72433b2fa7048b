/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements that a set of attributes does not meet: hash the rows projected on it, and
 * take pairs of rows that agree; or with wildcards, look through all elements. */
#include <string.h>

#include "roughset/minimum.h"

/* Take the element behind the `count` learned ones, unless it is among them; if there are
 * too many, drop the largest. Returns their number. Small elements are kept because the
 * search branches on them: fewer vertices, fewer branches. */
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
  if (count < TSN_RS_LEARNED_AT_ONCE) return count + 1;
  if (size < largest) memcpy(learned + place * words, last, words * sizeof *last);
  return count;
}

/* The element of two units, from the codes of the table: a few are needed, so that
 * packing the units would cost more. */
static void differing_attributes(const tsn_rs_minimum *r, uint32_t i, uint32_t j,
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
static size_t learn_from_table(tsn_rs_minimum *r, size_t count) {
  tsn_rs_projection p = {.values = r->input.table.values,
                         .stride = r->input.table.ld,
                         .list = r->list,
                         .count = count,
                         .row = r->units.units.row,
                         .rows = r->units.units.units};
  size_t pairs = tsn_rs_find_indiscernible(&p, r->units.units.label, &r->units.index,
                                           r->pair, TSN_RS_PAIRS_ASKED);
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
static size_t learn_from_elements(tsn_rs_minimum *r, size_t count) {
  const tsn_rs_family *f = &r->elements.family;
  size_t learned = 0;
  memset(r->set, 0, r->words * sizeof *r->set);
  for (size_t k = 0; k < count; k++) tsn_rs_add(r->set, r->list[k]);
  for (size_t i = 0; i < f->count && learned < TSN_RS_LEARNED_AT_ONCE; i++) {
    uint64_t *set = r->learned + learned * r->words, met = 0;
    tsn_rs_elements_write(&r->elements, i, r->words, set);
    for (size_t w = 0; w < r->words; w++) met |= set[w] & r->set[w];
    if (!met) learned++;
  }
  return learned;
}

size_t tsn_rs_missed_elements(tsn_rs_minimum *r, size_t count) {
  return r->pairwise ? learn_from_elements(r, count) : learn_from_table(r, count);
}

tsanom_status tsn_rs_learn(tsn_rs_minimum *r, size_t count, size_t *learned) {
  *learned = tsn_rs_missed_elements(r, count);
  for (size_t k = 0; k < *learned; k++) {
    if (!tsn_rs_cover_add(&r->cover, r->learned + k * r->words)) return TSANOM_PARTIAL;
  }
  return TSANOM_OK;
}
