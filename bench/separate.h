/* SPDX-License-Identifier: BSD-3-Clause */
/* For rows of several threads: as many separate calls at the same time, each on one
 * thread. They share the caches, the memory and the clock of the machine, but no work, so
 * that they gain as much as threads of one call can at most. */
#ifndef TSANOM_BENCH_SEPARATE_H
#define TSANOM_BENCH_SEPARATE_H

#include <omp.h>

#include "report.h"

/* The cost of a row in its unit, `scale` times the seconds of a call. Each thread calls
 * `work(thread)`; the least of some times counts. */
template <class Work>
void report_separate(benchmark::State &state, int threads, double scale, Work work) {
  enum { REPEATS = 3 };
  double best = best_of(
      REPEATS,
      [&] {
#pragma omp parallel num_threads(threads)
        work(omp_get_thread_num());
      },
      CLOCK_MONOTONIC);
  state.counters["separate"] = scale * best / threads;
}

#endif
