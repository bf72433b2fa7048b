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
 * A thread publishes its progress after the stores of a tile (release), and a thread
 * reads it before the loads (acquire): progress[t-1] >= column + delay*lanes means that
 * the last lane of the strip above has passed the column.
 *
 * Only the row between two groups goes from one processor's cache to another's. Such a
 * row costs a tenth of the time of a strip, although a tile prefetches its part; with
 * groups of four strips one row in four changes processors. n = 50 000, radius 5000,
 * two threads: 0.050 ns a cell, 0.053 with groups of one strip, 0.095 with one thread.
 *
 * No deadlock: strips are handed out in order, and a strip waits only for the one above
 * it, which a running thread has already taken. */
#ifndef TSN_DTW_WAVEFRONT_H
#define TSN_DTW_WAVEFRONT_H

#include "dtw/dtw_settings.h"
#include "dtw/dtw_sweep_strips.h"

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

#endif
