/* SPDX-License-Identifier: BSD-3-Clause */
/* Branch on the vertices of an uncovered edge; a vertex that was tried is out for
 * the branches after it, so that every set is met once.
 *
 * The sets have at most `limit` vertices, and the caller raises the limit from a lower
 * bound: so a set that hits everything is a smallest one, and being minimal needs no
 * test. This is where the search differs from search_kernel.c, which has no limit to
 * prune by but prunes by minimality. With `left` vertices still allowed:
 *
 *     left = 1    the vertices common to all uncovered edges; usually none after a few
 *                 edges
 *     left > 2    more than `left` disjoint uncovered edges cannot be hit. Without this
 *                 bound, tables of disjoint elements take exponential time.
 *     left = 2    branching costs less than the bound: without it, the search takes 0.75
 *                 to 1.0 of the time with it (bench_roughset). */
#include "roughset/cover.h"

static inline uint64_t *edges_row(const tsn_rs_cover *c, size_t depth) {
  return c->uncovered + depth * c->stride;
}

/* The candidates that hit every uncovered edge. They are soon none if there are none.
 * Returns whether there is one. */
static inline bool common_vertices(const tsn_rs_cover *c, const uint64_t *candidates,
                                   const size_t vw, uint64_t *common) {
  const uint64_t *uncovered = edges_row(c, c->depth);
  for (size_t v = 0; v < vw; v++) common[v] = candidates[v];
  for (size_t w = 0; w < c->edge_words; w++) {
    for (uint64_t bits = uncovered[w]; bits; bits &= bits - 1) {
      const uint64_t *edge = c->edge + (64 * w + (size_t)__builtin_ctzll(bits)) * vw;
      uint64_t any = 0;
      for (size_t v = 0; v < vw; v++) any |= common[v] &= edge[v];
      if (!any) return false;
    }
  }
  return true;
}

/* Whether more than `left` uncovered edges are pairwise disjoint. They are taken
 * greedily, the first being the smallest: a lower bound of the largest packing, so that a
 * node is never pruned wrongly. `taken` is scratch. */
static inline bool packing_exceeds(const tsn_rs_cover *c, size_t first, size_t left,
                                   const uint64_t *candidates, const size_t vw,
                                   uint64_t *taken) {
  const uint64_t *uncovered = edges_row(c, c->depth);
  for (size_t v = 0; v < vw; v++) taken[v] = c->edge[first * vw + v] & candidates[v];
  size_t count = 1;
  for (size_t w = 0; w < c->edge_words; w++) {
    for (uint64_t bits = uncovered[w]; bits; bits &= bits - 1) {
      const uint64_t *edge = c->edge + (64 * w + (size_t)__builtin_ctzll(bits)) * vw;
      uint64_t meets = 0;
      for (size_t v = 0; v < vw; v++) meets |= edge[v] & taken[v];
      if (meets) continue;
      for (size_t v = 0; v < vw; v++) taken[v] |= edge[v] & candidates[v];
      if (++count > left) return true;
    }
  }
  return false;
}

/* Choose what to branch on: the uncovered edge with the fewest candidates, which leaves
 * the fewest branches; 0 of them end the node. */
static inline void open_node(tsn_rs_cover *c, const size_t vw) {
  const uint64_t *uncovered = edges_row(c, c->depth);
  uint64_t *candidates = c->candidates + c->depth * vw;
  uint64_t *branch = c->branch + c->depth * vw;
  size_t left = c->limit - c->depth, least = SIZE_MAX, best = 0, free_vertices = 0;
  c->nodes++;
  if (left <= 1) {
    if (left == 0 || !common_vertices(c, candidates, vw, branch)) {
      for (size_t v = 0; v < vw; v++) branch[v] = 0;
    }
    return;
  }
  for (size_t w = 0; w < c->edge_words && least > 0; w++) {
    for (uint64_t bits = uncovered[w]; bits; bits &= bits - 1) {
      size_t e = 64 * w + (size_t)__builtin_ctzll(bits), size = 0;
      for (size_t v = 0; v < vw; v++) {
        size += (size_t)__builtin_popcountll(c->edge[e * vw + v] & candidates[v]);
      }
      best = size < least ? e : best;
      least = size < least ? size : least;
    }
  }
  for (size_t v = 0; v < vw; v++) {
    free_vertices += (size_t)__builtin_popcountll(candidates[v]);
  }
  /* Too many disjoint edges for the vertices left? Not if they cannot fit. With two
   * vertices left the branches cost less than the question. */
  bool hopeless = left > 2 && (left + 1) * least <= free_vertices &&
                  packing_exceeds(c, best, left, candidates, vw, branch);
  for (size_t v = 0; v < vw; v++) {
    branch[v] = hopeless ? 0 : c->edge[best * vw + v] & candidates[v];
  }
}

/* The next vertex of the branch, which is no candidate from now on; SIZE_MAX: none. */
static inline size_t take_vertex(tsn_rs_cover *c, const size_t vw) {
  uint64_t *branch = c->branch + c->depth * vw;
  for (size_t k = 0; k < vw; k++) {
    if (branch[k] == 0) continue;
    uint64_t bit = branch[k] & -branch[k];
    branch[k] ^= bit;
    c->candidates[c->depth * vw + k] &= ~bit;
    return 64 * k + (size_t)__builtin_ctzll(bit);
  }
  return SIZE_MAX;
}

/* Choose v; returns whether an edge remains uncovered. */
static inline bool choose(tsn_rs_cover *c, size_t v, const size_t vw) {
  const uint64_t *restrict hit = c->occurrence + v * c->stride;
  const uint64_t *restrict uncovered = edges_row(c, c->depth);
  uint64_t *restrict next = edges_row(c, c->depth + 1);
  uint64_t any = 0;
#pragma omp simd reduction(| : any)
  for (size_t w = 0; w < c->edge_words; w++) {
    next[w] = uncovered[w] & ~hit[w];
    any |= next[w];
  }
  for (size_t k = 0; k < vw; k++) {
    c->candidates[(c->depth + 1) * vw + k] = c->candidates[c->depth * vw + k];
  }
  c->chosen[c->depth++] = (uint32_t)v;
  return any != 0;
}

/* Go on from where the search stands, in the order of a recursion. */
static inline int search(tsn_rs_cover *c, const size_t vw, uint64_t budget) {
  uint64_t stop = c->nodes + budget;
  for (;;) {
    size_t v = take_vertex(c, vw);
    if (v == SIZE_MAX) {
      if (c->depth == 0) return TSN_RS_COVER_DONE;
      c->depth--;
      continue;
    }
    if (!choose(c, v, vw)) return TSN_RS_COVER_CANDIDATE;
    open_node(c, vw);
    if (c->nodes >= stop) return TSN_RS_COVER_NODES;
  }
}

static void open(tsn_rs_cover *c) {
  if (c->vertex_words == 1) {
    open_node(c, 1);
  } else {
    open_node(c, c->vertex_words);
  }
}

static int run(tsn_rs_cover *c, uint64_t budget) {
  return c->vertex_words == 1 ? search(c, 1, budget) : search(c, c->vertex_words, budget);
}

const tsn_rs_cover_kernels TSN_LEVEL(tsn_rs_cover_kernels) = {.open = open, .run = run};
