/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's distance of two walks, prepared so that only the call is timed. */
#ifndef TSANOM_BENCH_DISTANCE_H
#define TSANOM_BENCH_DISTANCE_H

#include <tsanom/dtw.h>

#include "pairs.h"
#include "support/ask.h"

inline tsanom_status distance_of(const double *x, const double *y, size_t n,
                                 const tsanom_dtw_options *options,
                                 const tsanom_exec *exec, double *distance) {
  return tsanom_dtw_distance(x, n, y, n, options, exec, distance);
}

inline tsanom_status distance_of(const float *x, const float *y, size_t n,
                                 const tsanom_dtw_options *options,
                                 const tsanom_exec *exec, float *distance) {
  return tsanom_dtw_distance_f32(x, n, y, n, options, exec, distance);
}

/* Two walks of `n` samples; a radius of `n` or more is the whole matrix. */
template <class Real>
struct distance_call {
  std::vector<Real> x, y;
  bool whole;
  Real distance = 0;
  std::string problem;

  distance_call(size_t n, size_t radius, int cost) : whole(radius >= n) {
    uint64_t seed = n;
    std::vector<double> wide = walk(n, &seed);
    x.assign(wide.begin(), wide.end());
    wide = walk(n, &seed);
    y.assign(wide.begin(), wide.end());
    tsanom_dtw_options_init(&options, sizeof options);
    options.cost = cost;
    if (!whole) options.radius = radius;
    size_t bytes = 0;
    exec = ask_exec(nullptr, &bytes);
    distance_of((const Real *)nullptr, nullptr, n, &options, &exec, nullptr);
    work.resize(bytes);
    exec.work_needed = nullptr;
    exec.work = work.data();
    exec.work_bytes = bytes;
    problem = std::string("DTW f") + (sizeof(Real) == 4 ? "32" : "64") +
              (cost == TSANOM_COST_SQUARED ? ", squared" : "") +
              ", n = " + std::to_string(n) +
              (whole ? "" : ", radius " + std::to_string(radius));
  }

  void operator()() {
    distance_of(x.data(), y.data(), x.size(), &options, &exec, &distance);
  }

 private:
  tsanom_dtw_options options;
  tsanom_exec exec;
  std::vector<char> work;
};

#endif
