/* SPDX-License-Identifier: BSD-3-Clause */
/* The distance of one pair by whichever sweep is fastest (dtw_pair.c compares them). The
 * calls, in this order: tsn_dtw_pair_init(), _layout(), _run(). A pair borrows the
 * samples and the settings, and owns nothing: its buffers are parts of the arena. */
#ifndef TSN_DTW_PAIR_H
#define TSN_DTW_PAIR_H

#include "dtw/dtw_operand.h"
#include "dtw/dtw_sweeps.h"

/* Buffers of a sweep by strips. */
typedef struct {
  tsn_dtw_strips matrix;
  void *sweepers; /* blocks of one sweeper each */
  size_t sweeper_bytes;
  real *boundary;    /* see tsn_dtw_boundary() */
  real *last_column; /* NULL: neither series has an open end */
  /* Of each strip, in steps; NULL: one thread. */
  _Atomic size_t *progress;
} tsn_dtw_strips_buffers;

/* Buffers of the full sweep. */
typedef struct {
  real *x; /* of all strips, as the kernels want them */
  /* Columns in `delay` arrays, and where they meet: the last LANES elements of each,
   * followed by its first ones. In a handover lanes that are still above read the
   * former and lanes that are below the latter, by the same load. */
  real *columns, *seam;
  size_t column_stride;            /* elements from array to array of `columns` */
  real *boundary_block, *boundary; /* see tsn_dtw_boundary() */
  real *state;
} tsn_dtw_full;

/* Buffers of a chain. */
typedef struct {
  real *x;                 /* of all strips, as the kernels want them */
  real *columns;           /* in `delay` arrays, as in dtw_kernel.h */
  size_t column_stride;    /* elements from array to array */
  size_t dimension_stride; /* elements from dimension to dimension */
  real *boundary, *walls;
  real *costs; /* of each thread; NULL: one dimension and no penalty */
  real *state; /* of each thread */
  uint16_t *below;
  _Atomic size_t *progress; /* of each strip; NULL: one thread */
} tsn_dtw_chain;

/* Buffers of a band. */
typedef struct {
  tsn_dtw_band band;
  /* First elements of the paddings: (vectors + 1) * lanes infinite samples on each side
   * of a series, which diagonals reach beyond both ends. y is stored in reverse. */
  real *x, *y;
  real *state; /* both diagonals and the walls */
} tsn_dtw_band_buffers;

/* One pair, resolved, and its buffers. The buffers of the sweeps share the same
 * memory. */
typedef struct {
  const real *x, *y;                 /* rows and columns */
  const tsanom_dtw_options *options; /* open ends: see problem */
  const tsn_dtw_kernels *kernels, *band_kernels;
  tsn_dtw_problem problem;
  int threads;
  bool tiny; /* by dtw_sweep_tiny.c, which has no buffers */
  tsn_dtw_strips_buffers strips;
  tsn_dtw_chain chain;
  tsn_dtw_full full;
  tsn_dtw_band_buffers band;
} tsn_dtw_pair;

/* Resolve a pair of operands. `keep_order`: x stays the rows, which tails refer to; else
 * the shorter series becomes the rows. The settings must outlive the pair. TSANOM_OK or
 * TSANOM_E_OVERFLOW. */
tsanom_status tsn_dtw_pair_init(tsn_dtw_pair *pair, const tsn_dtw_operand *x,
                                const tsn_dtw_operand *y,
                                const tsn_dtw_settings *settings, bool keep_order,
                                int threads);

/* A tsn_layout of a tsn_dtw_pair. What a pair needs, every pair of no longer series
 * with the same settings can do with. */
void tsn_dtw_pair_layout(tsn_arena *arena, void *pair);

/* Compute the pair, which is laid out. `tail`: see tsanom_dtw_options.tails; NULL if
 * there is none. TSANOM_OK, _INFEASIBLE, _CUTOFF, or _STOPPED. */
tsanom_status tsn_dtw_pair_run(tsn_dtw_pair *pair, const double *tail,
                               const tsn_dtw_watch *watch, real *distance);

#endif
