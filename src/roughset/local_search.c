/* SPDX-License-Identifier: BSD-3-Clause */
/* Swap vertices until a set of a given size hits all edges. One move:
 *
 *   1. remove the vertex whose edges, hit by no other one, weigh least
 *   2. of an edge that is not hit, chosen at random, add the vertex that hits the most
 *      weight
 *   3. each edge that is not hit gains 1 in weight
 *
 * Ties go to the vertex that was moved longest ago, and a vertex is not removed right
 * after it was added. The weights make edges that stay unhit decisive, so that the search
 * leaves local minima. (Edge weights for vertex covers: S. Richter, M. Helmert, C.
 * Gretton, 2007.) */
#include "roughset/local_search.h"

#include <string.h>

enum { TABU = 2 }; /* moves for which a moved vertex is not removed */

void tsn_rs_local_layout(tsn_arena *arena, size_t vertices, size_t edges,
                         tsn_rs_local *l) {
  l->chosen = tsn_arena_take(arena, tsn_rs_words(vertices), sizeof *l->chosen);
  l->hits = tsn_arena_take(arena, edges, sizeof *l->hits);
  l->weight = tsn_arena_take(arena, edges, sizeof *l->weight);
  l->missed = tsn_arena_take(arena, edges, sizeof *l->missed);
  l->position = tsn_arena_take(arena, edges, sizeof *l->position);
  l->score = tsn_arena_take(arena, vertices, sizeof *l->score);
  l->moved = tsn_arena_take(arena, vertices, sizeof *l->moved);
}

void tsn_rs_local_start(tsn_rs_local *l, const uint64_t *set, size_t words) {
  memcpy(l->chosen, set, words * sizeof *set);
  l->weighted = 0;
  l->moves = 0;
}

/* Add `change` to the score of the vertices of an edge that are in the set, or of all of
 * them; a negative change is its two's complement. */
static void change_scores(tsn_rs_local *l, const tsn_rs_cover *c, size_t edge,
                          bool chosen_only, uint64_t change) {
  const uint64_t *set = c->edge + edge * c->vertex_words;
  for (size_t w = 0; w < c->vertex_words; w++) {
    uint64_t bits = chosen_only ? set[w] & l->chosen[w] : set[w];
    for (; bits; bits &= bits - 1) {
      l->score[64 * w + (size_t)__builtin_ctzll(bits)] += change;
    }
  }
}

static void miss(tsn_rs_local *l, size_t edge) {
  l->position[edge] = (uint32_t)l->missed_count;
  l->missed[l->missed_count++] = (uint32_t)edge;
}

/* Counters and scores of the current set; edges without a weight get 1. */
static void count_hits(tsn_rs_local *l, const tsn_rs_cover *c) {
  if (l->weighted == 0) memset(l->moved, 0, c->vertices * sizeof *l->moved);
  for (; l->weighted < c->edges; l->weighted++) l->weight[l->weighted] = 1;
  memset(l->score, 0, c->vertices * sizeof *l->score);
  l->missed_count = 0;
  l->size = tsn_rs_size(l->chosen, c->vertex_words);
  for (size_t e = 0; e < c->edges; e++) {
    const uint64_t *edge = c->edge + e * c->vertex_words;
    l->hits[e] = 0;
    for (size_t w = 0; w < c->vertex_words; w++) {
      l->hits[e] += (uint32_t)__builtin_popcountll(edge[w] & l->chosen[w]);
    }
    if (l->hits[e] <= 1) change_scores(l, c, e, l->hits[e] == 1, l->weight[e]);
    if (l->hits[e] == 0) miss(l, e);
  }
}

static void remove_vertex(tsn_rs_local *l, const tsn_rs_cover *c, size_t v) {
  const uint64_t *edges = c->occurrence + v * c->stride;
  l->chosen[v / 64] ^= (uint64_t)1 << (v % 64);
  l->size--;
  for (size_t w = 0; w < c->edge_words; w++) {
    for (uint64_t bits = edges[w]; bits; bits &= bits - 1) {
      size_t e = 64 * w + (size_t)__builtin_ctzll(bits);
      uint64_t weight = l->weight[e];
      if (--l->hits[e] > 1) continue;
      change_scores(l, c, e, l->hits[e] == 1, weight);
      if (l->hits[e] > 0) continue;
      l->score[v] -= weight; /* it hits the edge alone as before */
      miss(l, e);
    }
  }
}

static void add_vertex(tsn_rs_local *l, const tsn_rs_cover *c, size_t v) {
  const uint64_t *edges = c->occurrence + v * c->stride;
  for (size_t w = 0; w < c->edge_words; w++) {
    for (uint64_t bits = edges[w]; bits; bits &= bits - 1) {
      size_t e = 64 * w + (size_t)__builtin_ctzll(bits);
      uint64_t weight = l->weight[e];
      if (++l->hits[e] > 2) continue;
      change_scores(l, c, e, l->hits[e] == 2, -weight);
      if (l->hits[e] > 1) continue;
      l->score[v] += weight;
      uint32_t last = l->missed[--l->missed_count];
      l->missed[l->position[e]] = last;
      l->position[last] = l->position[e];
    }
  }
  l->chosen[v / 64] |= (uint64_t)1 << (v % 64);
  l->size++;
}

/* The vertex of the set that loses least; SIZE_MAX: the set is empty, or all of it was
 * moved just now and `tabu`. */
static size_t cheapest(const tsn_rs_local *l, const tsn_rs_cover *c, bool tabu) {
  size_t best = SIZE_MAX;
  for (size_t w = 0; w < c->vertex_words; w++) {
    for (uint64_t bits = l->chosen[w]; bits; bits &= bits - 1) {
      size_t v = 64 * w + (size_t)__builtin_ctzll(bits);
      if (tabu && l->moved[v] && l->moved[v] + TABU > l->moves) continue;
      if (best == SIZE_MAX || l->score[v] < l->score[best] ||
          (l->score[v] == l->score[best] && l->moved[v] < l->moved[best])) {
        best = v;
      }
    }
  }
  return best;
}

/* The vertex of an edge that hits the most weight; not `except`, unless it is the only
 * one. */
static size_t richest(const tsn_rs_local *l, const tsn_rs_cover *c, size_t edge,
                      size_t except) {
  const uint64_t *set = c->edge + edge * c->vertex_words;
  size_t best = SIZE_MAX;
  for (size_t w = 0; w < c->vertex_words; w++) {
    for (uint64_t bits = set[w]; bits; bits &= bits - 1) {
      size_t v = 64 * w + (size_t)__builtin_ctzll(bits);
      if (v == except) continue;
      if (best == SIZE_MAX || l->score[v] > l->score[best] ||
          (l->score[v] == l->score[best] && l->moved[v] < l->moved[best])) {
        best = v;
      }
    }
  }
  return best == SIZE_MAX ? except : best;
}

bool tsn_rs_local_search(tsn_rs_local *l, const tsn_rs_cover *c, size_t size,
                         uint64_t moves) {
  count_hits(l, c);
  while (l->size > size) remove_vertex(l, c, cheapest(l, c, false));
  for (uint64_t end = l->moves + moves; l->missed_count > 0; l->moves++) {
    if (l->moves == end || size == 0) return false;
    size_t out = l->size < size ? SIZE_MAX : cheapest(l, c, true);
    if (out != SIZE_MAX) {
      remove_vertex(l, c, out);
      l->moved[out] = l->moves + 1;
    } else if (l->size == size) {
      continue; /* all are tabu: wait */
    }
    uint32_t edge = l->missed[(tsn_rs_key(l->moves) >> 32) % l->missed_count];
    size_t in = richest(l, c, edge, out);
    add_vertex(l, c, in);
    l->moved[in] = l->moves + 1;
    for (size_t k = 0; k < l->missed_count; k++) {
      l->weight[l->missed[k]]++;
      change_scores(l, c, l->missed[k], false, 1);
    }
  }
  return true;
}
