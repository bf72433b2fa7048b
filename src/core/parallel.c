/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks are handed out by one atomic counter, not by OpenMP's dynamic schedule: a loop
 * of OpenMP cannot stop early, unless its environment enables cancellation. The relaxed
 * order suffices, for the counters carry no data; the end of the parallel region is the
 * barrier that makes the results visible. */
#include "core/parallel.h"

#include <limits.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "core/environment.h"
#include "core/exec.h"

/* libgomp ends the process if it cannot start a thread (address space, RLIMIT_NPROC, pids limit
 * of a container). So before the first region of that many threads the same number is started
 * and ended here, once in a process: about 20 us for each. Each thread starts the next and waits for
 * it, so that all exist at the same time, and no array is needed.
 *
 * If not all start, regions have half of those that did, from then on: the program needs some,
 * too. */

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

/* How many threads of a region of `wanted` the system allows: `wanted`, or fewer, at least
 * one. */
static int threads_that_start(int wanted) {
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

/* The region by the runtime's entries, which LLVM's has too, instead of `#pragma omp
 * parallel`: an exception of the caller's poll may not leave that. Before the exception
 * leaves this frame, the region ends, that is, waits for the threads that use the frame. */
void GOMP_parallel_start(void (*member)(void *), void *data, unsigned threads);
void GOMP_parallel_end(void);

typedef struct {
  tsn_team_body *body;
  void *context;
} team;

static void run_member(void *data) {
  const team *t = data;
  TSN_IN_ENVIRONMENT(before);
  t->body(t->context, omp_get_thread_num(), omp_get_num_threads());
}

static void end_region(const team *t) {
  (void)t;
  GOMP_parallel_end();
}

void tsn_team_run(int threads, tsn_team_body *body, void *context) {
  threads = threads_that_start(threads);
  if (threads == 1) {
    body(context, 0, 1);
    return;
  }
  team members = {body, context};
  GOMP_parallel_start(run_member, &members, (unsigned)threads);
  TSN_CLEANUP(end_region) team caller = members;
  run_member(&caller);
}

/* What the threads of one loop share. */
typedef struct {
  const tsanom_exec *exec;
  size_t count, grain;
  tsn_chunk_body *body;
  void *context;
  _Atomic size_t next; /* first item not yet handed out */
  _Atomic size_t done; /* items finished */
  _Atomic int stop;
} chunk_loop;

/* Items of the next chunk. Toward the end of the loop chunks are smaller, so that threads
 * end at about the same time: of 10 items in chunks of 2, one thread would compute 6. */
static size_t chunk_of(const chunk_loop *loop, size_t left, size_t threads) {
  enum { SHARES = 2, LEAST_PARTS = 8 };
  if (threads == 1) return left < loop->grain ? left : loop->grain;
  size_t least = 1 + (loop->grain - 1) / LEAST_PARTS, share = left / (SHARES * threads);
  size_t chunk = share < least ? least : share < loop->grain ? share : loop->grain;
  return left < chunk ? left : chunk;
}

static void run_chunks(void *context, int thread, int threads) {
  chunk_loop *loop = context;
  while (!atomic_load_explicit(&loop->stop, memory_order_relaxed)) {
    if (thread == 0) {
      size_t done = atomic_load_explicit(&loop->done, memory_order_relaxed);
      if (tsn_exec_stop_all(loop->exec, done, loop->count, &loop->stop)) return;
    }
    /* Not an addition: `next` must not grow beyond the count, where it could overflow. */
    size_t begin = atomic_load_explicit(&loop->next, memory_order_relaxed);
    size_t chunk;
    do {
      if (begin >= loop->count) return;
      chunk = chunk_of(loop, loop->count - begin, (size_t)threads);
    } while (!atomic_compare_exchange_weak_explicit(
        &loop->next, &begin, begin + chunk, memory_order_relaxed, memory_order_relaxed));
    loop->body(loop->context, begin, begin + chunk, thread);
    atomic_fetch_add_explicit(&loop->done, chunk, memory_order_relaxed);
  }
}

tsanom_status tsn_parallel_for(const tsanom_exec *exec, size_t count, size_t grain,
                               tsn_chunk_body *body, void *context, size_t *finished) {
  chunk_loop loop = {
      .exec = exec, .count = count, .grain = grain, .body = body, .context = context};
  size_t chunks = count / grain + (count % grain != 0);
  int threads = chunks < (size_t)exec->threads ? (int)chunks : exec->threads;
  tsn_team_run(threads > 1 ? threads : 1, run_chunks, &loop);
  if (finished) *finished = atomic_load(&loop.done);
  return atomic_load(&loop.stop) ? TSANOM_STOPPED : TSANOM_OK;
}
