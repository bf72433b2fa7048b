/* SPDX-License-Identifier: BSD-3-Clause */
/* Sweep a rectangle on one thread or several. Threads take groups of up to four strips in
 * turn and sweep them in tiles of some hundred steps; a tile starts when the strip above
 * has passed its columns by as many steps as the lanes are delayed:
 *
 *   strip 0   thread 0   ==========>
 *   strip 1   thread 0   ========>        progress[t]: steps that strip t has done
 *   strip 2   thread 1   =====>
 *   strip 3   thread 1   ===>
 *
 * Only the row between two groups goes from one processor's cache to another's. */
#ifndef TSN_DTW_WAVEFRONT_H
#define TSN_DTW_WAVEFRONT_H

#include "dtw/dtw_settings.h"
#include "dtw/dtw_sweep_strips.h"

/* Strips that a thread of several sweeps together, at most. */
enum { TSN_DTW_STRIPS_TOGETHER = 4 };

typedef struct {
  const tsn_dtw_strips *matrix;
  tsn_dtw_rectangle area;
  size_t first_strip, end_strip;
  void *sweepers; /* one block per strip of each thread; one block for one thread */
  size_t sweeper_bytes;
  _Atomic size_t *progress; /* of each strip; NULL: one thread */
  real *last_column; /* out: D(i, area.end-1) by row from open_end; NULL: not wanted */
  double cutoff;     /* abandon above; INFINITY: never */
  const double *tail;
} tsn_dtw_wavefront;

enum { TSN_DTW_SWEPT, TSN_DTW_STOPPED, TSN_DTW_ABANDONED };

/* Sweep all strips; TSN_DTW_*. */
int tsn_dtw_wavefront_run(const tsn_dtw_wavefront *wavefront, int threads,
                          const tsn_dtw_watch *watch);

#endif
