/* SPDX-License-Identifier: BSD-3-Clause */
/* The caller's poll during a chunk of tsn_parallel_for(), which itself polls between
 * chunks only: the DTW of one query may take seconds.
 *
 *   calling thread   poll ---- chunk: DTW, poll, DTW, poll, ... ---- poll ---- chunk ...
 *   other threads         ---- chunk: DTW, stopped?, DTW, ...   ----
 *
 * Once the poll asked to stop, the threads leave their chunks, and the loop returns
 * TSANOM_STOPPED. */
#ifndef TSN_SEARCH_WATCH_H
#define TSN_SEARCH_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>

#include <tsanom/base.h>

/* One loop. */
typedef struct {
  const tsanom_exec *exec; /* with the caller's poll */
  uint64_t done, total;    /* of the latest poll between chunks */
  _Atomic int stop;        /* the poll asked to stop */
} tsn_search_watch;

/* One thread of it. */
typedef struct {
  tsn_search_watch *watch;
  double cells;    /* of DTW since the latest poll */
  int32_t calling; /* 1: the calling thread, which polls */
} tsn_search_watcher;

/* The exec for the loop: as `exec`, but its poll notes what it is given in `watch`, and
 * stops the loop if a poll inside of a chunk asked to. */
tsanom_exec tsn_search_watch_begin(tsn_search_watch *watch, const tsanom_exec *exec);

static inline bool tsn_search_stopped(const tsn_search_watcher *w) {
  return atomic_load_explicit(&w->watch->stop, memory_order_relaxed) != 0;
}

/* Before a DTW of up to `cells` cells: let `inner`, its exec, poll if enough cells were
 * computed since the latest poll. */
void tsn_search_watch_cells(tsn_search_watcher *w, double cells, tsanom_exec *inner);

/* After as many cells: poll if enough were computed since the latest poll. True: stop. */
bool tsn_search_watch_poll(tsn_search_watcher *w, double cells);

#endif
