/* SPDX-License-Identifier: BSD-3-Clause */
/* Strips follow each other, on one thread or several. All share one row between them, of
 * which each strip replaces, column by column, what the strip above has left; a tile of steps
 * starts when the strip above is DELAY * lanes steps ahead of the end of the tile. */
#include "dtw/dtw_sweeps.h"

#include <math.h>

#include "core/parallel.h"
#include "core/size.h"

typedef tsn_dtw_wavefront wavefront;
typedef tsn_dtw_strips strips;
typedef tsn_dtw_sweeper sweeper;

enum {
  CELLS_PER_POLL = 1 << 20, /* from 0.1 ms to some ms, by level */
  MOST_STEPS = 512,         /* of a tile of a wavefront: some microseconds */
  LEAST_STEPS = 64          /* and a unit of its steps */
};

/* What the threads of one sweep share. */
typedef struct {
  const wavefront *wavefront;
  const tsn_dtw_watch *watch;
  tsn_dtw_progress progress;
  _Atomic size_t next; /* strip */
  _Atomic int abandoned;
  size_t floor; /* grows where strips follow each other on one thread */
} run;

/* The steps that the strip above must have done before a tile ends at step `end`. */
static size_t steps_above(const run *r, size_t end) {
  return end + DELAY * r->wavefront->matrix->kernels->lanes;
}

/* The row above comes from another processor's cache: prefetch the part that a tile
 * reads, instead of waiting for each line. */
static void fetch_boundary(const wavefront *w, size_t begin, size_t end) {
  enum { PER_LINE = TSN_ARENA_ALIGN / sizeof(real) };
  if (!w->progress) return;
  for (size_t column = begin; column < end; column += PER_LINE) {
    __builtin_prefetch(w->area.boundary + column);
  }
}

/* Strips that a thread sweeps together: few enough for every thread to have some turns.
 */
static size_t strips_together(const wavefront *w, int threads) {
  size_t share = w->matrix->count / (4 * (size_t)threads);
  return !w->progress || share == 0 ? 1 : tsn_smaller(share, TSN_DTW_STRIPS_TOGETHER);
}

/* Steps of one go. In a wavefront the last thread should be on its way before the first
 * has finished its strips, for it then needs the row that the last one leaves; where
 * strips are short, tiles are shorter. One thread goes on until the poll. */
static size_t tile_steps(const wavefront *w, int threads, size_t together, size_t steps) {
  if (w->progress) {
    size_t close = steps / ((size_t)threads * (together + 2));
    return tsn_larger(tsn_smaller(close, MOST_STEPS) / LEAST_STEPS, 1) * LEAST_STEPS;
  }

  return (CELLS_PER_POLL / (w->matrix->rows * w->matrix->options->dimensions) + 1) *
         DELAY;
}

/* Whether a path within the cut-off may go through the last row of a strip. Columns
 * are examined before the progress of the strip allows the strip below to replace them.
 */
typedef struct {
  bool wanted;
  size_t next, live; /* column to look at, first that is live: SIZE_MAX */
} crossing;

/* With one thread, columns before the floor have been found above the cut-off in the
 * strip above; paths only move right, so that they stay dead. */
static crossing crossing_of(const run *r, size_t t) {
  const wavefront *w = r->wavefront;
  return (crossing){
      .wanted = isfinite(w->cutoff) && tsn_dtw_all_cross(w->matrix, t),
      .next = r->floor,
      .live = SIZE_MAX,
  };
}

/* Examine the columns that the last lane has completed at `step`. */
static void look_at_crossing(const run *r, size_t t, size_t step, crossing *c) {
  const wavefront *w = r->wavefront;
  const tsn_dtw_kernels *k = w->matrix->kernels;
  size_t delay = DELAY * (k->lanes - 1), done = step > delay ? step - delay : 0;
  if (done > w->area.end) done = w->area.end;
  if (!c->wanted || c->live != SIZE_MAX || done <= c->next) return;
  size_t live = tsn_dtw_first_live(w->matrix, w->area.boundary, t, c->next, done,
                                   w->cutoff, w->tail);
  if (live < done) c->live = live;
  c->next = done;
}

/* Use the result: no path crosses the row, or the first one at column c->live. */
static void finish_crossing(run *r, const crossing *c) {
  if (!c->wanted) return;
  if (c->live == SIZE_MAX) {
    atomic_store_explicit(&r->abandoned, 1, memory_order_relaxed);
  } else if (!r->wavefront->progress) {
    r->floor = c->live;
  }
}

/* A strip that is being swept. */
typedef struct {
  size_t t, step;
  sweeper *sweeper;
  crossing row;
  bool done;
} sweep;

/* Prepare strip t, which needs nothing of the strip above. */
static sweep sweep_of(run *r, size_t t, sweeper *s) {
  tsn_dtw_rectangle area = r->wavefront->area;
  area.floor = r->floor;
  tsn_dtw_sweep_prepare(r->wavefront->matrix, &area, t, s);
  size_t begin = tsn_smaller(s->begin, s->end);
  return (sweep){.t = t, .step = begin, .sweeper = s, .row = crossing_of(r, t)};
}

/* Cells of the last column in which a path may end, where x has an open end. A row holds
 * its last cell in the state; rows whose window ends before the last column have none. */
static void keep_last_column(const wavefront *w, size_t t, const sweeper *s) {
  const tsn_dtw_problem *p = &w->matrix->problem;
  for (size_t r = 0; r < w->matrix->rows; r++) {
    size_t row = t * w->matrix->rows + r;
    if (row < w->matrix->padding) continue;
    size_t i = row - w->matrix->padding, first, last;
    if (i + p->open_end_x + 1 < p->n) continue;
    tsn_dtw_window_row(p, i, &first, &last);
    w->last_column[i + p->open_end_x + 1 - p->n] =
        last + 1 == p->m ? tsn_dtw_row_state(w->matrix, s, r) : (real)INFINITY;
  }
}

static void finish(run *r, sweep *s) {
  const wavefront *w = r->wavefront;
  tsn_dtw_sweep_finish(w->matrix, &w->area, s->t);
  finish_crossing(r, &s->row);
  if (w->last_column) keep_last_column(w, s->t, s->sweeper);
  tsn_dtw_progress_set(&r->progress, s->t, SIZE_MAX);
  s->done = true;
}

/* One tile, for which the strip above has passed what is needed. Returns its cells. */
static size_t sweep_tile(run *r, sweep *s, size_t end) {
  const wavefront *w = r->wavefront;
  size_t begin = s->step;
  if (begin == s->sweeper->begin) tsn_dtw_sweep_start(w->matrix, s->sweeper);
  tsn_dtw_sweep_run(w->matrix, s->sweeper, begin, end);
  look_at_crossing(r, s->t, end, &s->row);
  tsn_dtw_progress_set(&r->progress, s->t, end);
  s->step = end;
  if (end >= s->sweeper->end) finish(r, s);
  return (end - begin) * w->matrix->rows * w->matrix->options->dimensions;
}

/* Sweep some strips together, each a tile or so behind that above, so that the rows
 * between them stay in this processor's cache. */
static bool sweep_together(run *r, sweep *sweeps, size_t count, size_t steps, bool polls,
                           size_t *cells) {
  for (size_t first = 0; first < count;) {
    for (size_t k = first; k < count; k++) {
      sweep *s = sweeps + k;
      size_t end = tsn_smaller(s->sweeper->end, s->step + steps);
      if (k == 0) {
        if (!tsn_dtw_progress_wait(&r->progress, s->t, steps_above(r, end))) return false;
        fetch_boundary(r->wavefront, s->step, end);
      } else if (!tsn_dtw_progress_above(&r->progress, s->t, steps_above(r, end))) {
        break;
      }
      *cells += sweep_tile(r, s, end);
    }
    while (first < count && sweeps[first].done) first++;
    if (polls && *cells >= CELLS_PER_POLL) {
      *cells = 0;
      tsn_dtw_watch_stop(r->watch);
    }
    if (tsn_dtw_progress_over(&r->progress)) return false;
  }
  return true;
}

/* Body of a thread: take groups of strips in order until none is left. */
static void run_strips(void *context, int thread, int threads) {
  run *r = context;
  const wavefront *w = r->wavefront;
  size_t cells = 0, together = strips_together(w, threads);
  sweeper s[TSN_DTW_STRIPS_TOGETHER] = {0};
  for (size_t k = 0; k < together; k++) {
    size_t block = (size_t)thread * TSN_DTW_STRIPS_TOGETHER + k;
    tsn_arena arena = tsn_dtw_block(w->sweepers, block, w->sweeper_bytes);
    tsn_dtw_sweeper_layout(&arena, w->matrix->options, w->matrix->kernels, s + k);
  }
  for (;;) {
    size_t t = atomic_fetch_add_explicit(&r->next, together, memory_order_relaxed);
    if (t >= w->matrix->count || tsn_dtw_progress_over(&r->progress)) return;
    sweep sweeps[TSN_DTW_STRIPS_TOGETHER];
    size_t count = tsn_smaller(together, w->matrix->count - t);
    for (size_t k = 0; k < count; k++) sweeps[k] = sweep_of(r, t + k, s + k);
    size_t steps = tile_steps(w, threads, together, s->end - s->begin);
    if (!sweep_together(r, sweeps, count, steps, thread == 0, &cells)) return;
  }
}

int tsn_dtw_wavefront_run(const wavefront *w, int threads, const tsn_dtw_watch *watch) {
  run r = {.wavefront = w, .watch = watch, .floor = w->area.floor};
  r.progress = (tsn_dtw_progress){
      .steps = w->progress, .stop = watch->stop, .abandoned = &r.abandoned};
  tsn_dtw_progress_clear(&r.progress, w->matrix->count);
  tsn_team_run(w->progress ? threads : 1, run_strips, &r);
  if (atomic_load(watch->stop)) return TSN_DTW_STOPPED;
  return atomic_load(&r.abandoned) ? TSN_DTW_ABANDONED : TSN_DTW_SWEPT;
}
