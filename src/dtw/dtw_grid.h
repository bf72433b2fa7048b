/* SPDX-License-Identifier: BSD-3-Clause */
/* What a path is traced back by: for every cell which of its predecessors was the
 * best, or, where that takes too much memory, rows and columns of D kept at some
 * distance from each other, so that any tile between them can be computed again
 * (A. Driga et al., "FastLSA"). Grids nest: a tile of one level is the rectangle of the
 * next. */
#ifndef TSN_DTW_GRID_H
#define TSN_DTW_GRID_H

#include "dtw/dtw_wave.h"

/* A rectangle: whole strips first_strip ... end_strip-1, columns first ... end-1. */
typedef struct {
  size_t first_strip, end_strip;
  size_t first, end;
} tsn_dtw_tile;

/* One level. Lines hold what the window admits and infinity around it. */
typedef struct {
  size_t strips, columns; /* of a tile */
  tsn_dtw_tile area;
  real *rows; /* row lines, the last row of every `strips` strips */
  real *columns_kept;
  size_t row_stride, column_stride; /* elements from line to line */
} NAME(tsn_dtw_level);

/* The choices of a strip in the traced tile. */
typedef struct {
  size_t begin; /* step */
  unsigned char *choices;
} tsn_dtw_traced_strip;

enum { TSN_DTW_LEVELS = 20 };

typedef struct {
  NAME(tsn_dtw_pair) pair;
  NAME(tsn_dtw_sweeper) sweeper;
  real *boundary;
  real *last_column; /* D(i, m-1) by i, of the whole matrix; NULL: not wanted */
  NAME(tsn_dtw_level) level[TSN_DTW_LEVELS];
  int levels; /* in use; what lies below the last of them is traced */
  tsn_dtw_tile traced;
  tsn_dtw_traced_strip *strips; /* of the traced tile */
  unsigned char *choices;
} NAME(tsn_dtw_grid);

void NAME(tsn_dtw_grid_layout)(tsn_arena *arena, const tsn_dtw_problem *problem,
                               const tsanom_dtw_options *options,
                               const NAME(tsn_dtw_kernels) * kernels,
                               NAME(tsn_dtw_grid) * grid);

/* Sweep an area, the matrix or a tile of the level above, and keep the lines of the
 * tiles of level `at`, or trace it if that is `levels`. TSN_DTW_*; abandoned is only a
 * sweep of the whole matrix. */
int NAME(tsn_dtw_grid_sweep)(NAME(tsn_dtw_grid) * grid, int at, const tsn_dtw_tile *area,
                             const tsn_dtw_watch *watch);

/* Rows of one block in the traced tile: what row u < depth chose in column j is in
 * `choices` + ((j - first column of the tile + skew - begin) depth + u) choice_bytes. */
typedef struct {
  const unsigned char *choices;
  size_t u; /* of the row asked for */
  size_t lane, skew, begin;
} tsn_dtw_traced_block;

/* The block of row i of the traced tile. */
tsn_dtw_traced_block NAME(tsn_dtw_grid_block)(const NAME(tsn_dtw_grid) * grid, size_t i);

#endif
