/* SPDX-License-Identifier: BSD-3-Clause */
/* How far the strips of one pair are that several threads sweep. A thread publishes the
 * steps of a strip after the stores of a tile (release), and reads those of the strip
 * above before the loads of a tile (acquire). */
#ifndef TSN_DTW_PROGRESS_H
#define TSN_DTW_PROGRESS_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TSN_DTW_SPINS = 20000 }; /* some tiles long */

typedef struct {
  _Atomic size_t *steps; /* of each strip, SIZE_MAX when it is done; NULL: one thread */
  /* Nonzero: the computation is over. `abandoned` may be NULL. */
  const _Atomic int *stop, *abandoned;
} tsn_dtw_progress;

static inline bool tsn_dtw_progress_over(const tsn_dtw_progress *p) {
  return atomic_load_explicit(p->stop, memory_order_relaxed) ||
         (p->abandoned && atomic_load_explicit(p->abandoned, memory_order_relaxed));
}

static inline void tsn_dtw_progress_clear(const tsn_dtw_progress *p, size_t strips) {
  for (size_t t = 0; p->steps && t < strips; t++) {
    atomic_store_explicit(p->steps + t, 0, memory_order_relaxed);
  }
}

/* Let the strip below strip t go on. */
static inline void tsn_dtw_progress_set(const tsn_dtw_progress *p, size_t t,
                                        size_t steps) {
  if (p->steps) atomic_store_explicit(p->steps + t, steps, memory_order_release);
}

/* Whether the strip above strip t, if there is one, has done these steps. */
static inline bool tsn_dtw_progress_above(const tsn_dtw_progress *p, size_t t,
                                          size_t steps) {
  if (!p->steps || t == 0) return true;
  return atomic_load_explicit(p->steps + t - 1, memory_order_acquire) >= steps;
}

/* Wait until it has; false if the computation is over. It spins for some tiles before it
 * yields: on a busy machine a thread that yields may not run again for milliseconds. */
static inline bool tsn_dtw_progress_wait(const tsn_dtw_progress *p, size_t t,
                                         size_t steps) {
  for (int spins = 0; !tsn_dtw_progress_above(p, t, steps); spins++) {
    if (tsn_dtw_progress_over(p)) return false;
    if (spins >= TSN_DTW_SPINS) sched_yield();
  }
  return true;
}

#endif
