/* SPDX-License-Identifier: BSD-3-Clause */
/* One problem solved by the library and by another: both in turns, five times each, on
 * one thread and by its own clock. Each program of this folder prints such rows, which
 * ../compiled_sources.py makes a table of. */
#ifndef TSANOM_BENCH_PAIRS_H
#define TSANOM_BENCH_PAIRS_H

#include <string>

#include "../../timing.h"

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

template <class Work>
double time_of(size_t calls, Work &work) {
  return best_of(1, [&] {
    for (size_t i = 0; i < calls; i++) work();
  });
}

/* The number of calls that take at least a fiftieth of a second. */
template <class Work>
size_t calls_of(Work &work) {
  size_t calls = 1;
  while (time_of(calls, work) <= 0.02) calls *= 2;
  return calls;
}

/* Prints the row: `items` of `unit`, such as cells, are what one call computes. */
template <class Ours, class Theirs>
void compare(const std::string &problem, const char *unit, double items, Ours &&ours,
             Theirs &&theirs) {
  size_t our_calls = calls_of(ours), their_calls = calls_of(theirs);
  std::vector<double> our_times, their_times;
  for (int i = 0; i < 5; i++) {
    our_times.push_back(time_of(our_calls, ours) / (double)our_calls);
    their_times.push_back(time_of(their_calls, theirs) / (double)their_calls);
  }
  summary own = summarize(our_times), other = summarize(their_times);
  std::printf("%s\t%s\t%.4g\t%.2g\t%.4g\t%.2g\n", problem.c_str(), unit,
              1e9 * own.median / items, own.spread, 1e9 * other.median / items,
              other.spread);
  std::fflush(stdout);
}

#endif
