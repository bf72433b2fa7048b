/* SPDX-License-Identifier: BSD-3-Clause */
/* Envelopes and LB_Keogh, in nanoseconds a sample, beside the monotone queue
 * and a plain loop of the same run; and what copying one array to two costs,
 * which is the least that an envelope of a long series can. */
#include <tsanom/lbkeogh.h>

#include <cstring>

#include "plain.h"
#include "report.h"

namespace {

tsanom_status envelope_of(const double *x, size_t n, size_t radius,
                          const tsanom_exec *exec, double *lower, double *upper) {
  return tsanom_lbkeogh_envelope(x, n, radius, exec, lower, upper);
}

tsanom_status envelope_of(const float *x, size_t n, size_t radius,
                          const tsanom_exec *exec, float *lower, float *upper) {
  return tsanom_lbkeogh_envelope_f32(x, n, radius, exec, lower, upper);
}

/* Arguments: samples, radius, instruction set. */
template <class T>
void envelope(benchmark::State &state) {
  size_t n = (size_t)state.range(0);
  uint64_t seed = 7;
  std::vector<T> x = walk<T>(n, &seed), lower(n), upper(n);
  std::vector<double> wide(x.begin(), x.end()), low(n), high(n);
  size_t radius = (size_t)state.range(1);
  double best = best_call(state, exec_at(state.range(2)), [&](const tsanom_exec *exec) {
    return envelope_of(x.data(), n, radius, exec, lower.data(), upper.data());
  });
  double plain = best_of(
      5, [&] { plain_envelope(wide.data(), n, radius, low.data(), high.data()); });
  for (size_t i = 0; i < n; i++) {
    check((double)lower[i] == low[i] && (double)upper[i] == high[i]);
  }
  double copy = best_of(15, [&] {
    std::memcpy(lower.data(), x.data(), n * sizeof(T));
    std::memcpy(upper.data(), x.data(), n * sizeof(T));
    benchmark::ClobberMemory();
  });
  double scale = 1e9 / (double)n;
  report(state, "ns/sample", best * scale, plain * scale);
  state.counters["two copies"] = copy * scale;
}

/* The first of at least n samples that lies `misaligned` samples after the
 * beginning of a cache line. */
double *place(std::vector<double> &room, size_t n, size_t misaligned) {
  room.resize(n + 16);
  size_t lead = (uintptr_t)room.data() / sizeof(double) % 8;
  return room.data() + (8 - lead) + misaligned;
}

/* Arguments: samples, by how many the three arrays miss a cache line, instruction
 * set. */
void bound(benchmark::State &state) {
  size_t n = (size_t)state.range(0), misaligned = (size_t)state.range(1);
  uint64_t seed = 7;
  std::vector<double> x = walk(2 * n, &seed), room[3];
  double *c = place(room[0], n, misaligned), *lower = place(room[1], n, misaligned),
         *upper = place(room[2], n, misaligned);
  std::copy(x.begin() + (std::ptrdiff_t)n, x.end(), c);
  plain_envelope(x.data(), n, 10, lower, upper);
  tsanom_exec exec = exec_at(state.range(2));
  double sum = 0, expected = 0;
  int repeats = (int)(1000000 / n);
  double best = best_iteration(state, [&] {
    for (int i = 0; i < repeats; i++) {
      tsanom_lbkeogh_bound(c, lower, upper, n, TSANOM_COST_SQUARED, &exec, &sum);
    }
  });
  double plain = best_of(5, [&] {
    for (int i = 0; i < repeats; i++) {
      benchmark::DoNotOptimize(expected = plain_keogh(c, lower, upper, n, INFINITY));
    }
  });
  check(std::fabs(sum - expected) <= 1e-12 * expected);
  double scale = 1e9 / ((double)n * repeats);
  report(state, "ns/sample", best * scale, plain * scale);
}

void envelopes(benchmark::internal::Benchmark *b) {
  b->ArgNames({"n", "radius", "isa"})
      ->MinTime(0.1)
      ->ArgsProduct({{4096, 1000000}, {1, 10, 100, 1000}, levels()});
}

BENCHMARK_TEMPLATE(envelope, double)->Apply(envelopes);
BENCHMARK_TEMPLATE(envelope, float)->Apply(envelopes);
BENCHMARK(bound)
    ->ArgNames({"n", "misaligned", "isa"})
    ->MinTime(0.1)
    ->ArgsProduct({{256, 1024, 4096, 1000000}, {0, 3}, levels()});
BENCHMARK_TEMPLATE(envelope, double)
    ->Name("envelope_levels")
    ->ArgNames({"n", "radius", "isa"})
    ->ArgsProduct({{4096}, {100}, levels()});
BENCHMARK(bound)
    ->Name("bound_levels")
    ->ArgNames({"n", "misaligned", "isa"})
    ->ArgsProduct({{256}, {0}, levels()});

}  // namespace

BENCHMARK_MAIN();
