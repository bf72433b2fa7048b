/* SPDX-License-Identifier: BSD-3-Clause */
/* The chain of dtw_sweeps.h. Columns of y and of the boundary are counted from the
 * first column of strip 0, which is `origin` columns left of column 0 of the matrix:
 * place = column + origin. Strip t begins at place t * advance. */
#include "dtw/dtw_sweeps.h"

#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/size.h"

typedef tsn_dtw_chain chain;
typedef tsn_dtw_kernels kernels;
typedef tsn_dtw_chain_sweeps sweeps;
typedef tsn_dtw_strip strip;

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

bool tsn_dtw_chain_allows(const tsanom_dtw_options *options, const kernels *k) {
  return tsn_dtw_staggers(k) && !options->tails;
}

/* What lane 0 leaves during a handover is moved before the uppermost lane reads it, and
 * rows of strip 0 that begin late are left of the matrix until then. */
bool tsn_dtw_chain_suits(const tsn_dtw_problem *problem,
                         const tsanom_dtw_options *options, const kernels *k) {
  size_t lanes = k->lanes, skew = STAGGERED_DELAY * (lanes - 1);
  size_t least = 16 * lanes; /* rows: dtw_sweep_full.c is faster with fewer */
  if (!tsn_dtw_chain_allows(options, k) || !tsn_dtw_problem_is_closed(problem) ||
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

void tsn_dtw_chain_layout(tsn_arena *arena, const tsn_dtw_problem *problem,
                          const tsanom_dtw_options *options, const kernels *k,
                          int threads, chain *c) {
  size_t rows = problem->n + DEEP * k->lanes;
  size_t vectors = vectors_of_places(problem, k) / STAGGERED_DELAY + 1;
  size_t length = (vectors + 2) * k->lanes,
         columns = tsn_product(length, STAGGERED_DELAY);
  size_t costs = TURNS_KEPT * STAGGERED_DELAY * DEEP * k->lanes;
  bool general = options->dimensions > 1 || options->penalty > 0;
  *c = (chain){
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
static void place_rows(const tsn_dtw_problem *problem, size_t dimensions, const real *x,
                       const kernels *k, chain *c) {
  size_t rows = DEEP * k->lanes;
  real *to = c->x;
  for (size_t row = 0; row < problem->n; row += rows) {
    for (size_t d = 0; d < dimensions; d++, to += rows) {
      tsn_dtw_place_rows(x + row * problem->stride_x + d,
                         tsn_smaller(problem->n - row, rows), problem->stride_x, k->lanes,
                         DEEP, to);
    }
  }
}

/* Samples of y: that of place p is element p / delay of array p % delay. Elsewhere they
 * are infinite. */
static void fill_columns(const tsn_dtw_problem *problem, size_t dimensions, const real *y,
                         size_t origin, const kernels *k, chain *c) {
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
static void fill_edges(const tsn_dtw_problem *problem, const plan *p, const kernels *k,
                       chain *c) {
  k->fill(c->boundary, boundary_vectors(problem, k), INFINITY);
  c->boundary[margin(k) + p->origin - 1] = 0;
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
  sweeps sweeps;
  const tsanom_dtw_options *options;
  const chain *chain;
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
  const chain *c = r->chain;
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
static bool any_live(const run *r, size_t t) {
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
        !tsn_dtw_sweep_polled(r->sweeps.inner, at, step, to, &w->watch, &w->steps)) {
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
    if (t > 0 && isfinite(r->options->cutoff) && !any_live(r, t - 1)) {
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
int tsn_dtw_chain_run(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                      const kernels *k, const real *x, const real *y, chain *c,
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
  place_rows(problem, options->dimensions, x, k, c);
  fill_columns(problem, options->dimensions, y, p->origin, k, c);
  fill_edges(problem, p, k, c);
  fill_below(p, k, c);
  fill_walls(p, k, c);
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
