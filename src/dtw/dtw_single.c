/* SPDX-License-Identifier: BSD-3-Clause */
#include "dtw/dtw_single.h"

#include <math.h>

#include "dtw/dtw_chain.h"
#include "dtw/dtw_ribbon.h"

typedef struct {
  NAME(tsn_dtw_pair) pair;
  NAME(tsn_dtw_sweeper) * sweepers;
  real *boundary;
  real *last_column; /* NULL where x has no open end */
  _Atomic size_t *progress;
} buffers;

static void strips_layout(tsn_arena *arena, const tsn_dtw_problem *problem,
                          const tsn_dtw_call *call, buffers *b) {
  const NAME(tsn_dtw_kernels) *k = tsn_dtw_call_kernels(call);
  size_t threads = (size_t)call->exec.threads;
  NAME(tsn_dtw_pair_layout)(arena, problem, &call->options, k, &b->pair);
  b->boundary = NAME(tsn_dtw_boundary_layout)(arena, problem->m, k);
  size_t sweepers = threads > 1 ? threads * TSN_DTW_STRIPS_TOGETHER : 1;
  b->sweepers = tsn_arena_take(arena, sweepers, sizeof *b->sweepers);
  for (size_t s = 0; s < sweepers; s++) {
    NAME(tsn_dtw_sweeper) sweeper;
    NAME(tsn_dtw_sweeper_layout)(arena, &call->options, k, &sweeper);
    if (b->sweepers) b->sweepers[s] = sweeper;
  }
  b->last_column =
      problem->open_end_x ? tsn_arena_take(arena, problem->n, sizeof(real)) : NULL;
  b->progress =
      threads > 1 ? tsn_arena_take(arena, b->pair.count, sizeof *b->progress) : NULL;
}

static void keep_larger(tsn_arena *arena, const tsn_arena *other) {
  if (other->used > arena->used) arena->used = other->used;
  arena->overflow |= other->overflow;
}

/* Room for any kind of sweep: a shorter pair may have a narrower band, and open ends
 * of more samples than it has. */
static void measure(tsn_arena *arena, const tsn_dtw_problem *problem,
                    const tsn_dtw_call *call) {
  const NAME(tsn_dtw_kernels) *k = tsn_dtw_call_kernels(call);
  tsn_arena strips = *arena, chained = *arena, narrow = *arena;
  buffers b;
  strips_layout(&strips, problem, call, &b);
  NAME(tsn_dtw_chain) chain;
  NAME(tsn_dtw_chain_layout)(&chained, problem, k, &chain);
  tsn_dtw_problem band = {.n = problem->n, .m = problem->m, .radius = problem->radius};
  size_t widest = NAME(tsn_dtw_ribbon_widest)(k);
  if (band.radius > widest) band.radius = widest;
  if (NAME(tsn_dtw_ribbon_suits)(&band, &call->options, k)) {
    NAME(tsn_dtw_ribbon_pair) ribbon;
    NAME(tsn_dtw_ribbon_layout)(&narrow, &band, k, &ribbon);
  }
  keep_larger(arena, &strips);
  keep_larger(arena, &chained);
  keep_larger(arena, &narrow);
}

/* The size that serves both orders of the two series. */
tsanom_status NAME(tsn_dtw_single_measure)(size_t n, size_t m, const tsn_dtw_call *call,
                                           tsn_arena *arena) {
  tsn_dtw_problem problem;
  size_t longest = n > m ? n : m;
  if (n == 0 || m == 0) return TSANOM_E_COUNT;
  if (!NAME(tsn_dtw_length_fits)(longest, &call->options)) return TSANOM_E_OVERFLOW;
  tsanom_status status = tsn_dtw_problem_init(&problem, longest, longest, &call->options);
  if (status < 0) return status;
  if (call->options.open_end_x || call->options.open_end_y) problem.open_end_x = 1;
  *arena = tsn_arena_measure();
  measure(arena, &problem, call);
  return TSANOM_OK;
}

/* The least of the cells in which a path may end. */
static real best_end(const tsn_dtw_problem *p, const buffers *b) {
  size_t first, last, open = p->m - 1 - p->open_end_y;
  real best = INFINITY;
  tsn_dtw_window_row(p, p->n - 1, &first, &last);
  for (size_t j = first > open ? first : open; j <= last; j++) {
    if (b->boundary[j] < best) best = b->boundary[j];
  }
  for (size_t k = 0; b->last_column && k < p->open_end_x; k++) {
    if (b->last_column[k] < best) best = b->last_column[k];
  }
  return best;
}

/* Threads that pay. */
static int threads_of(const tsn_dtw_problem *problem, const tsn_dtw_call *call) {
  const NAME(tsn_dtw_kernels) *k = tsn_dtw_call_kernels(call);
  size_t rows = k->depth * k->lanes;
  size_t strips = problem->n / rows + (problem->n % rows != 0);
  size_t width = problem->radius < problem->m / 2 ? 2 * problem->radius : problem->m;
  return tsn_dtw_pair_threads(&call->exec, strips, width);
}

static int sweep_strips(const real *x, const real *y, const tsn_dtw_problem *problem,
                        const tsn_dtw_call *call, tsn_arena *arena,
                        const tsn_dtw_watch *watch, real *distance) {
  buffers b;
  strips_layout(arena, problem, call, &b);
  NAME(tsn_dtw_pair_fill)(&b.pair, x, y);
  NAME(tsn_dtw_top_edge)(&b.pair, b.boundary);
  int threads = threads_of(problem, call);
  NAME(tsn_dtw_wave)
  wave = {.pair = &b.pair,
          .area = {.first = 0, .end = problem->m, .boundary = b.boundary},
          .end_strip = b.pair.count,
          .sweepers = b.sweepers,
          .progress = threads > 1 ? b.progress : NULL,
          .last_column = b.last_column,
          .cutoff = call->options.cutoff,
          .tail = call->options.tail};
  int outcome = NAME(tsn_dtw_wave_run)(&wave, threads, watch);
  if (outcome == TSN_DTW_SWEPT) *distance = best_end(problem, &b);
  return outcome;
}

/* Very narrow bands wait for each diagonal in turn: short vectors are shifted and
 * added soonest, and hold them. */
static const NAME(tsn_dtw_kernels) *
    ribbon_kernels(const tsn_dtw_problem *problem, const tsn_dtw_call *call) {
  enum { NARROW = 7 };
  tsn_dtw_call base = {.exec.isa = TSANOM_ISA_BASE};
  return tsn_dtw_call_kernels(problem->radius <= NARROW ? &base : call);
}

/* Arguments are good and a path exists. */
static tsanom_status compute(const real *x, const real *y, const tsn_dtw_problem *problem,
                             const tsn_dtw_call *call, tsn_arena *arena,
                             const tsn_dtw_watch *watch, real *distance) {
  const tsanom_dtw_options *o = &call->options;
  const NAME(tsn_dtw_kernels) *k = tsn_dtw_call_kernels(call);
  const NAME(tsn_dtw_kernels) *narrow = ribbon_kernels(problem, call);
  real best = INFINITY;
  int outcome;
  if (NAME(tsn_dtw_chain_suits)(problem, o, k) && threads_of(problem, call) == 1) {
    NAME(tsn_dtw_chain) chain;
    NAME(tsn_dtw_chain_layout)(arena, problem, k, &chain);
    outcome = NAME(tsn_dtw_chain_run)(problem, o, k, x, y, &chain, watch, &best);
  } else if (NAME(tsn_dtw_ribbon_suits)(problem, o, narrow)) {
    NAME(tsn_dtw_ribbon_pair) pair;
    NAME(tsn_dtw_ribbon_layout)(arena, problem, narrow, &pair);
    outcome = NAME(tsn_dtw_ribbon_run)(problem, o, narrow, x, y, &pair, watch, &best);
  } else {
    outcome = sweep_strips(x, y, problem, call, arena, watch, &best);
  }
  if (outcome == TSN_DTW_STOPPED) return TSANOM_STOPPED;
  bool above = outcome == TSN_DTW_ABANDONED || (double)best > call->options.cutoff;
  *distance = above ? (real)INFINITY : best;
  return above ? TSANOM_CUTOFF : TSANOM_OK;
}

tsanom_status NAME(tsn_dtw_single_run)(const real *x, size_t n, const real *y, size_t m,
                                       const tsn_dtw_call *call, tsn_arena arena,
                                       const tsn_dtw_watch *watch, real *distance) {
  tsn_dtw_call own = *call;
  tsn_dtw_problem problem;
  if (n > m && !own.options.tail) {
    /* Few long strips are swept faster than many short ones. */
    const real *longer = x;
    size_t count = n;
    x = y;
    n = m;
    y = longer;
    m = count;
    tsn_dtw_options_swap(&own.options);
  }
  tsn_dtw_problem_init(&problem, n, m, &own.options);
  if (!tsn_dtw_path_exists(&problem)) {
    *distance = INFINITY;
    return TSANOM_INFEASIBLE;
  }
  return compute(x, y, &problem, &own, &arena, watch, distance);
}
