/* SPDX-License-Identifier: BSD-3-Clause */
#include "dtw/dtw_sweep_band.h"

#include <math.h>

#include "core/size.h"

typedef tsn_dtw_band_buffers band_pair;
typedef tsn_dtw_kernels kernels;

/* Bands of more vectors per diagonal run faster in strips, whose ends weigh less then. At
 * n = 1000, radius 100 (13 vectors of level v4) the band takes 0.142 ns a cell. Half of
 * the diagonals' cells lie outside of a whole matrix: at level v3 the band is faster by a
 * third at n = 32 (8 vectors) and slower by a sixth at n = 48. */
enum { WIDEST = 16, WIDEST_WHOLE = 8 };
enum { PAIRS_PER_CHECK = 64, PAIRS_PER_GO = 1024, CELLS_PER_POLL = 1 << 19 };

static size_t widest_radius(const kernels *k, size_t vectors) {
  return vectors * k->lanes - 1;
}

bool tsn_dtw_band_allows(const tsanom_dtw_options *options) {
  return options->dimensions == 1;
}

bool tsn_dtw_band_suits(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                        const kernels *k) {
  bool closed = problem->open_begin_x == 0 && problem->open_begin_y == 0 &&
                problem->open_end_x == 0 && problem->open_end_y == 0;
  bool one_radius = problem->window == TSANOM_DTW_SAKOE_CHIBA || problem->n == problem->m;
  bool whole = problem->radius + 1 >= tsn_larger(problem->n, problem->m);
  return tsn_dtw_band_allows(options) && closed && one_radius &&
         problem->radius <= widest_radius(k, whole ? WIDEST_WHOLE : WIDEST);
}

bool tsn_dtw_band_suits_shorter(const tsn_dtw_problem *problem,
                                const tsanom_dtw_options *o, const kernels *k) {
  bool closed = !o->open_begin_x && !o->open_begin_y && !o->open_end_x && !o->open_end_y;
  return tsn_dtw_band_allows(o) && closed && !o->tails &&
         o->window == TSANOM_DTW_SAKOE_CHIBA &&
         problem->radius <= widest_radius(k, WIDEST_WHOLE);
}

/* Vectors per diagonal. A band that is too wide is laid out as the widest. */
static size_t vectors_of(const tsn_dtw_problem *problem, const kernels *k) {
  return tsn_smaller(problem->radius, widest_radius(k, WIDEST)) / k->lanes + 1;
}

/* Samples on each side of a series that diagonals reach into. */
static size_t padding(const tsn_dtw_problem *problem, const kernels *k) {
  return (vectors_of(problem, k) + 1) * k->lanes;
}

void tsn_dtw_band_layout(tsn_arena *arena, const tsn_dtw_problem *problem,
                         const kernels *k, band_pair *b) {
  size_t both = 2 * padding(problem, k), length_x = 0, length_y = 0;
  if (__builtin_add_overflow(problem->n, both, &length_x) ||
      __builtin_add_overflow(problem->m, both, &length_y)) {
    arena->overflow = true;
  }
  *b = (band_pair){
      .x = tsn_arena_take(arena, length_x, sizeof(real)),
      .y = tsn_arena_take(arena, length_y, sizeof(real)),
      .walls = tsn_arena_take(arena, 2 * k->lanes, sizeof(real)),
  };
  size_t lanes = vectors_of(problem, k) * k->lanes;
  b->band.even = tsn_arena_take(arena, lanes, sizeof(real));
  b->band.odd = tsn_arena_take(arena, lanes, sizeof(real));
}

static inline void copy_by(const real *from, size_t count, ptrdiff_t step, real *to) {
  for (size_t i = 0; i < count; i++) to[i] = from[(ptrdiff_t)i * step];
}

/* Steps of 1 and -1 are compiled apart, since they can use vectors. */
static void copy(const real *from, size_t count, ptrdiff_t step, real *to) {
  if (step == 1) {
    copy_by(from, count, 1, to);
  } else if (step == -1) {
    copy_by(from, count, -1, to);
  } else {
    copy_by(from, count, step, to);
  }
}

static void fill(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                 const kernels *k, const real *x, const real *y, band_pair *b) {
  size_t pad = padding(problem, k), n = problem->n, m = problem->m, r = problem->radius;
  size_t vectors = vectors_of(problem, k), last = (vectors - 1) * k->lanes;
  for (size_t i = 0; i < pad; i++) {
    b->x[i] = b->x[pad + n + i] = INFINITY;
    b->y[i] = b->y[pad + m + i] = -(real)INFINITY;
  }
  copy(x, n, (ptrdiff_t)problem->stride_x, b->x + pad);
  copy(y + (m - 1) * problem->stride_y, m, -(ptrdiff_t)problem->stride_y, b->y + pad);
  for (size_t lane = 0; lane < k->lanes; lane++) {
    b->walls[lane] = last + lane > r ? (real)INFINITY : 0;
    b->walls[k->lanes + lane] = last + lane + 1 > r ? (real)INFINITY : 0;
  }
  for (size_t lane = 0; lane < vectors * k->lanes; lane++) {
    b->band.even[lane] = b->band.odd[lane] = INFINITY;
  }
  (r % 2 ? b->band.odd : b->band.even)[r / 2] = 0; /* the empty prefix */
  b->band.x = b->x + pad;
  b->band.y = b->y + pad + m - 1;
  b->band.radius = (ptrdiff_t)r;
  b->band.vectors = vectors;
  b->band.even_wall = b->walls;
  b->band.odd_wall = b->walls + k->lanes;
  b->band.penalty = (real)options->penalty;
}

/* Whether a cell of the last two diagonals is within the cut-off: every path goes
 * through one of them. */
static bool any_live(const tsn_dtw_band *band, const kernels *k, double cutoff) {
  size_t live = 0;
  for (size_t lane = 0; lane < band->vectors * k->lanes; lane++) {
    live += (double)band->even[lane] <= cutoff;
    live += (double)band->odd[lane] <= cutoff;
  }
  return live > 0;
}

int tsn_dtw_band_run(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                     const kernels *k, const real *x, const real *y, band_pair *b,
                     const tsn_dtw_watch *watch, real *distance) {
  const tsn_dtw_sweeps *sweeps = &k->cost[options->cost];
  tsn_dtw_band_sweep *sweep = options->penalty == 0 ? sweeps->band : sweeps->band_penalty;
  size_t odd_radius = problem->radius % 2;
  size_t final = problem->n + problem->m - 2; /* the last diagonal */
  size_t end = (final + odd_radius) / 2 + 1;
  fill(problem, options, k, x, y, b);
  bool checks = isfinite(options->cutoff);
  size_t step = checks ? PAIRS_PER_CHECK : PAIRS_PER_GO;
  size_t cells = 0;
  for (size_t d = 0; d < end; d += step) {
    size_t to = end - d < step ? end : d + step;
    sweep(&b->band, d, to);
    if (checks && to < end && !any_live(&b->band, k, options->cutoff)) {
      return TSN_DTW_ABANDONED;
    }
    cells += (to - d) * b->band.vectors * k->lanes;
    if (cells >= CELLS_PER_POLL && to < end) {
      cells = 0;
      if (tsn_dtw_watch_stop(watch)) return TSN_DTW_STOPPED;
    }
  }
  size_t lane = (problem->n + problem->radius - problem->m) / 2;
  bool ends_even = (final + odd_radius) % 2 == 0;
  *distance = (ends_even ? b->band.even : b->band.odd)[lane];
  return TSN_DTW_SWEPT;
}
