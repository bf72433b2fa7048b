/* SPDX-License-Identifier: BSD-3-Clause */
/* Both bounds of the size of a smallest reduct, until they meet:
 *
 *   sizes from the lower bound on  ---- search of cover.c ---->  solved within EASY_NODES
 *                                            | no
 *                                            v
 *   local search for smaller sets: lowers the upper bound, and learns the elements that
 *   sets of that size miss; then the Lagrangian bound of these elements at the root
 *                                            |
 *                                            v
 *   sizes from the lower bound on, with the Lagrangian bound at the upper nodes if it is
 *   near at the root; else, if all rows differ and have two values, by split.c
 *
 * A few hundred elements are learned where a table has tens of thousands: 398 of 44,548
 * for 300 rows of 100 attributes. */
#include <string.h>

#include "roughset/minimum.h"

enum {
  EASY_NODES = 1 << 19, /* about 60 ms */
  /* Local search: moves without success, their visits of edges, and sets that were tested
   * without success. */
  MOVES = 1 << 14,
  VISITS = 1 << 27,
  VISITS_PER_POLL = 1 << 18,
  TESTED = 1 << 11,
  TESTED_ROWS = 1 << 20,
  /* Vertices to come from which on a node is bounded: below, 12 iterations take longer
   * than the search. */
  LEAST_LEFT = 4,
  /* Edges that a search without bounds starts with: all 3565 of a table of 200 rows and
   * 60 attributes take 1.5 times as long. What is missing is learned again. */
  KEPT = 1 << 10
};

/* A candidate that discerns everything: visit it, or end the search if one is enough. */
static tsanom_status accept(tsn_rs_minimum *r, size_t count) {
  tsn_rs_keep_best(r, count);
  r->bounds.lower = count;
  r->cover.node_limit = UINT64_MAX;
  if (!r->all) return TSANOM_CUTOFF; /* one is enough */
  if (r->found == r->input.options.reduct_limit) return TSANOM_PARTIAL;
  r->found++;
  return r->visitor.visit(r->visitor.user, r->best, count) ? TSANOM_STOPPED
                                                           : TSANOM_INFEASIBLE;
}

/* Called for each candidate of the search (cover.h). */
static tsanom_status examine(void *context, tsn_rs_cover *cover) {
  tsn_rs_minimum *r = context;
  size_t count = r->core_size + cover->depth;
  memcpy(r->list, r->core_list, r->core_size * sizeof *r->list);
  memcpy(r->list + r->core_size, cover->chosen, cover->depth * sizeof *r->list);
  size_t learned;
  tsanom_status status = tsn_rs_learn(r, count, &learned);
  return learned == 0 ? accept(r, count) : status;
}

/* The same for a set that discerns all rows. */
static tsanom_status examine_split(void *context, const uint32_t *chosen, size_t count) {
  tsn_rs_minimum *r = context;
  memcpy(r->list, chosen, count * sizeof *r->list);
  return accept(r, count);
}

/* Search for a set of `size` attributes besides the core that meets all learned elements;
 * *found: r->local has one. */
static tsanom_status search_locally(tsn_rs_minimum *r, size_t size, bool *found) {
  uint64_t visits = r->cover.edges + 1;
  uint64_t turns = MOVES < VISITS / visits ? MOVES : VISITS / visits;
  uint64_t at_once = VISITS_PER_POLL / visits + 1;
  *found = false;
  for (uint64_t k = 0; k < turns && !*found; k += at_once) {
    if (tsn_exec_stop(&r->input.exec, k, 0)) return TSANOM_STOPPED;
    *found = tsn_rs_local_search(&r->local, &r->cover, size, at_once);
  }
  return TSANOM_OK;
}

/* Lower the upper bound by local search. Each set that it finds suffices, or misses
 * elements that are learned. */
static tsanom_status improve(tsn_rs_minimum *r) {
  tsn_rs_local *l = &r->local;
  size_t most = TESTED_ROWS / r->input.table.rows, tested = 0;
  if (most > TESTED) most = TESTED;
  for (size_t w = 0; w < r->words; w++) r->set[w] = r->best[w] & ~r->core[w];
  tsn_rs_local_start(l, r->set, r->words);
  while (r->bounds.upper > r->bounds.lower && tested++ < most) {
    bool found;
    size_t learned;
    tsanom_status status = search_locally(r, r->bounds.upper - 1 - r->core_size, &found);
    if (status != TSANOM_OK || !found) return status;
    for (size_t w = 0; w < r->words; w++) r->set[w] = r->core[w] | l->chosen[w];
    size_t size = tsn_rs_list(r->set, r->input.table.attributes, r->list);
    if ((status = tsn_rs_learn(r, size, &learned)) != TSANOM_OK) return status;
    if (learned > 0) continue;
    tsn_rs_keep_best(r, size);
    tested = 0;
  }
  return TSANOM_OK;
}

/* Whether the table has an element within `set`: learn it. */
static bool learn_subset(void *context, const uint64_t *set) {
  tsn_rs_minimum *r = context;
  size_t count = 0, learned;
  for (size_t a = 0; a < r->input.table.attributes; a++) {
    if (!tsn_rs_has(set, a)) r->list[count++] = (uint32_t)a;
  }
  return tsn_rs_learn(r, count, &learned) == TSANOM_OK && learned > 0;
}

/* What an easy search needs not: a better upper bound, and lower bounds by weights. */
static tsanom_status prepare(tsn_rs_minimum *r) {
  r->cover.node_limit = UINT64_MAX;
  r->cover.depth = 0;
  tsanom_status status = improve(r);
  if (status != TSANOM_OK || r->bounds.upper == r->bounds.lower) return status;
  size_t limit = r->bounds.upper - 1 - r->core_size, lower = 0;
  status = tsn_rs_bound_prepare(&r->bound, &r->cover, &r->input.exec, limit,
                                r->candidates, learn_subset, r, &lower);
  if (r->core_size + lower > r->bounds.lower) r->bounds.lower = r->core_size + lower;
  /* Multipliers that prove less at the root seldom prune below. */
  if (2 * lower >= limit) {
    r->cover.bound = &r->bound;
    r->cover.least_left = LEAST_LEFT;
    return status;
  }
  r->splits = !r->pairwise && r->bounds.upper <= TSN_RS_SPLIT_DEPTH &&
              tsn_rs_split_load(&r->split, &r->input.table, &r->units.units);
  if (!r->splits) tsn_rs_cover_keep_smallest(&r->cover, KEPT);
  return status;
}

static tsanom_status search_size(tsn_rs_minimum *r, size_t size) {
  const tsanom_exec *exec = &r->input.exec;
  if (r->splits) {
    tsn_rs_split_root(&r->split, r->core_list, r->core_size, r->candidates, exec->isa);
    return tsn_rs_split_search(&r->split, size, exec, examine_split, r);
  }
  return tsn_rs_cover_search(&r->cover, size - r->core_size, r->candidates, exec, examine,
                             r);
}

/* The easy searches have one number of nodes together. */
static void spend(tsn_rs_cover *c) {
  if (c->node_limit == UINT64_MAX) return;
  c->node_limit -= c->nodes < c->node_limit ? c->nodes : c->node_limit;
}

tsanom_status tsn_rs_close_gap(tsn_rs_minimum *r) {
  tsn_rs_cover_clear(&r->cover, r->input.table.attributes);
  r->cover.node_limit = EASY_NODES;
  for (;;) {
    if (r->bounds.lower == r->bounds.upper && !r->all) return TSANOM_OK;
    tsanom_status status = search_size(r, r->bounds.lower);
    if (status == TSANOM_CUTOFF) return TSANOM_OK;
    if (status == TSANOM_INFEASIBLE) {
      if ((status = prepare(r)) != TSANOM_OK) return status;
      continue;
    }
    if (status != TSANOM_OK) return status;
    if (r->found > 0) return TSANOM_OK;
    r->bounds.lower++;
    spend(&r->cover);
  }
}
