/* SPDX-License-Identifier: BSD-3-Clause */
/* SPMD similarity: what an analysis costs and what recording costs. */
#include <tsanom/record.h>
#include <tsanom/spmd.h>

#include <cmath>
#include <random>
#include <vector>

#include "report.h"
#include "support/random.h"

namespace {

enum Family {
  BALANCED, /* one kind of processes */
  ONE,      /* a region of any depth makes two kinds */
  TWO       /* two outermost regions make the same two kinds */
};

constexpr size_t METRICS = 5, DEPTH = 4;

/* A run of which the right answer is known: groups of DEPTH regions, each nested in the
 * one before. */
struct Run {
  size_t processes, regions, kinds = 1; /* process i is of kind i % kinds */
  std::vector<double> time, metric;
  std::vector<int32_t> parent, class_of;
  std::vector<tsanom_spmd_region> region;
  std::vector<bool> guilty;       /* regions */
  uint64_t cause = 0, reduct = 0; /* metrics */
  tsanom_spmd_data data = {};
  tsanom_spmd_report report = {};

  Run(size_t n, size_t k)
      : processes(n),
        regions(k),
        time(n * k),
        metric(METRICS * n * k),
        parent(k),
        class_of(n),
        region(k),
        guilty(k) {
    data.struct_size = sizeof data;
    report.struct_size = sizeof report;
    data.processes = n;
    data.regions = k;
    data.metrics = METRICS;
    data.parent = parent.data();
    data.time = time.data();
    data.metric = metric.data();
    report.class_of = class_of.data();
    report.region = region.data();
    report.reduct = &reduct;
    report.reduct_capacity = 1;
  }

  double &time_of(size_t i, size_t k) {
    return time[i * regions + k];
  }
  double &metric_of(size_t q, size_t i, size_t k) {
    return metric[(q * processes + i) * regions + k];
  }
};

double noisy(uint64_t *seed, double noise) {
  return 1 + noise * (2 * random_unit(seed) - 1);
}

/* Each region's own work is 1 ... 3. */
void fill(Run *r, double noise, uint64_t *seed) {
  for (size_t k = 0; k < r->regions; k++) {
    r->parent[k] = k % DEPTH ? static_cast<int32_t>(k - 1) : TSANOM_SPMD_NONE;
    double base = 1 + 2 * random_unit(seed);
    for (size_t i = 0; i < r->processes; i++) {
      r->time_of(i, k) = base * noisy(seed, noise);
      for (size_t q = 0; q < METRICS; q++)
        r->metric_of(q, i, k) = base * noisy(seed, noise);
    }
  }
}

/* Every second process works longer: half of what it does in all, a difference that
 * matters. */
void spoil(Run *r, Family f, uint64_t *seed) {
  size_t groups = (r->regions + DEPTH - 1) / DEPTH;
  double work = 2.0 * DEPTH * std::sqrt(static_cast<double>(groups));
  size_t a = random_between(seed, 0, r->regions - 1), b = a;
  if (f == TWO) {
    a = random_between(seed, 0, groups - 1) * DEPTH;
    b = (a + DEPTH) % (groups * DEPTH);
  }
  size_t q = random_between(seed, 0, METRICS - 1);
  r->kinds = 2;
  r->cause = uint64_t{1} << q;
  r->guilty[a] = r->guilty[b] = true;
  for (size_t i = 1; i < r->processes; i += 2) {
    r->time_of(i, a) += work;
    if (a != b) r->time_of(i, b) += work;
    r->metric_of(q, i, a) *= 2;
  }
}

/* Noise is uniform in +-`noise` of each time and metric. */
void make(Run *r, Family f, double noise, uint64_t *seed) {
  fill(r, noise, seed);
  if (f != BALANCED) spoil(r, f, seed);
  for (size_t k = r->regions; k-- > 1;) {
    if (r->parent[k] < 0) continue;
    for (size_t i = 0; i < r->processes; i++) {
      r->time_of(i, static_cast<size_t>(r->parent[k])) += r->time_of(i, k);
    }
  }
}

bool analyse(Run *r, const tsanom_exec *exec) {
  return tsanom_spmd_analyze(&r->data, nullptr, exec, &r->report) == TSANOM_OK;
}

/* Whether kinds, regions and cause are all exactly those put in. */
bool is_right(Run *r) {
  if (!analyse(r, nullptr)) return false;
  for (size_t i = 0; i < r->processes; i++) {
    if (r->class_of[i] != static_cast<int32_t>(i % r->kinds)) return false;
  }
  if (r->kinds == 1) return true;
  for (size_t k = 0; k < r->regions; k++) {
    if ((r->region[k].cccr != 0) != r->guilty[k]) return false;
  }
  return r->report.reducts == 1 && r->reduct == r->cause;
}

void analyse_at(benchmark::State &state, int64_t isa) {
  const tsanom_exec exec = exec_at(isa);
  uint64_t seed = 1;
  Run r(static_cast<size_t>(state.range(0)), static_cast<size_t>(state.range(1)));
  make(&r, static_cast<Family>(state.range(2)), static_cast<double>(state.range(3)) / 100,
       &seed);
  check(is_right(&r));
  double begin = cpu_seconds();
  for (auto _ : state) benchmark::DoNotOptimize(analyse(&r, &exec));
  double runs = static_cast<double>(state.iterations());
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
  Run r(static_cast<size_t>(state.range(0)), static_cast<size_t>(state.range(1)));
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

void cases(benchmark::internal::Benchmark *b) {
  b->ArgNames({"n", "regions", "family", "percent"})->Unit(benchmark::kMillisecond);
}

BENCHMARK(bench_record)
    ->ArgName("clock")
    ->Arg(TSANOM_SPMD_CLOCK_ELAPSED)
    ->Arg(TSANOM_SPMD_CLOCK_CPU);
BENCHMARK(bench_analyse)
    ->Apply(cases)
    ->ArgsProduct({{8, 4096}, {14, 200}, {BALANCED, ONE, TWO}, {1}});
BENCHMARK(bench_levels)
    ->ArgNames({"n", "regions", "family", "percent", "isa"})
    ->ArgsProduct({{512}, {200}, {BALANCED, TWO}, {1}, levels()})
    ->Unit(benchmark::kMillisecond);
/* Without noise: all processes equal, then two kinds of equal processes. */
BENCHMARK(bench_analyse)
    ->Name("bench_growth_equal")
    ->Apply(cases)
    ->ArgsProduct({{12500, 25000, 50000, 100000}, {20}, {BALANCED}, {0}});
BENCHMARK(bench_analyse)
    ->Name("bench_growth_two_equal")
    ->Apply(cases)
    ->ArgsProduct({{12500, 25000, 50000, 100000}, {20}, {ONE}, {0}});

/* Noise of 1 % in 200 regions, 50 of them outermost, where all distances are similar. */
BENCHMARK(bench_analyse)
    ->Name("bench_growth_balanced")
    ->Apply(cases)
    ->ArgsProduct({{3125, 6250, 12500, 25000}, {200}, {BALANCED}, {1}});
/* Two kinds that no single region separates: combinations. */
BENCHMARK(bench_analyse)
    ->Name("bench_growth_two")
    ->Apply(cases)
    ->ArgsProduct({{3125, 6250, 12500, 25000}, {200}, {TWO}, {1}});
BENCHMARK(bench_distinct)
    ->Name("bench_growth_distinct")
    ->ArgNames({"n", "regions"})
    ->ArgsProduct({{2500, 5000, 10000, 20000}, {50}})
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
