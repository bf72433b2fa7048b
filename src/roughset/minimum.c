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
#include "roughset/minimum.h"

/* Elements learned at most; if they do not suffice, the bounds so far are returned. */
enum { LEARNED = 1 << 16 };
enum {
  GREEDY_USES = TSN_RS_READING | TSN_RS_MISSING | TSN_RS_ELEMENT_LIMIT,
  MINIMUM_USES = GREEDY_USES | TSN_RS_REDUCT_LIMIT
};

static void layout(tsn_arena *arena, void *context) {
  tsn_rs_minimum *r = context;
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
    tsn_rs_split_layout(arena, rows, attributes, &r->split);
    r->hash = tsn_arena_take(arena, rows, sizeof *r->hash);
    r->pair = tsn_arena_take(arena, TSN_RS_PAIRS_ASKED, 2 * sizeof *r->pair);
  }
  if (limit > LEARNED) limit = LEARNED;
  tsn_rs_cover_layout(arena, attributes, limit, deepest, &r->cover);
  tsn_rs_local_layout(arena, attributes, limit, &r->local);
  tsn_rs_bound_layout(arena, attributes, limit, &r->bound);
  r->core = tsn_arena_take(arena, r->words, sizeof *r->core);
  r->set = tsn_arena_take(arena, r->words, sizeof *r->set);
  r->candidates = tsn_arena_take(arena, r->words, sizeof *r->candidates);
  r->best = tsn_arena_take(arena, r->words, sizeof *r->best);
  r->learned =
      tsn_arena_take(arena, (TSN_RS_LEARNED_AT_ONCE + 1) * r->words, sizeof *r->learned);
  r->core_list = tsn_arena_take(arena, attributes, sizeof *r->core_list);
  r->list = tsn_arena_take(arena, attributes, sizeof *r->list);
}

static tsanom_status query(int uses, size_t rows, size_t attributes,
                           const tsanom_roughset_options *options,
                           const tsanom_exec *exec, size_t *bytes) {
  tsn_rs_minimum run;
  tsanom_status status =
      tsn_rs_read_sizes(&run.input, uses, rows, attributes, options, exec);
  return status < 0 ? status : tsn_workspace_query(&run.input.exec, layout, &run, bytes);
}

tsanom_status tsanom_roughset_minimum_workspace(size_t rows, size_t attributes,
                                                const tsanom_roughset_options *options,
                                                const tsanom_exec *exec, size_t *bytes) {
  return query(MINIMUM_USES, rows, attributes, options, exec, bytes);
}

tsanom_status tsanom_roughset_greedy_workspace(size_t rows, size_t attributes,
                                               const tsanom_roughset_options *options,
                                               const tsanom_exec *exec, size_t *bytes) {
  return query(GREEDY_USES, rows, attributes, options, exec, bytes);
}

void tsn_rs_keep_best(tsn_rs_minimum *r, size_t count) {
  memset(r->best, 0, r->words * sizeof *r->best);
  for (size_t k = 0; k < count; k++) tsn_rs_add(r->best, r->list[k]);
  r->bounds.upper = count;
}

/* Greedy on the minimal elements: the attribute in most of those left; then each one that
 * the others make superfluous is dropped, from the last to the first. */
static size_t greedy_elements(tsn_rs_minimum *r) {
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
    if (tsn_rs_missed_elements(r, count - 1) == 0) {
      count--;
      continue;
    }
    memmove(r->list + k + 1, r->list + k, (count - k - 1) * sizeof *r->list);
    r->list[k] = attribute;
  }
  return count;
}

static tsanom_status find_core(tsn_rs_minimum *r) {
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

static tsanom_status find_greedy(tsn_rs_minimum *r) {
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
  tsn_rs_keep_best(r, size);
  return TSANOM_OK;
}

/* Every reduct contains the core: search for the others only, from the size of the core
 * on. */
static tsanom_status find_minimum(tsn_rs_minimum *r) {
  size_t attributes = r->input.table.attributes;
  r->core_size = tsn_rs_list(r->core, attributes, r->core_list);
  r->bounds.lower = r->core_size;
  memset(r->candidates, 0, r->words * sizeof *r->candidates);
  for (size_t a = 0; a < attributes; a++) {
    if (!tsn_rs_has(r->core, a)) tsn_rs_add(r->candidates, a);
  }
  return tsn_rs_close_gap(r);
}

static tsanom_status minimum_body(void *context) {
  tsn_rs_minimum *r = context;
  size_t attributes = r->input.table.attributes;
  /* Until there is a better one, all attributes are a set that suffices. */
  for (size_t a = 0; a < attributes; a++) r->list[a] = (uint32_t)a;
  tsn_rs_keep_best(r, attributes);
  tsanom_status status = find_greedy(r);
  if (status == TSANOM_OK) status = find_minimum(r);
  if (status < 0) return tsn_reject(&r->input.exec, status, "options.element_limit");
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
  tsn_rs_minimum run = {.bounds_out = bounds, .reduct_out = reduct, .count_out = found};
  if (visitor) run.visitor = *visitor;
  run.all = run.visitor.visit != NULL;
  tsanom_status status = tsn_rs_read(&run.input, MINIMUM_USES, table, options, exec);
  if (status < 0) return status;
  exec = &run.input.exec;
  if (!bounds) return tsn_reject(exec, TSANOM_E_NULL, "bounds");
  if (!reduct) return tsn_reject(exec, TSANOM_E_NULL, "reduct");
  return tsn_workspace_run(exec, layout, minimum_body, &run);
}

static tsanom_status greedy_body(void *context) {
  tsn_rs_minimum *r = context;
  tsanom_status status = find_greedy(r);
  if (status < 0) return tsn_reject(&r->input.exec, status, "options.element_limit");
  if (status != TSANOM_OK) return status;
  memcpy(r->reduct_out, r->best, r->words * sizeof *r->best);
  if (r->count_out) *r->count_out = r->bounds.upper;
  return TSANOM_OK;
}

tsanom_status tsanom_roughset_greedy(const tsanom_roughset_table *table,
                                     const tsanom_roughset_options *options,
                                     const tsanom_exec *exec, uint64_t *reduct,
                                     size_t *size) {
  tsn_rs_minimum run = {.reduct_out = reduct, .count_out = size};
  tsanom_status status = tsn_rs_read(&run.input, GREEDY_USES, table, options, exec);
  if (status < 0) return status;
  if (!reduct) return tsn_reject(&run.input.exec, TSANOM_E_NULL, "reduct");
  return tsn_workspace_run(&run.input.exec, layout, greedy_body, &run);
}
