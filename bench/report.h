/* SPDX-License-Identifier: BSD-3-Clause */
/* The row in which all benchmarks report, so that scripts/bench can read every program alike. */
#ifndef TSANOM_BENCH_REPORT_H
#define TSANOM_BENCH_REPORT_H

#include <benchmark/benchmark.h>
#include <omp.h>

#include "timing.h"

/* The levels of this machine, for rows `isa:`. Every module of kernels has a benchmark
 * NAME_levels, which also a quick run takes at all of them: a kernel that is slow at one
 * level only is seen beside the others. */
inline std::vector<int64_t> levels() {
  std::vector<int64_t> found;
  for (int32_t isa = TSANOM_ISA_BASE; isa <= TSANOM_ISA_V4; isa++) {
    if (tsanom_isa_available(isa)) found.push_back(isa);
  }
  return found;
}

/* Rows of this name by a function of the state and of what follows. */
#define ROWS(name, function, ...) \
  BENCHMARK_CAPTURE(function, name, __VA_ARGS__)->Name(#name)

/* The instruction set of a row: the argument at this place; 0: the best one. */
inline int64_t isa_of(const benchmark::State &state, size_t place) {
  return place ? state.range(place) : int64_t{TSANOM_ISA_AUTO};
}

/* The least that `measure` returns over the iterations of a benchmark. */
template <class Measure>
double least(benchmark::State &state, Measure measure) {
  double best = INFINITY;
  for (auto _ : state) best = std::min(best, measure());
  return best;
}

/* The least time of `work` over the iterations of a benchmark. */
template <class Work>
double best_iteration(benchmark::State &state, Work work,
                      clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
  return least(state, [&] { return best_of(1, work, clock); });
}

/* The least time of a call of the library with the workspace that it asks for. */
template <class Call>
double best_call(benchmark::State &state, const tsanom_exec &exec, const Call &call) {
  Workspace work(exec, call);
  return best_iteration(
      state, [&] { check(call(&work.exec) == TSANOM_OK); }, clock_of(exec.threads));
}

/* Seconds of one of the `calls` of `work` that make an iteration, for each iteration. */
template <class Work>
std::vector<double> call_times(benchmark::State &state, clockid_t clock, int calls,
                               Work work) {
  std::vector<double> times;
  for (auto _ : state) {
    double start = seconds(clock);
    for (int c = 0; c < calls; c++) work();
    double elapsed = seconds(clock) - start;
    state.SetIterationTime(elapsed);
    times.push_back(elapsed / calls);
  }
  return times;
}

/* One row: `cost` and the `plain` form's cost (0: none) in the same unit, which
 * names the item paid for, as "ns/cell", "ns/beat", "ms". A parameter of the
 * benchmark called n is the size over which growth is fitted. */
inline void report(benchmark::State &state, const char *unit, double cost,
                   double plain = 0) {
  state.SetLabel(unit);
  state.counters["cost"] = cost;
  if (plain <= 0) return;
  state.counters["plain"] = plain;
  state.counters["ratio"] = plain / cost;
}

/* For rows of several threads: as many separate calls at the same time, each on one
 * thread. They share the caches, the memory and the clock of the machine, but no work, so
 * that they gain as much as threads of one call can at most. Reports the cost of a call in
 * the unit of the row, `scale` times its seconds; each thread calls `work(thread)`. */
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
