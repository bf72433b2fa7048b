/* SPDX-License-Identifier: BSD-3-Clause */
/* The warping path of one pair: the pairs (i,j) from the first to the last that the
 * minima of the recurrence have chosen. Time is proportional to the cells of the window,
 * and so is memory (2 bits a cell), or with TSANOM_DTW_PATH_LINEAR to n + m. */
#ifndef TSN_DTW_PATH_H
#define TSN_DTW_PATH_H

#include "dtw/dtw_operand.h"
#include "dtw/dtw_sweeps.h"

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

/* One pair, resolved, and its buffers. */
typedef struct {
  const real *x, *y;
  const tsn_dtw_settings *settings;
  tsn_dtw_problem problem;
  tsn_dtw_traceback traceback;
} tsn_dtw_path;

/* Resolve a pair of operands. TSANOM_OK or
 * TSANOM_E_OVERFLOW. */
tsanom_status tsn_dtw_path_init(tsn_dtw_path *path, const tsn_dtw_operand *x,
                                const tsn_dtw_operand *y,
                                const tsn_dtw_settings *settings);

/* A tsn_layout of a tsn_dtw_path. */
void tsn_dtw_path_layout(tsn_arena *arena, void *path);

/* The path is laid out; `path` has space for n + m - 1 pairs. TSANOM_OK and the path,
 * or, with *length 0, _INFEASIBLE or _CUTOFF; or _STOPPED; then `path` holds anything. */
tsanom_status tsn_dtw_path_run(tsn_dtw_path *p, const tsn_dtw_watch *watch, size_t *path,
                               size_t *length, real *distance);

#endif
