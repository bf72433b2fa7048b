/* SPDX-License-Identifier: BSD-3-Clause */
/* Sweep a rectangle by one thread or several: threads take strips in turn and
 * follow each other down the matrix, each as far behind the strip above as the lanes
 * need. */
#ifndef TSN_DTW_WAVE_H
#define TSN_DTW_WAVE_H

#include <stdatomic.h>

#include "core/exec.h"
#include "dtw/dtw_strips.h"

/* Who may be asked to stop, and has been. */
typedef struct {
  const tsanom_exec *exec;
  _Atomic int *stop;    /* shared by all threads of a call */
  bool polls;           /* this is the calling thread */
  uint64_t done, total; /* what the poll is told */
} tsn_dtw_watch;

/* Ask the poll, if this thread may; whether to stop. */
static inline bool tsn_dtw_watch_stop(const tsn_dtw_watch *watch) {
  if (watch->polls && !atomic_load_explicit(watch->stop, memory_order_relaxed) &&
      tsn_exec_stop(watch->exec, watch->done, watch->total)) {
    atomic_store_explicit(watch->stop, 1, memory_order_relaxed);
  }
  return atomic_load_explicit(watch->stop, memory_order_relaxed) != 0;
}

/* Strips that a thread of several sweeps together, at most. */
enum { TSN_DTW_STRIPS_TOGETHER = 4 };

typedef struct {
  const NAME(tsn_dtw_pair) * pair;
  NAME(tsn_dtw_rectangle) area;
  size_t first_strip, end_strip;
  NAME(tsn_dtw_sweeper) * sweepers; /* of each thread: one, or for all strips together */
  _Atomic size_t *progress;         /* of each strip; NULL: one thread */
  real *last_column; /* out: D(i, area.end-1) by row from open_end; NULL: not wanted */
  double cutoff;     /* abandon above; INFINITY: never */
  const double *tail;
} NAME(tsn_dtw_wave);

enum { TSN_DTW_SWEPT, TSN_DTW_STOPPED, TSN_DTW_ABANDONED };

/* Sweep all strips; TSN_DTW_*. */
int NAME(tsn_dtw_wave_run)(const NAME(tsn_dtw_wave) * wave, int threads,
                           const tsn_dtw_watch *watch);

#endif
