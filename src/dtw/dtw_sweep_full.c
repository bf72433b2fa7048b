/* SPDX-License-Identifier: BSD-3-Clause */
/* The full sweep of dtw_sweeps.h. The steps of one strip, `width` columns wide:
 *
 *   0            delay*lanes                       width      width + delay*lanes
 *   |  handover  |              inner              |  handover of the next strip
 *
 * The last blocks finish a strip during the first steps of the next one. What they
 * pass down then is stored before column 0, and hand_over() moves it to its place. */
#include "dtw/dtw_sweeps.h"

#include <math.h>
#include <string.h>

#include "core/size.h"

typedef tsn_dtw_full full;
typedef tsn_dtw_kernels kernels;
typedef tsn_dtw_full_sweeps sweeps;
typedef tsn_dtw_strip strip;

/* Cancellation is checked after this many steps, whatever the number of strips. */
enum { STEPS_PER_POLL = 1 << 14 };

/* The depth that computes the fewest cells, padding included; of equals, the lesser: 256
 * rows are four strips of eight vectors at level v4 in double precision, but of six
 * vectors six strips, of which the last is a third full. */
static const sweeps *best_sweeps(const kernels *k, size_t n, int32_t cost) {
  const tsn_dtw_sweeps *s = &k->cost[cost];
  size_t rows = tsn_round_up(n, DEPTH * k->lanes);
  return tsn_round_up(n, DEEP * k->lanes) < rows ? &s->deep : &s->full;
}

bool tsn_dtw_full_allows(const tsn_dtw_problem *problem,
                         const tsanom_dtw_options *options, const kernels *k) {
  size_t least = 4 * k->lanes; /* shorter ones are faster by a band */
  return k->cost[options->cost].full.inner && options->dimensions == 1 &&
         options->penalty == 0 && !isfinite(options->cutoff) && problem->n >= least &&
         options->radius >= least - 1;
}

bool tsn_dtw_full_suits(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                        const kernels *k) {
  size_t n = problem->n, m = problem->m;
  bool whole = problem->radius + 1 >= tsn_larger(n, m);
  /* One handover, if any, ends before the next begins. */
  size_t rows = best_sweeps(k, n, options->cost)->depth * k->lanes;
  bool wide = m >= 2 * DELAY * k->lanes || n <= rows;
  return tsn_dtw_full_allows(problem, options, k) && tsn_dtw_problem_is_closed(problem) &&
         whole && wide;
}

void tsn_dtw_full_layout(tsn_arena *arena, const tsn_dtw_problem *problem,
                         const kernels *k, full *c) {
  size_t length = problem->m / DELAY + 1 + 2 * k->lanes;
  *c = (full){
      .x = tsn_arena_take(arena, tsn_sum(problem->n, DEEP * k->lanes), sizeof(real)),
      .columns = tsn_arena_take(arena, tsn_product(length, DELAY), sizeof(real)),
      .seam = tsn_arena_take(arena, 2 * k->lanes * DELAY, sizeof(real)),
      .column_stride = length,
      .boundary_block = tsn_dtw_boundary_layout(arena, problem->m, k),
      .state = tsn_arena_take(arena, (DEEP + DELAY + 1) * k->lanes, sizeof(real)),
  };
}

void tsn_dtw_place_rows(const real *x, size_t n, size_t stride, size_t lanes,
                        size_t depth, real *to) {
  size_t row = 0;
  for (; row < n; to += depth * lanes) {
    for (size_t lane = lanes; lane-- > 0;) {
      for (size_t u = 0; u < depth; u++, row++) {
        to[u * lanes + lane] = row < n ? x[row * stride] : 0;
      }
    }
  }
}

/* Samples of y: column j is element (j + padding) / delay of array (j + padding) % delay.
 * An array has LANES-1 infinite elements before its first one, for lanes that have not
 * reached column 0 in the first strip; after its last, zeros that are read only by lanes
 * whose cells no longer count. */
static void fill_columns(const real *y, size_t m, size_t stride, const kernels *k,
                         full *c) {
  size_t width = tsn_round_up(m, DELAY), length = width / DELAY, lanes = k->lanes;
  size_t padding = width - m;
  for (size_t f = 0; f < DELAY; f++) {
    real *column = c->columns + f * c->column_stride + lanes;
    real *seam = c->seam + f * 2 * lanes;
    size_t first = f < padding;
    const real *from = y + (first * DELAY + f - padding) * stride;
    for (size_t e = 1; e < lanes; e++) column[-(ptrdiff_t)e] = INFINITY;
    if (first) column[0] = INFINITY;
    for (size_t e = first; e < length; e++, from += DELAY * stride) column[e] = *from;
    memset(column + length, 0, (c->column_stride - lanes - length) * sizeof *column);
    memcpy(seam, column + length - lanes, lanes * sizeof *seam);
    memcpy(seam + lanes, column, lanes * sizeof *seam);
  }
}

/* Above row 0 only the empty prefix is finite: where no column is padded, the state
 * has it. */
static void fill_edges(size_t m, const kernels *k, size_t depth, full *c) {
  size_t width = tsn_round_up(m, DELAY), vectors = depth + DELAY + 1;
  for (size_t j = 0; j < width + DELAY * k->lanes; j++) c->boundary[j] = INFINITY;
  k->fill(c->state, vectors, INFINITY);
  if (width > m) {
    c->boundary[width - m - 1] = 0;
  } else {
    c->state[vectors * k->lanes - 1] = 0;
  }
}

bool tsn_dtw_sweep_polled(tsn_dtw_sweep *inner, const strip *at, size_t begin, size_t end,
                          const tsn_dtw_watch *watch, size_t *steps) {
  for (size_t step = begin, to; step < end; step = to) {
    to = tsn_smaller(end, step + STEPS_PER_POLL);
    inner(at, step, to);
    *steps += to - step;
    if (*steps < STEPS_PER_POLL) continue;
    *steps = 0;
    if (tsn_dtw_watch_stop(watch)) return false;
  }
  return true;
}

/* From the last columns of one strip to the first of that below. Afterwards all lanes are
 * in the strip below, and the boundary is complete: the last delay*(lanes-1) columns of
 * the bottom row came out at negative columns of the next strip. */
static void hand_over(const sweeps *s, const kernels *k, const full *c, size_t width,
                      const real *x_below, strip *at) {
  size_t skew = DELAY * k->lanes, late = skew - DELAY;
  strip between = *at;
  between.x_below = x_below;
  between.y = c->seam + k->lanes;
  between.column_stride = 2 * k->lanes;
  s->handover(&between, 0, skew);
  memcpy(c->boundary + width - late, c->boundary - late, late * sizeof(real));
  at->x = x_below;
}

/* The last row of the matrix is in block `block` of the last strip. The sweep ends when
 * this block, delay*block steps behind the first, has passed the last column, so that
 * its state is D(n-1, m-1). */
int tsn_dtw_full_run(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                     const kernels *k, const real *x, const real *y, full *c,
                     const tsn_dtw_watch *watch, real *distance) {
  size_t n = problem->n, lanes = k->lanes, width = tsn_round_up(problem->m, DELAY);
  const sweeps *s = best_sweeps(k, n, options->cost);
  size_t rows = s->depth * lanes, begin = 0, steps = 0;
  c->boundary = tsn_dtw_boundary(c->boundary_block, k);
  tsn_dtw_place_rows(x, n, problem->stride_x, lanes, s->depth, c->x);
  fill_columns(y, problem->m, problem->stride_y, k, c);
  fill_edges(problem->m, k, s->depth, c);
  strip at = {.squared = options->cost == TSANOM_COST_SQUARED,
              .x = c->x,
              .y = c->columns + lanes,
              .column_stride = c->column_stride,
              .boundary = c->boundary,
              .state = c->state};
  for (size_t row = rows; row < n; row += rows) {
    if (!tsn_dtw_sweep_polled(s->inner, &at, begin, width, watch, &steps))
      return TSN_DTW_STOPPED;
    hand_over(s, k, c, width, c->x + row, &at);
    begin = DELAY * lanes;
  }
  size_t last = (n - 1) % rows, block = last / s->depth;
  size_t end = width + block * DELAY;
  if (!tsn_dtw_sweep_polled(s->inner, &at, begin, end, watch, &steps))
    return TSN_DTW_STOPPED;
  *distance = c->state[last % s->depth * lanes + lanes - 1 - block];
  return TSN_DTW_SWEPT;
}
