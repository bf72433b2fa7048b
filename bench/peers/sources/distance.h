/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's distance of two walks, prepared so that only the call is timed. */
#ifndef TSANOM_BENCH_DISTANCE_H
#define TSANOM_BENCH_DISTANCE_H

#include <tsanom/dtw.h>

#include "pairs.h"

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
  bool whole;
  tsanom_dtw_options options;
  Workspace work;
  std::vector<Real> x, y;
  Real distance = 0;
  std::string problem;

  distance_call(size_t n, size_t radius, int cost)
      : whole(radius >= n),
        options(options_of(whole ? SIZE_MAX : radius, cost)),
        work(exec_at(TSANOM_ISA_AUTO), [&](const tsanom_exec *ask) {
          return distance_of((const Real *)nullptr, nullptr, n, &options, ask, nullptr);
        }) {
    uint64_t seed = n;
    x = walk<Real>(n, &seed);
    y = walk<Real>(n, &seed);
    problem = std::string("DTW f") + (sizeof(Real) == 4 ? "32" : "64") +
              (cost == TSANOM_COST_SQUARED ? ", squared" : "") +
              ", n = " + std::to_string(n) +
              (whole ? "" : ", radius " + std::to_string(radius));
  }

  void operator()() {
    distance_of(x.data(), y.data(), x.size(), &options, &work.exec, &distance);
  }

  /* `theirs` returns the distance. */
  template <class Theirs>
  void compare_with(Theirs theirs) {
    Real other = 0;
    auto call = [&] { other = theirs(); };
    (*this)();
    call();
    check(std::fabs(distance - other) <= 1e-9 * other, "distance");
    compare(problem, "µs", 1000, *this, call);
  }

 private:
  static tsanom_dtw_options options_of(size_t radius, int cost) {
    auto options = defaults(tsanom_dtw_options_init);
    options.cost = cost;
    if (radius != SIZE_MAX) options.radius = radius;
    return options;
  }
};

#endif
