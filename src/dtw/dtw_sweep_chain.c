/* SPDX-License-Identifier: BSD-3-Clause */
/* The sweep of dtw_sweep_chain.h. Columns of y and of the boundary are counted from the
 * first column of strip 0, which is `origin` columns left of column 0 of the matrix:
 * place = column + origin. Strip t begins at place t * advance. */
#include "dtw/dtw_sweep_chain.h"

#include <math.h>
#include <string.h>

#include "core/size.h"

typedef tsn_dtw_chain chain;
typedef tsn_dtw_kernels kernels;
typedef tsn_dtw_chain_sweeps sweeps;
typedef tsn_dtw_strip strip;

/* The steps of a strip; all but the shift and the gap are multiples of the delay. */
typedef struct {
  bool band;
  size_t rows, advance, period, origin;
  size_t shift, gap;
  size_t pitch;    /* steps from the switch of a lane to that of the next */
  size_t first;    /* step in which the uppermost lane is switched */
  size_t handover; /* steps */
} plan;

/* No window: before column 0 are one to `delay` columns of infinite cost, which are to
 * the left of the first cells of the strip below as well. */
static plan plan_whole(const tsn_dtw_problem *problem, size_t lanes) {
  size_t period = tsn_round_up(problem->m + 1, STAGGERED_DELAY);
  return (plan){.rows = DEEP * lanes,
                .period = period,
                .origin = period - problem->m,
                .pitch = STAGGERED_DELAY,
                .handover = STAGGERED_DELAY * (lanes - 1)};
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
  p.handover = tsn_round_up(p.origin - problem->radius + p.pitch * (lanes - 1) + DEEP,
                            STAGGERED_DELAY);
  return p;
}

static plan plan_of(const tsn_dtw_problem *problem, size_t lanes) {
  bool whole = problem->radius + 1 >= tsn_larger(problem->n, problem->m);
  return whole ? plan_whole(problem, lanes) : plan_band(problem, lanes);
}

bool tsn_dtw_chain_allows(const tsanom_dtw_options *options, const kernels *k) {
  return tsn_dtw_staggers(k) && options->dimensions == 1 && options->penalty == 0 &&
         !isfinite(options->cutoff) && options->window == TSANOM_DTW_SAKOE_CHIBA;
}

/* What lane 0 leaves during a handover is moved before the uppermost lane reads it, and
 * rows of strip 0 that begin late are left of the matrix until then. */
bool tsn_dtw_chain_suits(const tsn_dtw_problem *problem,
                         const tsanom_dtw_options *options, const kernels *k) {
  size_t lanes = k->lanes, skew = STAGGERED_DELAY * (lanes - 1);
  size_t least = 16 * lanes; /* rows: dtw_sweep_full.h is faster with fewer */
  if (!tsn_dtw_chain_allows(options, k) || !tsn_dtw_problem_is_closed(problem) ||
      problem->n < least) {
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

void tsn_dtw_chain_layout(tsn_arena *arena, const tsn_dtw_problem *problem,
                          const kernels *k, chain *c) {
  size_t rows = DEEP * k->lanes, columns = 0;
  size_t vectors = vectors_of_places(problem, k) / STAGGERED_DELAY + 1;
  size_t length = (vectors + 2) * k->lanes;
  if (__builtin_mul_overflow(length, STAGGERED_DELAY, &columns)) arena->overflow = true;
  *c = (chain){
      .x = tsn_arena_take(arena, problem->n + rows, sizeof(real)),
      .columns = tsn_arena_take(arena, columns, sizeof(real)),
      .column_stride = length,
      .boundary =
          tsn_arena_take(arena, boundary_vectors(problem, k) * k->lanes, sizeof(real)),
      .state =
          tsn_arena_take(arena, rows + (STAGGERED_DELAY + 1) * k->lanes, sizeof(real)),
      .walls =
          tsn_arena_take(arena, (longest_handover(k) + DEEP) * k->lanes, sizeof(real)),
      .below = tsn_arena_take(arena, longest_handover(k) / STAGGERED_DELAY + 1,
                              sizeof *c->below),
  };
}

/* Samples of y: that of place p is element p / delay of array p % delay. Elsewhere they
 * are infinite. */
static void fill_columns(const tsn_dtw_problem *problem, const real *y, size_t origin,
                         const kernels *k, chain *c) {
  k->fill(c->columns, c->column_stride * STAGGERED_DELAY / k->lanes, INFINITY);
  real *columns = c->columns + k->lanes;
  for (size_t j = 0; j < problem->m; j++) {
    size_t place = j + origin;
    columns[place % STAGGERED_DELAY * c->column_stride + place / STAGGERED_DELAY] =
        y[j * problem->stride_y];
  }
}

/* Above row 0 only the empty prefix is finite. */
static void fill_edges(const tsn_dtw_problem *problem, const plan *p, const kernels *k,
                       chain *c) {
  k->fill(c->boundary, boundary_vectors(problem, k), INFINITY);
  c->boundary[margin(k) + p->origin - 1] = 0;
  k->fill(c->state, DEEP + STAGGERED_DELAY + 1, INFINITY);
}

/* Lanes that are in the strip below, by turn: the uppermost ones, which are the last. */
static void fill_below(const plan *p, const kernels *k, chain *c) {
  for (size_t turn = 0; turn <= p->handover / STAGGERED_DELAY; turn++) {
    size_t step = turn * STAGGERED_DELAY;
    size_t switched = step < p->first ? 0 : (step - p->first) / p->pitch + 1;
    size_t above = k->lanes - tsn_smaller(switched, k->lanes);
    c->below[turn] = (uint16_t)((unsigned)UINT16_MAX << above);
  }
}

/* Infinite in the gap of a lane, whose steps are those of row 0 of the block. */
static void fill_walls(const plan *p, const kernels *k, chain *c) {
  k->fill(c->walls, p->handover + DEEP, 0);
  for (size_t b = 0; b < k->lanes; b++) {
    real *wall = c->walls + k->lanes - 1 - b;
    size_t begin = p->shift + p->pitch * b + DEEP - 1;
    for (size_t e = begin; e < begin + p->gap; e++) wall[e * k->lanes] = INFINITY;
  }
}

/* Strip t; its step 0 is in the place that it begins at. */
static strip strip_at(const plan *p, const kernels *k, const chain *c, size_t t) {
  size_t place = t * p->advance;
  return (strip){.x = c->x + t * p->rows,
                 .y = c->columns + k->lanes + place / STAGGERED_DELAY,
                 .column_stride = c->column_stride,
                 .boundary = c->boundary + margin(k) + place,
                 .state = c->state,
                 .below = c->below,
                 .walls = c->walls};
}

/* Steps 0 ... end-1 of strip t, with which it takes over from the strip above. In strip 0
 * all lanes are there, and only the windows matter. The uppermost lane still reads the
 * boundary of the strip above until it is switched. Afterwards what the lowest lane left
 * for that strip goes where it belongs. */
static void take_over(const plan *p, const sweeps *s, const kernels *k, const chain *c,
                      size_t t, size_t end) {
  strip at = strip_at(p, k, c, t), above = at;
  size_t skew = STAGGERED_DELAY * (k->lanes - 1);
  if (t > 0) {
    above = strip_at(p, k, c, t - 1);
    memcpy(at.boundary, above.boundary + p->period, p->first * sizeof(real));
  }
  at.x_below = at.x;
  at.y_below = at.y;
  at.x = above.x;
  at.y = t > 0 ? above.y + p->period / STAGGERED_DELAY : at.y;
  (p->band ? s->walled : s->handover)(&at, 0, end);
  if (t == 0) return;
  memmove(above.boundary + p->period - skew, at.boundary - skew,
          (p->first + p->pitch * (k->lanes - 1)) * sizeof(real));
}

/* Steps of the last strip after its period, in which the windows of rows end. */
static void sweep_end(const plan *p, const sweeps *s, strip at, size_t end) {
  if (end <= p->period) return;
  at.boundary += p->period;
  at.y += p->period / STAGGERED_DELAY;
  at.x_below = at.x;
  at.y_below = at.y;
  s->walled(&at, 0, end - p->period);
}

/* The last row of the matrix is in block `block` of the last strip. The sweep ends when
 * this block has passed the last column, so that its state is D(n-1, m-1). */
int tsn_dtw_chain_run(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                      const kernels *k, const real *x, const real *y, chain *c,
                      const tsn_dtw_watch *watch, real *distance) {
  const sweeps *s = &k->cost[options->cost].chain;
  plan p = plan_of(problem, k->lanes);
  size_t strips = (problem->n - 1) / p.rows + 1, last = (problem->n - 1) % p.rows;
  size_t block = last / DEEP, steps = 0;
  size_t last_end =
      p.origin + problem->m - (strips - 1) * p.advance + STAGGERED_DELAY * block;
  tsn_dtw_place_rows(x, problem->n, problem->stride_x, k->lanes, DEEP, c->x);
  fill_columns(problem, y, p.origin, k, c);
  fill_edges(problem, &p, k, c);
  fill_below(&p, k, c);
  if (p.band) fill_walls(&p, k, c);
  for (size_t t = 0; t < strips; t++) {
    size_t end = t + 1 < strips ? p.period : last_end;
    size_t inner = p.band && end > p.period ? p.period : end;
    bool begins = p.band || t > 0;
    strip at = strip_at(&p, k, c, t);
    if (begins) take_over(&p, s, k, c, t, tsn_smaller(p.handover, end));
    if (!tsn_dtw_sweep_polled(s->inner, &at, begins ? p.handover : 0, inner, watch,
                              &steps)) {
      return TSN_DTW_STOPPED;
    }
    if (p.band) sweep_end(&p, s, at, end);
  }
  *distance = c->state[last % DEEP * k->lanes + k->lanes - 1 - block];
  return TSN_DTW_SWEPT;
}
