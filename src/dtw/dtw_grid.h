/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows and columns of D kept at some distance from each other, from which any tile
 * between them can be computed again (A. Driga et al., "FastLSA"). Grids nest: a
 * tile of one level is the rectangle of the next. */
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

enum { TSN_DTW_LEVELS = 20 };

typedef struct {
  NAME(tsn_dtw_pair) pair;
  NAME(tsn_dtw_sweeper) sweeper;
  real *boundary;
  real *last_column; /* D(i, m-1) by i, of the whole matrix; NULL: not wanted */
  NAME(tsn_dtw_level) level[TSN_DTW_LEVELS];
  int levels;
  real *record, *tile_top; /* of a tile of the last level */
} NAME(tsn_dtw_grid);

void NAME(tsn_dtw_grid_layout)(tsn_arena *arena, const tsn_dtw_problem *problem,
                               const tsanom_dtw_options *options,
                               const NAME(tsn_dtw_kernels) * kernels,
                               NAME(tsn_dtw_grid) * grid);

/* D(i,j) on or above and left of the area of level `at`, as its lines, those of the
 * levels above, or the edge of the matrix have it; i or j may be -1. */
real NAME(tsn_dtw_grid_line)(const NAME(tsn_dtw_grid) * grid, int at, ptrdiff_t i,
                             ptrdiff_t j);

/* Sweep an area, a tile of the level above, and keep the lines of its tiles.
 * TSN_DTW_*; abandoned is only a sweep of the whole matrix. */
int NAME(tsn_dtw_grid_sweep)(NAME(tsn_dtw_grid) * grid, int at, const tsn_dtw_tile *area,
                             const tsn_dtw_watch *watch);

/* Sweep a tile of the last level and keep every cell. */
void NAME(tsn_dtw_grid_record)(NAME(tsn_dtw_grid) * grid, const tsn_dtw_tile *tile);

/* D(i,j) in the tile recorded last, or on the lines above and left of it. */
real NAME(tsn_dtw_grid_cell)(const NAME(tsn_dtw_grid) * grid, const tsn_dtw_tile *tile,
                             ptrdiff_t i, ptrdiff_t j);

#endif
