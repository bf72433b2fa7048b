/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix of one pair cut into strips of rows, and rectangles of it swept strip
 * by strip. Rows are padded above row 0 so that the last strip ends in row n-1. */
#ifndef TSN_DTW_STRIPS_H
#define TSN_DTW_STRIPS_H

#include "core/arena.h"
#include "dtw/dtw_kernel.h"
#include "dtw/dtw_problem.h"

/* One pair, ready to be swept. */
typedef struct {
  tsn_dtw_problem problem;
  const tsanom_dtw_options *options;
  const NAME(tsn_dtw_kernels) * kernels;
  const real *x;
  size_t rows;    /* of a strip */
  size_t count;   /* of strips */
  size_t padding; /* rows above row 0 */
  bool plain;     /* one dimension and no penalty */
  /* y as the kernel wants it; column 0 of the first array. */
  real *columns;
  size_t column_stride, dimension_stride;
} NAME(tsn_dtw_pair);

/* What one thread needs to sweep a strip. */
typedef struct {
  NAME(tsn_dtw_strip) strip;
  real *x, *state, *after;
  tick *first, *last;
  size_t begin, begun, ending, end; /* steps; as of tsn_dtw_sweep_plain() */
  int shape;                        /* of the strip that `first` and `last` are of */
  size_t width;                     /* of the rectangle then */
  bool holds; /* rows that end at the right edge of the matrix keep their cells */
} NAME(tsn_dtw_sweeper);

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
  size_t floor; /* columns before this one cannot be on a path that is wanted */
} NAME(tsn_dtw_rectangle);

void NAME(tsn_dtw_pair_layout)(tsn_arena *arena, const tsn_dtw_problem *problem,
                               const tsanom_dtw_options *options,
                               const NAME(tsn_dtw_kernels) * kernels,
                               NAME(tsn_dtw_pair) * pair);

/* Bring the samples into the order the kernels want. */
void NAME(tsn_dtw_pair_fill)(NAME(tsn_dtw_pair) * pair, const real *x, const real *y);

void NAME(tsn_dtw_sweeper_layout)(tsn_arena *arena, const tsanom_dtw_options *options,
                                  const NAME(tsn_dtw_kernels) * kernels,
                                  NAME(tsn_dtw_sweeper) * sweeper);

/* A boundary of `width` columns; index 0 of the result is the rectangle's first. */
real *NAME(tsn_dtw_boundary_layout)(tsn_arena *arena, size_t width,
                                    const NAME(tsn_dtw_kernels) * kernels);

/* The row above row 0. */
void NAME(tsn_dtw_top_edge)(const NAME(tsn_dtw_pair) * pair, real *boundary);

/* Ready strip number `t` of the pair for a sweep; what NAME(tsn_dtw_sweep_start)
 * reads of the boundary need not be there yet. */
void NAME(tsn_dtw_sweep_prepare)(const NAME(tsn_dtw_pair) * p,
                                 const NAME(tsn_dtw_rectangle) * a, size_t t,
                                 NAME(tsn_dtw_sweeper) * s);
void NAME(tsn_dtw_sweep_start)(const NAME(tsn_dtw_pair) * pair,
                               NAME(tsn_dtw_sweeper) * sweeper);
void NAME(tsn_dtw_sweep_run)(const NAME(tsn_dtw_pair) * pair,
                             NAME(tsn_dtw_sweeper) * sweeper, size_t begin, size_t end);

/* From its first step on, have the sweep that is ready write its choices. */
void NAME(tsn_dtw_sweep_trace)(NAME(tsn_dtw_sweeper) * sweeper, unsigned char *trace);

/* After the last step: what the strip below reads of columns that the last row of
 * this one never reached. */
void NAME(tsn_dtw_sweep_finish)(const NAME(tsn_dtw_pair) * p,
                                const NAME(tsn_dtw_rectangle) * a, size_t t);

/* Of columns from ... to-1 of the last row of strip t, in the boundary, the first
 * through which a path may go that is wanted: within the cut-off, with what tail[i],
 * if any, says of rows i ... n-1. `to`: none. All paths cross the row. */
size_t NAME(tsn_dtw_first_live)(const NAME(tsn_dtw_pair) * pair, const real *boundary,
                                size_t t, size_t from, size_t to, double cutoff,
                                const double *tail);

/* Whether all paths go through the last row of strip t. */
bool NAME(tsn_dtw_all_cross)(const NAME(tsn_dtw_pair) * pair, size_t t);

/* State of row r of the strip: its cell in the last column swept. */
static inline real NAME(tsn_dtw_row_state)(const NAME(tsn_dtw_pair) * pair,
                                           const NAME(tsn_dtw_sweeper) * sweeper,
                                           size_t r) {
  size_t depth = pair->kernels->depth, lanes = pair->kernels->lanes;
  return sweeper->state[r % depth * lanes + lanes - 1 - r / depth];
}

#endif
