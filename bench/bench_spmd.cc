/* SPDX-License-Identifier: BSD-3-Clause */
/* SPMD similarity: what an analysis costs and what recording costs. */
#include <tsanom/record.h>
#include <tsanom/spmd.h>

#include <random>

#include "report.h"
#include "spmd_runs.h"

namespace {

void analyse_at(benchmark::State &state, int64_t isa) {
  const tsanom_exec exec = exec_at(isa);
  spmd::Run r;
  uint64_t seed = 1;
  auto f = static_cast<spmd::Family>(state.range(2));
  make(&r, f, static_cast<size_t>(state.range(0)), static_cast<size_t>(state.range(1)),
       static_cast<double>(state.range(3)) / 100, &seed);
  check(is_right(&r, f, nullptr));
  double begin = cpu_seconds();
  for (auto _ : state) benchmark::DoNotOptimize(analyse(&r, nullptr, &exec));
  double runs = static_cast<double>(state.iterations());
  state.SetComplexityN(state.range(0));
  report(state, "ms", 1e3 * (cpu_seconds() - begin) / runs);
}

void bench_analyse(benchmark::State &state) {
  analyse_at(state, TSANOM_ISA_AUTO);
}

/* The fifth argument: instruction set. */
void bench_levels(benchmark::State &state) {
  analyse_at(state, state.range(4));
}

/* Independent times from 0 to 1 in outermost regions: every process is a kind of its own,
 * and combinations of regions are left out. */
void bench_distinct(benchmark::State &state) {
  spmd::Run r;
  uint64_t seed = 1;
  make(&r, spmd::BALANCED, static_cast<size_t>(state.range(0)),
       static_cast<size_t>(state.range(1)), 0, &seed);
  std::mt19937_64 random;
  for (double &t : r.time) t = static_cast<double>(random() >> 11) * 0x1p-53;
  for (int32_t &p : r.parent) p = TSANOM_SPMD_NONE;
  r.data.metrics = 0;
  r.data.metric = nullptr;
  analyse(&r, nullptr);
  check(r.report.classes == r.processes);
  double begin = cpu_seconds();
  for (auto _ : state) benchmark::DoNotOptimize(analyse(&r, nullptr));
  double runs = static_cast<double>(state.iterations());
  state.SetComplexityN(state.range(0));
  report(state, "ms", 1e3 * (cpu_seconds() - begin) / runs);
}

const clockid_t bare_clock[] = {CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID};

/* A pair of begin and end beside two bare readings of its clock. */
void bench_record(benchmark::State &state) {
  int32_t clock = static_cast<int32_t>(state.range(0));
  tsanom_spmd_recorder_options options;
  tsanom_spmd_recorder *r;
  tsanom_spmd_recorder_options_init(&options, sizeof options);
  options.clock = clock;
  check(tsanom_spmd_recorder_create(1, 1, &options, nullptr, &r) == TSANOM_OK, "create");
  double begin = cpu_seconds();
  for (auto _ : state) {
    tsanom_spmd_begin(r, 0);
    tsanom_spmd_end(r, 0);
  }
  double pairs = static_cast<double>(state.iterations());
  double cost = 1e9 * (cpu_seconds() - begin) / pairs;
  uint64_t calls = 0;
  tsanom_spmd_recorder_read(r, nullptr, &calls, nullptr);
  check(calls == static_cast<uint64_t>(state.iterations()), "count");
  constexpr int READINGS = 20000;
  double bare = best_of(5, [clock] {
    for (int i = 0; i < READINGS; i++)
      benchmark::DoNotOptimize(seconds(bare_clock[clock]));
  });
  tsanom_spmd_recorder_destroy(r);
  report(state, "ns/pair", cost, 2e9 * bare / READINGS);
}

BENCHMARK(bench_record)
    ->ArgName("clock")
    ->Arg(TSANOM_SPMD_CLOCK_ELAPSED)
    ->Arg(TSANOM_SPMD_CLOCK_CPU);
BENCHMARK(bench_analyse)
    ->ArgNames({"n", "regions", "family", "percent"})
    ->ArgsProduct({{8, 4096}, {14, 200}, {spmd::BALANCED, spmd::ONE, spmd::TWO}, {1}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(bench_levels)
    ->ArgNames({"n", "regions", "family", "percent", "isa"})
    ->ArgsProduct({{512}, {200}, {spmd::BALANCED, spmd::TWO}, {1}, levels()})
    ->Unit(benchmark::kMillisecond);
/* Without noise: all processes equal, then two kinds of equal processes. */
BENCHMARK(bench_analyse)
    ->Name("bench_growth_equal")
    ->ArgNames({"n", "regions", "family", "percent"})
    ->ArgsProduct({{12500, 25000, 50000, 100000}, {20}, {spmd::BALANCED}, {0}})
    ->Unit(benchmark::kMillisecond)
    ->Complexity();
BENCHMARK(bench_analyse)
    ->Name("bench_growth_two_equal")
    ->ArgNames({"n", "regions", "family", "percent"})
    ->ArgsProduct({{12500, 25000, 50000, 100000}, {20}, {spmd::ONE}, {0}})
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

/* Noise of 1 % in 200 regions, 50 of them outermost, where all distances are similar. */
BENCHMARK(bench_analyse)
    ->Name("bench_growth_balanced")
    ->ArgNames({"n", "regions", "family", "percent"})
    ->ArgsProduct({{3125, 6250, 12500, 25000}, {200}, {spmd::BALANCED}, {1}})
    ->Unit(benchmark::kMillisecond)
    ->Complexity();
/* Two kinds that no single region separates: combinations. */
BENCHMARK(bench_analyse)
    ->Name("bench_growth_two")
    ->ArgNames({"n", "regions", "family", "percent"})
    ->ArgsProduct({{3125, 6250, 12500, 25000}, {200}, {spmd::TWO}, {1}})
    ->Unit(benchmark::kMillisecond)
    ->Complexity();
BENCHMARK(bench_distinct)
    ->Name("bench_growth_distinct")
    ->ArgNames({"n", "regions"})
    ->ArgsProduct({{2500, 5000, 10000, 20000}, {50}})
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

}  // namespace

BENCHMARK_MAIN();
