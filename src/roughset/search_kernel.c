/* SPDX-License-Identifier: BSD-3-Clause */
/* The search of K. Murakami and T. Uno (MMCS; Discrete Appl. Math. 170, 2014) on bitsets.
 * A set S can be part of a minimal hitting set only if every vertex of it has a critical
 * edge, one that no other vertex of S hits: the edges hit once, met with the vertex's
 * own.
 *
 *     search(S, candidates):
 *       choose an uncovered edge F with the fewest candidates       open_node
 *       take its candidates C out of the candidates
 *       for v in C:                                                 take_vertex
 *         if every vertex of S keeps a critical edge with v:        leaves_uncritical
 *           if v hits all uncovered edges: S + v is a result        final
 *           else search(S + v, candidates)                          choose
 *         make v a candidate again                                  leave
 *
 * Each result is found once: a vertex of C is a candidate again only for the vertices of
 * C after it, so that a result is found at the last of its vertices in C. The paper keeps
 * a list of critical edges for each vertex and updates it at each step. Here two bitsets
 * of all edges serve all vertices: with hit(v) the edges of v,
 *
 *     uncovered' = uncovered - hit(v)
 *     once'      = (once - hit(v)) + (uncovered & hit(v))
 *     critical edges of u in S = once & hit(u)
 *
 * which are a few vector operations, and need nothing to undo them. Functions take the
 * words of a set of vertices as a constant parameter: with one word, which up to 64
 * attributes need, the inner loops vanish. */
#include "roughset/search_kernel.h"

#include <stdbool.h>

static inline uint64_t *row(uint64_t *rows, size_t depth, size_t words) {
  return rows + depth * words;
}

/* Choose the uncovered edge with the fewest candidates as the one to branch on; edges
 * without any leave nothing to try. `final` collects the candidates that hit every
 * uncovered edge in the same pass, so that the leaves of the search need no rows. */
static inline void open_node(tsn_rs_search *s, const size_t vw) {
  const tsn_rs_hypergraph *g = &s->graph;
  const uint64_t *uncovered = row(s->uncovered, s->depth, g->edge_words);
  uint64_t *candidates = row(s->candidates, s->depth, vw);
  uint64_t *branch = row(s->branch, s->depth, vw);
  uint64_t *final = row(s->final, s->depth, vw);
  size_t least = SIZE_MAX, best = 0;
  for (size_t v = 0; v < vw; v++) final[v] = candidates[v];
  for (size_t w = 0; w < g->edge_words && least > 0; w++) {
    for (uint64_t bits = uncovered[w]; bits; bits &= bits - 1) {
      size_t e = 64 * w + (size_t)__builtin_ctzll(bits), size = 0;
      const uint64_t *edge = g->edge + e * vw;
      for (size_t v = 0; v < vw; v++) {
        size += (size_t)__builtin_popcountll(edge[v] & candidates[v]);
        final[v] &= edge[v];
      }
      best = size < least ? e : best;
      least = size < least ? size : least;
    }
  }
  for (size_t v = 0; v < vw; v++) {
    branch[v] = g->edge[best * vw + v] & candidates[v];
    candidates[v] &= ~branch[v];
  }
  s->nodes++;
}

/* Whether v would take the last critical edge of some chosen vertex. The scan starts at
 * the first word with an edge of that vertex, and usually ends there. */
static inline bool leaves_uncritical(const tsn_rs_search *s, const uint64_t *once,
                                     size_t v) {
  const tsn_rs_hypergraph *g = &s->graph;
  const uint64_t *hit = g->occurrence + v * g->edge_words;
  for (size_t d = 0; d < s->depth; d++) {
    const uint64_t *own = g->occurrence + s->chosen[d] * g->edge_words;
    size_t w = g->first[s->chosen[d]];
    while (w < g->edge_words && !(once[w] & own[w] & ~hit[w])) w++;
    if (w == g->edge_words) return true;
  }
  return false;
}

/* Descend to S + v: write the rows of the next depth. */
static inline void choose(tsn_rs_search *s, size_t v, const size_t vw) {
  const tsn_rs_hypergraph *g = &s->graph;
  const uint64_t *restrict hit = g->occurrence + v * g->edge_words;
  const uint64_t *restrict uncovered = row(s->uncovered, s->depth, g->edge_words);
  const uint64_t *restrict once = row(s->once, s->depth, g->edge_words);
  uint64_t *restrict next_uncovered = row(s->uncovered, s->depth + 1, g->edge_words);
  uint64_t *restrict next_once = row(s->once, s->depth + 1, g->edge_words);
#pragma omp simd
  for (size_t w = 0; w < g->edge_words; w++) {
    next_uncovered[w] = uncovered[w] & ~hit[w];
    next_once[w] = (once[w] & ~hit[w]) | (uncovered[w] & hit[w]);
  }
  const uint64_t *candidates = row(s->candidates, s->depth, vw);
  uint64_t *next = row(s->candidates, s->depth + 1, vw);
  for (size_t k = 0; k < vw; k++) next[k] = candidates[k];
  s->chosen[s->depth++] = (uint32_t)v;
}

/* Leave the node: its vertex becomes a candidate for the branches to come. */
static inline void leave(tsn_rs_search *s, const size_t vw) {
  s->depth--;
  size_t v = s->chosen[s->depth];
  row(s->candidates, s->depth, vw)[v / 64] |= (uint64_t)1 << (v % 64);
}

/* The chosen vertices and v as a set. */
static inline void write_set(const tsn_rs_search *s, size_t v, const size_t vw,
                             uint64_t *set) {
  for (size_t k = 0; k < vw; k++) set[k] = 0;
  for (size_t d = 0; d < s->depth; d++) {
    set[s->chosen[d] / 64] |= (uint64_t)1 << (s->chosen[d] % 64);
  }
  set[v / 64] |= (uint64_t)1 << (v % 64);
}

/* The next vertex of the branch, or SIZE_MAX. */
static inline size_t take_vertex(tsn_rs_search *s, const size_t vw) {
  uint64_t *branch = row(s->branch, s->depth, vw);
  for (size_t k = 0; k < vw; k++) {
    if (branch[k] == 0) continue;
    size_t v = 64 * k + (size_t)__builtin_ctzll(branch[k]);
    branch[k] &= branch[k] - 1;
    return v;
  }
  return SIZE_MAX;
}

/* Go on from where the search stands, in the order of a recursion. Sets of size_limit
 * vertices are found at the depth before, so that no deeper node is opened. */
static inline int search(tsn_rs_search *s, const size_t vw, uint64_t *sets,
                         size_t capacity, uint64_t budget, size_t *count) {
  uint64_t stop = s->nodes + budget;
  *count = 0;
  for (;;) {
    size_t v = take_vertex(s, vw);
    if (v == SIZE_MAX) {
      if (s->depth == 0) return TSN_RS_SEARCH_DONE;
      leave(s, vw);
      continue;
    }
    if (leaves_uncritical(s, row(s->once, s->depth, s->graph.edge_words), v)) continue;
    bool completes = (row(s->final, s->depth, vw)[v / 64] >> (v % 64) & 1) != 0;
    if (!completes && s->depth + 1 < s->size_limit) {
      choose(s, v, vw);
      open_node(s, vw);
      if (s->nodes >= stop) return TSN_RS_SEARCH_NODES;
      continue;
    }
    row(s->candidates, s->depth, vw)[v / 64] |= (uint64_t)1 << (v % 64);
    if (!completes) continue;
    write_set(s, v, vw, sets + *count * vw);
    if (++*count == capacity) return TSN_RS_SEARCH_FULL;
  }
}

static void open(tsn_rs_search *s) {
  if (s->graph.vertex_words == 1) {
    open_node(s, 1);
  } else {
    open_node(s, s->graph.vertex_words);
  }
}

static int run(tsn_rs_search *s, uint64_t *sets, size_t capacity, uint64_t budget,
               size_t *count) {
  return s->graph.vertex_words == 1
             ? search(s, 1, sets, capacity, budget, count)
             : search(s, s->graph.vertex_words, sets, capacity, budget, count);
}

const tsn_rs_search_kernels TSN_LEVEL(tsn_rs_search_kernels) = {.open = open, .run = run};
