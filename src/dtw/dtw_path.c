/* SPDX-License-Identifier: BSD-3-Clause */
/* The warping path: sweep forward, keep what each cell chose or a grid, trace back. */
#include "dtw/dtw_path.h"

#include <math.h>

typedef NAME(tsn_dtw_grid) grid;

/* A path on its way back; pairs are written from the end of the array. */
typedef struct {
  grid *grid;
  const tsn_dtw_watch *watch;
  ptrdiff_t i, j; /* the pair that is next; either is negative when all are done */
  size_t *path;   /* room for n + m - 1 pairs */
  size_t room, length;
} trace;

static bool is_inside(const trace *t, const tsn_dtw_tile *tile) {
  ptrdiff_t row = t->i + (ptrdiff_t)t->grid->pair.padding;
  ptrdiff_t first = (ptrdiff_t)(tile->first_strip * t->grid->pair.rows);
  return t->i >= 0 && t->j >= (ptrdiff_t)tile->first && row >= first;
}

/* The tile of a level that holds the next pair, up to that pair. */
static tsn_dtw_tile tile_at(const trace *t, int level) {
  const NAME(tsn_dtw_level) *l = &t->grid->level[level];
  size_t strip = ((size_t)t->i + t->grid->pair.padding) / t->grid->pair.rows;
  size_t down = (strip - l->area.first_strip) / l->strips * l->strips;
  size_t right = ((size_t)t->j - l->area.first) / l->columns * l->columns;
  return (tsn_dtw_tile){.first_strip = l->area.first_strip + down,
                        .end_strip = strip + 1,
                        .first = l->area.first + right,
                        .end = (size_t)t->j + 1};
}

/* Trace back while the path stays in one block of rows of the traced tile. No
 * branch hangs on a choice, which is as good as random. */
static void trace_block(trace *t) {
  const NAME(tsn_dtw_kernels) *k = t->grid->pair.kernels;
  tsn_dtw_traced_block b = NAME(tsn_dtw_grid_block)(t->grid, (size_t)t->i);
  ptrdiff_t first = (ptrdiff_t)t->grid->traced.first,
            skew = (ptrdiff_t)(b.skew - b.begin);
  ptrdiff_t top = t->i - (ptrdiff_t)b.u; /* row of the block */
  size_t gap_bit = b.lane, left_bit = k->lanes + b.lane;
  const unsigned char *gap_byte = b.choices + gap_bit / 8;
  const unsigned char *left_byte = b.choices + left_bit / 8;
  while (t->i >= 0 && t->i >= top && t->j >= first) {
    size_t *pair = t->path + 2 * (t->room - ++t->length);
    pair[0] = (size_t)t->i;
    pair[1] = (size_t)t->j;
    size_t vector = (size_t)(t->j - first + skew) * k->depth + (size_t)(t->i - top);
    size_t at = vector * k->choice_bytes;
    ptrdiff_t gap = gap_byte[at] >> gap_bit % 8 & 1;
    ptrdiff_t left = left_byte[at] >> left_bit % 8 & gap;
    t->i -= 1 - left;
    t->j -= 1 - (gap - left);
  }
}

/* Trace back until the path leaves the area that the level has swept. */
static bool trace_area(trace *t, int level, /* NOLINT(misc-no-recursion) */
                       const tsn_dtw_tile *area) {
  while (is_inside(t, area)) {
    if (level == t->grid->levels) {
      trace_block(t);
      continue;
    }
    tsn_dtw_tile tile = tile_at(t, level);
    int outcome = NAME(tsn_dtw_grid_sweep)(t->grid, level + 1, &tile, t->watch);
    if (outcome == TSN_DTW_STOPPED || tsn_dtw_watch_stop(t->watch)) return false;
    if (!trace_area(t, level + 1, &tile)) return false;
  }
  return true;
}

/* The last pair and its cell, of equals that which leaves out fewest samples. */
static real find_end(const grid *g, trace *t) {
  const tsn_dtw_problem *p = &g->pair.problem;
  size_t first, last;
  real best = INFINITY;
  tsn_dtw_window_row(p, p->n - 1, &first, &last);
  t->i = (ptrdiff_t)p->n - 1;
  t->j = (ptrdiff_t)p->m - 1;
  for (size_t k = 0; k <= p->open_end_y; k++) {
    size_t j = p->m - 1 - k;
    if (j >= first && j <= last && g->boundary[j] < best) {
      best = g->boundary[j];
      t->j = (ptrdiff_t)j;
    }
  }
  for (size_t k = 1; k <= p->open_end_x; k++) {
    size_t i = p->n - 1 - k;
    if (g->last_column[i] < best) {
      best = g->last_column[i];
      t->i = (ptrdiff_t)i;
      t->j = (ptrdiff_t)p->m - 1;
    }
  }
  return best;
}

tsanom_status NAME(tsn_dtw_path_measure)(size_t n, size_t m, const tsn_dtw_call *call,
                                         tsn_arena *arena) {
  tsn_dtw_problem problem;
  grid g;
  if (n == 0 || m == 0) return TSANOM_E_COUNT;
  if (!NAME(tsn_dtw_length_fits)(n > m ? n : m, &call->options)) return TSANOM_E_OVERFLOW;
  tsanom_status status = tsn_dtw_problem_init(&problem, n, m, &call->options);
  if (status < 0) return status;
  *arena = tsn_arena_measure();
  NAME(tsn_dtw_grid_layout)
  (arena, &problem, &call->options, tsn_dtw_call_kernels(call), &g);
  return TSANOM_OK;
}

tsanom_status NAME(tsn_dtw_path_run)(const real *x, size_t n, const real *y, size_t m,
                                     const tsn_dtw_call *call, tsn_arena arena,
                                     const tsn_dtw_watch *watch, size_t *path,
                                     size_t *length, real *distance) {
  tsn_dtw_problem problem;
  grid g;
  tsn_dtw_problem_init(&problem, n, m, &call->options);
  if (!tsn_dtw_path_exists(&problem)) {
    *length = 0;
    *distance = INFINITY;
    return TSANOM_INFEASIBLE;
  }
  NAME(tsn_dtw_grid_layout)
  (&arena, &problem, &call->options, tsn_dtw_call_kernels(call), &g);
  NAME(tsn_dtw_pair_fill)(&g.pair, x, y);
  trace t = {.grid = &g, .watch = watch, .path = path, .room = n + m - 1};
  tsn_dtw_tile all = {.end_strip = g.pair.count, .end = m};
  int outcome = NAME(tsn_dtw_grid_sweep)(&g, 0, &all, watch);
  if (outcome == TSN_DTW_STOPPED) return TSANOM_STOPPED;
  real best = outcome == TSN_DTW_ABANDONED ? (real)INFINITY : find_end(&g, &t);
  if (isinf(best) || (double)best > call->options.cutoff) {
    *length = 0; /* where all sums overflow, no path is better than another */
    *distance = INFINITY;
    return (double)best > call->options.cutoff ? TSANOM_CUTOFF : TSANOM_OK;
  }
  if (!trace_area(&t, 0, &all)) return TSANOM_STOPPED;
  *length = t.length;
  *distance = best;
  for (size_t k = 0; k < 2 * t.length; k++) path[k] = path[2 * (t.room - t.length) + k];
  return TSANOM_OK;
}
