/* SPDX-License-Identifier: BSD-3-Clause */
/* OPTICS of Gaussian blobs with 10 % noise, min_points 5, in processor time of one
 * thread; beside the definition as a double loop of the same run, which the result
 * is compared with up to 10 000 points. Growth with n is fitted. */
#include <benchmark/benchmark.h>
#include <tsanom/optics.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <vector>

#include "support/random.h"

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double normal(uint64_t *seed) {
  double sum = -6;
  for (int k = 0; k < 12; k++) sum += random_unit(seed);
  return sum;
}

std::vector<double> blobs(size_t n, size_t d) {
  constexpr size_t kBlobs = 20;
  uint64_t seed = 7;
  std::vector<double> centre(kBlobs * d), x(n * d);
  for (double &c : centre) c = random_unit(&seed) * 100;
  for (size_t i = 0; i < n; i++) {
    bool noise = random_unit(&seed) < 0.1;
    size_t blob = random_between(&seed, 0, kBlobs - 1);
    for (size_t c = 0; c < d; c++) {
      x[i * d + c] =
          noise ? random_unit(&seed) * 100 : centre[blob * d + c] + 2 * normal(&seed);
    }
  }
  return x;
}

void check(bool good) {
  if (good) return;
  std::fprintf(stderr, "wrong result\n");
  std::abort();
}

struct Order {
  explicit Order(size_t n) : order(n), reachability(n), core(n) {
  }
  std::vector<size_t> order;
  std::vector<double> reachability, core;
};

double distance(const double *x, const double *y, size_t d) {
  double sum = 0;
  for (size_t c = 0; c < d; c++) sum += (x[c] - y[c]) * (x[c] - y[c]);
  return std::sqrt(sum);
}

/* The definition; O(n^2) time, O(n) memory. */
Order plain(const std::vector<double> &x, size_t n, size_t d, size_t k, double eps) {
  Order r(n);
  std::vector<double> row(n), reach(n, kInfinity);
  std::vector<char> done(n);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) row[j] = distance(&x[i * d], &x[j * d], d);
    std::nth_element(row.begin(), row.begin() + (ptrdiff_t)(k - 1), row.end());
    r.core[i] = row[k - 1] <= eps ? row[k - 1] : kInfinity;
  }
  for (size_t t = 0; t < n; t++) {
    size_t next = n;
    for (size_t i = 0; i < n; i++) {
      if (!done[i] && (next == n || reach[i] < reach[next])) next = i;
    }
    done[next] = 1;
    r.order[t] = next;
    r.reachability[t] = reach[next];
    for (size_t i = 0; i < n; i++) {
      if (done[i]) continue;
      double through = distance(&x[next * d], &x[i * d], d);
      if (through <= eps) reach[i] = std::min(reach[i], std::max(through, r.core[next]));
    }
  }
  return r;
}

tsanom_optics_options options_for(double eps) {
  tsanom_optics_options options;
  tsanom_optics_options_init(&options, sizeof options);
  options.eps = eps;
  return options;
}

/* Arguments: points, dimensions, eps in thousandths (0: infinite), threads. */
void order(benchmark::State &state) {
  size_t n = (size_t)state.range(0), d = (size_t)state.range(1), bytes = 0;
  double eps = state.range(2) ? (double)state.range(2) / 1000 : kInfinity;
  std::vector<double> x = blobs(n, d);
  tsanom_optics_options options = options_for(eps);
  options.min_points = std::min<size_t>(5, n / 2);
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  exec.threads = (int32_t)state.range(3);
  check(tsanom_optics_workspace(n, d, &options, &exec, &bytes) == TSANOM_OK);
  std::vector<char> work(bytes);
  Order r(n);
  double best = kInfinity;
  for (auto _ : state) {
    double begin = cpu_seconds();
    tsanom_status status = tsanom_optics_order(
        x.data(), n, d, d, &options, &exec, work.data(), work.size(), r.order.data(),
        r.reachability.data(), nullptr, r.core.data(), nullptr);
    best = std::min(best, cpu_seconds() - begin);
    check(status == TSANOM_OK);
  }
  state.counters["best_s"] = best;
  state.counters["work_MB"] = (double)bytes * 1e-6;
  state.SetComplexityN((int64_t)n);
  if (n > 10000 || state.range(3) > 1) return;
  double begin = cpu_seconds();
  Order p = plain(x, n, d, options.min_points, eps);
  state.counters["plain/this"] = (cpu_seconds() - begin) / best;
  check(p.order == r.order && p.reachability == r.reachability && p.core == r.core);
}

}  // namespace

BENCHMARK(order)
    ->ArgNames({"n", "d", "milli_eps", "threads"})
    ->Args({8, 14, 0, 1})
    ->Args({10000, 1, 0, 1})
    ->Args({10000, 2, 0, 1})
    ->Args({10000, 2, 1500, 1})
    ->Args({10000, 14, 0, 1})
    ->Args({10000, 64, 0, 1})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(order)
    ->Name("order_growth")
    ->ArgNames({"n", "d", "milli_eps", "threads"})
    ->ArgsProduct({benchmark::CreateRange(12500, 400000, 2), {2}, {0}, {1}})
    ->Unit(benchmark::kMillisecond)
    ->Complexity();
BENCHMARK(order)
    ->Name("order_large")
    ->ArgNames({"n", "d", "milli_eps", "threads"})
    ->Args({100000, 2, 800, 1})
    ->Args({100000, 2, 0, 1})
    ->Args({100000, 2, 0, 2})
    ->Args({1000000, 2, 0, 1})
    ->Iterations(3)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();
