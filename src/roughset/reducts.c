/* SPDX-License-Identifier: BSD-3-Clause */
/* All reducts of a family of elements: the core is taken out, the rest is split into
 * connected components, each component is enumerated, and every combination
 * of one set from each is a reduct. The sets of all components but the largest are
 * stored; those of the largest are visited as they are found.
 *
 *     elements    a | bc cd bd | ef        a: core; two components
 *     reducts     {a} x {bc, bd, cd} x {e, f} = {abce, abcf, abde, abdf, acde, acdf}
 *
 * Elements in different components share no attribute, so that a set is a minimal hitting
 * set iff its part in each component is one. One search over all elements would find each
 * set of a component again for each combination of the others: without components the
 * matching family of bench_roughset takes 13 times as long (AMD EPYC Zen 5).
 *
 * Memory is bounded. If the stored sets exceed STORE_WORDS, all components are joined to
 * one, whose sets need not be stored. The order of the visits depends on neither threads
 * nor instruction set. */
#include <string.h>
#include <tsanom/roughset.h>

#include "core/exec.h"
#include "core/size.h"
#include "roughset/elements.h"
#include "roughset/lattice_kernel.h"
#include "roughset/search_kernel.h"
#include "roughset/table.h"

/* All minimal hitting sets of one connected hypergraph: vertices are attributes, edges
 * are elements, and a hitting set has a vertex of every edge. Two ways:
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

/* Takes one set of vertices, on the calling thread; TSANOM_OK to go on. */
typedef tsanom_status set_sink(void *context, const uint64_t *set);

typedef struct {
  tsn_rs_search search; /* has the hypergraph */
  uint64_t *sets;       /* found and not yet handed on */
  size_t capacity;      /* of them */
  uint64_t *bitmap;     /* for small hypergraphs, two of them */
} set_enumeration;

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

/* Buffers for hypergraphs of up to `vertices` and `edges`: about four times vertices *
 * edges bits. */
static void enumeration_layout(tsn_arena *arena, size_t vertices, size_t edges,
                               set_enumeration *e) {
  tsn_rs_search *s = &e->search;
  tsn_rs_hypergraph *g = &s->graph;
  size_t words = tsn_rs_words(vertices), edge_words = edge_words_of(edges);
  size_t rows = deepest(vertices, edges) + 1;
  size_t by_edge = tsn_product(rows, edge_words), by_vertex = tsn_product(rows, words);
  unsigned lattice = vertices < LATTICE_VERTICES ? (unsigned)vertices : LATTICE_VERTICES;
  e->capacity = SETS / words + 1;
  g->edge = tsn_arena_take(arena, tsn_product(edges, words), sizeof *g->edge);
  g->occurrence =
      tsn_arena_take(arena, tsn_product(vertices, edge_words), sizeof *g->occurrence);
  g->first = tsn_arena_take(arena, vertices, sizeof *g->first);
  s->uncovered = tsn_arena_take(arena, by_edge, sizeof *s->uncovered);
  s->once = tsn_arena_take(arena, by_edge, sizeof *s->once);
  s->candidates = tsn_arena_take(arena, by_vertex, sizeof *s->candidates);
  s->branch = tsn_arena_take(arena, by_vertex, sizeof *s->branch);
  s->final = tsn_arena_take(arena, by_vertex, sizeof *s->final);
  s->chosen = tsn_arena_take(arena, rows, sizeof *s->chosen);
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
static tsanom_status enumerate_lattice(set_enumeration *e, size_t size_limit,
                                       const tsanom_exec *exec, set_sink *sink,
                                       void *context) {
  const tsn_rs_lattice_kernels *lattice = tsn_rs_lattice_kernels_at(exec->isa);
  const tsn_rs_hypergraph *g = &e->search.graph;
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
static void open_root(tsn_rs_search *s, size_t size_limit,
                      const tsn_rs_search_kernels *kernels) {
  const tsn_rs_hypergraph *g = &s->graph;
  s->depth = 0;
  s->size_limit = size_limit;
  s->nodes = 0;
  fill_ones(s->uncovered, g->edges);
  memset(s->once, 0, g->edge_words * sizeof *s->once);
  memset(s->candidates, 0, g->vertex_words * sizeof *s->candidates);
  fill_ones(s->candidates, g->vertices);
  kernels->open(s);
}

static tsanom_status enumerate_search(set_enumeration *e, size_t size_limit,
                                      const tsanom_exec *exec, set_sink *sink,
                                      void *context) {
  const tsn_rs_search_kernels *kernels = tsn_rs_search_kernels_at(exec->isa);
  int event = TSN_RS_SEARCH_NODES;
  tsn_rs_hypergraph *g = &e->search.graph;
  g->edge_words = edge_words_of(g->edges);
  transpose(g);
  open_root(&e->search, size_limit, kernels);
  for (uint64_t turns = 0; event != TSN_RS_SEARCH_DONE; turns++) {
    size_t count;
    if (tsn_exec_stop(exec, turns, 0)) return TSANOM_STOPPED;
    event = kernels->run(&e->search, e->sets, e->capacity, NODES_PER_POLL, &count);
    for (size_t i = 0; i < count; i++) {
      tsanom_status status = sink(context, e->sets + i * g->vertex_words);
      if (status != TSANOM_OK) return status;
    }
  }
  return TSANOM_OK;
}

/* Hand every minimal hitting set of at most `size_limit` vertices, in an order
 * that depends on nothing else, to the sink. The graph's vertices, edges,
 * vertex_words and edge array must be set. Returns TSANOM_OK, TSANOM_STOPPED if
 * the poll stopped the call, or the status of the sink. */
static tsanom_status enumerate(set_enumeration *e, size_t size_limit,
                               const tsanom_exec *exec, set_sink *sink, void *context) {
  if (size_limit == 0) return TSANOM_OK;
  return use_lattice(&e->search.graph)
             ? enumerate_lattice(e, size_limit, exec, sink, context)
             : enumerate_search(e, size_limit, exec, sink, context);
}

enum {
  /* Words for the hitting sets of all components but the largest: 8 MiB. */
  STORE_WORDS = 1 << 20,
  /* Reducts visited between two chances to stop. */
  CHOICES_PER_POLL = 1 << 16
};

/* A connected component: its vertices are attributes, in increasing order. The
 * enumeration numbers them from 0, so that a component of few attributes among many fits
 * one word. */
typedef struct {
  size_t first_vertex, vertices; /* in `vertex` */
  size_t edges;
  size_t first_set, sets; /* in `store`, unless it is the streamed one */
} component;

/* One call. */
typedef struct {
  tsn_rs_input input;
  size_t words;
  tsn_rs_family family;
  set_enumeration enumeration;
  uint64_t *core;
  uint32_t *parent; /* union-find over attributes; then their vertex number */
  uint32_t *owner;  /* the component of an attribute */
  uint32_t *vertex; /* attributes, component by component */
  component *parts;
  size_t part_count, streamed;
  uint64_t *store; /* sets of attributes and, behind, their sizes */
  uint32_t *store_size;
  size_t store_capacity, stored;
  /* The product: level k joins the core, the streamed set and stored parts < k. */
  uint64_t *level;
  size_t *level_size, *position;
  const uint64_t *elements; /* the caller's */
  size_t element_count;
  tsanom_roughset_visitor visitor;
  size_t found, *result;
  uint64_t choices; /* looked at in products */
} reduct_run;

enum { USES = TSN_RS_REDUCT_LIMIT | TSN_RS_SIZE_LIMIT };

static void layout(tsn_arena *arena, void *context) {
  reduct_run *r = context;
  size_t elements = r->element_count, attributes = r->input.table.attributes;
  size_t words = tsn_rs_words(attributes), levels = attributes / 2 + 2;
  r->words = words;
  r->store_capacity = STORE_WORDS / words + 1;
  tsn_rs_family_layout(arena, attributes, elements ? elements : 1, r->input.exec.threads,
                       &r->family);
  enumeration_layout(arena, attributes, elements ? elements : 1, &r->enumeration);
  r->core = tsn_arena_take(arena, words, sizeof *r->core);
  r->parent = tsn_arena_take(arena, attributes, sizeof *r->parent);
  r->owner = tsn_arena_take(arena, attributes, sizeof *r->owner);
  r->vertex = tsn_arena_take(arena, attributes, sizeof *r->vertex);
  r->parts = tsn_arena_take(arena, attributes, sizeof *r->parts);
  r->store = tsn_arena_take(arena, r->store_capacity * words, sizeof *r->store);
  r->store_size = tsn_arena_take(arena, r->store_capacity, sizeof *r->store_size);
  r->level = tsn_arena_take(arena, tsn_product(levels, words), sizeof *r->level);
  r->level_size = tsn_arena_take(arena, levels, sizeof *r->level_size);
  r->position = tsn_arena_take(arena, levels, sizeof *r->position);
}

/* ---- components */

/* Union-find with path halving; without ranks, which at most 2^31 attributes, mostly some
 * dozens, do not need. */
static uint32_t root_of(uint32_t *parent, uint32_t a) {
  while (parent[a] != a) a = parent[a] = parent[parent[a]];
  return a;
}

static size_t lowest(const uint64_t *set) {
  size_t w = 0;
  while (set[w] == 0) w++;
  return 64 * w + (size_t)__builtin_ctzll(set[w]);
}

/* Move the elements of one attribute, the core, out of the family. */
static void take_core(reduct_run *r) {
  tsn_rs_family *f = &r->family;
  size_t kept = 0;
  memset(r->core, 0, r->words * sizeof *r->core);
  for (size_t i = 0; i < f->count; i++) {
    const uint64_t *set = f->sets + i * r->words;
    if (tsn_rs_size(set, r->words) == 1) {
      tsn_rs_add(r->core, lowest(set));
    } else {
      memmove(f->sets + kept++ * r->words, set, r->words * sizeof *set);
    }
  }
  f->count = kept;
}

/* Join the attributes of each element; with `all`, those of all elements. owner is set
 * for attributes that occur in an element: the others are in no reduct. */
static void join_attributes(reduct_run *r, size_t attributes, bool all) {
  const tsn_rs_family *f = &r->family;
  size_t anchor = SIZE_MAX;
  for (size_t a = 0; a < attributes; a++) {
    r->parent[a] = (uint32_t)a;
    r->owner[a] = UINT32_MAX;
  }
  for (size_t i = 0; i < f->count; i++) {
    const uint64_t *set = f->sets + i * r->words;
    if (anchor == SIZE_MAX || !all) anchor = lowest(set);
    for (size_t w = 0; w < r->words; w++) {
      for (uint64_t bits = set[w]; bits; bits &= bits - 1) {
        uint32_t a = (uint32_t)(64 * w + (size_t)__builtin_ctzll(bits));
        r->owner[a] = 0;
        uint32_t x = root_of(r->parent, a), y = root_of(r->parent, (uint32_t)anchor);
        r->parent[x] = y;
      }
    }
  }
}

/* Number the components by their lowest attribute and list their attributes;
 * with `all`, take everything for one component. */
static void find_parts(reduct_run *r, size_t attributes, bool all) {
  join_attributes(r, attributes, all);
  r->part_count = 0;
  for (size_t a = 0; a < attributes; a++) {
    if (r->owner[a] == UINT32_MAX) continue;
    uint32_t root = root_of(r->parent, (uint32_t)a);
    size_t part = 0;
    while (part < r->part_count && r->parts[part].first_vertex != root) part++;
    if (part == r->part_count) r->parts[r->part_count++] = (component){root, 0, 0, 0, 0};
    r->parts[part].vertices++;
    r->owner[a] = (uint32_t)part;
  }
  size_t next = 0;
  r->streamed = 0;
  for (size_t p = 0; p < r->part_count; p++) {
    r->parts[p].first_vertex = next;
    next += r->parts[p].vertices;
    if (r->parts[p].vertices > r->parts[r->streamed].vertices) r->streamed = p;
    r->parts[p].vertices = 0;
  }
  for (size_t a = 0; a < attributes; a++) {
    if (r->owner[a] == UINT32_MAX) continue;
    component *part = &r->parts[r->owner[a]];
    r->vertex[part->first_vertex + part->vertices] = (uint32_t)a;
    r->parent[a] = (uint32_t)part->vertices++;
  }
}

/* Copy the component to the enumeration's hypergraph. */
static void load_part(reduct_run *r, size_t p) {
  const tsn_rs_family *f = &r->family;
  tsn_rs_hypergraph *g = &r->enumeration.search.graph;
  g->vertices = r->parts[p].vertices;
  g->vertex_words = tsn_rs_words(g->vertices);
  g->edges = 0;
  for (size_t i = 0; i < f->count; i++) {
    const uint64_t *set = f->sets + i * r->words;
    if (r->owner[lowest(set)] != p) continue;
    uint64_t *edge = g->edge + g->edges++ * g->vertex_words;
    memset(edge, 0, g->vertex_words * sizeof *edge);
    for (size_t w = 0; w < r->words; w++) {
      for (uint64_t bits = set[w]; bits; bits &= bits - 1) {
        tsn_rs_add(edge, r->parent[64 * w + (size_t)__builtin_ctzll(bits)]);
      }
    }
  }
}

/* ---- the product */

/* Join a set of the component's vertices to `set`; returns its size. */
static size_t join_vertices(const component *part, const uint32_t *vertex,
                            const uint64_t *vertices, uint64_t *set) {
  size_t words = tsn_rs_words(part->vertices), size = 0;
  for (size_t w = 0; w < words; w++) {
    for (uint64_t bits = vertices[w]; bits; bits &= bits - 1) {
      tsn_rs_add(set,
                 vertex[part->first_vertex + 64 * w + (size_t)__builtin_ctzll(bits)]);
      size++;
    }
  }
  return size;
}

typedef struct {
  reduct_run *run;
  size_t part;
} part_sink;

/* A sink that stores a set of a component, as attributes; TSANOM_PARTIAL: no capacity. */
static tsanom_status store_set(void *context, const uint64_t *vertices) {
  part_sink *s = context;
  reduct_run *r = s->run;
  if (r->stored == r->store_capacity) return TSANOM_PARTIAL;
  uint64_t *set = r->store + r->stored * r->words;
  memset(set, 0, r->words * sizeof *set);
  r->store_size[r->stored++] =
      (uint32_t)join_vertices(&r->parts[s->part], r->vertex, vertices, set);
  r->parts[s->part].sets++;
  return TSANOM_OK;
}

/* Hand one reduct to the visitor. */
static tsanom_status visit_reduct(reduct_run *r, const uint64_t *set, size_t size) {
  if (size > r->input.options.size_limit) return TSANOM_OK;
  if (r->found == r->input.options.reduct_limit) return TSANOM_PARTIAL;
  r->found++;
  const tsanom_roughset_visitor *v = &r->visitor;
  return v->visit && v->visit(v->user, set, size) != 0 ? TSANOM_STOPPED : TSANOM_OK;
}

/* Set level k + 1 from level k and the present set of stored part k. */
static void descend(reduct_run *r, size_t k) {
  size_t at = r->parts[k].first_set + r->position[k];
  const uint64_t *from = r->level + k * r->words, *set = r->store + at * r->words;
  uint64_t *to = r->level + (k + 1) * r->words;
  for (size_t w = 0; w < r->words; w++) to[w] = from[w] | set[w];
  r->level_size[k + 1] = r->level_size[k] + r->store_size[at];
}

/* Visit level 0 with every choice of one set from each of the stored parts, which are the
 * parts 0 ... count - 1, the last of which moves fastest. Level k is the union of the first k
 * choices, and is left if the others, of an attribute each at least, would exceed the limit of
 * the size. The enumeration of a component has its own polls; this one is for many choices. */
static tsanom_status visit_product(reduct_run *r, size_t count) {
  size_t limit = r->input.options.size_limit, k = 0;
  if (count) r->position[0] = 0;
  for (;;) {
    if (k < count && r->position[k] < r->parts[k].sets) {
      if (++r->choices % CHOICES_PER_POLL == 0 &&
          tsn_exec_stop(&r->input.exec, r->found, 0)) {
        return TSANOM_STOPPED;
      }
      descend(r, k);
      if (r->level_size[k + 1] + (count - (k + 1)) > limit) {
        r->position[k]++;
      } else if (++k < count) {
        r->position[k] = 0;
      }
      continue;
    }
    if (k == count) {
      tsanom_status status =
          visit_reduct(r, r->level + count * r->words, r->level_size[count]);
      if (status != TSANOM_OK) return status;
    }
    if (k == 0) return TSANOM_OK;
    r->position[--k]++;
  }
}

/* A sink that combines a set of the streamed component with all stored ones. */
static tsanom_status stream_set(void *context, const uint64_t *vertices) {
  part_sink *s = context;
  reduct_run *r = s->run;
  memcpy(r->level, r->core, r->words * sizeof *r->core);
  r->level_size[0] = tsn_rs_size(r->core, r->words);
  r->level_size[0] += join_vertices(&r->parts[s->part], r->vertex, vertices, r->level);
  return visit_product(r, s->part);
}

/* The streamed component goes last, so that the stored ones come first. */
static void put_streamed_last(reduct_run *r, size_t attributes) {
  size_t last = r->part_count - 1;
  component swap = r->parts[last];
  r->parts[last] = r->parts[r->streamed];
  r->parts[r->streamed] = swap;
  for (size_t a = 0; a < attributes; a++) {
    if (r->owner[a] == last) {
      r->owner[a] = (uint32_t)r->streamed;
    } else if (r->owner[a] == r->streamed) {
      r->owner[a] = (uint32_t)last;
    }
  }
}

/* Store the sets of all parts but the last; TSANOM_PARTIAL if they do not fit. The size
 * limit prunes each part; visit_reduct() applies it to the sum. */
static tsanom_status store_parts(reduct_run *r, size_t size_limit) {
  r->stored = 0;
  for (size_t p = 0; p + 1 < r->part_count; p++) {
    part_sink sink = {.run = r, .part = p};
    r->parts[p].first_set = r->stored;
    load_part(r, p);
    tsanom_status status =
        enumerate(&r->enumeration, size_limit, &r->input.exec, store_set, &sink);
    if (status != TSANOM_OK) return status;
  }
  return TSANOM_OK;
}

/* Visit all reducts. Without elements the empty set, or the core, is the only one. */
static tsanom_status enumerate_all(reduct_run *r, size_t attributes) {
  take_core(r);
  size_t core_size = tsn_rs_size(r->core, r->words);
  if (core_size > r->input.options.size_limit) return TSANOM_OK;
  size_t size_limit = r->input.options.size_limit - core_size;
  if (r->family.count == 0) return visit_reduct(r, r->core, core_size);
  find_parts(r, attributes, false);
  put_streamed_last(r, attributes);
  tsanom_status status = store_parts(r, size_limit);
  if (status == TSANOM_PARTIAL) {
    find_parts(r, attributes, true);
  } else if (status != TSANOM_OK) {
    return status;
  }
  part_sink sink = {.run = r, .part = r->part_count - 1};
  load_part(r, sink.part);
  return enumerate(&r->enumeration, size_limit, &r->input.exec, stream_set, &sink);
}

/* Copy the elements to the family, absorbed. No set meets an empty element:
 * TSANOM_INFEASIBLE. */
static tsanom_status load_elements(reduct_run *r) {
  tsn_rs_family_clear(&r->family, r->input.table.attributes);
  for (size_t i = 0; i < r->element_count; i++) {
    const uint64_t *set = r->elements + i * r->words;
    if (tsn_rs_is_empty(set, r->words)) return TSANOM_INFEASIBLE;
    tsn_rs_family_insert(&r->family, set);
  }
  tsn_rs_family_sort(&r->family, true, &r->input.exec);
  return TSANOM_OK;
}

static tsanom_status check(void *context) {
  const reduct_run *r = context;
  return tsn_rs_check_elements(&r->input, r->elements, r->element_count);
}

static tsanom_status body(void *context) {
  reduct_run *r = context;
  tsanom_status status = load_elements(r);
  if (status == TSANOM_OK) status = enumerate_all(r, r->input.table.attributes);
  if (r->result) *r->result = r->found;
  return status;
}

tsanom_status tsanom_roughset_reducts(const uint64_t *elements, size_t count,
                                      size_t attributes,
                                      const tsanom_roughset_options *options,
                                      const tsanom_exec *exec,
                                      const tsanom_roughset_visitor *visitor,
                                      size_t *found) {
  reduct_run run = {.elements = elements, .element_count = count, .result = found};
  if (visitor) run.visitor = *visitor;
  tsanom_status status =
      tsn_rs_read_elements(&run.input, USES, count, attributes, options, exec);
  return status < 0 ? status
                    : tsn_workspace_run(&run.input.exec, layout, check, body, &run);
}
