/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a forward sweep from which a path is traced back: the choice of each cell (2
 * bits: which predecessor was the best), or, where that takes too much memory, rows and
 * columns of D at some distance from each other, so that any tile between them can be
 * computed again with its choices (A. Driga et al., "FastLSA", Algorithmica 45 (2006)
 * 337-375). Grids nest: a tile of one level is the area of the next.
 *
 *   +---+---+---+---+     kept rows and columns of level 0; the path * crosses few
 *   | * |   |   |   |     tiles, and only these are computed again, in a grid of
 *   +--*+---+---+---+     level 1 or traced
 *   |   *  **   |   |
 *   +---+**-+*--+---+
 *   |   |   | **|** |
 *   +---+---+---+--**
 *
 * Choices rather than D itself: 2 bits a cell (4 in double precision at level base)
 * instead of 64, and the way back reads no samples. Path and distance together take 1.5
 * times as long as the distance, full window, n = 1000 ... 2000, level v4.
 *
 * Linear-space alignment after D. Hirschberg (Comm. ACM 18 (1975) 341-343) halves the
 * matrix and computes about 2 times its cells. A path crosses about 2k of the k*k tiles
 * of a grid, so that all levels together compute 1 + 2/k + (2/k)^2 + ... times the cells,
 * here with k = 16, and O(n + m) memory holds the lines.
 *
 * Limits of linear memory: choices may take 64 bytes a sample of either series, about
 * half of what the lines do. They suffice for bands of a radius of about 200 and for any
 * window of some 600 samples, which are traced at once, without a grid. */
#ifndef TSN_DTW_TRACEBACK_H
#define TSN_DTW_TRACEBACK_H

#include "dtw/dtw_wavefront.h"

/* A rectangle: whole strips first_strip ... end_strip-1, columns first ... end-1. Whole
 * strips, because only the last row of a strip goes to memory. */
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
} tsn_dtw_level;

/* The choices of a strip in the traced tile, [step - begin][DEPTH] vectors of choices. */
typedef struct {
  size_t begin; /* step */
  unsigned char *choices;
} tsn_dtw_traced_strip;

/* Each level divides both sides by 16; 16 such divisions exhaust 64 bits. */
enum { TSN_DTW_LEVELS = 20 };

/* All buffers of a path, parts of one arena. */
typedef struct {
  tsn_dtw_strips matrix;
  tsn_dtw_sweeper sweeper;
  real *boundary_block, *boundary; /* see tsn_dtw_boundary() */
  real *last_column; /* D(i, m-1) by i, of the whole matrix; NULL: not wanted */
  tsn_dtw_level level[TSN_DTW_LEVELS];
  int levels; /* in use; what lies below the last of them is traced */
  tsn_dtw_tile traced;
  tsn_dtw_traced_strip *traced_strips;
  unsigned char *choices;
} tsn_dtw_traceback;

/* Take the memory for a path of the problem; it is enough for shorter series, too. */
void tsn_dtw_traceback_layout(tsn_arena *arena, const tsn_dtw_problem *problem,
                              const tsanom_dtw_options *options,
                              const tsn_dtw_kernels *kernels, tsn_dtw_traceback *tb);

/* Copy the samples in the order of the kernels. */
void tsn_dtw_traceback_fill(tsn_dtw_traceback *tb, const real *x, const real *y);

/* Sweep an area, the matrix or a tile of the level above, and keep the lines of the
 * tiles of level `at`, or trace it if that is `levels`. TSN_DTW_*; abandoned is only a
 * sweep of the whole matrix. */
int tsn_dtw_traceback_sweep(tsn_dtw_traceback *tb, int at, const tsn_dtw_tile *area,
                            const tsn_dtw_watch *watch);

/* Rows of one block in the traced tile: what row u < depth chose in column j is in
 * `choices` + ((j - first column of the tile + skew - begin) depth + u) choice_bytes. */
typedef struct {
  const unsigned char *choices;
  size_t u; /* of the row in question */
  size_t lane, skew, begin;
} tsn_dtw_traced_block;

/* The block of row i of the traced tile. */
tsn_dtw_traced_block tsn_dtw_traceback_block(const tsn_dtw_traceback *tb, size_t i);

#endif
