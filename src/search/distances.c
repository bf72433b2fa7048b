/* SPDX-License-Identifier: BSD-3-Clause */
/* DTW of a batch of candidates: a lower bound in integers, which removes most of them, and
 * DTW of what is left, by the public functions of the modules lbkeogh and dtw. A search has
 * no knowledge of their kernels, and its results are those that a user would get. They run
 * on one thread each, since the threads of a search have different queries or chunks;
 * arguments are checked and the workspace is large enough before a search starts, so that
 * these calls cannot fail.
 *
 * The bound is DTW of samples rounded to a grid of 12 or 14 bits. In white noise LB_Keogh
 * removes nothing; DTW must be computed, but only to decide whether it exceeds the limit.
 * Four digits are enough for nearly all candidates.
 *
 * With the grid X = floor((x - low) scale), limited to 0 ... top, and K = 2n - 1 cells of
 * a path at most,
 *
 *   absolute cost   |X - Y| <= scale |x - y| + 1                each cell, hence
 *                   D'      <= scale D + K
 *   squared cost    (X - Y)^2 / 2^16 <= (scale |x - y| + 1)^2 / 2^16, hence by Minkowski
 *                   D'      <= (scale sqrt(D) + sqrt(K))^2 / 2^16
 *
 * so that D > limit where D' exceeds the right side for D = limit. D' is the least cost
 * of a path in the grid; the path of D is one of them. The range of the grid is that of
 * the query: a sample beyond it moves nearer to all samples of the query.
 *
 * Cells have 16 bits. After each 8 rows the least cell of the row is subtracted from all
 * and added to a base of 32 bits. Cells far above the least one are limited, which only
 * lowers D'. All paths cross the row, so D' is at least the base: the sweep ends when it
 * exceeds the threshold in all lanes.
 *
 * White noise, n = 256, radius 12, squared cost, level v4, AMD EPYC (Zen 5): DTW of 32
 * candidates in double precision takes 0.9 us a candidate, this bound 0.2. The bound is
 * within 1 % of DTW there, and leaves 1.05 % of the candidates instead of 1.01 %. Without
 * it the row `nearest_in_noise` takes 2.2 (v4) to 3.9 (base) times as long. A batch takes
 * the same time for any number of candidates, hence LEAST_COUNT. */
#include <float.h>
#include <math.h>
#include <string.h>
#include <tsanom/dtw.h>
#include <tsanom/lbkeogh.h>

#include "core/size.h"
#include "search/coarse.h"

/* The caller's poll (search_internal.h). DTW that is given a poll calls it about once per
 * million cells; for small batches, of which thousands run per second, a poll each would take
 * longer than they. */

/* Cells between two polls: a millisecond or less. */
enum { CELLS_PER_POLL = 1 << 20 };

static int32_t stop_if(tsn_search_watch *watch) {
  if (!atomic_load_explicit(&watch->stop, memory_order_relaxed)) {
    tsn_exec_stop_all(watch->exec, watch->done, watch->total, &watch->stop);
  }
  return atomic_load_explicit(&watch->stop, memory_order_relaxed);
}

static int32_t poll_between(void *user, uint64_t done, uint64_t total) {
  tsn_search_watch *watch = user;
  (void)total;
  watch->done = watch->before + done;
  return stop_if(watch);
}

/* The arguments are those of one DTW; the caller counts queries or chunks. */
static int32_t poll_inside(void *user, uint64_t done, uint64_t total) {
  tsn_search_watcher *w = user;
  (void)done;
  (void)total;
  return w->calling ? stop_if(w->watch) : tsn_search_stopped(w);
}

tsanom_exec tsn_search_watch_begin(tsn_search_watch *watch, const tsanom_exec *exec,
                                   uint64_t total) {
  tsanom_exec loop = *exec;
  *watch = (tsn_search_watch){.exec = exec, .total = total};
  if (loop.poll) {
    loop.poll = poll_between;
    loop.poll_user = watch;
  }
  return loop;
}

/* Whether enough cells were computed since the latest poll, with `cells` more. */
static bool is_due(tsn_search_watcher *w, double cells) {
  if (!w->watch->exec->poll) return false;
  w->cells += cells;
  if (w->cells < CELLS_PER_POLL) return false;
  w->cells = 0;
  return true;
}

enum { ROWS = 8, LONGEST = 1 << 19, LEAST_COUNT = 4 };

/* What the rounding of x - low and of the product add to K: less than 2^-30 each. */
#define SLACK (1 + 1e-6)

/* The grid over the range of the query; false if its samples are all the same, or so
 * small or large that their squares underflow or overflow. */
static bool grid_of(const tsn_search_pairs *p, tsn_coarse_grid *grid) {
  double low = p->query[0], high = low;
  for (size_t i = 1; i < p->dtw->n; i++) {
    low = p->query[i] < low ? p->query[i] : low;
    high = p->query[i] > high ? p->query[i] : high;
  }
  bool squared = p->dtw->cost == TSANOM_COST_SQUARED;
  double range = high - low;
  if (!(range > 1 / TSN_SEARCH_LARGEST && range < TSN_SEARCH_LARGEST)) return false;
  int32_t top = squared ? TSN_COARSE_TOP_SQUARED : TSN_COARSE_TOP_ABSOLUTE;
  *grid = (tsn_coarse_grid){.low = low, .scale = top / range, .top = top};
  return true;
}

/* D' above it implies that DTW exceeds the cut-off. */
static double threshold_of(const tsn_search_pairs *p, const tsn_coarse_grid *grid) {
  double limit = tsn_search_limit(p->dtw, p->cutoff, 0);
  double cells = 2 * (double)p->dtw->n;
  if (p->dtw->cost == TSANOM_COST_ABSOLUTE) return (limit * grid->scale + cells) * SLACK;
  double root = (sqrt(limit) * grid->scale + sqrt(cells)) * SLACK;
  return root * root / 0x1p16;
}

/* Candidates to the grid, a lane each; unused lanes repeat the first candidate. */
static void place(const tsn_search_pairs *p, const tsn_search_batch *batch,
                  const tsn_coarse_kernels *kernels, const tsn_coarse_grid *grid,
                  const tsn_search_work *work) {
  size_t padded = tsn_round_up(p->dtw->n, 8);
  kernels->round(p->query, p->dtw->n, grid, work->query);
  memset(work->rounded, 0, padded * TSN_COARSE_PLACED * sizeof *work->rounded);
  for (size_t lane = 0; lane < TSN_COARSE_LANES; lane += TSN_COARSE_PLACED) {
    for (size_t k = 0; k < TSN_COARSE_PLACED; k++) {
      size_t from = lane + k < batch->count ? lane + k : 0;
      kernels->round(batch->series[from], p->dtw->n, grid, work->rounded + k * padded);
    }
    kernels->transpose(work->rounded, padded, work->columns + lane);
  }
}

static bool all_above(const int32_t *base, int32_t threshold) {
  bool above = true;
  for (size_t k = 0; k < TSN_COARSE_LANES; k++) above &= base[k] > threshold;
  return above;
}

bool tsn_search_coarse(const tsn_search_pairs *p, const tsn_search_batch *batch,
                       const tsn_search_work *work, bool *removed) {
  const tsn_coarse_kernels *kernels = tsn_coarse_kernels_at(p->dtw->exec.isa);
  tsn_coarse_grid grid;
  memset(removed, 0, batch->count * sizeof *removed);
  if (batch->count < LEAST_COUNT || p->dtw->n > LONGEST || isinf(p->cutoff) ||
      !grid_of(p, &grid)) {
    return true;
  }
  size_t n = p->dtw->n, radius = tsn_smaller(p->dtw->radius, n - 1);
  double threshold = threshold_of(p, &grid);
  if (!(threshold < (double)n * TSN_COARSE_LARGEST)) return true;
  int32_t base[TSN_COARSE_LANES] = {0};
  tsn_coarse_matrix m = {.query = work->query,
                         .columns = work->columns,
                         .row = work->row,
                         .base = base,
                         .n = n,
                         .radius = radius};
  place(p, batch, kernels, &grid, work);
  for (size_t k = 0; k < n * TSN_COARSE_LANES; k++) work->row[k] = INT16_MAX;
  for (size_t i = 0; i < n && !all_above(base, (int32_t)threshold); i += ROWS) {
    kernels->rows[p->dtw->cost](&m, i, tsn_smaller(i + ROWS, n));
    double cells = (double)(ROWS * tsn_smaller(n, 2 * radius + 1));
    if (is_due(batch->watcher, cells)) (void)poll_inside(batch->watcher, 0, 0);
    if (tsn_search_stopped(batch->watcher)) return false;
  }
  const int16_t *last = work->row + (n - 1) * TSN_COARSE_LANES;
  for (size_t k = 0; k < batch->count; k++) {
    removed[k] = (double)base[k] + last[k] > threshold;
  }
  return true;
}

static tsanom_dtw_options dtw_options(const tsn_search_dtw *dtw) {
  tsanom_dtw_options options;
  tsanom_dtw_options_init(&options, sizeof options);
  options.radius = dtw->radius;
  options.cost = dtw->cost;
  return options;
}

tsanom_status tsn_search_dtw_begin(tsn_search_dtw *dtw, size_t samples,
                                   const tsanom_exec *exec) {
  dtw->exec = tsn_exec_for_object(exec);
  dtw->exec.threads = 1;
  tsanom_dtw_options options = dtw_options(dtw);
  size_t envelope_bytes = 0, dtw_bytes = 0;
  tsanom_exec ask = tsn_exec_asking(&dtw->exec, &envelope_bytes);
  tsanom_status status =
      tsn_asked(tsanom_lbkeogh_envelope(NULL, samples, dtw->radius, &ask, NULL, NULL));
  if (status < 0) return status;
  tsanom_series series = {
      .struct_size = sizeof series, .count = TSN_SEARCH_BATCH, .length = dtw->n};
  ask.work_needed = &dtw_bytes;
  status = tsn_asked(
      tsanom_dtw_one_to_many(NULL, dtw->n, &series, &options, &ask, NULL, NULL));
  if (status >= 0) dtw->work_bytes = tsn_larger(dtw_bytes, envelope_bytes);
  return status;
}

void tsn_search_work_layout(tsn_arena *arena, const tsn_search_dtw *dtw,
                            tsn_search_work *work) {
  enum { LANES_BYTES = TSN_COARSE_LANES * sizeof(int16_t) };
  size_t n = dtw->n, padded = tsn_round_up(n, 8);
  *work = (tsn_search_work){
      .block = tsn_arena_take(arena, 1, dtw->work_bytes),
      .query = tsn_arena_take(arena, n, sizeof(int16_t)),
      .rounded = tsn_arena_take(arena, padded, TSN_COARSE_PLACED * sizeof(int16_t)),
      .columns = tsn_arena_take(arena, padded, LANES_BYTES),
      .row = tsn_arena_take(arena, n, LANES_BYTES)};
}

static tsanom_exec exec_with(const tsn_search_dtw *dtw, const tsn_search_work *work) {
  tsanom_exec exec = dtw->exec;
  exec.work = work->block;
  exec.work_bytes = dtw->work_bytes;
  return exec;
}

void tsn_search_envelope(const tsn_search_dtw *dtw, const double *x, size_t n,
                         const tsn_search_work *work, double *lower, double *upper) {
  tsanom_exec exec = exec_with(dtw, work);
  (void)tsanom_lbkeogh_envelope(x, n, dtw->radius, &exec, lower, upper);
}

/* Pairs of samples within the radius, at most. */
static double batch_cells(const tsn_search_dtw *dtw, size_t count) {
  double n = (double)dtw->n;
  double width = dtw->radius < dtw->n / 2 ? 2 * (double)dtw->radius + 1 : n;
  return width * n * (double)count;
}

/* DTW of the candidates that are left. One to many: series of one length run side by side
 * in the lanes of a vector. */
static bool exact_distances(const tsn_search_pairs *p, const double *const *candidates,
                            size_t count, tsn_search_watcher *watcher,
                            const tsn_search_work *work, double *distances) {
  tsanom_exec exec = exec_with(p->dtw, work);
  tsanom_dtw_options options = dtw_options(p->dtw);
  options.cutoff = p->cutoff;
  if (is_due(watcher, batch_cells(p->dtw, count))) {
    exec.poll = poll_inside;
    exec.poll_user = watcher;
  }
  tsanom_series series = {.struct_size = sizeof series};
  series.count = count;
  series.pointers = candidates;
  series.length = p->dtw->n;
  return tsanom_dtw_one_to_many(p->query, p->dtw->n, &series, &options, &exec, distances,
                                NULL) != TSANOM_STOPPED;
}

bool tsn_search_distances(const tsn_search_pairs *p, const tsn_search_batch *batch,
                          const tsn_search_work *work, double *distances) {
  const double *left[TSN_SEARCH_BATCH];
  size_t count = 0;
  bool removed[TSN_SEARCH_BATCH];
  if (tsn_search_stopped(batch->watcher) || !tsn_search_coarse(p, batch, work, removed)) {
    return false;
  }
  for (size_t i = 0; i < batch->count; i++) {
    if (!removed[i]) left[count++] = batch->series[i];
  }
  if (count > 0 && !exact_distances(p, left, count, batch->watcher, work, distances)) {
    return false;
  }
  for (size_t i = batch->count; i-- > 0;) {
    distances[i] = removed[i] ? INFINITY : distances[--count];
  }
  return true;
}
