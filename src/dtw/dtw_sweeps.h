/* SPDX-License-Identifier: BSD-3-Clause */
/* The sweeps: the ways to compute the matrix of a pair, or of many. dtw_pair.c chooses
 * among them, and has those of one pair that cut no strips with edges: full, chain, band.
 * Here are the others, dtw_sweep_*.c and dtw_wavefront.c. They have in common:
 *
 *   _allows()   the sweep may suit the problem, or one of shorter series with the same
 *               options: a layout for the longest of several series asks this
 *   _suits()    it computes the problem, and is the fastest: a run asks this
 *   _layout()   take the buffers, parts of one arena; sizes only grow with both lengths
 *   _run()      TSN_DTW_SWEPT, and the distance; or TSN_DTW_STOPPED or _ABANDONED, and
 *               *distance is unchanged */
#ifndef TSN_DTW_SWEEPS_H
#define TSN_DTW_SWEEPS_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/arena.h"
#include "dtw/dtw_kernel.h"
#include "dtw/dtw_operand.h"
#include "dtw/dtw_problem.h"
#include "dtw/dtw_settings.h"

/* The matrix of one pair cut into strips of rows, and rectangles of it swept strip by
 * strip. dtw_kernel.h describes how the lanes of a strip move; here are the windows, the
 * edges and what passes from strip to strip.
 *
 *              columns 0 ... m-1
 *            +-------------------+
 *            |      padding      |   strip 0: rows above row 0 hold the empty prefix
 *   row 0    |###                |
 *            +-----------+-------+   boundary: the last row of a strip, which is the
 *            |#######    :       |   row above the next one
 *            | ########  :       |   strip 1
 *            +-----------:-------+
 *            |   ########:       |   rectangle: whole strips, columns first ... end-1;
 *   row n-1  |     ######:#      |   `left` is the column before it
 *            +-----------+-------+
 *
 * Rows are padded above row 0 so that the last strip ends in row n-1, whose cells are
 * then the boundary when the sweep is over. Only the boundary goes to memory: O(n + m)
 * for any size.
 *
 * A strip of lanes that begin and end one after another wastes its two triangles:
 * 75 steps in a band at level v4, 28 where rows reach from edge to edge. Hence narrow
 * bands and full windows have sweeps of their own (dtw_pair.c).
 *
 * Calls for each strip, in this order: tsn_dtw_sweep_prepare(), _start(), _run() any
 * number of times up to its last step, _finish(). */

/* One pair in strips. */
typedef struct {
  tsn_dtw_problem problem;
  const tsanom_dtw_options *options;
  const tsn_dtw_kernels *kernels;
  const real *x;  /* the caller's; rows are put in order strip by strip */
  size_t rows;    /* of a strip: DEPTH * lanes */
  size_t count;   /* of strips */
  size_t padding; /* rows above row 0 */
  bool plain;     /* one dimension and no penalty */
  real *block;    /* y in the order of the kernels, and margins */
  real *columns;  /* column 0 of its first array; set by tsn_dtw_strips_fill() */
  size_t column_stride, dimension_stride;
} tsn_dtw_strips;

/* What one thread needs to sweep a strip. `strip` is the view that kernels get of the
 * arrays below. Windows are kept from strip to strip while they do not change: setting
 * them up took a seventh of a full window of 256 samples. */
typedef struct {
  tsn_dtw_strip strip;
  real *x, *state, *after;
  tick *first, *last;
  size_t begin, begun, ending, end; /* steps; as of tsn_dtw_sweep_plain() */
  size_t width;                     /* of the rectangle that `first` and `last` are of */
  int shape;                        /* of the strip that they are of */
  bool holds; /* rows that end at the right edge of the matrix keep their cells */
} tsn_dtw_sweeper;

/* Columns [first, end) of some strips; first is a multiple of the delay. */
typedef struct {
  size_t first, end;
  /* D(i, first-1) of rows in the window at index i - left_row; NULL: the left edge
   * of the matrix. */
  const real *left;
  ptrdiff_t left_row;
  /* D(row above, j) at index j - first, j >= first-1; replaced by each strip's last
   * row. */
  real *boundary;
  /* Columns before this one are on no path within the cut-off; they count as outside
   * of the window. */
  size_t floor;
} tsn_dtw_rectangle;

/* Take the memory of `p` for checked options; it does not depend on the samples. */
void tsn_dtw_strips_layout(tsn_arena *arena, const tsn_dtw_problem *problem,
                           const tsanom_dtw_options *options,
                           const tsn_dtw_kernels *kernels, tsn_dtw_strips *p);

/* Copy the samples of y in the order of the kernels and keep x, which must stay valid. */
void tsn_dtw_strips_fill(tsn_dtw_strips *p, const real *x, const real *y);

/* Take the arrays of one sweeper. They hold one strip, so their size does not depend on
 * the lengths of the series. */
void tsn_dtw_sweeper_layout(tsn_arena *arena, const tsanom_dtw_options *options,
                            const tsn_dtw_kernels *kernels, tsn_dtw_sweeper *sweeper);

/* Elements on each side of a boundary that lanes read or write beyond it: the last lane
 * is delay*(lanes-1) columns late, and stores a whole vector. */
static inline size_t tsn_dtw_boundary_margin(const tsn_dtw_kernels *kernels) {
  return STAGGERED_DELAY * kernels->lanes + kernels->lanes;
}

/* The block of a boundary of `width` columns. */
real *tsn_dtw_boundary_layout(tsn_arena *arena, size_t width,
                              const tsn_dtw_kernels *kernels);

/* The element of the rectangle's first column in the block. */
static inline real *tsn_dtw_boundary(real *block, const tsn_dtw_kernels *kernels) {
  return block + tsn_dtw_boundary_margin(kernels);
}

/* The row above row 0: 0 at column -1, the empty prefix, and at columns of y that may be
 * left out; infinity elsewhere. */
void tsn_dtw_top_edge(const tsn_dtw_strips *p, real *boundary);

/* Prepare strip number `t` of the pair for a sweep; what tsn_dtw_sweep_start
 * reads of the boundary need not be there yet. So a thread prepares a strip while
 * another one still sweeps the strip above. */
void tsn_dtw_sweep_prepare(const tsn_dtw_strips *p, const tsn_dtw_rectangle *a, size_t t,
                           tsn_dtw_sweeper *s);
void tsn_dtw_sweep_start(const tsn_dtw_strips *p, tsn_dtw_sweeper *sweeper);
void tsn_dtw_sweep_run(const tsn_dtw_strips *p, tsn_dtw_sweeper *sweeper, size_t begin,
                       size_t end);

/* From its first step on, have the sweep that is ready write its choices. */
void tsn_dtw_sweep_trace(tsn_dtw_sweeper *sweeper, unsigned char *trace);

/* After the last step: what the strip below reads of columns that the last row of
 * this one never reached. */
void tsn_dtw_sweep_finish(const tsn_dtw_strips *p, const tsn_dtw_rectangle *a, size_t t);

/* The first of the columns from ... to-1 of the last row of strip t, in the boundary,
 * that may be on a path within the cut-off, of which rows i ... n-1 cost at least tail[i]
 * (NULL: 0). `to`: none. All paths cross the row. The comparison allows for the rounding
 * of both sums, of n + m terms at most, so that no path within the cut-off is lost. */
size_t tsn_dtw_first_live(const tsn_dtw_strips *p, const real *boundary, size_t t,
                          size_t from, size_t to, double cutoff, const double *tail);

/* Whether all paths go through the last row of strip t: not where x has an open begin
 * or an open end there. Only then does a row above the cut-off end the computation. */
bool tsn_dtw_all_cross(const tsn_dtw_strips *p, size_t t);

/* State of row r of the strip: its cell in the last column swept. */
static inline real tsn_dtw_row_state(const tsn_dtw_strips *p,
                                     const tsn_dtw_sweeper *sweeper, size_t r) {
  size_t lanes = p->kernels->lanes;
  return sweeper->state[r % DEPTH * lanes + lanes - 1 - r / DEPTH];
}

/* How far the strips of one pair are that several threads sweep. A thread publishes the
 * steps of a strip after the stores of a tile (release), and reads those of the strip
 * above before the loads of a tile (acquire). */

enum { TSN_DTW_SPINS = 20000 }; /* some tiles long */

typedef struct {
  _Atomic size_t *steps; /* of each strip, SIZE_MAX when it is done; NULL: one thread */
  /* Nonzero: the computation is over. `abandoned` may be NULL. */
  const _Atomic int *stop, *abandoned;
} tsn_dtw_progress;

static inline bool tsn_dtw_progress_over(const tsn_dtw_progress *p) {
  return atomic_load_explicit(p->stop, memory_order_relaxed) ||
         (p->abandoned && atomic_load_explicit(p->abandoned, memory_order_relaxed));
}

static inline void tsn_dtw_progress_clear(const tsn_dtw_progress *p, size_t strips) {
  for (size_t t = 0; p->steps && t < strips; t++) {
    atomic_store_explicit(p->steps + t, 0, memory_order_relaxed);
  }
}

/* Let the strip below strip t go on. */
static inline void tsn_dtw_progress_set(const tsn_dtw_progress *p, size_t t,
                                        size_t steps) {
  if (p->steps) atomic_store_explicit(p->steps + t, steps, memory_order_release);
}

/* Whether the strip above strip t, if there is one, has done these steps. */
static inline bool tsn_dtw_progress_above(const tsn_dtw_progress *p, size_t t,
                                          size_t steps) {
  if (!p->steps || t == 0) return true;
  return atomic_load_explicit(p->steps + t - 1, memory_order_acquire) >= steps;
}

/* Wait until it has; false if the computation is over. It spins for some tiles before it
 * yields: on a busy machine a thread that yields may not run again for milliseconds. */
static inline bool tsn_dtw_progress_wait(const tsn_dtw_progress *p, size_t t,
                                         size_t steps) {
  for (int spins = 0; !tsn_dtw_progress_above(p, t, steps); spins++) {
    if (tsn_dtw_progress_over(p)) return false;
    if (spins >= TSN_DTW_SPINS) sched_yield();
  }
  return true;
}

/* Sweep a rectangle on one thread or several. Threads take groups of up to four strips in
 * turn and sweep them in tiles of some hundred steps; a tile starts when the strip above
 * has passed its columns by as many steps as the lanes are delayed:
 *
 *   strip 0   thread 0   ==========>
 *   strip 1   thread 0   ========>        progress[t]: steps that strip t has done
 *   strip 2   thread 1   =====>
 *   strip 3   thread 1   ===>
 *
 * By tsn_dtw_progress: progress[t-1] >= column + delay*lanes means that the last lane of
 * the strip above has passed the column.
 *
 * Only the row between two groups goes from one processor's cache to another's. Such a
 * row costs a tenth of the time of a strip, although a tile prefetches its part; with
 * groups of four strips one row in four changes processors. n = 50 000, radius 5000,
 * two threads: 0.050 ns a cell, 0.053 with groups of one strip, 0.095 with one thread.
 *
 * No deadlock: strips are handed out in order, and a strip waits only for the one above
 * it, which a running thread has already taken. */

/* Strips that a thread of several sweeps together, at most. */
enum { TSN_DTW_STRIPS_TOGETHER = 4 };

/* One sweep. The boundary of the area is shared by all strips: each replaces, column by
 * column, what the strip above has left there. */
typedef struct {
  const tsn_dtw_strips *matrix;
  tsn_dtw_rectangle area;
  void *sweepers; /* one block per strip of each thread; one block for one thread */
  size_t sweeper_bytes;
  _Atomic size_t *progress; /* of each strip; NULL: one thread */
  real *last_column; /* out: D(i, area.end-1) by row from open_end; NULL: not wanted */
  double cutoff;     /* abandon above; INFINITY: never */
  const double *tail;
} tsn_dtw_wavefront;

enum { TSN_DTW_SWEPT, TSN_DTW_STOPPED, TSN_DTW_ABANDONED };

/* Sweep all strips; TSN_DTW_*. Which tiles a thread computes does not change any cell, so
 * the result is the same for every number of threads. */
int tsn_dtw_wavefront_run(const tsn_dtw_wavefront *wavefront, int threads,
                          const tsn_dtw_watch *watch);

/* Pairs of the same two lengths side by side, one per lane. No lane needs anything of
 * another, so there is no shift and no delay; a column costs two loads and a store more
 * than in strips. Strips of `depth` rows follow each other over all columns:
 *
 *   vector of y_j       y of pair 0 | y of pair 1 | y of pair 2 | ...   (column j)
 *   vectors of x_i      depth of them, in registers during a strip
 *   boundary[j]         D(row above, j) of each pair, a vector a column
 *
 * All lanes have one window, so a limit of a row is a scalar. In a band of one radius
 * the ends of a strip are triangles: columns 0 ... depth-2 hold only the rows that have
 * begun. The kernel writes these columns out instead of masking them, which took 200
 * series of 500 with radius 50 from 0.108 ... 0.112 s to 0.104 s (Xeon, level v4).
 *
 * Where minima of integers are fast, the columns between the triangles are swept in the
 * slots of dtw_staggered.h: on an AMD Zen 5, 0.053 instead of 0.079 ns a cell.
 *
 * 200 series of 500, full window, double, level v4, Xeon: 0.096 ns a cell. One pair alone
 * needs n = 1000 for that rate: it takes 0.108 ns at n = 256 and 0.204 ns at n = 64. */

enum {
  /* Longer series are swept one pair at a time: the row between two strips, a vector per
   * column, would leave the second-level cache. */
  TSN_DTW_BATCH_LONGEST = 8192,
  TSN_DTW_BATCH_LANES = 16 /* no level has more */
};

/* Buffers of one batch at a time, reused for the next; vectors are pairs by lane. */
typedef struct {
  real *x, *y, *boundary, *state, *after;
  tick *first, *last;
} tsn_dtw_batch_buffers;

/* For series of up to n and m samples, within TSN_DTW_BATCH_LONGEST. */
void tsn_dtw_batch_layout(tsn_arena *arena, size_t n, size_t m,
                          const tsn_dtw_settings *settings,
                          tsn_dtw_batch_buffers *buffers);

/* One pair a lane. */
typedef struct {
  size_t n, m;
  size_t stride_x, stride_y;
  const real *x[TSN_DTW_BATCH_LANES], *y[TSN_DTW_BATCH_LANES];
  const double *tail[TSN_DTW_BATCH_LANES]; /* NULL: none */
} tsn_dtw_batch;

/* Distances of all lanes, INFINITY above the cut-off, or where no path fits the window.
 * TSANOM_OK or _STOPPED; then `distances` hold anything. Every lane must have a pair:
 * the caller repeats one. The batch is abandoned when all lanes are above the cut-off. */
tsanom_status tsn_dtw_batch_run(const tsn_dtw_batch *pairs,
                                const tsn_dtw_settings *settings,
                                tsn_dtw_batch_buffers *b, const tsn_dtw_watch *watch,
                                real *distances);

/* Distance of one pair of a few samples, cell by cell, without vectors and without a
 * workspace: at these lengths the other sweeps take longer to prepare than to run. */

/* Samples of the longest series; cells of a matrix up to which it is the fastest sweep at
 * every level. */
enum { TSN_DTW_TINY_LONGEST = 40, TSN_DTW_TINY_CELLS = 256 };

/* If so, it also suits shorter series with the same options. The kernels are those of the
 * sweeps instead; NULL: of the best level. */
bool tsn_dtw_tiny_suits(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                        const tsn_dtw_kernels *kernels);

/* The distance of a problem that has a path; it may be above the cut-off. */
real tsn_dtw_tiny_run(const tsn_dtw_problem *problem, const tsanom_dtw_options *options,
                      const real *x, const real *y);

/* The same where every pair is admitted: one dimension without gaps, no penalty, closed
 * ends, at most TSN_DTW_TINY_LONGEST samples. */
real tsn_dtw_tiny_whole(const real *x, size_t n, const real *y, size_t m, int32_t cost);

#endif
