/* SPDX-License-Identifier: BSD-3-Clause */
/* The caller's options and exec, checked; the same in both precisions. Every public
 * function reads both into one of these first; the other files never see the caller's
 * own structs. */
#ifndef TSN_DTW_SETTINGS_H
#define TSN_DTW_SETTINGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <tsanom/dtw.h>

#include "core/arena.h"
#include "core/exec.h"
#include "core/fault.h"

typedef struct {
  tsanom_dtw_options options; /* stride is filled in */
  tsanom_exec exec;
} tsn_dtw_settings;

extern const tsanom_dtw_options tsn_dtw_defaults;

/* Options that not every function uses; the others reject a value that is not the
 * default. */
enum {
  TSN_DTW_USES_TAILS = 1,
  TSN_DTW_USES_PATH_MEMORY = 2,
  TSN_DTW_USES_SHAPE = 4 /* dimensions and stride; sets of series have their own */
};

/* Read both, exec first since it receives the fault. `uses`: TSN_DTW_USES_*. */
tsanom_status tsn_dtw_settings_read(tsn_dtw_settings *own,
                                    const tsanom_dtw_options *options,
                                    const tsanom_exec *exec, int uses);

/* Memory of threads: take `count` blocks of what `one` measured; block k begins
 * k*one->used bytes after the first. A thread opens its block as an arena and lays out
 * its own buffers in it, anew for every pair. */
static inline void *tsn_dtw_take_blocks(tsn_arena *arena, size_t count,
                                        const tsn_arena *one) {
  arena->overflow |= one->overflow;
  return tsn_arena_take(arena, count, one->used);
}

static inline tsn_arena tsn_dtw_block(void *blocks, size_t k, size_t bytes) {
  return (tsn_arena){.base = (unsigned char *)blocks + k * bytes, .capacity = bytes};
}

/* Cancellation state shared by the threads of one call. Only the calling thread may run
 * the poll of the caller; the others read `stop`. */
typedef struct {
  const tsanom_exec *exec;
  _Atomic int *stop;
  bool polls;           /* this is the calling thread */
  uint64_t done, total; /* arguments of the poll */
} tsn_dtw_watch;

/* Ask the poll, if this is the calling thread; whether to stop. */
static inline bool tsn_dtw_watch_stop(const tsn_dtw_watch *watch) {
  if (watch->polls && !atomic_load_explicit(watch->stop, memory_order_relaxed)) {
    tsn_exec_stop_all(watch->exec, watch->done, watch->total, watch->stop);
  }
  return atomic_load_explicit(watch->stop, memory_order_relaxed) != 0;
}

#endif
