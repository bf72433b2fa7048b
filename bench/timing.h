/* SPDX-License-Identifier: BSD-3-Clause */
/* What every program that times the library shares: clocks, the check of what was timed, how it is
 * called, and series to call it with. */
#ifndef TSANOM_BENCH_TIMING_H
#define TSANOM_BENCH_TIMING_H

#include <tsanom/base.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "support/ask.h"
#include "support/random.h"

inline double seconds(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of this thread: what other processes take does not count. */
inline double cpu_seconds() {
  return seconds(CLOCK_THREAD_CPUTIME_ID);
}

/* The default options of a function `init`. */
template <class Options>
Options defaults(tsanom_status (*init)(Options *, size_t)) {
  Options options;
  (void)init(&options, sizeof options);
  return options;
}

/* A view or an output without values. */
template <class T>
T sized() {
  T empty{};
  empty.struct_size = sizeof empty;
  return empty;
}

inline tsanom_exec exec_at(int64_t isa, int64_t threads = 1) {
  tsanom_exec exec = defaults(tsanom_exec_init);
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

/* The workspace that a call asks for, and how to call with it. */
class Workspace {
 public:
  tsanom_exec exec;

  template <class Call>
  Workspace(const tsanom_exec &how, const Call &call) : exec(how) {
    size_t bytes = 0;
    const tsanom_exec ask = ask_exec(&how, &bytes);
    check(call(&ask) == TSANOM_E_WORKSPACE, "workspace");
    memory_.resize(bytes);
    exec.work = memory_.data();
    exec.work_bytes = bytes;
  }
  Workspace(Workspace &&) = default;

 private:
  std::vector<char> memory_;
};

/* A random walk. */
template <class T = double>
std::vector<T> walk(size_t n, uint64_t *seed) {
  std::vector<T> x(n);
  double level = 0;
  for (T &value : x) value = (T)(level += random_unit(seed) - 0.5);
  return x;
}

#endif
