/* SPDX-License-Identifier: BSD-3-Clause */
/* The warping path: sweep forward and keep the choice of each cell, or the rows and
 * columns of a grid (dtw_traceback.h); then follow the choices from the end:
 *
 *   choice of (i,j)            next pair
 *   gap 0                      (i-1, j-1)
 *   gap 1, left 0              (i-1, j)
 *   gap 1, left 1              (i, j-1)
 *
 * Pairs are found from the last to the first and written from the end of the array
 * downwards; one move then brings them to its beginning, so no second array is needed. */
#include "dtw/dtw_path.h"

#include <math.h>
#include <string.h>

typedef tsn_dtw_traceback traceback;

/* A path on its way back; pairs are written from the end of the array. */
typedef struct {
  traceback *traceback;
  const tsn_dtw_watch *watch;
  ptrdiff_t i, j; /* the pair that is next; either is negative when all are done */
  size_t *path;   /* of `capacity` = n + m - 1 pairs */
  size_t capacity, length;
} trace;

static bool is_inside(const trace *t, const tsn_dtw_tile *tile) {
  ptrdiff_t row = t->i + (ptrdiff_t)t->traceback->matrix.padding;
  ptrdiff_t first = (ptrdiff_t)(tile->first_strip * t->traceback->matrix.rows);
  return t->i >= 0 && t->j >= (ptrdiff_t)tile->first && row >= first;
}

/* The tile of a level that holds the next pair, up to that pair. */
static tsn_dtw_tile tile_at(const trace *t, int level) {
  const tsn_dtw_level *l = &t->traceback->level[level];
  size_t strip =
      ((size_t)t->i + t->traceback->matrix.padding) / t->traceback->matrix.rows;
  size_t down = (strip - l->area.first_strip) / l->strips * l->strips;
  size_t right = ((size_t)t->j - l->area.first) / l->columns * l->columns;
  return (tsn_dtw_tile){.first_strip = l->area.first_strip + down,
                        .end_strip = strip + 1,
                        .first = l->area.first + right,
                        .end = (size_t)t->j + 1};
}

/* Trace back while the path stays in one block of rows of the traced tile. No branch
 * depends on a choice, which is as good as random and would be mispredicted; the steps
 * are sums of bits. Within a block only the vector changes, not the lane: both bytes and
 * both shifts are fixed. */
static void trace_block(trace *t) {
  const tsn_dtw_kernels *k = t->traceback->matrix.kernels;
  tsn_dtw_traced_block b = tsn_dtw_traceback_block(t->traceback, (size_t)t->i);
  ptrdiff_t first = (ptrdiff_t)t->traceback->traced.first,
            skew = (ptrdiff_t)(b.skew - b.begin);
  ptrdiff_t top = t->i - (ptrdiff_t)b.u; /* row of the block */
  size_t gap_bit = b.lane, left_bit = k->lanes + b.lane;
  const unsigned char *gap_byte = b.choices + gap_bit / 8;
  const unsigned char *left_byte = b.choices + left_bit / 8;
  while (t->i >= 0 && t->i >= top && t->j >= first) {
    size_t *pair = t->path + 2 * (t->capacity - ++t->length);
    pair[0] = (size_t)t->i;
    pair[1] = (size_t)t->j;
    size_t vector = (size_t)(t->j - first + skew) * DEPTH + (size_t)(t->i - top);
    size_t at = vector * k->choice_bytes;
    ptrdiff_t gap = gap_byte[at] >> gap_bit % 8 & 1;
    ptrdiff_t left = left_byte[at] >> left_bit % 8 & gap;
    t->i -= 1 - left;
    t->j -= 1 - (gap - left);
  }
}

/* Trace back until the path leaves the area that the level has swept. The depth of the
 * recursion is the number of levels. A tile ends at the pair that is next: what lies
 * below and to the right of it is not swept again. */
static bool trace_area(trace *t, int level, /* NOLINT(misc-no-recursion) */
                       const tsn_dtw_tile *area) {
  while (is_inside(t, area)) {
    if (level == t->traceback->levels) {
      trace_block(t);
      continue;
    }
    tsn_dtw_tile tile = tile_at(t, level);
    int outcome = tsn_dtw_traceback_sweep(t->traceback, level + 1, &tile, t->watch);
    if (outcome == TSN_DTW_STOPPED || tsn_dtw_watch_stop(t->watch)) return false;
    if (!trace_area(t, level + 1, &tile)) return false;
  }
  return true;
}

/* The last pair and its cell, of equals that which leaves out fewest samples. */
static real find_end(const traceback *tb, trace *t) {
  const tsn_dtw_problem *p = &tb->matrix.problem;
  size_t first, last;
  real best = INFINITY;
  tsn_dtw_window_row(p, p->n - 1, &first, &last);
  t->i = (ptrdiff_t)p->n - 1;
  t->j = (ptrdiff_t)p->m - 1;
  for (size_t k = 0; k <= p->open_end_y; k++) {
    size_t j = p->m - 1 - k;
    if (j >= first && j <= last && tb->boundary[j] < best) {
      best = tb->boundary[j];
      t->j = (ptrdiff_t)j;
    }
  }
  size_t left_out = p->m - 1 - (size_t)t->j;
  for (size_t k = 1; k <= p->open_end_x; k++) {
    size_t i = p->n - 1 - k;
    real end = tb->last_column[i];
    if (end < best || (end == best && k < left_out)) {
      best = end;
      left_out = k;
      t->i = (ptrdiff_t)i;
      t->j = (ptrdiff_t)p->m - 1;
    }
  }
  return best;
}

/* Lengths that fit leave the path, of less than 2^53 pairs, below PTRDIFF_MAX bytes. */
tsanom_status tsn_dtw_path_init(tsn_dtw_path *p, const tsn_dtw_operand *x,
                                const tsn_dtw_operand *y,
                                const tsn_dtw_settings *settings) {
  if (!tsn_dtw_length_fits(x->count) || !tsn_dtw_length_fits(y->count)) {
    return TSANOM_E_OVERFLOW;
  }
  p->x = x->samples;
  p->y = y->samples;
  p->settings = settings;
  tsanom_status status =
      tsn_dtw_problem_init(&p->problem, x->count, y->count, &settings->options);
  p->problem.stride_x = x->stride;
  p->problem.stride_y = y->stride;
  return status;
}

void tsn_dtw_path_layout(tsn_arena *arena, void *path) {
  tsn_dtw_path *p = path;
  tsn_dtw_traceback_layout(arena, &p->problem, &p->settings->options,
                           tsn_dtw_kernels_of(p->settings), &p->traceback);
}

tsanom_status tsn_dtw_path_run(tsn_dtw_path *p, const tsn_dtw_watch *watch, size_t *path,
                               size_t *length, real *distance) {
  traceback *tb = &p->traceback;
  if (!tsn_dtw_path_exists(&p->problem)) {
    *length = 0;
    *distance = INFINITY;
    return TSANOM_INFEASIBLE;
  }
  tsn_dtw_traceback_fill(tb, p->x, p->y);
  trace t = {.traceback = tb,
             .watch = watch,
             .path = path,
             .capacity = p->problem.n + p->problem.m - 1};
  tsn_dtw_tile all = {.end_strip = tb->matrix.count, .end = p->problem.m};
  int outcome = tsn_dtw_traceback_sweep(tb, 0, &all, watch);
  if (outcome == TSN_DTW_STOPPED) return TSANOM_STOPPED;
  real best = outcome == TSN_DTW_ABANDONED ? (real)INFINITY : find_end(tb, &t);
  double cutoff = p->settings->options.cutoff;
  if (isinf(best) || (double)best > cutoff) {
    *length = 0; /* where all sums overflow, no path is better than another */
    *distance = INFINITY;
    return (double)best > cutoff ? TSANOM_CUTOFF : TSANOM_OK;
  }
  if (!trace_area(&t, 0, &all)) return TSANOM_STOPPED;
  *length = t.length;
  *distance = best;
  memmove(path, path + 2 * (t.capacity - t.length), 2 * t.length * sizeof *path);
  return TSANOM_OK;
}
