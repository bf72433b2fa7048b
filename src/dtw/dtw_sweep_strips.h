/* SPDX-License-Identifier: BSD-3-Clause */
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
#ifndef TSN_DTW_SWEEP_STRIPS_H
#define TSN_DTW_SWEEP_STRIPS_H

#include "core/arena.h"
#include "dtw/dtw_kernel.h"
#include "dtw/dtw_problem.h"

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

#endif
