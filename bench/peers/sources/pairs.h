/* SPDX-License-Identifier: BSD-3-Clause */
/* One problem solved by the library and by another: both in turns, five times each, on
 * one thread and by its own clock. Each program of this folder prints such rows, which
 * ../compiled_sources.py makes a table of. */
#ifndef TSANOM_BENCH_PAIRS_H
#define TSANOM_BENCH_PAIRS_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "support/random.h"

inline double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A comparison of a wrong result says so and ends. */
inline void check(bool good, const char *what) {
  if (good) return;
  std::fprintf(stderr, "wrong %s\n", what);
  std::exit(1);
}

/* Median of the seconds of the repetitions, and the largest less the smallest of them as
 * a part of it. */
struct summary {
  double median, spread;
};

inline summary summarize(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  double median = seconds[seconds.size() / 2];
  return {median, (seconds.back() - seconds.front()) / median};
}

/* The number of calls that take at least a fiftieth of a second. */
template <class Work>
size_t calls_of(Work work) {
  for (size_t calls = 1;; calls *= 2) {
    double begin = thread_seconds();
    for (size_t i = 0; i < calls; i++) work();
    if (thread_seconds() - begin > 0.02) return calls;
  }
}

template <class Work>
double time_of(size_t calls, Work work) {
  double begin = thread_seconds();
  for (size_t i = 0; i < calls; i++) work();
  return (thread_seconds() - begin) / (double)calls;
}

/* Prints the row: `items` of `unit`, such as cells, are what one call computes. */
template <class Ours, class Theirs>
void compare(const std::string &problem, const char *unit, double items, Ours ours,
             Theirs theirs) {
  size_t our_calls = calls_of(ours), their_calls = calls_of(theirs);
  std::vector<double> our_times, their_times;
  for (int i = 0; i < 5; i++) {
    our_times.push_back(time_of(our_calls, ours));
    their_times.push_back(time_of(their_calls, theirs));
  }
  summary own = summarize(our_times), other = summarize(their_times);
  std::printf("%s\t%s\t%.4g\t%.2g\t%.4g\t%.2g\n", problem.c_str(), unit,
              1e9 * own.median / items, own.spread, 1e9 * other.median / items,
              other.spread);
  std::fflush(stdout);
}

inline std::vector<double> walk(size_t n, uint64_t *seed) {
  std::vector<double> x(n);
  double level = 0;
  for (double &value : x) value = level += random_unit(seed) - 0.5;
  return x;
}

#endif
