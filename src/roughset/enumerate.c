/* SPDX-License-Identifier: BSD-3-Clause */
/* All minimal hitting sets of one connected hypergraph. Two ways:
 *
 *   lattice  bitmaps of all subsets: close the edges upwards, complement, remove what
 *            contains a smaller member; vertices * 2^vertices / 64 word operations,
 *            independent of edges and results
 *   search   MMCS on bitsets (search_kernel.c)
 *
 * With 20 attributes the search takes 4.6 to 7.0 times as long as the lattice
 * (bench_roughset, AMD EPYC Zen 5). But the lattice takes twice as long with each vertex
 * more, and 2^m / 4 bytes: 16 MiB for 26. The search depends on the edges and the sets
 * found on the way, for which no bound is known; it has no limit of vertices and stops at
 * a limit of size.
 *
 * Source: K. Murakami and T. Uno, Discrete Appl. Math. 170, 2014. */
#include "roughset/enumerate.h"

#include <string.h>

#include "core/exec.h"
#include "roughset/lattice_kernel.h"

enum {
  /* Most vertices of the lattice: two bitmaps of 8 MiB. */
  LATTICE_VERTICES = 26,
  /* Most vertices of two bitmaps that caches hold: 4 MiB. */
  LATTICE_CACHED = 24,
  /* With at most this number of vertices the lattice is always faster. */
  LATTICE_SMALL = 16,
  /* Words of the sets that are held until they are visited: 128 KiB. */
  SETS = 1 << 14,
  /* Nodes between two chances to stop: some milliseconds. */
  NODES_PER_POLL = 1 << 14
};

static size_t edge_words_of(size_t edges) {
  return edges / 64 + (edges % 64 != 0);
}

/* The most vertices of a minimal hitting set: each has an edge of its own. */
static size_t deepest(size_t vertices, size_t edges) {
  return (vertices < edges ? vertices : edges) + 1;
}

static void graph_layout(tsn_arena *arena, size_t vertices, size_t edges,
                         tsn_rs_hypergraph *g) {
  size_t edge = 0, occurrence = 0;
  if (__builtin_mul_overflow(edges, tsn_rs_words(vertices), &edge) ||
      __builtin_mul_overflow(vertices, edge_words_of(edges), &occurrence)) {
    arena->overflow = true;
  }
  g->edge = tsn_arena_take(arena, edge, sizeof *g->edge);
  g->occurrence = tsn_arena_take(arena, occurrence, sizeof *g->occurrence);
  g->first = tsn_arena_take(arena, vertices, sizeof *g->first);
}

static void search_layout(tsn_arena *arena, size_t vertices, size_t edges, size_t rows,
                          tsn_rs_search *s) {
  size_t by_edge = 0, by_vertex = 0;
  if (__builtin_mul_overflow(rows, edge_words_of(edges), &by_edge) ||
      __builtin_mul_overflow(rows, tsn_rs_words(vertices), &by_vertex)) {
    arena->overflow = true;
  }
  s->uncovered = tsn_arena_take(arena, by_edge, sizeof *s->uncovered);
  s->once = tsn_arena_take(arena, by_edge, sizeof *s->once);
  s->candidates = tsn_arena_take(arena, by_vertex, sizeof *s->candidates);
  s->branch = tsn_arena_take(arena, by_vertex, sizeof *s->branch);
  s->final = tsn_arena_take(arena, by_vertex, sizeof *s->final);
  s->chosen = tsn_arena_take(arena, rows, sizeof *s->chosen);
}

void tsn_rs_enumerate_layout(tsn_arena *arena, size_t vertices, size_t edges,
                             tsn_rs_enumeration *e) {
  size_t words = tsn_rs_words(vertices);
  unsigned lattice = vertices < LATTICE_VERTICES ? (unsigned)vertices : LATTICE_VERTICES;
  e->capacity = SETS / words + 1;
  graph_layout(arena, vertices, edges, &e->graph);
  search_layout(arena, vertices, edges, deepest(vertices, edges) + 1, &e->search);
  e->bitmap = tsn_arena_take(arena, 2 * tsn_rs_lattice_words(lattice), sizeof *e->bitmap);
  e->sets = tsn_arena_take(arena, e->capacity * words, sizeof *e->sets);
}

/* ---- small hypergraphs */

/* The edges have at most half of the vertices on average. */
static bool has_small_edges(const tsn_rs_hypergraph *g) {
  size_t sum = 0;
  for (size_t k = 0; k < g->edges; k++) sum += tsn_rs_size(g->edge + k, 1);
  return sum <= g->edges * g->vertices / 2;
}

/* The lattice costs 2^vertices, the search grows with the edges: from 16 vertices on,
 * each further vertex needs twice the edges. Beyond the caches, with more than 24, it
 * needs eight times as many, or four times as many small ones, which have more hitting
 * sets: with fewer, the search was up to 13 times as fast, and with these it never was.
 * Measurements: docs/measurements.md. */
static bool use_lattice(const tsn_rs_hypergraph *g) {
  if (g->vertices > LATTICE_VERTICES) return false;
  if (g->vertices <= LATTICE_SMALL) return true;
  size_t edges = (size_t)1 << (g->vertices - 16);
  if (g->vertices <= LATTICE_CACHED) return g->edges >= edges;
  return g->edges >= 8 * edges || (g->edges >= 4 * edges && has_small_edges(g));
}

/* A set meets every edge iff its complement contains none. So: the edges, closed upwards,
 * are the sets that contain one; the sets whose complement is not among them are all
 * hitting sets; the minimal ones of these, which are closed upwards too, are the result.
 * Sets come in the order of their numbers. */
static tsanom_status enumerate_lattice(tsn_rs_enumeration *e, size_t size_limit,
                                       const tsanom_exec *exec, tsn_rs_sink *sink,
                                       void *context) {
  const tsn_rs_lattice_kernels *lattice = tsn_rs_lattice_kernels_at(exec->isa);
  const tsn_rs_hypergraph *g = &e->graph;
  unsigned m = (unsigned)g->vertices;
  size_t words = tsn_rs_lattice_words(m);
  uint64_t *dual = e->bitmap + words;
  memset(e->bitmap, 0, words * sizeof *e->bitmap);
  for (size_t k = 0; k < g->edges; k++) tsn_rs_add(e->bitmap, g->edge[k]);
  lattice->close_up(e->bitmap, m);
  lattice->dual(e->bitmap, m, dual);
  lattice->minimal(dual, m, e->bitmap);
  for (size_t w = 0; w < words; w++) {
    for (uint64_t bits = e->bitmap[w]; bits; bits &= bits - 1) {
      uint64_t set = 64 * w + (size_t)__builtin_ctzll(bits);
      if ((size_t)__builtin_popcountll(set) > size_limit) continue;
      tsanom_status status = sink(context, &set);
      if (status != TSANOM_OK) return status;
    }
  }
  return TSANOM_OK;
}

/* ---- search */

/* The edges of each vertex as a bitset, for the search. */
static void transpose(tsn_rs_hypergraph *g) {
  memset(g->occurrence, 0, g->vertices * g->edge_words * sizeof *g->occurrence);
  for (size_t e = 0; e < g->edges; e++) {
    for (size_t v = 0; v < g->vertices; v++) {
      if (!tsn_rs_has(g->edge + e * g->vertex_words, v)) continue;
      tsn_rs_add(g->occurrence + v * g->edge_words, e);
    }
  }
  for (size_t v = 0; v < g->vertices; v++) {
    uint32_t w = 0;
    while (w < g->edge_words && !g->occurrence[v * g->edge_words + w]) w++;
    g->first[v] = w;
  }
}

static void fill_ones(uint64_t *words, size_t count) {
  for (size_t k = 0; k < count / 64; k++) words[k] = ~(uint64_t)0;
  if (count % 64) words[count / 64] = ((uint64_t)1 << (count % 64)) - 1;
}

/* The root: no vertex is chosen, all edges are uncovered, all vertices are candidates. */
static void open_root(tsn_rs_enumeration *e, size_t size_limit,
                      const tsn_rs_search_kernels *kernels) {
  tsn_rs_search *s = &e->search;
  s->graph = e->graph;
  s->depth = 0;
  s->size_limit = size_limit;
  s->nodes = 0;
  fill_ones(s->uncovered, e->graph.edges);
  memset(s->once, 0, e->graph.edge_words * sizeof *s->once);
  memset(s->candidates, 0, e->graph.vertex_words * sizeof *s->candidates);
  fill_ones(s->candidates, e->graph.vertices);
  kernels->open(s);
}

static tsanom_status enumerate_search(tsn_rs_enumeration *e, size_t size_limit,
                                      const tsanom_exec *exec, tsn_rs_sink *sink,
                                      void *context) {
  const tsn_rs_search_kernels *kernels = tsn_rs_search_kernels_at(exec->isa);
  int event = TSN_RS_SEARCH_NODES;
  e->graph.edge_words = edge_words_of(e->graph.edges);
  transpose(&e->graph);
  open_root(e, size_limit, kernels);
  for (uint64_t turns = 0; event != TSN_RS_SEARCH_DONE; turns++) {
    size_t count;
    if (tsn_exec_stop(exec, turns, 0)) return TSANOM_STOPPED;
    event = kernels->run(&e->search, e->sets, e->capacity, NODES_PER_POLL, &count);
    for (size_t i = 0; i < count; i++) {
      tsanom_status status = sink(context, e->sets + i * e->graph.vertex_words);
      if (status != TSANOM_OK) return status;
    }
  }
  return TSANOM_OK;
}

tsanom_status tsn_rs_enumerate(tsn_rs_enumeration *e, size_t size_limit,
                               const tsanom_exec *exec, tsn_rs_sink *sink,
                               void *context) {
  if (size_limit == 0) return TSANOM_OK;
  return use_lattice(&e->graph) ? enumerate_lattice(e, size_limit, exec, sink, context)
                                : enumerate_search(e, size_limit, exec, sink, context);
}
