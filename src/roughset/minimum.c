/* SPDX-License-Identifier: BSD-3-Clause */
/* One reduct: a greedy one, or the smallest by an implicit hitting set.
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
#include "roughset/core.h"
#include "roughset/cover.h"
#include "roughset/elements.h"
#include "roughset/greedy.h"

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
  tsn_rs_greedy_buffers greedy;
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
    tsn_rs_greedy_layout(arena, &r->input, &r->greedy);
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
  tsn_rs_projection p = {.values = r->input.table.values,
                         .stride = r->input.table.ld,
                         .list = r->list,
                         .count = count,
                         .row = r->units.units.row,
                         .rows = r->units.units.units};
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

/* Greedy on the minimal elements: the attribute in most of those left; then each one that
 * the others make superfluous is dropped, from the last to the first. */
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
  for (size_t k = count; k-- > 0;) {
    uint32_t attribute = r->list[k];
    memmove(r->list + k, r->list + k + 1, (count - k - 1) * sizeof *r->list);
    if (missed_elements(r, count - 1) == 0) {
      count--;
      continue;
    }
    memmove(r->list + k + 1, r->list + k, (count - k - 1) * sizeof *r->list);
    r->list[k] = attribute;
  }
  return count;
}

static tsanom_status find_core(minimum_run *r) {
  memset(r->core, 0, r->words * sizeof *r->core);
  if (!r->pairwise) {
    return tsn_rs_core_of_classes(&r->input, &r->units, r->hash, r->core);
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
  size_t size = 0;
  if (r->pairwise) {
    tsn_rs_input absorbed = r->input;
    absorbed.options.absorb = 1;
    r->elements.family.count = 0;
    if ((status = tsn_rs_elements_find(&absorbed, &r->elements)) != TSANOM_OK) {
      return status;
    }
    find_core(r);
    size = greedy_elements(r);
  } else {
    if ((status = tsn_rs_units_form(&r->input, false, &r->units)) != TSANOM_OK ||
        (status = find_core(r)) != TSANOM_OK) {
      return status;
    }
    status = tsn_rs_greedy_classes(&r->input, &r->units, r->core, &r->greedy, &size);
    if (status != TSANOM_OK) return status;
    memcpy(r->list, r->greedy.chosen, size * sizeof *r->list);
  }
  keep_best(r, size);
  return TSANOM_OK;
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
