/* SPDX-License-Identifier: BSD-3-Clause */
#include "dtw/dtw_ribbon.h"

#include <math.h>

typedef NAME(tsn_dtw_ribbon_pair) ribbon_pair;
typedef NAME(tsn_dtw_kernels) kernels;

/* Wider bands, in vectors of a diagonal, run faster in strips. */
enum { WIDEST = 16, PAIRS_PER_CHECK = 64, PAIRS_PER_GO = 1024, CELLS_PER_POLL = 1 << 19 };

size_t NAME(tsn_dtw_ribbon_widest)(const kernels *k) {
  return WIDEST * k->lanes - 1;
}

bool NAME(tsn_dtw_ribbon_suits)(const tsn_dtw_problem *problem,
                                const tsanom_dtw_options *options, const kernels *k) {
  bool closed = problem->open_begin_x == 0 && problem->open_begin_y == 0 &&
                problem->open_end_x == 0 && problem->open_end_y == 0;
  bool one_band = problem->window == TSANOM_DTW_SAKOE_CHIBA || problem->n == problem->m;
  return closed && one_band && options->dimensions == 1 && options->stride == 1 &&
         !options->tail && problem->radius <= NAME(tsn_dtw_ribbon_widest)(k);
}

static size_t vectors_of(const tsn_dtw_problem *problem, const kernels *k) {
  return problem->radius / k->lanes + 1;
}

/* Samples on each side of a series that diagonals reach into. */
static size_t padding(const tsn_dtw_problem *problem, const kernels *k) {
  return (vectors_of(problem, k) + 1) * k->lanes;
}

void NAME(tsn_dtw_ribbon_layout)(tsn_arena *arena, const tsn_dtw_problem *problem,
                                 const kernels *k, ribbon_pair *b) {
  size_t both = 2 * padding(problem, k), length_x = 0, length_y = 0;
  if (__builtin_add_overflow(problem->n, both, &length_x) ||
      __builtin_add_overflow(problem->m, both, &length_y)) {
    arena->overflow = true;
  }
  *b = (ribbon_pair){
      .x = tsn_arena_take(arena, length_x, sizeof(real)),
      .y = tsn_arena_take(arena, length_y, sizeof(real)),
      .walls = tsn_arena_take(arena, 2 * k->lanes, sizeof(real)),
  };
  size_t lanes = vectors_of(problem, k) * k->lanes;
  b->ribbon.even = tsn_arena_take(arena, lanes, sizeof(real));
  b->ribbon.odd = tsn_arena_take(arena, lanes, sizeof(real));
}

static void fill(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                 const kernels *k, const real *x, const real *y, ribbon_pair *b) {
  size_t pad = padding(problem, k), n = problem->n, m = problem->m, r = problem->radius;
  size_t vectors = vectors_of(problem, k), last = (vectors - 1) * k->lanes;
  for (size_t i = 0; i < pad; i++) {
    b->x[i] = b->x[pad + n + i] = INFINITY;
    b->y[i] = b->y[pad + m + i] = -(real)INFINITY;
  }
  for (size_t i = 0; i < n; i++) b->x[pad + i] = x[i];
  for (size_t j = 0; j < m; j++) b->y[pad + j] = y[m - 1 - j];
  for (size_t lane = 0; lane < k->lanes; lane++) {
    b->walls[lane] = last + lane > r ? (real)INFINITY : 0;
    b->walls[k->lanes + lane] = last + lane + 1 > r ? (real)INFINITY : 0;
  }
  for (size_t lane = 0; lane < vectors * k->lanes; lane++) {
    b->ribbon.even[lane] = b->ribbon.odd[lane] = INFINITY;
  }
  (r % 2 ? b->ribbon.odd : b->ribbon.even)[r / 2] = 0; /* the empty prefix */
  b->ribbon.x = b->x + pad;
  b->ribbon.y = b->y + pad + m - 1;
  b->ribbon.radius = (ptrdiff_t)r;
  b->ribbon.vectors = vectors;
  b->ribbon.even_wall = b->walls;
  b->ribbon.odd_wall = b->walls + k->lanes;
  b->ribbon.penalty = (real)options->penalty;
}

/* Whether a cell of the last two diagonals is within the cut-off: every path goes
 * through one of them. */
static bool any_live(const NAME(tsn_dtw_ribbon) * ribbon, const kernels *k,
                     double cutoff) {
  size_t live = 0;
  for (size_t lane = 0; lane < ribbon->vectors * k->lanes; lane++) {
    live += (double)ribbon->even[lane] <= cutoff;
    live += (double)ribbon->odd[lane] <= cutoff;
  }
  return live > 0;
}

int NAME(tsn_dtw_ribbon_run)(const tsn_dtw_problem *problem,
                             const tsanom_dtw_options *options, const kernels *k,
                             const real *x, const real *y, ribbon_pair *b,
                             const tsn_dtw_watch *watch, real *distance) {
  const NAME(tsn_dtw_sweeps) *sweeps = &k->cost[options->cost];
  NAME(tsn_dtw_ribbon_sweep) *sweep =
      options->penalty == 0 ? sweeps->ribbon : sweeps->ribbon_penalty;
  size_t odd_radius = problem->radius % 2;
  size_t final = problem->n + problem->m - 2; /* the last diagonal */
  size_t end = (final + odd_radius) / 2 + 1;
  fill(problem, options, k, x, y, b);
  bool checks = isfinite(options->cutoff);
  size_t step = checks ? PAIRS_PER_CHECK : PAIRS_PER_GO;
  size_t cells = 0;
  for (size_t d = 0; d < end; d += step) {
    size_t to = end - d < step ? end : d + step;
    sweep(&b->ribbon, d, to);
    if (checks && to < end && !any_live(&b->ribbon, k, options->cutoff)) {
      return TSN_DTW_ABANDONED;
    }
    cells += (to - d) * b->ribbon.vectors * k->lanes;
    if (cells >= CELLS_PER_POLL && to < end) {
      cells = 0;
      if (tsn_dtw_watch_stop(watch)) return TSN_DTW_STOPPED;
    }
  }
  size_t lane = (problem->n + problem->radius - problem->m) / 2;
  bool ends_even = (final + odd_radius) % 2 == 0;
  *distance = (ends_even ? b->ribbon.even : b->ribbon.odd)[lane];
  return TSN_DTW_SWEPT;
}
