/* SPDX-License-Identifier: BSD-3-Clause */
#include "dtw/dtw_wave.h"

#include <math.h>
#include <sched.h>

#include "core/parallel.h"

typedef NAME(tsn_dtw_wave) wave;
typedef NAME(tsn_dtw_pair) pair;
typedef NAME(tsn_dtw_sweeper) sweeper;

enum {
  CELLS_PER_POLL = 1 << 20, /* from 0.1 ms to some ms, by level */
  STEPS_PER_TILE = 1024,    /* of a wavefront: some microseconds */
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

/* Wait until the strip above has passed column `column` of the rectangle. */
static bool wait_above(const run *r, size_t t, size_t column) {
  const wave *w = r->wave;
  if (!w->progress || t == w->first_strip) return true;
  const NAME(tsn_dtw_kernels) *k = w->pair->kernels;
  size_t needed = column + k->delay * k->lanes;
  for (int spins = 0;
       atomic_load_explicit(&w->progress[t - 1], memory_order_acquire) < needed;
       spins++) {
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

/* Steps of one go: short enough for the strip below to follow closely, or for the
 * poll. */
static size_t tile_steps(const wave *w) {
  if (w->progress) return STEPS_PER_TILE;
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

static bool sweep_strip(run *r, size_t t, sweeper *s, bool polls) {
  const wave *w = r->wave;
  NAME(tsn_dtw_rectangle) area = w->area;
  crossing row = crossing_of(r, t);
  area.floor = r->floor;
  NAME(tsn_dtw_sweep_prepare)(w->pair, &area, t, s);
  if (!wait_above(r, t, s->begin)) return false;
  NAME(tsn_dtw_sweep_start)(w->pair, s);
  size_t steps = tile_steps(w);
  for (size_t step = s->begin; step < s->end; step += steps) {
    size_t end = s->end - step < steps ? s->end : step + steps;
    if (!wait_above(r, t, end)) return false;
    fetch_boundary(w, step, end);
    NAME(tsn_dtw_sweep_run)(w->pair, s, step, end);
    look_at_crossing(r, t, end, &row);
    set_progress(r, t, end);
    if (polls && end < s->end && tsn_dtw_watch_stop(r->watch)) return false;
  }
  NAME(tsn_dtw_sweep_finish)(w->pair, &area, t);
  finish_crossing(r, &row);
  return true;
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

static void run_strips(void *context, int thread, int threads) {
  run *r = context;
  const wave *w = r->wave;
  (void)threads;
  bool polls = thread == 0;
  size_t cells = 0;
  sweeper *s = &w->sweepers[thread];
  for (;;) {
    size_t t = atomic_fetch_add_explicit(&r->next, 1, memory_order_relaxed);
    if (t >= w->end_strip || is_over(r)) return;
    if (!sweep_strip(r, t, s, polls)) return;
    if (w->last_column) keep_last_column(w, t, s);
    set_progress(r, t, (size_t)FINISHED);
    cells += (s->end - s->begin) * w->pair->rows;
    if (polls && cells > CELLS_PER_POLL) {
      cells = 0;
      if (tsn_dtw_watch_stop(r->watch)) return;
    }
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
