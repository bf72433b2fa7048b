/* SPDX-License-Identifier: BSD-3-Clause */
/* Depth-first search for small hitting sets of a growing list of edges: buffers, and the
 * loop that calls the kernel between polls.
 *
 *     kernel: search --candidate--> examine: accepted --------> next branch
 *                ^                     |
 *                |                     +---- edges added -----> open this node: the edges
 *                +--- NODES: poll                               are uncovered here
 *
 * An added edge is not hit by any chosen vertex, so it is uncovered in the rows of all
 * depths above too; that is all that changes for the nodes that are open. Branches that
 * were finished before need not be repeated: their candidates were shown, and missed
 * edges that were added then. */
#include "roughset/cover.h"

#include <string.h>

#include "core/exec.h"
#include "core/size.h"

/* Nodes between two chances to stop: about a millisecond. */
enum { NODES_PER_POLL = 1 << 13 };

void tsn_rs_cover_layout(tsn_arena *arena, size_t vertices, size_t edges, size_t deepest,
                         tsn_rs_cover *c) {
  size_t vertex_words = tsn_rs_words(vertices), rows = deepest + 2;
  c->stride = edges / 64 + (edges % 64 != 0);
  c->capacity = edges;
  size_t by_vertex = tsn_product(rows, vertex_words);
  c->edge = tsn_arena_take(arena, tsn_product(edges, vertex_words), sizeof *c->edge);
  c->occurrence =
      tsn_arena_take(arena, tsn_product(vertices, c->stride), sizeof *c->occurrence);
  c->uncovered =
      tsn_arena_take(arena, tsn_product(rows, c->stride), sizeof *c->uncovered);
  c->candidates = tsn_arena_take(arena, by_vertex, sizeof *c->candidates);
  c->branch = tsn_arena_take(arena, by_vertex, sizeof *c->branch);
  c->chosen = tsn_arena_take(arena, rows, sizeof *c->chosen);
}

void tsn_rs_cover_clear(tsn_rs_cover *c, size_t vertices) {
  c->vertices = vertices;
  c->vertex_words = tsn_rs_words(vertices);
  c->edges = c->edge_words = 0;
  c->depth = 0;
}

/* O(vertices + depth). A new word of edges is cleared in all rows in use first. */
bool tsn_rs_cover_add(tsn_rs_cover *c, const uint64_t *edge) {
  size_t e = c->edges;
  if (e == c->capacity) return false;
  memcpy(c->edge + e * c->vertex_words, edge, c->vertex_words * sizeof *edge);
  if (e % 64 == 0) {
    for (size_t v = 0; v < c->vertices; v++) c->occurrence[v * c->stride + e / 64] = 0;
    for (size_t d = 0; d <= c->depth; d++) c->uncovered[d * c->stride + e / 64] = 0;
    c->edge_words++;
  }
  for (size_t v = 0; v < c->vertices; v++) {
    if (tsn_rs_has(edge, v)) tsn_rs_add(c->occurrence + v * c->stride, e);
  }
  for (size_t d = 0; d <= c->depth; d++) tsn_rs_add(c->uncovered + d * c->stride, e);
  /* The node above branches on what completes it: that must hit this edge too. */
  if (c->depth > 0 && c->depth == c->limit) {
    uint64_t *branch = c->branch + (c->depth - 1) * c->vertex_words;
    for (size_t w = 0; w < c->vertex_words; w++) branch[w] &= edge[w];
  }
  c->edges++;
  return true;
}

/* The root of a search: no vertex is chosen. */
static void open_root(tsn_rs_cover *c, const uint64_t *candidates) {
  c->depth = 0;
  memset(c->uncovered, 0, c->edge_words * sizeof *c->uncovered);
  for (size_t e = 0; e < c->edges; e++) tsn_rs_add(c->uncovered, e);
  memcpy(c->candidates, candidates, c->vertex_words * sizeof *candidates);
}

/* Show the candidate; *grown: it misses edges that were added. */
static tsanom_status show(tsn_rs_cover *c, tsn_rs_cover_examine *examine, void *context,
                          bool *grown) {
  size_t before = c->edges;
  tsanom_status status = examine(context, c);
  *grown = c->edges > before;
  return status == TSANOM_INFEASIBLE ? TSANOM_OK : status;
}

tsanom_status tsn_rs_cover_search(tsn_rs_cover *c, size_t limit,
                                  const uint64_t *candidates, const tsanom_exec *exec,
                                  tsn_rs_cover_examine *examine, void *context) {
  const tsn_rs_cover_kernels *kernels = tsn_rs_cover_kernels_at(exec->isa);
  tsanom_status status = TSANOM_OK;
  bool grown = true;
  c->limit = limit;
  c->nodes = 0;
  open_root(c, candidates);
  if (c->edges == 0) status = show(c, examine, context, &grown);
  if (status != TSANOM_OK || !grown) return status;
  kernels->open(c);
  for (uint64_t turns = 0;; turns++) {
    int event = kernels->run(c, NODES_PER_POLL);
    if (event == TSN_RS_COVER_DONE) return TSANOM_OK;
    if (event == TSN_RS_COVER_CANDIDATE) {
      if ((status = show(c, examine, context, &grown)) != TSANOM_OK) return status;
      if (grown) {
        kernels->open(c);
      } else {
        memset(c->branch + c->depth * c->vertex_words, 0,
               c->vertex_words * sizeof *c->branch);
      }
    }
    if (tsn_exec_stop(exec, turns, 0)) return TSANOM_STOPPED;
  }
}
