/* SPDX-License-Identifier: BSD-3-Clause */
/* A narrow Sakoe-Chiba band: two diagonals of i-j are the whole state, a few vectors each,
 * and infinite samples around the series keep cells outside of the matrix infinite. */
#include "dtw/dtw_sweeps.h"

#include <math.h>

#include "core/size.h"

typedef tsn_dtw_band_buffers band_pair;
typedef tsn_dtw_kernels kernels;

/* Crossovers to strips, in vectors per diagonal.
 *
 * Bands of more vectors per diagonal run faster in strips, whose ends weigh less then. At
 * n = 1000, radius 100 (13 vectors of level v4) the band takes 0.142 ns a cell. At level
 * v3, with 17 vectors it takes .79 to .96 times as long as strips, with 21 .90 to 1.10, with
 * 26 .99 to 1.28 (n = 200 to 4000, AMD EPYC Zen 3); single precision is alike. Half of
 * the diagonals' cells lie outside of a whole matrix: at level v3 the band is faster by a
 * third at n = 32 (8 vectors) and slower by a sixth at n = 48. */
enum { WIDEST = 20, WIDEST_WHOLE = 8 };

/* Pairs of diagonals between two checks of the cut-off, and in one call of the kernel
 * where there is none; cells between two polls. A check reads both diagonals once. */
enum { PAIRS_PER_CHECK = 64, PAIRS_PER_GO = 1024, CELLS_PER_POLL = 1 << 19 };

/* Diagonals of a band have radius + 1 cells of one parity, or radius. */
static size_t widest_radius(const kernels *k, size_t vectors) {
  return vectors * k->lanes - 1;
}

bool tsn_dtw_band_suits(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                        const kernels *k) {
  size_t longer = tsn_larger(problem->n, problem->m);
  size_t widest = problem->radius + 1 < longer ? WIDEST : WIDEST_WHOLE;
  return tsn_dtw_band_allows(options) && tsn_dtw_problem_is_closed(problem) &&
         problem->window == TSANOM_DTW_SAKOE_CHIBA &&
         problem->radius <= widest_radius(k, widest);
}

bool tsn_dtw_band_suits_shorter(const tsn_dtw_problem *problem,
                                const tsanom_dtw_options *options, const kernels *k) {
  return tsn_dtw_band_allows(options) && tsn_dtw_problem_is_closed(problem) &&
         !options->tails && options->window == TSANOM_DTW_SAKOE_CHIBA &&
         problem->radius <= widest_radius(k, WIDEST_WHOLE);
}

/* Infinite samples on each side of a series that diagonals reach into. */
static size_t padding(const band_pair *b, const kernels *k) {
  return (b->band.vectors + 1) * k->lanes;
}

/* A band that is too wide is laid out as the widest. */
void tsn_dtw_band_layout(tsn_arena *arena, const tsn_dtw_problem *problem,
                         const kernels *k, band_pair *b) {
  b->band.vectors = tsn_smaller(problem->radius, widest_radius(k, WIDEST)) / k->lanes + 1;
  size_t both = 2 * padding(b, k);
  b->x = tsn_arena_take(arena, tsn_sum(problem->n, both), sizeof(real));
  b->y = tsn_arena_take(arena, tsn_sum(problem->m, both), sizeof(real));
  b->state = tsn_arena_take(arena, both, sizeof(real));
}

/* `count` elements, `step` apart, to consecutive ones. */
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

/* Copy the samples between their paddings, and set the state to the empty prefix: it is
 * the cell (-1,-1), with i-j = 0, in lane radius / 2 of the diagonal of that parity. The
 * walls close the lanes of the last vector that lie outside of the band. */
static void fill(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                 const kernels *k, const real *x, const real *y, band_pair *b) {
  size_t n = problem->n, m = problem->m, r = problem->radius, pad = padding(b, k);
  size_t vectors = b->band.vectors, diagonal = vectors * k->lanes;
  real *even = b->state, *odd = even + diagonal, *walls = odd + diagonal;
  k->fill(b->x, vectors + 1, INFINITY);
  k->fill(b->x + pad + n, vectors + 1, INFINITY);
  k->fill(b->y, vectors + 1, -(real)INFINITY);
  k->fill(b->y + pad + m, vectors + 1, -(real)INFINITY);
  copy(x, n, (ptrdiff_t)problem->stride_x, b->x + pad);
  copy(y + (m - 1) * problem->stride_y, m, -(ptrdiff_t)problem->stride_y, b->y + pad);
  for (size_t lane = 0, at = diagonal - k->lanes; lane < k->lanes; lane++, at++) {
    walls[lane] = at > r ? (real)INFINITY : 0;
    walls[k->lanes + lane] = at + 1 > r ? (real)INFINITY : 0;
  }
  k->fill(even, 2 * vectors, INFINITY);
  (r % 2 ? odd : even)[r / 2] = 0; /* the empty prefix */
  b->band = (tsn_dtw_band){.x = b->x + pad,
                           .y = b->y + pad + m - 1,
                           .radius = (ptrdiff_t)r,
                           .vectors = vectors,
                           .even = even,
                           .odd = odd,
                           .even_wall = walls,
                           .odd_wall = walls + k->lanes,
                           .penalty = (real)options->penalty,
                           .squared = options->cost == TSANOM_COST_SQUARED};
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

/* The pair number d is the diagonals i+j = 2d - radius % 2 and the next, so that the last
 * cell, on diagonal n+m-2, is in `even` or `odd` by parity; its lane follows from
 * i-j = n-m = 2k - radius (+ 1). */
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
