/* SPDX-License-Identifier: BSD-3-Clause */
/* What the benchmarks share: clocks, the check of what was timed, and the row in
 * which all of them report, so that scripts/bench can read every program alike. */
#ifndef TSANOM_BENCH_REPORT_H
#define TSANOM_BENCH_REPORT_H

#include <benchmark/benchmark.h>
#include <tsanom/base.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

inline double seconds(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of this thread: what other processes take does not count. */
inline double cpu_seconds() {
  return seconds(CLOCK_THREAD_CPUTIME_ID);
}

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

inline tsanom_exec exec_at(int64_t isa, int64_t threads = 1) {
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  exec.isa = (int32_t)isa;
  exec.threads = (int32_t)threads;
  return exec;
}

/* What one thread computes is timed by its processor, what several do by the clock. */
inline clockid_t clock_of(int32_t threads) {
  return threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
}

/* A benchmark of a wrong result says so and ends. */
inline void check(bool good, const char *what = "result") {
  if (good) return;
  std::fprintf(stderr, "wrong %s\n", what);
  std::abort();
}

inline double median(std::vector<double> times) {
  auto middle = times.begin() + (std::ptrdiff_t)times.size() / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

/* Least time of one run of `work`: of the processor, unless the clock is another one. */
template <class Work>
double best_of(int repeats, Work work, clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
  double best = INFINITY;
  for (int k = 0; k < repeats; k++) {
    double begin = seconds(clock);
    work();
    best = std::min(best, seconds(clock) - begin);
  }
  return best;
}

/* The same over the iterations of a benchmark. */
template <class Work>
double best_iteration(benchmark::State &state, Work work,
                      clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
  double best = INFINITY;
  for (auto _ : state) best = std::min(best, best_of(1, work, clock));
  return best;
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

#endif
