/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix of one pair cut into strips of rows, and rectangles of it swept strip
 * by strip. Rows are padded above row 0 so that the last strip ends in row n-1. */
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
  const real *x;
  size_t rows;    /* of a strip */
  size_t count;   /* of strips */
  size_t padding; /* rows above row 0 */
  bool plain;     /* one dimension and no penalty */
  real *block;    /* y in the order of the kernels, and margins */
  real *columns;  /* column 0 of its first array; set by tsn_dtw_strips_fill() */
  size_t column_stride, dimension_stride;
} tsn_dtw_strips;

/* What one thread needs to sweep a strip. */
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
  size_t floor; /* columns before this one are on no path within the cut-off */
} tsn_dtw_rectangle;

void tsn_dtw_strips_layout(tsn_arena *arena, const tsn_dtw_problem *problem,
                           const tsanom_dtw_options *options,
                           const tsn_dtw_kernels *kernels, tsn_dtw_strips *p);

/* Copy the samples in the order of the kernels. */
void tsn_dtw_strips_fill(tsn_dtw_strips *p, const real *x, const real *y);

void tsn_dtw_sweeper_layout(tsn_arena *arena, const tsanom_dtw_options *options,
                            const tsn_dtw_kernels *kernels, tsn_dtw_sweeper *sweeper);

/* Elements on each side of a boundary that lanes read or write beyond it. */
static inline size_t tsn_dtw_boundary_margin(const tsn_dtw_kernels *kernels) {
  return DELAY * kernels->lanes + kernels->lanes;
}

/* The block of a boundary of `width` columns. */
real *tsn_dtw_boundary_layout(tsn_arena *arena, size_t width,
                              const tsn_dtw_kernels *kernels);

/* The element of the rectangle's first column in the block. */
static inline real *tsn_dtw_boundary(real *block, const tsn_dtw_kernels *kernels) {
  return block + tsn_dtw_boundary_margin(kernels);
}

/* The row above row 0. */
void tsn_dtw_top_edge(const tsn_dtw_strips *p, real *boundary);

/* Prepare strip number `t` of the pair for a sweep; what tsn_dtw_sweep_start
 * reads of the boundary need not be there yet. */
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
 * (NULL: 0). `to`: none. All paths cross the row. */
size_t tsn_dtw_first_live(const tsn_dtw_strips *p, const real *boundary, size_t t,
                          size_t from, size_t to, double cutoff, const double *tail);

/* Whether all paths go through the last row of strip t. */
bool tsn_dtw_all_cross(const tsn_dtw_strips *p, size_t t);

/* State of row r of the strip: its cell in the last column swept. */
static inline real tsn_dtw_row_state(const tsn_dtw_strips *p,
                                     const tsn_dtw_sweeper *sweeper, size_t r) {
  size_t lanes = p->kernels->lanes;
  return sweeper->state[r % DEPTH * lanes + lanes - 1 - r / DEPTH];
}

#endif
