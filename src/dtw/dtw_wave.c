/* SPDX-License-Identifier: BSD-3-Clause */
#include "dtw/dtw_wave.h"

#include <math.h>
#include <sched.h>

#include "core/parallel.h"
#include "core/size.h"

typedef NAME(tsn_dtw_wave) wave;
typedef NAME(tsn_dtw_pair) pair;
typedef NAME(tsn_dtw_sweeper) sweeper;

enum {
  CELLS_PER_POLL = 1 << 20, /* from 0.1 ms to some ms, by level */
  MOST_STEPS = 512,         /* of a tile of a wavefront: some microseconds */
  LEAST_STEPS = 64,         /* and a unit of its steps */
  SPINS = 20000, /* some tiles long, before the processor is offered to others */
  FINISHED = -1  /* progress of a strip that is done */
};

typedef struct {
  const wave *wave;
  const tsn_dtw_watch *watch;
  _Atomic size_t next; /* strip */
  _Atomic int abandoned;
  size_t floor; /* grows where strips follow each other on one thread */
} run;

static bool is_over(const run *r) {
  return atomic_load_explicit(r->watch->stop, memory_order_relaxed) ||
         atomic_load_explicit(&r->abandoned, memory_order_relaxed);
}

/* Whether the strip above has passed column `column` of the rectangle. */
static bool above_passed(const run *r, size_t t, size_t column) {
  const wave *w = r->wave;
  if (!w->progress || t == w->first_strip) return true;
  const NAME(tsn_dtw_kernels) *k = w->pair->kernels;
  return atomic_load_explicit(&w->progress[t - 1], memory_order_acquire) >=
         column + k->delay * k->lanes;
}

/* Wait until it has. */
static bool wait_above(const run *r, size_t t, size_t column) {
  for (int spins = 0; !above_passed(r, t, column); spins++) {
    if (is_over(r)) return false;
    if (spins >= SPINS) sched_yield();
  }
  return true;
}

/* The row above comes from another processor: ask for what a tile reads of it at
 * once, not line by line. */
static void fetch_boundary(const wave *w, size_t begin, size_t end) {
  enum { PER_LINE = TSN_ARENA_ALIGN / sizeof(real) };
  if (!w->progress) return;
  for (size_t column = begin; column < end; column += PER_LINE) {
    __builtin_prefetch(w->area.boundary + column);
  }
}

static void set_progress(const run *r, size_t t, size_t step) {
  if (r->wave->progress) {
    atomic_store_explicit(&r->wave->progress[t], step, memory_order_release);
  }
}

/* Strips that a thread sweeps together: few enough for every thread to have some turns.
 */
static size_t strips_together(const wave *w, int threads) {
  size_t share = (w->end_strip - w->first_strip) / (4 * (size_t)threads);
  return !w->progress || share == 0 ? 1 : tsn_smaller(share, TSN_DTW_STRIPS_TOGETHER);
}

/* Steps of one go. In a wavefront the last thread should be on its way before the first
 * has finished its strips, for it then needs the row that the last one leaves; where
 * strips are short, tiles are shorter. One thread goes on until the poll. */
static size_t tile_steps(const wave *w, int threads, size_t together, size_t steps) {
  if (w->progress) {
    size_t close = steps / ((size_t)threads * (together + 2));
    return tsn_larger(tsn_smaller(close, MOST_STEPS) / LEAST_STEPS, 1) * LEAST_STEPS;
  }
  size_t delay = w->pair->kernels->delay;
  return (CELLS_PER_POLL / (w->pair->rows * w->pair->options->dimensions) + 1) * delay;
}

/* Whether a path within the cut-off may go through the last row of a strip. Columns
 * are looked at before the strip below is told of them, which replaces them. */
typedef struct {
  bool wanted;
  size_t next, live; /* column to look at, first that is live: SIZE_MAX */
} crossing;

static crossing crossing_of(const run *r, size_t t) {
  const wave *w = r->wave;
  return (crossing){
      .wanted = isfinite(w->cutoff) && NAME(tsn_dtw_all_cross)(w->pair, t),
      .next = r->floor,
      .live = SIZE_MAX,
  };
}

static void look_at_crossing(const run *r, size_t t, size_t step, crossing *c) {
  const wave *w = r->wave;
  const NAME(tsn_dtw_kernels) *k = w->pair->kernels;
  size_t delay = k->delay * (k->lanes - 1), done = step > delay ? step - delay : 0;
  if (done > w->area.end) done = w->area.end;
  if (!c->wanted || c->live != SIZE_MAX || done <= c->next) return;
  size_t live = NAME(tsn_dtw_first_live)(w->pair, w->area.boundary, t, c->next, done,
                                         w->cutoff, w->tail);
  if (live < done) c->live = live;
  c->next = done;
}

/* What is known of the row: that no path crosses it, or where the first does. */
static void finish_crossing(run *r, const crossing *c) {
  if (!c->wanted) return;
  if (c->live == SIZE_MAX) {
    atomic_store_explicit(&r->abandoned, 1, memory_order_relaxed);
  } else if (!r->wave->progress) {
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

static sweep sweep_of(run *r, size_t t, sweeper *s) {
  NAME(tsn_dtw_rectangle) area = r->wave->area;
  area.floor = r->floor;
  NAME(tsn_dtw_sweep_prepare)(r->wave->pair, &area, t, s);
  size_t begin = tsn_smaller(s->begin, s->end);
  return (sweep){.t = t, .step = begin, .sweeper = s, .row = crossing_of(r, t)};
}

static void keep_last_column(const wave *w, size_t t, const sweeper *s) {
  const tsn_dtw_problem *p = &w->pair->problem;
  for (size_t r = 0; r < w->pair->rows; r++) {
    size_t row = t * w->pair->rows + r;
    if (row < w->pair->padding) continue;
    size_t i = row - w->pair->padding, first, last;
    if (i + p->open_end_x + 1 < p->n) continue;
    tsn_dtw_window_row(p, i, &first, &last);
    w->last_column[i + p->open_end_x + 1 - p->n] =
        last + 1 == p->m ? NAME(tsn_dtw_row_state)(w->pair, s, r) : (real)INFINITY;
  }
}

static void finish(run *r, sweep *s) {
  const wave *w = r->wave;
  NAME(tsn_dtw_sweep_finish)(w->pair, &w->area, s->t);
  finish_crossing(r, &s->row);
  if (w->last_column) keep_last_column(w, s->t, s->sweeper);
  set_progress(r, s->t, (size_t)FINISHED);
  s->done = true;
}

/* One tile, for which the strip above has passed what is needed. Returns its cells. */
static size_t sweep_tile(run *r, sweep *s, size_t end) {
  const wave *w = r->wave;
  size_t begin = s->step;
  if (begin == s->sweeper->begin) NAME(tsn_dtw_sweep_start)(w->pair, s->sweeper);
  NAME(tsn_dtw_sweep_run)(w->pair, s->sweeper, begin, end);
  look_at_crossing(r, s->t, end, &s->row);
  set_progress(r, s->t, end);
  s->step = end;
  if (end >= s->sweeper->end) finish(r, s);
  return (end - begin) * w->pair->rows * w->pair->options->dimensions;
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
        if (!wait_above(r, s->t, end)) return false;
        fetch_boundary(r->wave, s->step, end);
      } else if (!above_passed(r, s->t, end)) {
        break;
      }
      *cells += sweep_tile(r, s, end);
    }
    while (first < count && sweeps[first].done) first++;
    if (polls && *cells >= CELLS_PER_POLL) {
      *cells = 0;
      tsn_dtw_watch_stop(r->watch);
    }
    if (is_over(r)) return false;
  }
  return true;
}

static void run_strips(void *context, int thread, int threads) {
  run *r = context;
  const wave *w = r->wave;
  size_t cells = 0, together = strips_together(w, threads);
  sweeper *s = w->sweepers + (size_t)thread * TSN_DTW_STRIPS_TOGETHER;
  for (;;) {
    size_t t = atomic_fetch_add_explicit(&r->next, together, memory_order_relaxed);
    if (t >= w->end_strip || is_over(r)) return;
    sweep sweeps[TSN_DTW_STRIPS_TOGETHER];
    size_t count = tsn_smaller(together, w->end_strip - t);
    for (size_t k = 0; k < count; k++) sweeps[k] = sweep_of(r, t + k, s + k);
    size_t steps = tile_steps(w, threads, together, s->end - s->begin);
    if (!sweep_together(r, sweeps, count, steps, thread == 0, &cells)) return;
  }
}

int NAME(tsn_dtw_wave_run)(const wave *w, int threads, const tsn_dtw_watch *watch) {
  run r = {.wave = w, .watch = watch, .next = w->first_strip, .floor = w->area.floor};
  if (w->progress) {
    for (size_t t = w->first_strip; t < w->end_strip; t++) {
      atomic_store_explicit(&w->progress[t], 0, memory_order_relaxed);
    }
  }
  tsn_team_run(w->progress ? threads : 1, run_strips, &r);
  if (atomic_load(watch->stop)) return TSN_DTW_STOPPED;
  return atomic_load(&r.abandoned) ? TSN_DTW_ABANDONED : TSN_DTW_SWEPT;
}
