/* SPDX-License-Identifier: BSD-3-Clause */
/* The parallel loop, by what its body sees: each item once, and chunks that shrink toward
 * the end. After a poll has stopped it, as many items were visited as it reports. */
#include <omp.h>
#include <stdatomic.h>

#include "core/exec.h"
#include "core/parallel.h"
#include "support/check.h"

enum { ITEMS = 1000 };

typedef struct {
  _Atomic int visits[ITEMS];
  _Atomic int in_region;
} tally;

static void visit(void *context, size_t begin, size_t end, int thread) {
  tally *t = context;
  (void)thread;
  if (omp_in_parallel()) atomic_store(&t->in_region, 1);
  for (size_t i = begin; i < end; i++) atomic_fetch_add(&t->visits[i], 1);
}

Test(parallel, every_item_is_visited_once) {
  for (int threads = 1; threads <= 4; threads++) {
    for (size_t count = 0; count <= ITEMS; count = count * 2 + 1) {
      for (size_t grain = 1; grain <= 64; grain *= 4) {
        tsanom_exec exec;
        CHECK_STATUS(tsn_exec_read(&exec, NULL), TSANOM_OK);
        exec.threads = threads;
        tally t = {{0}, 0};
        size_t finished = 0;
        CHECK_STATUS(tsn_parallel_for(&exec, count, grain, visit, &t, &finished),
                     TSANOM_OK);
        cr_assert(finished == count);
        for (size_t i = 0; i < ITEMS; i++) cr_assert(t.visits[i] == (i < count));
        if (threads == 1) cr_assert(!t.in_region, "one thread must open no region");
      }
    }
  }
}

/* By the number of its first item. */
typedef struct {
  size_t chunk[ITEMS];
  _Atomic int threads;
} sizes;

static void note_size(void *context, size_t begin, size_t end, int thread) {
  sizes *s = context;
  (void)thread;
  s->chunk[begin] = end - begin;
  atomic_store(&s->threads, omp_get_num_threads());
}

Test(parallel, chunks_of_several_threads_shrink_toward_the_end) {
  for (int threads = 1; threads <= 4; threads++) {
    for (size_t grain = 1; grain <= 64; grain *= 2) {
      tsanom_exec exec;
      CHECK_STATUS(tsn_exec_read(&exec, NULL), TSANOM_OK);
      exec.threads = threads;
      sizes s = {{0}, 0};
      CHECK_STATUS(tsn_parallel_for(&exec, ITEMS, grain, note_size, &s, NULL), TSANOM_OK);
      cr_assert(s.chunk[0] == grain);
      size_t last = 0;
      for (size_t i = 0; i < ITEMS; i += last) {
        cr_assert(i == 0 || s.chunk[i] <= last);
        last = s.chunk[i];
      }
      size_t largest = s.threads == 1 ? grain : (grain + 7) / 8;
      cr_assert(last <= largest, "grain %zu threads %d", grain, threads);
    }
  }
}

typedef struct {
  int thread;
  uint64_t stop_at;
} stopper;

static int32_t stop_at(void *user, uint64_t done, uint64_t total) {
  const stopper *s = user;
  cr_assert(omp_get_thread_num() == s->thread);
  cr_assert(done <= total && total == ITEMS);
  return done >= s->stop_at;
}

Test(parallel, the_poll_stops_the_loop_and_reports_how_far_it_came) {
  for (int threads = 1; threads <= 4; threads++) {
    stopper s = {.thread = 0, .stop_at = ITEMS / 2};
    tsanom_exec exec;
    CHECK_STATUS(tsn_exec_read(&exec, NULL), TSANOM_OK);
    exec.threads = threads;
    exec.poll = stop_at;
    exec.poll_user = &s;
    tally t = {{0}, 0};
    size_t finished = 0, visited = 0;
    tsanom_status status = tsn_parallel_for(&exec, ITEMS, 10, visit, &t, &finished);
    for (size_t i = 0; i < ITEMS; i++) visited += (size_t)t.visits[i];
    cr_assert(visited == finished);
    if (threads == 1) {
      CHECK_STATUS(status, TSANOM_STOPPED);
      cr_assert(finished == ITEMS / 2);
    }
  }
}

Test(parallel, exec_fields_are_checked) {
  tsanom_exec caller, own;
  tsanom_exec_init(&caller, sizeof caller);
  caller.threads = -1;
  CHECK_STATUS(tsn_exec_read(&own, &caller), TSANOM_E_EXEC);
  caller.threads = 0;
  CHECK_STATUS(tsn_exec_read(&own, &caller), TSANOM_OK);
  cr_assert(own.threads == omp_get_max_threads());
  void *(*only_alloc)(void *, size_t) = own.alloc;
  caller.isa = 99;
  CHECK_STATUS(tsn_exec_read(&own, &caller), TSANOM_E_EXEC);
  caller.isa = TSANOM_ISA_AUTO;
  caller.alloc = only_alloc;
  CHECK_STATUS(tsn_exec_read(&own, &caller), TSANOM_E_EXEC);
}
