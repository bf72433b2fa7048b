/* SPDX-License-Identifier: BSD-3-Clause */
/* See watch.h. DTW that is given a poll calls it about once per million cells; for small
 * batches, of which thousands run per second, a poll each would take longer than they. */
#include "search/watch.h"

#include "core/exec.h"

/* Cells between two polls: a millisecond or less. */
enum { CELLS_PER_POLL = 1 << 20 };

static int32_t stop_if(tsn_search_watch *watch, uint64_t done, uint64_t total) {
  if (!atomic_load_explicit(&watch->stop, memory_order_relaxed)) {
    tsn_exec_stop_all(watch->exec, done, total, &watch->stop);
  }
  return atomic_load_explicit(&watch->stop, memory_order_relaxed);
}

static int32_t poll_between(void *user, uint64_t done, uint64_t total) {
  tsn_search_watch *watch = user;
  watch->done = done;
  watch->total = total;
  return stop_if(watch, done, total);
}

/* The arguments are those of one DTW; the caller counts queries or chunks. */
static int32_t poll_inside(void *user, uint64_t done, uint64_t total) {
  tsn_search_watcher *w = user;
  (void)done;
  (void)total;
  if (w->calling) return stop_if(w->watch, w->watch->done, w->watch->total);
  return tsn_search_stopped(w);
}

tsanom_exec tsn_search_watch_begin(tsn_search_watch *watch, const tsanom_exec *exec) {
  tsanom_exec loop = *exec;
  *watch = (tsn_search_watch){.exec = exec};
  if (loop.poll) {
    loop.poll = poll_between;
    loop.poll_user = watch;
  }
  return loop;
}

bool tsn_search_watch_poll(tsn_search_watcher *w, double cells) {
  tsanom_exec exec = {.poll = NULL};
  tsn_search_watch_cells(w, cells, &exec);
  return tsn_search_stopped(w) || tsn_exec_stop(&exec, 0, 0);
}

void tsn_search_watch_cells(tsn_search_watcher *w, double cells, tsanom_exec *inner) {
  if (!w->watch->exec->poll) return;
  w->cells += cells;
  if (w->cells < CELLS_PER_POLL) return;
  w->cells = 0;
  inner->poll = poll_inside;
  inner->poll_user = w;
}
