/* SPDX-License-Identifier: BSD-3-Clause */
/* With a multiplier u_r >= 0 for each row r, that is an edge (b_r = 1) or a cut (b_r =
 * 2),
 *
 *     L(u) = sum_r b_r u_r + sum_v min(0, c_v),    c_v = 1 - sum of u_r over the r with v
 *
 * is a lower bound of the vertices that hit all rows (Lagrangian relaxation). A node with
 * `left` vertices to come is pruned if L > left; if L + c_v > left, no such set contains
 * v; if L - c_v > left, each one does. The multipliers follow the slope of L,
 * b_r - |r and {v : c_v < 0}|, with Polyak's step towards the value that prunes, and
 * start where the node before left them. They are integers, multiples of 1 / ONE, so that
 * the bound is exact: it is a proof, and the same on every machine. (M. Held, P. Wolfe
 * and H. Crowder, 1974; for set covering J. Beasley, 1990.)
 *
 * A cut needs two vertices: if an edge C is a subset of (A or B) minus (A and B), then a
 * vertex hits at most two of A, B and C, so that A or B contains two vertices of every
 * hitting set. For three rows of a table of two values, whose elements are A, B and
 * C = A xor B, this is an edge of the triangle; the linear relaxation
 * gives 1.5. (A {0, 1/2} cut: A. Caprara and M. Fischetti, 1996.) */
#include "roughset/bound.h"

#include <string.h>

#include "core/exec.h"

enum {
  SCALE_BITS = 20,
  CUTS = 1 << 11, /* at most, and edges that they are made of */
  CUT_ROUNDS = 8,
  CUTS_AT_ONCE = 1 << 8,
  TESTS_AT_ONCE = 1 << 12,
  ROOT_ITERATIONS = 600,
  COUNTED = 300, /* the last ones of them: the relaxed solution is their mean */
  PATIENCE = 20, /* iterations without progress after which steps are halved */
  NODE_ITERATIONS = 12,
  SMALL_SCORE = 1 << 20
};
/* Values of an edge and of a cut in the relaxed solution, which is an estimate, above
 * which they are left out. */
static const double NEARLY_TIGHT = 2.0, VIOLATED = 2.05;
#define ONE ((int64_t)1 << SCALE_BITS)

void tsn_rs_bound_layout(tsn_arena *arena, size_t vertices, size_t edges,
                         tsn_rs_bound *b) {
  size_t words = tsn_rs_words(vertices);
  b->capacity = edges;
  b->most = edges < CUTS ? edges : CUTS;
  b->weight = tsn_arena_take(arena, edges + b->most, sizeof *b->weight);
  /* One more, which is being tried. */
  b->cut = tsn_arena_take(arena, (b->most + 1) * words, sizeof *b->cut);
  b->row = tsn_arena_take(arena, edges + b->most, sizeof *b->row);
  b->slope = tsn_arena_take(arena, edges + b->most, sizeof *b->slope);
  b->reduced = tsn_arena_take(arena, vertices, sizeof *b->reduced);
  b->cheap = tsn_arena_take(arena, words, sizeof *b->cheap);
  b->times = tsn_arena_take(arena, vertices, sizeof *b->times);
  b->score = tsn_arena_take(arena, vertices, sizeof *b->score);
  b->tight = tsn_arena_take(arena, b->most, sizeof *b->tight);
  b->odd = tsn_arena_take(arena, words, sizeof *b->odd);
}

static const uint64_t *row_set(const tsn_rs_bound *b, const tsn_rs_cover *c, size_t row) {
  return row < b->capacity ? c->edge + row * c->vertex_words
                           : b->cut + (row - b->capacity) * c->vertex_words;
}

static size_t common(const uint64_t *a, const uint64_t *b, size_t words) {
  size_t size = 0;
  for (size_t w = 0; w < words; w++) size += (size_t)__builtin_popcountll(a[w] & b[w]);
  return size;
}

/* The rows of the node. Returns SIZE_MAX; the only candidate of an edge, if there is one;
 * or c->vertices if an edge has none. */
static size_t collect(tsn_rs_bound *b, const tsn_rs_cover *c) {
  const uint64_t *candidates = c->candidates + c->depth * c->vertex_words;
  const uint64_t *uncovered = c->uncovered + c->depth * c->stride;
  size_t only = SIZE_MAX;
  for (; b->weighted < c->edges; b->weighted++) b->weight[b->weighted] = 0;
  b->rows = 0;
  for (size_t w = 0; w < c->edge_words; w++) {
    for (uint64_t bits = uncovered[w]; bits; bits &= bits - 1) {
      size_t e = 64 * w + (size_t)__builtin_ctzll(bits);
      const uint64_t *edge = c->edge + e * c->vertex_words;
      size_t size = common(edge, candidates, c->vertex_words);
      if (size == 0) return c->vertices;
      for (size_t k = 0; size == 1 && k < c->vertex_words; k++) {
        uint64_t last = edge[k] & candidates[k];
        if (last) only = 64 * k + (size_t)__builtin_ctzll(last);
      }
      b->row[b->rows++] = (uint32_t)e;
    }
  }
  for (size_t k = 0; k < b->cuts && only == SIZE_MAX; k++) {
    const uint64_t *cut = b->cut + k * c->vertex_words;
    size_t hit = 0;
    for (size_t d = 0; d < c->depth; d++) hit += tsn_rs_has(cut, c->chosen[d]);
    /* What a hit cut still demands follows from the edges. */
    if (hit == 0) b->row[b->rows++] = (uint32_t)(b->capacity + k);
  }
  return only;
}

/* L(u), the reduced costs, and the set of cheap vertices. */
static int64_t evaluate(tsn_rs_bound *b, const tsn_rs_cover *c) {
  const uint64_t *candidates = c->candidates + c->depth * c->vertex_words;
  int64_t total = 0;
  for (size_t v = 0; v < c->vertices; v++) b->reduced[v] = ONE;
  for (size_t i = 0; i < b->rows; i++) {
    int64_t weight = b->weight[b->row[i]];
    if (weight == 0) continue;
    const uint64_t *set = row_set(b, c, b->row[i]);
    total += b->row[i] < b->capacity ? weight : 2 * weight;
    for (size_t w = 0; w < c->vertex_words; w++) {
      for (uint64_t bits = set[w]; bits; bits &= bits - 1) {
        b->reduced[64 * w + (size_t)__builtin_ctzll(bits)] -= weight;
      }
    }
  }
  for (size_t w = 0; w < c->vertex_words; w++) {
    b->cheap[w] = 0;
    for (uint64_t bits = candidates[w]; bits; bits &= bits - 1) {
      size_t v = 64 * w + (size_t)__builtin_ctzll(bits);
      if (b->reduced[v] >= 0) continue;
      total += b->reduced[v];
      b->cheap[w] |= bits & -bits;
      b->times[v]++;
    }
  }
  return total;
}

/* One step along the slope, `factor` times as long as if L were linear up to `goal`. */
static bool step(tsn_rs_bound *b, const tsn_rs_cover *c, double factor, int64_t goal,
                 int64_t value) {
  int64_t norm = 0;
  for (size_t i = 0; i < b->rows; i++) {
    int32_t need = b->row[i] < b->capacity ? 1 : 2;
    int32_t slope =
        need - (int32_t)common(row_set(b, c, b->row[i]), b->cheap, c->vertex_words);
    if (slope < 0 && b->weight[b->row[i]] == 0) slope = 0;
    b->slope[i] = slope;
    norm += (int64_t)slope * slope;
  }
  if (norm == 0) return false;
  double length = factor * (double)(goal - value) / (double)norm;
  for (size_t i = 0; i < b->rows; i++) {
    int64_t *weight = b->weight + b->row[i];
    *weight += (int64_t)(length * b->slope[i]);
    if (*weight < 0) *weight = 0;
    if (*weight > ONE) *weight = ONE;
  }
  return true;
}

/* ---- the root */

/* Whether an edge is a subset of `set`. */
static bool contains_edge(const tsn_rs_cover *c, const uint64_t *set) {
  for (size_t e = 0; e < c->edges; e++) {
    const uint64_t *edge = c->edge + e * c->vertex_words;
    uint64_t outside = 0;
    for (size_t w = 0; w < c->vertex_words; w++) outside |= edge[w] & ~set[w];
    if (!outside) return true;
  }
  return false;
}

/* The vertices of a set in the relaxed solution: how often each one was cheap. */
static double value_of(const tsn_rs_bound *b, const uint64_t *set, size_t words) {
  uint64_t sum = 0;
  for (size_t w = 0; w < words; w++) {
    for (uint64_t bits = set[w]; bits; bits &= bits - 1) {
      sum += b->times[64 * w + (size_t)__builtin_ctzll(bits)];
    }
  }
  return (double)sum / COUNTED;
}

static bool is_known(const tsn_rs_bound *b, const uint64_t *cut, size_t words) {
  for (size_t k = 0; k < b->cuts; k++) {
    if (memcmp(b->cut + k * words, cut, words * sizeof *cut) == 0) return true;
  }
  return false;
}

/* What derives cuts at the root. */
typedef struct {
  tsn_rs_bound *bound;
  tsn_rs_cover *cover;
  const tsanom_exec *exec;
  tsn_rs_bound_oracle *oracle;
  void *context;
  size_t tests; /* of pairs of edges, in this round */
} cut_run;

/* Append the cut of two edges if they have one that the relaxed solution violates. */
static void try_pair(cut_run *r, size_t i, size_t j) {
  tsn_rs_bound *b = r->bound;
  const tsn_rs_cover *c = r->cover;
  size_t words = c->vertex_words;
  const uint64_t *x = c->edge + b->tight[i] * words, *y = c->edge + b->tight[j] * words;
  uint64_t *cut = b->cut + b->cuts * words;
  if (common(x, y, words) == 0) return;
  for (size_t w = 0; w < words; w++) cut[w] = x[w] | y[w];
  if (value_of(b, cut, words) > VIOLATED || is_known(b, cut, words)) return;
  for (size_t w = 0; w < words; w++) b->odd[w] = x[w] ^ y[w];
  r->tests++;
  if (!contains_edge(c, b->odd) && !r->oracle(r->context, b->odd)) return;
  b->weight[b->capacity + b->cuts++] = 0;
}

/* One round: pairs of edges that the relaxed solution hardly hits. */
static tsanom_status add_cuts(cut_run *r) {
  tsn_rs_bound *b = r->bound;
  const tsn_rs_cover *c = r->cover;
  size_t tight = 0,
         most = b->most - b->cuts < CUTS_AT_ONCE ? b->most : b->cuts + CUTS_AT_ONCE;
  for (size_t e = 0; e < c->edges && tight < b->most; e++) {
    if (value_of(b, c->edge + e * c->vertex_words, c->vertex_words) < NEARLY_TIGHT) {
      b->tight[tight++] = (uint32_t)e;
    }
  }
  r->tests = 0;
  for (size_t i = 0; i < tight; i++) {
    if (tsn_exec_stop(r->exec, i, 0)) return TSANOM_STOPPED;
    for (size_t j = i + 1; j < tight; j++) {
      if (b->cuts == most || r->tests == TESTS_AT_ONCE) return TSANOM_OK;
      try_pair(r, i, j);
    }
  }
  return TSANOM_OK;
}

/* Climb from the present multipliers; `*best` is the largest L(u) so far. */
static tsanom_status climb(tsn_rs_bound *b, const tsn_rs_cover *c,
                           const tsanom_exec *exec, double factor, int64_t goal,
                           int64_t *best) {
  int since = 0;
  collect(b, c);
  for (int k = 0; k < ROOT_ITERATIONS && *best < goal; k++) {
    if (tsn_exec_stop(exec, (uint64_t)k, 0)) return TSANOM_STOPPED;
    if (k == ROOT_ITERATIONS - COUNTED) {
      memset(b->times, 0, c->vertices * sizeof *b->times);
    }
    int64_t value = evaluate(b, c);
    if (value > *best) {
      *best = value;
      since = 0;
    } else if (++since == PATIENCE) {
      since = 0;
      factor /= 2;
    }
    if (!step(b, c, factor, goal, value)) break;
  }
  return TSANOM_OK;
}

tsanom_status tsn_rs_bound_prepare(tsn_rs_bound *b, tsn_rs_cover *c,
                                   const tsanom_exec *exec, size_t limit,
                                   const uint64_t *candidates,
                                   tsn_rs_bound_oracle *oracle, void *context,
                                   size_t *lower) {
  cut_run r = {
      .bound = b, .cover = c, .exec = exec, .oracle = oracle, .context = context};
  const int64_t goal = (int64_t)(limit + 1) * ONE;
  tsanom_status status = TSANOM_OK;
  int64_t best = 0;
  b->cuts = b->weighted = 0;
  memset(b->times, 0, c->vertices * sizeof *b->times);
  tsn_rs_cover_root(c, candidates);
  for (int round = 0; round < CUT_ROUNDS && status == TSANOM_OK; round++) {
    status = climb(b, c, exec, round == 0 ? 2 : 1, goal, &best);
    if (best >= goal || 2 * best < goal) break; /* proven, or hopeless */
    if (status == TSANOM_OK) status = add_cuts(&r);
    if (r.tests == 0) break;
  }
  *lower = (size_t)((best + ONE - 1) >> SCALE_BITS);
  return status;
}

/* ---- the nodes */

/* Drop candidates by their reduced costs. Returns a vertex that every set needs, or
 * SIZE_MAX. */
static size_t fix(tsn_rs_bound *b, tsn_rs_cover *c, int64_t slack, bool *dropped) {
  uint64_t *candidates = c->candidates + c->depth * c->vertex_words;
  for (size_t w = 0; w < c->vertex_words; w++) {
    for (uint64_t bits = candidates[w]; bits; bits &= bits - 1) {
      size_t v = 64 * w + (size_t)__builtin_ctzll(bits);
      if (-b->reduced[v] > slack) return v;
      if (b->reduced[v] <= slack) continue;
      candidates[w] &= ~(bits & -bits);
      *dropped = true;
    }
  }
  return SIZE_MAX;
}

/* The candidate in the most small edges, those of three vertices counting 8 / 27 of those
 * of two: either branch shrinks edges that are small already. Proofs take a quarter of
 * the nodes that they take with the candidate that is cheap in half of the iterations. */
static size_t in_small_edges(const tsn_rs_bound *b, const tsn_rs_cover *c) {
  const uint64_t *candidates = c->candidates + c->depth * c->vertex_words;
  size_t best = SIZE_MAX;
  memset(b->score, 0, c->vertices * sizeof *b->score);
  for (size_t i = 0; i < b->rows && b->row[i] < b->capacity; i++) {
    const uint64_t *edge = row_set(b, c, b->row[i]);
    uint64_t size = common(edge, candidates, c->vertex_words);
    uint64_t score = SMALL_SCORE / (size * size * size);
    for (size_t w = 0; w < c->vertex_words; w++) {
      for (uint64_t bits = edge[w] & candidates[w]; bits; bits &= bits - 1) {
        size_t v = 64 * w + (size_t)__builtin_ctzll(bits);
        b->score[v] += score;
        if (best == SIZE_MAX) best = v;
      }
    }
  }
  for (size_t v = 0; v < c->vertices; v++) {
    if (b->score[v] > b->score[best]) best = v;
  }
  return best;
}

size_t tsn_rs_bound_branch(tsn_rs_bound *b, tsn_rs_cover *c) {
  int64_t left = (int64_t)(c->limit - c->depth) * ONE;
  size_t only;
  bool dropped;
  double factor = 2;
  do {
    only = collect(b, c);
    if (only == c->vertices || c->limit == c->depth) return SIZE_MAX;
    if (only != SIZE_MAX) return only;
    dropped = false;
    for (int k = 0; k < NODE_ITERATIONS && !dropped; k++) {
      int64_t value = evaluate(b, c);
      if (value > left) return SIZE_MAX;
      size_t needed = fix(b, c, left - value, &dropped);
      if (needed != SIZE_MAX) return needed;
      if (dropped || !step(b, c, factor, left + ONE / 2, value)) break;
      if (k % 3 == 0) factor /= 2;
    }
  } while (dropped);
  return in_small_edges(b, c);
}
