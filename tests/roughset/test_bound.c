/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for hitting sets with the Lagrangian bound, and the local search, against
 * all subsets of random hypergraphs. Internal: the functions of the library reach them
 * only for tables that take long without. */
#include <string.h>

#include "core/isa.h"
#include "roughset/bound.h"
#include "roughset/local_search.h"
#include "support/check.h"
#include "support/random.h"

enum { MOST_VERTICES = 13, MOST_EDGES = 40, EDGES_FIT = 64, BLOCK = 1 << 18 };

typedef struct {
  size_t vertices, edges;
  uint64_t edge[EDGES_FIT];
  size_t known; /* the search starts with these; it learns the others */
  tsn_rs_cover cover;
  tsn_rs_bound bound;
  tsn_rs_local local;
  uint64_t found[1 << MOST_VERTICES];
  size_t count;
} problem;

static problem p;

static void layout(tsn_arena *arena) {
  tsn_rs_cover_layout(arena, p.vertices, EDGES_FIT, p.vertices, &p.cover);
  tsn_rs_bound_layout(arena, p.vertices, EDGES_FIT, &p.bound);
  tsn_rs_local_layout(arena, p.vertices, EDGES_FIT, &p.local);
}

static bool misses(uint64_t set, size_t edges, size_t *which) {
  for (size_t e = 0; e < edges; e++) {
    if ((p.edge[e] & set) == 0) return *which = e, true;
  }
  return false;
}

/* Edges of one to four vertices; every third one closes a triangle of elements. */
static void make_problem(uint64_t *seed) {
  static _Alignas(64) unsigned char block[BLOCK];
  p.vertices = random_between(seed, 2, MOST_VERTICES);
  p.edges = random_between(seed, 1, MOST_EDGES);
  for (size_t e = 0; e < p.edges; e++) {
    p.edge[e] = 0;
    if (e % 3 == 2) p.edge[e] = p.edge[e - 1] ^ p.edge[e - 2];
    size_t size = random_between(seed, 1, 4);
    for (size_t k = 0; k < size && (e % 3 < 2 || p.edge[e] == 0); k++) {
      p.edge[e] |= (uint64_t)1 << random_between(seed, 0, p.vertices - 1);
    }
  }
  tsn_arena arena = {.base = block, .capacity = sizeof block};
  layout(&arena);
  cr_assert(!arena.overflow && arena.used <= sizeof block);
  tsn_rs_cover_clear(&p.cover, p.vertices);
  p.known = random_between(seed, 0, p.edges);
  for (size_t e = 0; e < p.known; e++) cr_assert(tsn_rs_cover_add(&p.cover, &p.edge[e]));
}

static tsanom_status examine(void *context, tsn_rs_cover *cover) {
  uint64_t set = 0;
  size_t which;
  (void)context;
  for (size_t d = 0; d < cover->depth; d++) set |= (uint64_t)1 << cover->chosen[d];
  if (misses(set, p.edges, &which)) {
    return tsn_rs_cover_add(cover, &p.edge[which]) ? TSANOM_OK : TSANOM_PARTIAL;
  }
  p.found[p.count++] = set;
  return TSANOM_INFEASIBLE;
}

/* Some edge, known or not, within the set; it becomes known. */
static bool any_edge_within(void *context, const uint64_t *set) {
  (void)context;
  for (size_t e = 0; e < p.edges; e++) {
    if (p.edge[e] & ~*set) continue;
    return tsn_rs_cover_add(&p.cover, &p.edge[e]);
  }
  return false;
}

/* The smallest hitting sets, in increasing order; returns their size. */
static size_t naive_smallest(uint64_t *sets, size_t *count) {
  size_t least = SIZE_MAX, which;
  *count = 0;
  for (uint64_t set = 0; set < (uint64_t)1 << p.vertices; set++) {
    size_t size = (size_t)__builtin_popcountll(set);
    if (size > least || misses(set, p.edges, &which)) continue;
    if (size < least) *count = 0;
    least = size;
    sets[(*count)++] = set;
  }
  return least;
}

static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* The kept edges are sorted, and no edge that was dropped is smaller. */
static void check_smallest_are_kept(size_t most) {
  size_t before = p.cover.edges, sizes[EDGES_FIT], last = 0;
  for (size_t e = 0; e < before; e++) sizes[e] = tsn_rs_size(p.cover.edge + e, 1);
  tsn_rs_cover_keep_smallest(&p.cover, most);
  cr_assert(p.cover.edges == (most < before ? most : before));
  for (size_t e = 0; e < p.cover.edges; e++) {
    size_t size = tsn_rs_size(p.cover.edge + e, 1), smaller = 0, equal = 0;
    for (size_t k = 0; k < before; k++) {
      smaller += sizes[k] < size;
      equal += sizes[k] == size;
    }
    cr_assert(size >= last && e >= smaller && e < smaller + equal);
    last = size;
  }
  p.cover.bound = NULL;
}

Test(roughset_bound, the_bounded_search_finds_every_smallest_hitting_set) {
  static uint64_t expected[1 << MOST_VERTICES];
  uint64_t seed = 71;
  size_t cuts = 0, proven = 0;
  tsanom_exec exec;
  CHECK_STATUS(tsn_exec_read(&exec, NULL), TSANOM_OK);
  for (int trial = 0; trial < 6000; trial++) {
    make_problem(&seed);
    size_t count, least = naive_smallest(expected, &count), lower = 0;
    const uint64_t all = ((uint64_t)1 << p.vertices) - 1;
    size_t limit = random_between(&seed, 0, p.vertices);
    CHECK_STATUS(tsn_rs_bound_prepare(&p.bound, &p.cover, &exec, limit, &all,
                                      any_edge_within, NULL, &lower),
                 TSANOM_OK);
    cr_assert(lower <= least, "trial %d: bound %zu of %zu", trial, lower, least);
    cuts += p.bound.cuts;
    proven += lower == least;
    for (size_t k = 0; k < p.bound.cuts; k++) {
      for (size_t i = 0; i < count; i++) {
        cr_assert(__builtin_popcountll(expected[i] & p.bound.cut[k]) >= 2);
      }
    }
    p.cover.bound = &p.bound;
    p.cover.least_left = random_between(&seed, 1, 4);
    if (trial % 4 == 0) check_smallest_are_kept(random_between(&seed, 0, p.edges));
    for (size_t size = 0; size <= least; size++) {
      p.count = 0;
      CHECK_STATUS(tsn_rs_cover_search(&p.cover, size, &all, &exec, examine, NULL),
                   TSANOM_OK);
      cr_assert(p.count == (size < least ? 0 : count), "trial %d: %zu, not %zu", trial,
                p.count, count);
    }
    qsort(p.found, count, sizeof *p.found, by_number);
    cr_assert(memcmp(p.found, expected, count * sizeof *expected) == 0, "trial %d",
              trial);
  }
  cr_assert(cuts > 1000 && proven > 1500, "%zu cuts, %zu bounds are tight", cuts, proven);
}

/* Without edges to learn: each size from the optimum on, none below. */
Test(roughset_bound, the_local_search_finds_sets_of_each_possible_size) {
  static uint64_t expected[1 << MOST_VERTICES];
  uint64_t seed = 72;
  for (int trial = 0; trial < 3000; trial++) {
    make_problem(&seed);
    p.edges = p.known;
    size_t count, which, least = naive_smallest(expected, &count);
    const uint64_t all = ((uint64_t)1 << p.vertices) - 1;
    tsn_rs_local_start(&p.local, &all, 1);
    for (size_t size = p.vertices; size > least; size--) {
      cr_assert(tsn_rs_local_search(&p.local, &p.cover, size - 1, 3000), "trial %d",
                trial);
      cr_assert(p.local.size == size - 1);
      cr_assert(p.local.size == (size_t)__builtin_popcountll(*p.local.chosen));
      cr_assert(!misses(*p.local.chosen, p.edges, &which));
    }
    if (least > 0) {
      cr_assert(!tsn_rs_local_search(&p.local, &p.cover, least - 1, 100));
    }
  }
}
