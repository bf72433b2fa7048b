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

/* Go on from where the search stands, in the order of a recursion. A node of depth
 * yield_at is handed out on the way down and left at the next call. Sets of size_limit
 * vertices are found at the depth before, so that no deeper node is opened. */
static inline int search(tsn_rs_search *s, const size_t vw, uint64_t *sets,
                         size_t capacity, uint64_t budget, size_t *count) {
  uint64_t stop = s->nodes + budget;
  *count = 0;
  if (s->depth == s->yield_at) leave(s, vw);
  for (;;) {
    size_t v = take_vertex(s, vw);
    if (v == SIZE_MAX) {
      if (s->depth == s->base) return TSN_RS_SEARCH_DONE;
      leave(s, vw);
      continue;
    }
    if (leaves_uncritical(s, row(s->once, s->depth, s->graph.edge_words), v)) continue;
    bool completes = (row(s->final, s->depth, vw)[v / 64] >> (v % 64) & 1) != 0;
    if (!completes && s->depth + 1 < s->size_limit) {
      choose(s, v, vw);
      if (s->depth == s->yield_at) return TSN_RS_SEARCH_YIELD;
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

/* ---- compaction
 *
 * Deep in the search few of the edges matter, but bitsets of all are read at each step.
 * So the nodes of depth 2 are rebuilt with fewer edges: without this the search takes 1.4
 * times as long (bench_roughset, all reducts of 100 rows of 40 attributes). */

/* Whether one of the edges is a subset of `set`; except edge `but`. */
static inline bool contains_edge(const uint64_t *edges, size_t count, const uint64_t *set,
                                 size_t but, const size_t vw) {
  if (vw == 1) {
    uint64_t found = 0;
#pragma omp simd reduction(| : found)
    for (size_t e = 0; e < count; e++) found |= (edges[e] & ~set[0]) == 0 && e != but;
    return found != 0;
  }
  for (size_t e = 0; e < count; e++) {
    uint64_t outside = 0;
    for (size_t v = 0; v < vw; v++) outside |= edges[e * vw + v] & ~set[v];
    if (!outside && e != but) return true;
  }
  return false;
}

static inline bool same_edge(const uint64_t *a, const uint64_t *b, const size_t vw) {
  for (size_t v = 0; v < vw; v++) {
    if (a[v] != b[v]) return false;
  }
  return true;
}

static inline void restrict_edge(const tsn_rs_search *from, size_t e,
                                 const uint64_t *candidates, const size_t vw,
                                 uint64_t *edge) {
  for (size_t v = 0; v < vw; v++) edge[v] = from->graph.edge[e * vw + v] & candidates[v];
}

/* The uncovered edges met with the candidates, without those that contain another;
 * returns their number, 0 if one of them is empty: then no candidate hits it, and there
 * is nothing below the node. Hitting the smaller edge hits the larger one, and a vertex
 * critical by the larger one is so by the smaller one. */
static inline size_t gather_uncovered(const tsn_rs_search *from,
                                      const uint64_t *candidates, const size_t vw,
                                      uint64_t *edges) {
  const uint64_t *uncovered = from->uncovered + from->depth * from->graph.edge_words;
  size_t count = 0, kept = 0;
  for (size_t w = 0; w < from->graph.edge_words; w++) {
    for (uint64_t bits = uncovered[w]; bits; bits &= bits - 1) {
      uint64_t *edge = edges + count++ * vw;
      restrict_edge(from, 64 * w + (size_t)__builtin_ctzll(bits), candidates, vw, edge);
      uint64_t any = 0;
      for (size_t v = 0; v < vw; v++) any |= edge[v];
      if (!any) return 0;
    }
  }
  /* Duplicates: of equal edges all but the last are dropped here... */
  for (size_t e = 0; e < count; e++) {
    const uint64_t *edge = edges + e * vw;
    if (contains_edge(edges + (e + 1) * vw, count - e - 1, edge, SIZE_MAX, vw)) continue;
    for (size_t v = 0; v < vw; v++) edges[kept * vw + v] = edge[v];
    kept++;
  }
  /* ...so that what now contains another edge contains a smaller one. */
  for (size_t e = 0; e < kept;) {
    if (!contains_edge(edges, kept, edges + e * vw, e, vw)) {
      e++;
      continue;
    }
    kept--;
    for (size_t v = 0; v < vw; v++) edges[e * vw + v] = edges[kept * vw + v];
  }
  return kept;
}

/* The edges of each vertex. Critical edges, from `owned` on, are also edges of the chosen
 * vertex that owns them, which is no longer a candidate. */
static inline void transpose(tsn_rs_hypergraph *g, const uint32_t *owner, size_t owned,
                             const size_t vw) {
  for (size_t k = 0; k < g->vertices * g->edge_words; k++) g->occurrence[k] = 0;
  for (size_t e = 0; e < g->edges; e++) {
    uint64_t bit = (uint64_t)1 << (e % 64);
    for (size_t v = 0; v < vw; v++) {
      for (uint64_t bits = g->edge[e * vw + v]; bits; bits &= bits - 1) {
        size_t u = 64 * v + (size_t)__builtin_ctzll(bits);
        g->occurrence[u * g->edge_words + e / 64] |= bit;
      }
    }
    if (e >= owned) g->occurrence[owner[e] * g->edge_words + e / 64] |= bit;
  }
  for (size_t v = 0; v < g->vertices; v++) {
    uint32_t w = 0;
    while (w < g->edge_words && !g->occurrence[v * g->edge_words + w]) w++;
    g->first[v] = w;
  }
}

/* Append the critical edges of the chosen vertices that may stay critical: an
 * edge that contains an uncovered one is going to be hit. Returns the number of
 * edges there then are, 0 if a vertex has no such edge. */
static inline size_t gather_critical(const tsn_rs_search *from,
                                     const uint64_t *candidates, const size_t vw,
                                     uint64_t *edges, size_t uncovered, uint32_t *owner) {
  const tsn_rs_hypergraph *g = &from->graph;
  const uint64_t *once = from->once + from->depth * g->edge_words;
  size_t count = uncovered;
  for (size_t d = 0; d < from->depth; d++) {
    const uint64_t *own = g->occurrence + from->chosen[d] * g->edge_words;
    size_t begin = count;
    for (size_t w = 0; w < g->edge_words; w++) {
      for (uint64_t bits = once[w] & own[w]; bits; bits &= bits - 1) {
        uint64_t *edge = edges + count * vw;
        restrict_edge(from, 64 * w + (size_t)__builtin_ctzll(bits), candidates, vw, edge);
        if (contains_edge(edges, uncovered, edge, SIZE_MAX, vw)) continue;
        if (count > begin && same_edge(edge - vw, edge, vw)) continue;
        owner[count++] = from->chosen[d];
      }
    }
    if (count == begin) return 0;
  }
  return count;
}

/* The node as a search of its own: edges 0 ... uncovered - 1 are uncovered, those after
 * them are hit once. Chosen vertices keep their numbers, so that sets need no
 * translation. */
static inline int make_compact(const tsn_rs_search *from, tsn_rs_search *to,
                               const size_t vw) {
  const uint64_t *candidates = from->candidates + from->depth * vw;
  tsn_rs_hypergraph *g = &to->graph;
  g->vertices = from->graph.vertices;
  g->vertex_words = vw;
  size_t uncovered = gather_uncovered(from, candidates, vw, g->edge);
  if (uncovered == 0) return 0;
  uint32_t *owner = to->owner;
  g->edges = gather_critical(from, candidates, vw, g->edge, uncovered, owner);
  if (g->edges == 0) return 0;
  g->edge_words = (g->edges + 63) / 64;
  transpose(g, owner, uncovered, vw);
  to->depth = to->base = from->depth;
  to->yield_at = SIZE_MAX;
  to->size_limit = from->size_limit;
  to->nodes = 0;
  for (size_t d = 0; d < from->depth; d++) to->chosen[d] = from->chosen[d];
  uint64_t *open_edges = row(to->uncovered, to->depth, g->edge_words);
  uint64_t *once = row(to->once, to->depth, g->edge_words);
  for (size_t w = 0; w < g->edge_words; w++) {
    size_t before = uncovered < 64 * w ? 0 : uncovered - 64 * w;
    open_edges[w] = before >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << before) - 1;
    size_t all = g->edges - 64 * w;
    once[w] = (all >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << all) - 1) & ~open_edges[w];
  }
  for (size_t v = 0; v < vw; v++) row(to->candidates, to->depth, vw)[v] = candidates[v];
  open_node(to, vw);
  return 1;
}

static int compact(const tsn_rs_search *from, tsn_rs_search *to) {
  return from->graph.vertex_words == 1 ? make_compact(from, to, 1)
                                       : make_compact(from, to, from->graph.vertex_words);
}

const tsn_rs_search_kernels TSN_LEVEL(tsn_rs_search_kernels) = {
    .open = open, .run = run, .compact = compact};
