/* SPDX-License-Identifier: BSD-3-Clause */
/* All minimal hitting sets of one connected hypergraph. Two ways:
 *
 *   lattice  bitmaps of all subsets: close the edges upwards, complement, remove what
 *            contains a smaller member; vertices * 2^vertices / 64 word operations,
 *            independent of edges and results
 *   search   MMCS on bitsets (search_kernel.c), in parallel: nodes of depth 2 become
 *            searches of their own, whose results are visited in the order of the nodes
 *
 * With 20 attributes the search takes 4.6 to 7.1 times as long as the lattice
 * (bench_roughset). But the lattice takes twice as long with each vertex more, and 2^m /
 * 4 bytes: 4 MiB for 24. The search depends on the edges and the sets found on the way,
 * for which no bound is known; it has no limit of vertices and stops at a limit of size.
 *
 * Threads share the search by its nodes of depth 2, which are many and of unequal size.
 * The trunk, a search that stops at this depth, hands them out; a ring of slots takes
 * them:
 *
 *                   head                          head + active
 *     ring       |  RUNNING  | FINISHED | RUNNING | FRESH |  FREE ...
 *                   visited first; the sets of the slots behind it wait
 *
 * In each round, free slots are refilled, threads run all active slots for a number of
 * nodes, and the calling thread visits the sets of the head and of the finished slots
 * behind it. So the order of the visits is that of one thread, and memory is bounded: a
 * slot whose buffer is full waits until it is at the head.
 *
 * Source: K. Murakami and T. Uno, Discrete Appl. Math. 170, 2014. */
#include "roughset/enumerate.h"

#include <string.h>

#include "core/exec.h"
#include "core/parallel.h"
#include "roughset/lattice_kernel.h"

enum {
  /* Most vertices of the lattice: two bitmaps of 2 MiB. */
  LATTICE_VERTICES = 24,
  /* With at most this number of vertices the lattice is always faster. */
  LATTICE_SMALL = 16,
  /* Depth of the nodes that become searches of their own. */
  YIELD_DEPTH = 2,
  /* Slots for each thread: enough that short searches do not leave threads idle. */
  SLOTS_PER_THREAD = 8,
  /* Words of the sets that a slot holds until they are visited: 128 KiB. */
  SLOT_SETS = 1 << 14,
  /* Nodes a slot searches between two chances to stop: some milliseconds. */
  NODES_PER_ROUND = 1 << 14
};

enum { FREE, FRESH, RUNNING, FINISHED };

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
                             const tsanom_exec *exec, tsn_rs_enumeration *e) {
  size_t words = tsn_rs_words(vertices), rows = deepest(vertices, edges) + 1;
  unsigned lattice = vertices < LATTICE_VERTICES ? (unsigned)vertices : LATTICE_VERTICES;
  e->slots = exec->threads == 1 ? 1 : (size_t)exec->threads * SLOTS_PER_THREAD;
  e->capacity = SLOT_SETS / (words ? words : 1) + 1;
  graph_layout(arena, vertices, edges, &e->graph);
  search_layout(arena, vertices, edges, YIELD_DEPTH + 1, &e->trunk);
  e->bitmap = tsn_arena_take(arena, 2 * tsn_rs_lattice_words(lattice), sizeof *e->bitmap);
  e->slot = tsn_arena_take(arena, e->slots, sizeof *e->slot);
  for (size_t k = 0; k < e->slots; k++) {
    tsn_rs_slot slot = {.state = FREE};
    search_layout(arena, vertices, edges, YIELD_DEPTH + 1, &slot.origin);
    graph_layout(arena, vertices, edges, &slot.search.graph);
    search_layout(arena, vertices, edges, rows, &slot.search);
    slot.search.owner = tsn_arena_take(arena, edges, sizeof *slot.search.owner);
    slot.sets = tsn_arena_take(arena, e->capacity * words, sizeof *slot.sets);
    if (e->slot && !arena->overflow) e->slot[k] = slot;
  }
}

/* ---- small hypergraphs */

/* The lattice costs 2^vertices, the search grows with the edges: from 16 vertices on,
 * each further vertex needs twice the edges. Measurements: docs/roughset.md. */
static bool use_lattice(const tsn_rs_hypergraph *g) {
  if (g->vertices > LATTICE_VERTICES) return false;
  return g->vertices <= LATTICE_SMALL || g->edges >= (size_t)1 << (g->vertices - 16);
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

/* Start the trunk at the root: no vertex is chosen, all edges are uncovered, all vertices
 * are candidates. */
static void open_trunk(tsn_rs_enumeration *e, size_t size_limit,
                       const tsn_rs_search_kernels *kernels) {
  tsn_rs_search *trunk = &e->trunk;
  trunk->graph = e->graph;
  trunk->depth = trunk->base = 0;
  trunk->yield_at = YIELD_DEPTH;
  trunk->size_limit = size_limit;
  trunk->nodes = 0;
  fill_ones(trunk->uncovered, e->graph.edges);
  memset(trunk->once, 0, e->graph.edge_words * sizeof *trunk->once);
  memset(trunk->candidates, 0, e->graph.vertex_words * sizeof *trunk->candidates);
  fill_ones(trunk->candidates, e->graph.vertices);
  kernels->open(trunk);
}

/* Copy the trunk's node to the slot, which takes its rows of this depth only. */
static void take_node(const tsn_rs_search *trunk, tsn_rs_slot *slot) {
  size_t edge_words = trunk->graph.edge_words, vertex_words = trunk->graph.vertex_words;
  tsn_rs_search *o = &slot->origin;
  o->graph = trunk->graph;
  o->depth = trunk->depth;
  o->size_limit = trunk->size_limit;
  size_t at = o->depth * edge_words, bytes = edge_words * sizeof(uint64_t);
  memcpy(o->uncovered + at, trunk->uncovered + at, bytes);
  memcpy(o->once + at, trunk->once + at, bytes);
  memcpy(o->candidates + o->depth * vertex_words,
         trunk->candidates + o->depth * vertex_words, vertex_words * sizeof(uint64_t));
  memcpy(o->chosen, trunk->chosen, o->depth * sizeof *o->chosen);
}

/* Give the slot its next piece of work; false if the trunk has none left. A hitting set
 * of at most two vertices is found by the trunk itself, and makes a slot that is
 * FINISHED. */
static bool refill(tsn_rs_enumeration *e, const tsn_rs_search_kernels *kernels,
                   tsn_rs_slot *slot) {
  int event =
      kernels->run(&e->trunk, slot->sets, 1, UINT64_MAX - e->trunk.nodes, &slot->count);
  if (event == TSN_RS_SEARCH_DONE) return false;
  slot->state = event == TSN_RS_SEARCH_YIELD ? FRESH : FINISHED;
  if (event == TSN_RS_SEARCH_YIELD) take_node(&e->trunk, slot);
  return true;
}

/* The slots in use, in the order of the trunk's nodes. */
typedef struct {
  tsn_rs_enumeration *enumeration;
  const tsn_rs_search_kernels *kernels;
  size_t head, active; /* the ring of slots in use */
} ring;

static tsn_rs_slot *slot_at(const ring *r, size_t k) {
  return &r->enumeration->slot[(r->head + k) % r->enumeration->slots];
}

/* One round of the active slots [begin, end): a body of tsn_parallel_for. Compacting a
 * node is part of the work of threads. */
static void run_slots(void *context, size_t begin, size_t end, int thread) {
  const ring *r = context;
  (void)thread;
  for (size_t k = begin; k < end; k++) {
    tsn_rs_slot *slot = slot_at(r, k);
    if (slot->state == FRESH) {
      bool fertile = r->kernels->compact(&slot->origin, &slot->search) != 0;
      slot->state = fertile ? RUNNING : FINISHED;
    }
    if (slot->state != RUNNING || slot->count == r->enumeration->capacity) continue;
    size_t words = r->enumeration->graph.vertex_words, found;
    int event =
        r->kernels->run(&slot->search, slot->sets + slot->count * words,
                        r->enumeration->capacity - slot->count, NODES_PER_ROUND, &found);
    slot->count += found;
    if (event == TSN_RS_SEARCH_DONE) slot->state = FINISHED;
  }
}

/* Hand on what the slots have, in the order of the trunk's nodes: up to the first
 * slot that is not finished. */
static tsanom_status drain(ring *r, tsn_rs_sink *sink, void *context) {
  size_t words = r->enumeration->graph.vertex_words;
  while (r->active > 0) {
    tsn_rs_slot *slot = slot_at(r, 0);
    for (size_t i = 0; i < slot->count; i++) {
      tsanom_status status = sink(context, slot->sets + i * words);
      if (status != TSANOM_OK) return status;
    }
    slot->count = 0;
    if (slot->state != FINISHED) return TSANOM_OK;
    slot->state = FREE;
    r->head = (r->head + 1) % r->enumeration->slots;
    r->active--;
  }
  return TSANOM_OK;
}

static tsanom_status enumerate_search(tsn_rs_enumeration *e, size_t size_limit,
                                      const tsanom_exec *exec, tsn_rs_sink *sink,
                                      void *context) {
  ring r = {.enumeration = e, .kernels = tsn_rs_search_kernels_at(exec->isa)};
  tsanom_exec quiet = *exec;
  quiet.poll = NULL;
  e->graph.edge_words = edge_words_of(e->graph.edges);
  transpose(&e->graph);
  open_trunk(e, size_limit, r.kernels);
  bool more = true;
  for (uint64_t rounds = 0; more || r.active > 0; rounds++) {
    if (tsn_exec_stop(exec, rounds, 0)) return TSANOM_STOPPED;
    while (more && r.active < e->slots) {
      tsn_rs_slot *slot = slot_at(&r, r.active);
      slot->count = 0;
      more = refill(e, r.kernels, slot);
      if (more) r.active++;
    }
    tsn_parallel_for(&quiet, r.active, 1, run_slots, &r, NULL);
    tsanom_status status = drain(&r, sink, context);
    if (status != TSANOM_OK) return status;
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
