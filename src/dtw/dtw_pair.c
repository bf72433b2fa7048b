/* SPDX-License-Identifier: BSD-3-Clause */
/* Five sweeps compute the distance of a pair. In order of preference, with what a pair
 * takes without the sweep, on an AMD Zen 5:
 *
 *   tiny     few cells, such as 16 x 16: less than the others need to prepare. 188
 *            instead of 132 ns at n = 14, 216 instead of 169 ns at n = 16; in a window of
 *            radius 2 at n = 40 1.14 times as long, with open ends at n = 8 11 times and
 *            at n = 32 1.6 times (AMD EPYC Zen 4). Closed bands of radius 0, too.
 *   chain    at least 16 vectors of rows, on a processor with fast minima of integers, on
 *            one thread or as a wavefront of several; no window, or a band that is too
 *            wide for the sweep below. 1.38 times as long at n = 2000, 1.46 at n =
 *            10 000, 1.42 at n = 2000 with radius 200; in single precision 1.44, 1.55
 *            and, with radius 1000 at n = 10 000, 1.50 times. No open ends and tails; a
 *            cut-off on one thread.
 *   full     one thread, and nothing is left out: no window, open end, penalty or
 *            cut-off. Lanes pass from strip to strip without a pause. At n = 64 1.14
 *            times as long by a band, 1.44 times at level v3; at n = 256 by strips 1.16
 *            times at level v3, 1.25 in single precision.
 *   band     a closed Sakoe-Chiba band of at most 20 vectors per diagonal (radius <= 159
 *            in double precision at level v4), 8 if it is the whole matrix. Strips of
 *            wider bands waste less on the triangles at their ends than diagonals do on
 *            a shift in every vector.
 *   strips   everything else, on one thread or as a wavefront of several.
 *
 * Numbers are of double precision at level v4, where nothing else is said; docs/dtw.md
 * has the tables. All compute each cell by the same operations in the same order, so the
 * choice does not change a bit of the result. dtw_sweep_batch.c is a sixth, for many
 * pairs. */
#include "dtw/dtw_pair.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/size.h"

typedef tsn_dtw_kernels kernels;
typedef tsn_dtw_strip strip;

/* Full: nothing is left out of the matrix. As in dtw_sweep_strips.c, each lane
 * sweeps a block of rows along the columns, `delay` columns behind the lane above. But a
 * lane that has passed the last column goes on with its block of the strip below at
 * once, while the lanes below it still finish the strip (the handover):
 *
 *   lane 3   0 0 0 0 0 0 1 1 1 1 1 1 2 ...      the digit is the strip
 *   lane 2     0 0 0 0 0 0 1 1 1 1 1 1 ...
 *   lane 1       0 0 0 0 0 0 1 1 1 1 1 ...
 *   lane 0         0 0 0 0 0 0 1 1 1 1 ...
 *            steps ->      ^---^ handover
 *
 * So lanes wait for each other only at the first and at the last strip. By strips they
 * wait at each: 28 steps of every strip at level v4, a tenth of the time at n = 256.
 * Nanoseconds a cell, double precision, level v4, one thread of a Xeon with AVX-512:
 *
 *   n = 64    0.345 by a band      0.204 by this sweep
 *   n = 256   0.132 by strips      0.108
 *
 * At n = 1000 the difference is 2 % in double and 6 % in single precision.
 *
 * Columns are padded before column 0, where samples are infinite, so that their number
 * is a multiple of `delay` and every strip takes over at the same place of a turn.
 * Rows are padded after the last one, whose cell is read before theirs reach it; a
 * strip above row 0, as in dtw_sweep_strips.c, would need windows.
 *
 * The matrix is O(n*m) cells, the memory O(n + m).
 *
 * The steps of one strip, `width` columns wide:
 *
 *   0            delay*lanes                       width      width + delay*lanes
 *   |  handover  |              inner              |  handover of the next strip
 *
 * The last blocks finish a strip during the first steps of the next one. What they
 * pass down then is stored before column 0, and hand_over() moves it to its place. */

/* Cancellation is checked after this many steps, whatever the number of strips. */
enum { STEPS_PER_POLL = 1 << 14 };

/* The depth that computes the fewest cells, padding included; of equals, the lesser: 256
 * rows are four strips of eight vectors at level v4 in double precision, but of six
 * vectors six strips, of which the last is a third full. */
static const tsn_dtw_full_sweeps *best_sweeps(const kernels *k, size_t n, int32_t cost) {
  const tsn_dtw_sweeps *s = &k->cost[cost];
  size_t rows = tsn_round_up(n, DEPTH * k->lanes);
  return tsn_round_up(n, DEEP * k->lanes) < rows ? &s->deep : &s->full;
}

static bool full_allows(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                        const kernels *k) {
  size_t least = 4 * k->lanes; /* shorter ones are faster by a band */
  return k->cost[options->cost].full.inner && options->dimensions == 1 &&
         options->penalty == 0 && !isfinite(options->cutoff) && problem->n >= least &&
         options->radius >= least - 1;
}

/* No cell is left out, so windows, open ends and cut-offs do not suit it. */
static bool full_suits(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                       const kernels *k) {
  size_t n = problem->n, m = problem->m;
  bool whole = problem->radius + 1 >= tsn_larger(n, m);
  /* One handover, if any, ends before the next begins. */
  size_t rows = best_sweeps(k, n, options->cost)->depth * k->lanes;
  bool wide = m >= 2 * DELAY * k->lanes || n <= rows;
  return full_allows(problem, options, k) && tsn_dtw_problem_is_closed(problem) &&
         whole && wide;
}

static void full_layout(tsn_arena *arena, const tsn_dtw_problem *problem,
                        const kernels *k, tsn_dtw_full *c) {
  size_t length = problem->m / DELAY + 1 + 2 * k->lanes;
  *c = (tsn_dtw_full){
      .x = tsn_arena_take(arena, tsn_sum(problem->n, DEEP * k->lanes), sizeof(real)),
      .columns = tsn_arena_take(arena, tsn_product(length, DELAY), sizeof(real)),
      .seam = tsn_arena_take(arena, 2 * k->lanes * DELAY, sizeof(real)),
      .column_stride = length,
      .boundary_block = tsn_dtw_boundary_layout(arena, problem->m, k),
      .state = tsn_arena_take(arena, (DEEP + DELAY + 1) * k->lanes, sizeof(real)),
  };
}

/* Samples of x in the order of the kernels, strip by strip, top block in the last lane.
 * Rows after the last one get any finite sample: nothing reads their cells. */
static void place_rows(const real *x, size_t n, size_t stride, size_t lanes, size_t depth,
                       real *to) {
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
static void full_columns(const real *y, size_t m, size_t stride, const kernels *k,
                         tsn_dtw_full *c) {
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
static void full_edges(size_t m, const kernels *k, size_t depth, tsn_dtw_full *c) {
  size_t width = tsn_round_up(m, DELAY), vectors = depth + DELAY + 1;
  for (size_t j = 0; j < width + DELAY * k->lanes; j++) c->boundary[j] = INFINITY;
  k->fill(c->state, vectors, INFINITY);
  if (width > m) {
    c->boundary[width - m - 1] = 0;
  } else {
    c->state[vectors * k->lanes - 1] = 0;
  }
}

/* Inner steps begin ... end-1; whether to go on. `steps` counts those since the last
 * poll. */
static bool sweep_polled(tsn_dtw_sweep *inner, const strip *at, size_t begin, size_t end,
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
static void hand_over(const tsn_dtw_full_sweeps *s, const kernels *k,
                      const tsn_dtw_full *c, size_t width, const real *x_below,
                      strip *at) {
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
static int full_run(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                    const kernels *k, const real *x, const real *y, tsn_dtw_full *c,
                    const tsn_dtw_watch *watch, real *distance) {
  size_t n = problem->n, lanes = k->lanes, width = tsn_round_up(problem->m, DELAY);
  const tsn_dtw_full_sweeps *s = best_sweeps(k, n, options->cost);
  size_t rows = s->depth * lanes, begin = 0, steps = 0;
  c->boundary = tsn_dtw_boundary(c->boundary_block, k);
  place_rows(x, n, problem->stride_x, lanes, s->depth, c->x);
  full_columns(y, problem->m, problem->stride_y, k, c);
  full_edges(problem->m, k, s->depth, c);
  strip at = {.squared = options->cost == TSANOM_COST_SQUARED,
              .x = c->x,
              .y = c->columns + lanes,
              .column_stride = c->column_stride,
              .boundary = c->boundary,
              .state = c->state};
  for (size_t row = rows; row < n; row += rows) {
    if (!sweep_polled(s->inner, &at, begin, width, watch, &steps)) return TSN_DTW_STOPPED;
    hand_over(s, k, c, width, c->x + row, &at);
    begin = DELAY * lanes;
  }
  size_t last = (n - 1) % rows, block = last / s->depth;
  size_t end = width + block * DELAY;
  if (!sweep_polled(s->inner, &at, begin, end, watch, &steps)) return TSN_DTW_STOPPED;
  *distance = c->state[last % s->depth * lanes + lanes - 1 - block];
  return TSN_DTW_SWEPT;
}

/* Chain: staggered sweeps (dtw_staggered.h), without a window or in a Sakoe-Chiba band
 * that is too wide to go by its diagonals. Strips follow each other
 * without a pause, as in the full sweep: a lane whose block has passed its last column
 * goes on with its block of the strip below. Steps of a strip, `period` in all:
 *
 *   0          last switch    handover                       period
 *   |  lanes go over  |  rows begin  |         inner           |  handover below
 *
 * In a band the block of lane b, whose rows begin a column after each other, begins
 * depth + delay steps after that of lane b-1. Between the last cell of a row in one strip
 * and its first in the next there is a gap in which its cost is infinite:
 *
 *   row u of block b      old strip | gap ...... | new strip
 *   step - u - pitch b          shift        shift + gap       pitch = depth + delay
 *
 * so that windows cost one maximum in the steps of a handover and nothing elsewhere. All
 * strips have the same steps; strip t is t * rows columns to the right. Samples of y are
 * infinite outside of the matrix, hence no window is cut off at its edges.
 *
 * Several threads sweep the strips in turns, each in tiles behind that above
 * (tsn_dtw_progress), as in dtw_wavefront.c:
 *
 *   thread 0   strip 0 ========== strip 2 ========== ...
 *   thread 1     strip 1 ========== strip 3 ==========
 *
 * They pass one row of each strip to each other. Tiles of some hundred steps hide that:
 * n = 50 000, radius 5000 takes 0.0488 ns a cell on one thread and 0.0261 on two; two
 * separate calls at once come to 0.0252.
 *
 * Nanoseconds a cell, double precision, one thread of an AMD Zen 5, level v4:
 *
 *                          strips   full    chain
 *   n = 2000                  -     0.075   0.051
 *   n = 2000, radius 200    0.100     -     0.071
 *
 * By strips a penalty takes 2.3 times as long, two components 1.7 times, a cut-off that
 * never applies 1.45 times (n = 1000, AMD EPYC Zen 4).
 *
 * The matrix is O(n m) cells, the memory O(n + m).
 *
 * Columns of y and of the boundary are counted from the first column of strip 0, which is
 * `origin` columns left of column 0 of the matrix: place = column + origin. Strip t begins
 * at place t * advance. */

/* Of a tile of several threads. */
enum { LEAST_STEPS = 128, MOST_STEPS = 2048 };

/* The steps of a strip; all but the shift and the gap are multiples of the delay. */
typedef struct {
  bool band;
  size_t rows, advance, period, origin;
  size_t shift, gap;
  size_t pitch;    /* steps from the switch of a lane to that of the next */
  size_t first;    /* step in which the uppermost lane is switched */
  size_t handover; /* steps */
  size_t rest;     /* steps after the period until the lowest lane has ended */
} plan;

/* No window: before column 0 are one to `delay` columns of infinite cost, which are to
 * the left of the first cells of the strip below as well. */
static plan plan_whole(const tsn_dtw_problem *problem, size_t lanes) {
  size_t period = tsn_round_up(problem->m + 1, STAGGERED_DELAY);
  return (plan){.rows = DEEP * lanes,
                .period = period,
                .origin = period - problem->m,
                .pitch = STAGGERED_DELAY,
                .handover = STAGGERED_DELAY * (lanes - 1),
                .rest = STAGGERED_DELAY * (lanes - 1)};
}

/* A band: lane 0 is switched at `first`, after the last cell of its last row, in step
 * shift + depth - 2, and before the diagonal predecessor of its first cell, which takes
 * step shift + gap - 1. The shift makes the last column of the matrix end a turn. */
static plan plan_band(const tsn_dtw_problem *problem, size_t lanes) {
  size_t window = 2 * problem->radius + 1;
  plan p = {.band = true,
            .rows = DEEP * lanes,
            .advance = DEEP * lanes,
            .pitch = DEEP + STAGGERED_DELAY,
            .period = tsn_round_up(window + DEEP + 1, STAGGERED_DELAY)};
  for (;; p.period += STAGGERED_DELAY) {
    p.gap = p.period - window;
    size_t unshifted = problem->m + problem->radius + p.gap;
    p.shift = tsn_round_up(unshifted, STAGGERED_DELAY) - unshifted;
    p.first = tsn_round_up(p.shift + DEEP - 1, STAGGERED_DELAY);
    if (p.first < p.shift + p.gap) break;
  }
  p.origin = problem->radius + p.gap + p.shift;
  p.rest = p.first + p.pitch * (lanes - 1);
  p.handover = tsn_round_up(p.origin - problem->radius + p.pitch * (lanes - 1) + DEEP,
                            STAGGERED_DELAY);
  return p;
}

static plan plan_of(const tsn_dtw_problem *problem, size_t lanes) {
  bool whole = problem->radius + 1 >= tsn_larger(problem->n, problem->m);
  return whole ? plan_whole(problem, lanes) : plan_band(problem, lanes);
}

static bool chain_allows(const tsanom_dtw_options *options, const kernels *k) {
  return tsn_dtw_staggers(k) && !options->tails;
}

/* What lane 0 leaves during a handover is moved before the uppermost lane reads it, and
 * rows of strip 0 that begin late are left of the matrix until then. */
static bool chain_suits(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                        const kernels *k) {
  size_t lanes = k->lanes, skew = STAGGERED_DELAY * (lanes - 1);
  size_t least = 16 * lanes; /* rows: the full sweep is faster with fewer */
  if (!chain_allows(options, k) || !tsn_dtw_problem_is_closed(problem) ||
      problem->window != TSANOM_DTW_SAKOE_CHIBA || problem->n < least) {
    return false;
  }
  plan p = plan_of(problem, lanes);
  bool wide = p.period >= p.handover + skew + p.advance;
  return wide && (!p.band || p.period <= problem->m);
}

/* Places of columns, and those beyond that lanes reach into, in vectors. */
static size_t vectors_of_places(const tsn_dtw_problem *problem, const kernels *k) {
  return (problem->n + problem->m) / k->lanes + 3 * DEEP + 1;
}

/* Elements of a boundary before place 0, which lanes write to. */
static size_t margin(const kernels *k) {
  return (STAGGERED_DELAY + 1) * k->lanes;
}

static size_t boundary_vectors(const tsn_dtw_problem *problem, const kernels *k) {
  return vectors_of_places(problem, k) + 2 * (STAGGERED_DELAY + 1);
}

/* No handover has more steps than this. */
static size_t longest_handover(const kernels *k) {
  return (DEEP + STAGGERED_DELAY) * (k->lanes + 2);
}

static size_t strips_of(const tsn_dtw_problem *problem, const kernels *k) {
  return (problem->n - 1) / (DEEP * k->lanes) + 1;
}

/* Vectors of the state of one thread; lanes of the longest vector. */
enum { STATE = DEEP + STAGGERED_DELAY + 1, VECTOR_MOST = 16 };

static void chain_layout(tsn_arena *arena, const tsn_dtw_problem *problem,
                         const tsanom_dtw_options *options, const kernels *k, int threads,
                         tsn_dtw_chain *c) {
  size_t rows = problem->n + DEEP * k->lanes;
  size_t vectors = vectors_of_places(problem, k) / STAGGERED_DELAY + 1;
  size_t length = (vectors + 2) * k->lanes,
         columns = tsn_product(length, STAGGERED_DELAY);
  size_t costs = TURNS_KEPT * STAGGERED_DELAY * DEEP * k->lanes;
  bool general = options->dimensions > 1 || options->penalty > 0;
  *c = (tsn_dtw_chain){
      .x = tsn_arena_take(arena, tsn_product(rows, options->dimensions), sizeof(real)),
      .columns =
          tsn_arena_take(arena, tsn_product(columns, options->dimensions), sizeof(real)),
      .column_stride = length,
      .dimension_stride = columns,
      .boundary =
          tsn_arena_take(arena, boundary_vectors(problem, k) * k->lanes, sizeof(real)),
      .state = tsn_arena_take(arena, STATE * k->lanes * (size_t)threads, sizeof(real)),
      .walls = tsn_arena_take(arena, (longest_handover(k) + 2 * DEEP) * k->lanes,
                              sizeof(real)),
      .costs =
          general ? tsn_arena_take(arena, costs * (size_t)threads, sizeof(real)) : NULL,
      .below = tsn_arena_take(arena, longest_handover(k) / STAGGERED_DELAY + 1,
                              sizeof *c->below),
      .progress = threads > 1
                      ? tsn_arena_take(arena, strips_of(problem, k), sizeof *c->progress)
                      : NULL,
  };
}

/* Strip by strip, the dimensions of each one after another. */
static void chain_rows(const tsn_dtw_problem *problem, size_t dimensions, const real *x,
                       const kernels *k, tsn_dtw_chain *c) {
  size_t rows = DEEP * k->lanes;
  real *to = c->x;
  for (size_t row = 0; row < problem->n; row += rows) {
    for (size_t d = 0; d < dimensions; d++, to += rows) {
      place_rows(x + row * problem->stride_x + d, tsn_smaller(problem->n - row, rows),
                 problem->stride_x, k->lanes, DEEP, to);
    }
  }
}

/* Samples of y: that of place p is element p / delay of array p % delay. Elsewhere they
 * are infinite. */
static void chain_columns(const tsn_dtw_problem *problem, size_t dimensions,
                          const real *y, size_t origin, const kernels *k,
                          tsn_dtw_chain *c) {
  k->fill(c->columns, c->dimension_stride / k->lanes * dimensions, INFINITY);
  for (size_t d = 0; d < dimensions; d++) {
    real *columns = c->columns + d * c->dimension_stride + k->lanes;
    for (size_t j = 0; j < problem->m; j++) {
      size_t place = j + origin;
      columns[place % STAGGERED_DELAY * c->column_stride + place / STAGGERED_DELAY] =
          y[j * problem->stride_y + d];
    }
  }
}

/* Above row 0 only the empty prefix is finite. */
static void chain_edges(const tsn_dtw_problem *problem, const plan *p, const kernels *k,
                        tsn_dtw_chain *c) {
  k->fill(c->boundary, boundary_vectors(problem, k), INFINITY);
  c->boundary[margin(k) + p->origin - 1] = 0;
}

/* Lanes that are in the strip below, by turn: the uppermost ones, which are the last. */
static void chain_below(const plan *p, const kernels *k, tsn_dtw_chain *c) {
  for (size_t turn = 0; turn <= p->handover / STAGGERED_DELAY; turn++) {
    size_t step = turn * STAGGERED_DELAY;
    size_t switched = step < p->first ? 0 : (step - p->first) / p->pitch + 1;
    size_t above = k->lanes - tsn_smaller(switched, k->lanes);
    c->below[turn] = (uint16_t)((unsigned)UINT16_MAX << above);
  }
}

/* Infinite in the gap of a lane, whose steps are those of row 0 of the block. */
static void chain_walls(const plan *p, const kernels *k, tsn_dtw_chain *c) {
  k->fill(c->walls, p->handover + 2 * DEEP, 0);
  if (!p->band) return;
  for (size_t b = 0; b < k->lanes; b++) {
    real *wall = c->walls + k->lanes - 1 - b;
    size_t begin = p->shift + p->pitch * b + DEEP - 1;
    for (size_t e = begin; e < begin + p->gap; e++) wall[e * k->lanes] = INFINITY;
  }
}

/* One sweep. Thread i of T sweeps the strips i, i + T, i + 2T, ... */
typedef struct {
  const tsn_dtw_problem *problem;
  const kernels *kernels;
  tsn_dtw_chain_sweeps sweeps;
  const tsanom_dtw_options *options;
  const tsn_dtw_chain *chain;
  const tsn_dtw_watch *watch;
  plan plan;
  tsn_dtw_progress progress;
  size_t strips;
  size_t last_end;   /* steps of the last strip */
  bool abandoned;    /* by a single thread */
  const real *state; /* out: of the last strip when it has ended */
} run;

/* One thread of a sweep. */
typedef struct {
  run *run;
  size_t thread, threads;
  size_t steps; /* since the last poll */
  tsn_dtw_watch watch;
} worker;

/* As many vectors for each thread. */
static real *costs_of(const worker *w) {
  size_t costs = TURNS_KEPT * STAGGERED_DELAY * DEEP * w->run->kernels->lanes;
  return w->run->chain->costs ? w->run->chain->costs + w->thread * costs : NULL;
}

static real *state_of(const worker *w) {
  return w->run->chain->state + w->thread * STATE * w->run->kernels->lanes;
}

/* Strip t; its step 0 is in the place that it begins at. */
static strip strip_at(const worker *w, size_t t) {
  const run *r = w->run;
  const tsn_dtw_chain *c = r->chain;
  size_t lanes = r->kernels->lanes, place = t * r->plan.advance;
  return (strip){.dimensions = r->options->dimensions,
                 .penalty = (real)r->options->penalty,
                 .squared = r->options->cost == TSANOM_COST_SQUARED,
                 .costs = costs_of(w),
                 .x = c->x + t * r->plan.rows * r->options->dimensions,
                 .dimension_stride = c->dimension_stride,
                 .y = c->columns + lanes + place / STAGGERED_DELAY,
                 .column_stride = c->column_stride,
                 .boundary = c->boundary + margin(r->kernels) + place,
                 .state = state_of(w),
                 .below = c->below,
                 .walls = c->walls};
}

/* Steps by which a strip is behind the one above, at least: until its lowest lane has
 * passed the column, and a turn, because sweeps read an element ahead. */
static size_t lag(const plan *p, size_t lanes) {
  return p->advance + STAGGERED_DELAY * lanes;
}

/* Wait until steps before `end` of strip t can be swept; false if the call is over. */
static bool wait_above(const run *r, size_t t, size_t end) {
  return tsn_dtw_progress_wait(&r->progress, t, end + lag(&r->plan, r->kernels->lanes));
}

/* Steps of a tile. All threads have strips under way if as many tiles and lags fit into
 * a strip; half of that allows for threads that are late. */
static size_t tile_steps(const worker *w) {
  const plan *p = &w->run->plan;
  if (w->threads == 1) return p->period + w->run->last_end;
  size_t share = (p->period - p->handover) / (2 * w->threads);
  size_t steps = share - tsn_smaller(share, lag(p, w->run->kernels->lanes));
  steps = tsn_smaller(steps, MOST_STEPS) / STAGGERED_DELAY * STAGGERED_DELAY;
  return tsn_larger(steps, LEAST_STEPS);
}

/* Steps 0 ... end-1 of strip t, in which the thread takes over from its last strip, or
 * begins with its first, where only the windows matter. The uppermost lane still reads
 * the boundary of the strip above until it is switched. Afterwards what the lowest lane
 * left for that strip goes where it belongs. */
static void take_over(const worker *w, size_t t, size_t end) {
  const run *r = w->run;
  const plan *p = &r->plan;
  strip at = strip_at(w, t), above = at;
  size_t skew = STAGGERED_DELAY * (r->kernels->lanes - 1);
  bool first = t < w->threads;
  if (!first) {
    above = strip_at(w, t - w->threads);
    memcpy(at.boundary, above.boundary + p->period, p->first * sizeof(real));
  }
  at.x_below = at.x;
  at.y_below = at.y;
  at.x = above.x;
  at.y = first ? at.y : above.y + p->period / STAGGERED_DELAY;
  r->sweeps.handover(&at, 0, end);
  if (first) return;
  memmove(above.boundary + p->period - skew, at.boundary - skew, p->rest * sizeof(real));
  tsn_dtw_progress_set(&r->progress, t - w->threads, SIZE_MAX);
}

/* Whether a cell of the last row of strip t, which all paths cross, is within the cut-off.
 */
static bool chain_is_live(const run *r, size_t t) {
  size_t first, last, lanes = r->kernels->lanes;
  real least[VECTOR_MOST];
  tsn_dtw_window_row(r->problem, (t + 1) * r->plan.rows - 1, &first, &last);
  const real *row = r->chain->boundary + margin(r->kernels) + r->plan.origin;
  while (first <= last && (last + 1 - first) % lanes != 0) {
    if ((double)row[first++] <= r->options->cutoff) return true;
  }
  if (first > last) return false;
  r->kernels->least(row + first, (last + 1 - first) / lanes, least);
  for (size_t lane = 0; lane < lanes; lane++) {
    if ((double)least[lane] <= r->options->cutoff) return true;
  }
  return false;
}

/* Steps of a strip after its period, in which the windows of rows end. */
static void sweep_end(const run *r, strip at, size_t end) {
  size_t period = r->plan.period;
  at.boundary += period;
  at.y += period / STAGGERED_DELAY;
  at.x_below = at.x;
  at.y_below = at.y;
  r->sweeps.handover(&at, 0, end - period);
}

/* Steps begin ... end-1 of strip t, in which all lanes are there. */
static bool sweep_inner(worker *w, size_t t, const strip *at, size_t begin, size_t end) {
  const run *r = w->run;
  size_t tile = tile_steps(w);
  for (size_t step = begin, to; step < end; step = to) {
    to = tsn_smaller(end, step + tile);
    if (!wait_above(r, t, to) ||
        !sweep_polled(r->sweeps.inner, at, step, to, &w->watch, &w->steps)) {
      return false;
    }
    tsn_dtw_progress_set(&r->progress, t, to);
  }
  return true;
}

/* The last strip of a thread goes on until its lowest lane has ended; the last of all
 * until the last row has. Returns whether to go on. */
static bool sweep_strip(worker *w, size_t t) {
  run *r = w->run;
  const plan *p = &r->plan;
  bool begins = p->band || t >= w->threads, ends = t + w->threads >= r->strips;
  size_t end = t + 1 == r->strips ? r->last_end : p->period + (ends ? p->rest : 0);
  size_t inner = p->band ? tsn_smaller(end, p->period) : end;
  size_t begin = begins ? tsn_smaller(p->handover, end) : 0;
  strip at = strip_at(w, t);
  if (begins) {
    if (!wait_above(r, t, begin)) return false;
    take_over(w, t, begin);
    if (t > 0 && isfinite(r->options->cutoff) && !chain_is_live(r, t - 1)) {
      r->abandoned = true;
      return false;
    }
  }
  if (!sweep_inner(w, t, &at, begin, inner)) return false;
  if (!ends) return true;
  if (inner < end) {
    if (!wait_above(r, t, end)) return false;
    sweep_end(r, at, end);
  }
  tsn_dtw_progress_set(&r->progress, t, SIZE_MAX);
  if (t + 1 == r->strips) r->state = at.state;
  return true;
}

static void run_strips(void *context, int thread, int threads) {
  run *r = context;
  worker w = {
      .run = r, .thread = (size_t)thread, .threads = (size_t)threads, .watch = *r->watch};
  w.watch.polls = w.watch.polls && thread == 0;
  r->kernels->fill(state_of(&w), STATE, INFINITY);
  for (size_t t = w.thread; t < r->strips && sweep_strip(&w, t); t += w.threads) continue;
}

/* The most threads that can be under way: a tile and a lag of each fit into a strip. Then
 * no thread waits for itself: when it ends a strip, the strips below can go on until the
 * last of them allows it to take over the next one. */
static int threads_for(const plan *p, size_t lanes, int threads) {
  size_t most = (p->period - p->handover) / (LEAST_STEPS + lag(p, lanes));
  return (int)tsn_larger(tsn_smaller(most, (size_t)threads), 1);
}

/* The last row of the matrix is in block `block` of the last strip. The sweep ends when
 * this block has passed the last column, so that its state is D(n-1, m-1). */
static int chain_run(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                     const kernels *k, const real *x, const real *y, tsn_dtw_chain *c,
                     int threads, const tsn_dtw_watch *watch, real *distance) {
  run r = {.problem = problem,
           .kernels = k,
           .sweeps = k->cost[options->cost].chain,
           .options = options,
           .chain = c,
           .watch = watch,
           .plan = plan_of(problem, k->lanes),
           .strips = strips_of(problem, k)};
  const plan *p = &r.plan;
  size_t last = (problem->n - 1) % p->rows, block = last / DEEP;
  r.last_end =
      p->origin + problem->m - (r.strips - 1) * p->advance + STAGGERED_DELAY * block;
  if (c->costs) {
    r.sweeps.inner = options->dimensions == 1 ? r.sweeps.penalty : r.sweeps.general;
    r.sweeps.handover = r.sweeps.general;
  }
  chain_rows(problem, options->dimensions, x, k, c);
  chain_columns(problem, options->dimensions, y, p->origin, k, c);
  chain_edges(problem, p, k, c);
  chain_below(p, k, c);
  chain_walls(p, k, c);
  threads = threads_for(p, k->lanes, threads);
  r.progress =
      (tsn_dtw_progress){.steps = threads > 1 ? c->progress : NULL, .stop = watch->stop};
  tsn_dtw_progress_clear(&r.progress, r.strips);
  tsn_team_run(threads, run_strips, &r);
  if (r.abandoned) return TSN_DTW_ABANDONED;
  if (!r.state) return TSN_DTW_STOPPED;
  *distance = r.state[last % DEEP * k->lanes + k->lanes - 1 - block];
  return TSN_DTW_SWEPT;
}

/* Band: a narrow Sakoe-Chiba band, diagonal by diagonal. Cells of one
 * diagonal i+j do not depend on each other, so the band's diagonals are the vectors:
 *
 *      j ->                       lane of the even diagonals: k, i-j = 2k - radius
 *   i  o e . . .                  of the odd ones:            k, i-j = 2k + 1 - radius
 *   |  e o e . .
 *   v  . e o e .                  D(even) needs the odd one before and itself,
 *      . . e o e                  D(odd) the even one before and itself
 *
 * A diagonal is split by parity: from (i,j) the steps to (i-1,j) and (i,j-1) change i-j
 * by one, the step to (i-1,j-1) does not. In lanes:
 *
 *   even lane k:   diagonal even k,   above odd k-1,   left odd k
 *   odd lane k:    diagonal odd k,    above even k,    left even k+1
 *
 * Two diagonals are the whole state; no row begins or ends. Each vector of cells costs a
 * shift more than in strips (six operations for five), which in turn compute the
 * triangles at the ends of each strip. */

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

/* Samples of several dimensions would need a padding and a load for each. */
static bool band_allows(const tsanom_dtw_options *options) {
  return options->dimensions == 1;
}

/* Up to 20 vectors per diagonal, 8 if the band is the whole matrix. */
static bool band_suits(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                       const kernels *k) {
  size_t longer = tsn_larger(problem->n, problem->m);
  size_t widest = problem->radius + 1 < longer ? WIDEST : WIDEST_WHOLE;
  return band_allows(options) && tsn_dtw_problem_is_closed(problem) &&
         problem->window == TSANOM_DTW_SAKOE_CHIBA &&
         problem->radius <= widest_radius(k, widest);
}

/* Whether it suits the problem and all problems of shorter series with these options. */
static bool band_suits_shorter(const tsn_dtw_problem *problem,
                               const tsanom_dtw_options *options, const kernels *k) {
  return band_allows(options) && tsn_dtw_problem_is_closed(problem) && !options->tails &&
         options->window == TSANOM_DTW_SAKOE_CHIBA &&
         problem->radius <= widest_radius(k, WIDEST_WHOLE);
}

/* Infinite samples on each side of a series that diagonals reach into. */
static size_t band_padding(const tsn_dtw_band_buffers *b, const kernels *k) {
  return (b->band.vectors + 1) * k->lanes;
}

/* A band that is too wide is laid out as the widest. */
static void band_layout(tsn_arena *arena, const tsn_dtw_problem *problem,
                        const kernels *k, tsn_dtw_band_buffers *b) {
  b->band.vectors = tsn_smaller(problem->radius, widest_radius(k, WIDEST)) / k->lanes + 1;
  size_t both = 2 * band_padding(b, k);
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
static void band_fill(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                      const kernels *k, const real *x, const real *y,
                      tsn_dtw_band_buffers *b) {
  size_t n = problem->n, m = problem->m, r = problem->radius, pad = band_padding(b, k);
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
static bool band_is_live(const tsn_dtw_band *band, const kernels *k, double cutoff) {
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
static int band_run(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                    const kernels *k, const real *x, const real *y,
                    tsn_dtw_band_buffers *b, const tsn_dtw_watch *watch, real *distance) {
  const tsn_dtw_sweeps *sweeps = &k->cost[options->cost];
  tsn_dtw_band_sweep *sweep = options->penalty == 0 ? sweeps->band : sweeps->band_penalty;
  size_t odd_radius = problem->radius % 2;
  size_t final = problem->n + problem->m - 2; /* the last diagonal */
  size_t end = (final + odd_radius) / 2 + 1;
  band_fill(problem, options, k, x, y, b);
  bool checks = isfinite(options->cutoff);
  size_t step = checks ? PAIRS_PER_CHECK : PAIRS_PER_GO;
  size_t cells = 0;
  for (size_t d = 0; d < end; d += step) {
    size_t to = end - d < step ? end : d + step;
    sweep(&b->band, d, to);
    if (checks && to < end && !band_is_live(&b->band, k, options->cutoff)) {
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

static void swap(size_t *a, size_t *b) {
  size_t old = *a;
  *a = *b;
  *b = old;
}

/* Rows become columns. D is symmetric in the two series if the open ends change places,
 * too; its windows are symmetric in i and j. */
static void transpose(tsn_dtw_pair *p) {
  tsn_dtw_problem *q = &p->problem;
  const real *x = p->x;
  p->x = p->y;
  p->y = x;
  swap(&q->n, &q->m);
  swap(&q->stride_x, &q->stride_y);
  swap(&q->open_begin_x, &q->open_begin_y);
  swap(&q->open_end_x, &q->open_end_y);
}

/* Narrow bands have to wait for each diagonal, whose shift crosses lanes in long vectors:
 * the short vectors of the level base are faster, as long as two of them hold a diagonal.
 * With four, n = 64 with radius 6 takes .56 instead of .43 us on an AMD Zen 5; at level v3
 * radius 4 to 7 1.3 to 1.7 times as long at n = 48 to 100, 1.13 to 1.25 times at n = 600
 * (AMD EPYC Zen 3). */
static const tsn_dtw_kernels *kernels_for_band(const tsn_dtw_problem *problem,
                                               const kernels *k) {
  const tsn_dtw_kernels *base = tsn_dtw_kernels_at(TSANOM_ISA_BASE);
  return problem->radius < 2 * base->lanes ? base : k;
}

tsanom_status tsn_dtw_pair_init(tsn_dtw_pair *p, const tsn_dtw_operand *x,
                                const tsn_dtw_operand *y,
                                const tsn_dtw_settings *settings, bool keep_order,
                                int threads) {
  if (!tsn_dtw_length_fits(x->count) || !tsn_dtw_length_fits(y->count)) {
    return TSANOM_E_OVERFLOW;
  }
  p->x = x->samples;
  p->y = y->samples;
  p->options = &settings->options;
  p->threads = threads;
  p->kernels = tsn_dtw_kernels_of(settings);
  tsanom_status status =
      tsn_dtw_problem_init(&p->problem, x->count, y->count, p->options);
  /* Both windows are the same, and only one of them has all sweeps. */
  if (x->count == y->count || p->problem.radius + 1 >= tsn_larger(x->count, y->count)) {
    p->problem.window = TSANOM_DTW_SAKOE_CHIBA;
  }
  p->problem.stride_x = x->stride;
  p->problem.stride_y = y->stride;
  /* A few long strips are swept faster than many short ones. */
  if (x->count > y->count && !keep_order) transpose(p);
  p->band_kernels = kernels_for_band(&p->problem, p->kernels);
  p->tiny = tsn_dtw_tiny_suits(&p->problem, p->options, p->kernels);
  return status;
}

/* A wavefront needs one sweeper for each strip that a thread has under way, and a place
 * to publish the progress of every strip; one thread needs one sweeper. */
static void strips_layout(tsn_arena *arena, tsn_dtw_pair *p) {
  tsn_dtw_strips_buffers *b = &p->strips;
  const tsanom_dtw_options *o = p->options;
  size_t threads = (size_t)p->threads;
  tsn_arena one = tsn_arena_measure();
  tsn_dtw_sweeper sweeper;
  tsn_dtw_strips_layout(arena, &p->problem, o, p->kernels, &b->matrix);
  b->boundary = tsn_dtw_boundary_layout(arena, p->problem.m, p->kernels);
  tsn_dtw_sweeper_layout(&one, o, p->kernels, &sweeper);
  b->sweeper_bytes = one.used;
  b->sweepers = tsn_dtw_take_blocks(
      arena, threads > 1 ? threads * TSN_DTW_STRIPS_TOGETHER : 1, &one);
  bool open_end = o->open_end_x || o->open_end_y;
  b->last_column = open_end ? tsn_arena_take(arena, p->problem.n, sizeof(real)) : NULL;
  b->progress =
      threads > 1 ? tsn_arena_take(arena, b->matrix.count, sizeof *b->progress) : NULL;
}

/* Let `arena` reach as far as `other`, which started at the same place: the buffers of
 * the sweeps overlay each other, since one call runs one of them. */
static void cover(tsn_arena *arena, const tsn_arena *other) {
  arena->used = tsn_larger(arena->used, other->used);
  arena->overflow |= other->overflow;
}

/* The sweep is chosen by the lengths, too: a shorter pair may have a narrower band, or
 * no open ends. So the memory has to hold each kind that the options allow. */
void tsn_dtw_pair_layout(tsn_arena *arena, void *pair) {
  tsn_dtw_pair *p = pair;
  tsn_arena chain = *arena, full = *arena, band = *arena;
  if (p->tiny) return;
  if (!band_suits_shorter(&p->problem, p->options, p->band_kernels)) {
    strips_layout(arena, p);
  }
  if (chain_allows(p->options, p->kernels)) {
    chain_layout(&chain, &p->problem, p->options, p->kernels, p->threads, &p->chain);
    cover(arena, &chain);
  }
  if (full_allows(&p->problem, p->options, p->kernels)) {
    full_layout(&full, &p->problem, p->kernels, &p->full);
    cover(arena, &full);
  }
  if (band_allows(p->options)) {
    band_layout(&band, &p->problem, p->band_kernels, &p->band);
    cover(arena, &band);
  }
}

/* The least of the cells in which a path may end. */
static real best_end(const tsn_dtw_problem *p, const real *boundary,
                     const real *last_column) {
  size_t first, last, open = p->m - 1 - p->open_end_y;
  real best = INFINITY;
  tsn_dtw_window_row(p, p->n - 1, &first, &last);
  for (size_t j = tsn_larger(first, open); j <= last; j++) {
    if (boundary[j] < best) best = boundary[j];
  }
  for (size_t k = 0; last_column && k < p->open_end_x; k++) {
    if (last_column[k] < best) best = last_column[k];
  }
  return best;
}

/* Number of threads worth using. A wavefront is faster than one thread from about
 * 16 000 steps of a strip per thread on, and needs two strips for each. */
static int threads_of(const tsn_dtw_pair *p, size_t depth) {
  enum { STEPS_PER_THREAD = 1 << 14 };
  if (p->threads == 1) return 1;
  const tsn_dtw_problem *q = &p->problem;
  size_t rows = depth * p->kernels->lanes;
  size_t strips = q->n / rows + (q->n % rows != 0);
  size_t width = q->radius < q->m / 2 ? 2 * q->radius : q->m;
  size_t most = width / STEPS_PER_THREAD * strips +
                strips * (width % STEPS_PER_THREAD) / STEPS_PER_THREAD;
  most = tsn_smaller(most, strips / 2);
  return most < 2 ? 1 : (int)tsn_smaller(most, (size_t)p->threads);
}

/* By strips; the distance is the least of the last row and, with an open end, of the last
 * column. */
static int sweep_strips(tsn_dtw_pair *p, const double *tail, const tsn_dtw_watch *watch,
                        real *distance) {
  tsn_dtw_strips_buffers *b = &p->strips;
  real *boundary = tsn_dtw_boundary(b->boundary, p->kernels);
  real *last_column = p->problem.open_end_x ? b->last_column : NULL;
  tsn_dtw_strips_fill(&b->matrix, p->x, p->y);
  tsn_dtw_top_edge(&b->matrix, boundary);
  int threads = threads_of(p, DEPTH);
  tsn_dtw_wavefront wavefront = {
      .matrix = &b->matrix,
      .area = {.first = 0, .end = p->problem.m, .boundary = boundary},
      .sweepers = b->sweepers,
      .sweeper_bytes = b->sweeper_bytes,
      .progress = threads > 1 ? b->progress : NULL,
      .last_column = last_column,
      .cutoff = p->options->cutoff,
      .tail = tail};
  int outcome = tsn_dtw_wavefront_run(&wavefront, threads, watch);
  if (outcome == TSN_DTW_SWEPT) *distance = best_end(&p->problem, boundary, last_column);
  return outcome;
}

/* A tail is a cost of the rows below a row, so it needs a sweep whose boundary is a row:
 * not a band. */
tsanom_status tsn_dtw_pair_run(tsn_dtw_pair *p, const double *tail,
                               const tsn_dtw_watch *watch, real *distance) {
  const tsn_dtw_problem *q = &p->problem;
  const tsanom_dtw_options *o = p->options;
  real best = INFINITY;
  int outcome;
  if (!tsn_dtw_path_exists(q)) {
    *distance = INFINITY;
    return TSANOM_INFEASIBLE;
  }
  if (p->tiny) {
    best = tsn_dtw_tiny_run(q, o, p->x, p->y);
    outcome = TSN_DTW_SWEPT;
  } else if (!tail && chain_suits(q, o, p->kernels) &&
             (!isfinite(o->cutoff) || threads_of(p, DEEP) == 1)) {
    outcome = chain_run(q, o, p->kernels, p->x, p->y, &p->chain, threads_of(p, DEEP),
                        watch, &best);
  } else if (full_suits(q, o, p->kernels) && threads_of(p, DEPTH) == 1) {
    outcome = full_run(q, o, p->kernels, p->x, p->y, &p->full, watch, &best);
  } else if (!tail && band_suits(q, o, p->band_kernels)) {
    outcome = band_run(q, o, p->band_kernels, p->x, p->y, &p->band, watch, &best);
  } else {
    outcome = sweep_strips(p, tail, watch, &best);
  }
  if (outcome == TSN_DTW_STOPPED) return TSANOM_STOPPED;
  bool above = outcome == TSN_DTW_ABANDONED || (double)best > o->cutoff;
  *distance = above ? (real)INFINITY : best;
  return above ? TSANOM_CUTOFF : TSANOM_OK;
}
