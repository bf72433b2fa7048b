/* SPDX-License-Identifier: BSD-3-Clause */
/* libgomp ends the process if it cannot start a thread (address space, RLIMIT_NPROC, pids limit
 * of a container). So before the first region of that many threads the same number is started
 * and ended here, once in a process: about 20 us for each. Each thread starts the next and waits for
 * it, so that all exist at the same time, and no array is needed.
 *
 * If not all start, regions have half of those that did, from then on: the program needs some,
 * too. */
#include "core/threads.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic int started_once = 1;
static _Atomic int most = INT_MAX;

typedef struct {
  int started, wanted;
} trial;

static void *start_next(void *context) {
  trial *t = context;
  pthread_t next;
  if (++t->started < t->wanted && pthread_create(&next, NULL, start_next, t) == 0) {
    pthread_join(next, NULL);
  }
  return NULL;
}

int tsn_threads_that_start(int wanted) {
  int allowed = atomic_load_explicit(&most, memory_order_relaxed);
  if (wanted > allowed) wanted = allowed;
  if (wanted <= atomic_load_explicit(&started_once, memory_order_relaxed)) return wanted;
  trial t = {.wanted = wanted};
  start_next(&t);
  if (t.started < wanted) {
    wanted = t.started > 1 ? t.started / 2 : 1;
    atomic_store_explicit(&most, wanted, memory_order_relaxed);
  }
  atomic_store_explicit(&started_once, wanted, memory_order_relaxed);
  return wanted;
}
