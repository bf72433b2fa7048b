/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a whole series and online, in nanoseconds a sample, and comparisons of runs.
 * What is timed must find the change that was planted. The plain form is one pass for the
 * best place of one change in uncorrelated samples, which has no error rate. */
#include <tsanom/change.h>

#include "change/series.h"
#include "report.h"

namespace {

/* A step by half of the scatter in the middle. */
std::vector<double> series_of(size_t n, double phi) {
  std::vector<double> x(n);
  uint64_t seed = 1;
  change_kind kind = {};
  kind.phi = phi;
  kind.scatter = 0.05;
  kind.step = 0.04;
  kind.at = n / 2;
  change_series(&seed, &kind, x.data(), n);
  return x;
}

size_t plain_change(const std::vector<double> &x) {
  double n = (double)x.size(), total = 0, sum = 0, best = -1;
  size_t at = 0;
  for (double value : x) total += value;
  for (size_t k = 1; k < x.size(); k++) {
    sum += x[k - 1];
    double s = sum - total * (double)k / n;
    double gain = s * s / ((double)k * (n - (double)k));
    if (gain <= best) continue;
    best = gain;
    at = k;
  }
  return at;
}

void find(benchmark::State &state) {
  auto n = (size_t)state.range(0);
  std::vector<double> x = series_of(n, (double)state.range(1) / 100);
  tsanom_change_point points[16];
  size_t count = 0, at = 0;
  double best = best_call(state, exec_at(TSANOM_ISA_AUTO), [&](const tsanom_exec *exec) {
    return tsanom_change_find(x.data(), n, nullptr, exec, points, 16, &count);
  });
  double plain = best_of((int)state.iterations(), [&] { at = plain_change(x); });
  check(count >= 1 && at > 0);
  bool found = false;
  for (size_t i = 0; i < count; i++) {
    found = found || (points[i].low <= n / 2 && n / 2 <= points[i].high);
  }
  check(found);
  report(state, "ns/sample", 1e9 * best / (double)n, 1e9 * plain / (double)n);
}

void push(benchmark::State &state) {
  enum { SAMPLES = 200000, EACH = 500 };
  auto piece = (size_t)state.range(0);
  std::vector<double> x = series_of(SAMPLES, 0.3);
  for (size_t i = SAMPLES - EACH; i < SAMPLES; i++) x[i] += 0.2;
  double best = least(state, [&] {
    tsanom_change_detector *detector = nullptr;
    tsanom_change_point points[64];
    size_t found = 0, count = 0, taken = 0;
    check(tsanom_change_create(nullptr, nullptr, &detector) == TSANOM_OK);
    double time = best_of(1, [&] {
      for (size_t i = 0; i < SAMPLES; i += piece) {
        check(tsanom_change_push(detector, &x[i], std::min(piece, SAMPLES - i), points,
                                 64, &count, &taken) == TSANOM_OK);
        found += count;
      }
    });
    check(found >= 1);
    tsanom_change_destroy(detector);
    return time;
  });
  report(state, "ns/sample", 1e9 * best / SAMPLES);
}

/* Unpaired: all permutations up to 16 runs together. */
void compare(benchmark::State &state) {
  auto n = (size_t)state.range(0);
  std::vector<double> a = series_of(n, 0), b = series_of(n, 0);
  for (size_t i = 0; i < n; i++) b[i] = 1.5 + a[n - 1 - i] * a[n - 1 - i];
  auto comparison = sized<tsanom_change_comparison>();
  double best = best_iteration(state, [&] {
    check(tsanom_change_compare(a.data(), n, b.data(), n, nullptr, nullptr,
                                &comparison) == TSANOM_OK);
  });
  check(comparison.significance <= 0.01);
  report(state, "us", 1e6 * best);
}

BENCHMARK(find)
    ->ArgNames({"n", "phi%"})
    ->Args({400, 0})
    ->Args({4000, 0})
    ->Args({4000, 50})
    ->Args({100000, 30})
    ->Args({1000000, 30});
BENCHMARK(push)->ArgName("piece")->Arg(1)->Arg(1000);
BENCHMARK(compare)->ArgName("runs")->Arg(5)->Arg(8)->Arg(20);

}  // namespace

BENCHMARK_MAIN();
