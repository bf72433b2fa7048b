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

#include "core/size.h"

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
                                               const tsn_dtw_kernels *kernels) {
  const tsn_dtw_kernels *base = tsn_dtw_kernels_at(TSANOM_ISA_BASE);
  return problem->radius < 2 * base->lanes ? base : kernels;
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
  if (!tsn_dtw_band_suits_shorter(&p->problem, p->options, p->band_kernels)) {
    strips_layout(arena, p);
  }
  if (tsn_dtw_chain_allows(p->options, p->kernels)) {
    tsn_dtw_chain_layout(&chain, &p->problem, p->options, p->kernels, p->threads,
                         &p->chain);
    cover(arena, &chain);
  }
  if (tsn_dtw_full_allows(&p->problem, p->options, p->kernels)) {
    tsn_dtw_full_layout(&full, &p->problem, p->kernels, &p->full);
    cover(arena, &full);
  }
  if (tsn_dtw_band_allows(p->options)) {
    tsn_dtw_band_layout(&band, &p->problem, p->band_kernels, &p->band);
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
  } else if (!tail && tsn_dtw_chain_suits(q, o, p->kernels) &&
             (!isfinite(o->cutoff) || threads_of(p, DEEP) == 1)) {
    outcome = tsn_dtw_chain_run(q, o, p->kernels, p->x, p->y, &p->chain,
                                threads_of(p, DEEP), watch, &best);
  } else if (tsn_dtw_full_suits(q, o, p->kernels) && threads_of(p, DEPTH) == 1) {
    outcome = tsn_dtw_full_run(q, o, p->kernels, p->x, p->y, &p->full, watch, &best);
  } else if (!tail && tsn_dtw_band_suits(q, o, p->band_kernels)) {
    outcome = tsn_dtw_band_run(q, o, p->band_kernels, p->x, p->y, &p->band, watch, &best);
  } else {
    outcome = sweep_strips(p, tail, watch, &best);
  }
  if (outcome == TSN_DTW_STOPPED) return TSANOM_STOPPED;
  bool above = outcome == TSN_DTW_ABANDONED || (double)best > o->cutoff;
  *distance = above ? (real)INFINITY : best;
  return above ? TSANOM_CUTOFF : TSANOM_OK;
}
