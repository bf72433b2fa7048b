/* SPDX-License-Identifier: BSD-3-Clause */
/* SPMD similarity: what an analysis costs and what recording costs. With --rates
 * instead: how often the analysis is right on families of made-up runs, as a table. */
#include <tsanom/spmd.h>

#include <cstring>
#include <string>

#include "report.h"
#include "support/random.h"

namespace {

enum { METRICS = 5, DEPTH = 4 };
enum family { BALANCED, ONE, TWO, PAIR, FAMILIES };

/* Chains of DEPTH nested regions; each region's own work is 1 ... 3, with noise on
 * times and metrics. */
struct run {
  size_t processes, regions;
  std::vector<double> time, metric;
  std::vector<int32_t> parent, class_of;
  std::vector<tsanom_spmd_region> region;
  uint64_t reduct;
  tsanom_spmd_data data;
  tsanom_spmd_report report;
  std::vector<bool> guilty;
  uint64_t cause;

  double &t(size_t i, size_t k) {
    return time[i * regions + k];
  }
  double &m(size_t q, size_t i, size_t k) {
    return metric[(q * processes + i) * regions + k];
  }
};

double noisy(uint64_t *seed, double noise) {
  return 1 + noise * (2 * random_unit(seed) - 1);
}

void fill(run *r, double noise, uint64_t *seed) {
  for (size_t k = 0; k < r->regions; k++) {
    r->parent[k] = k % DEPTH ? static_cast<int32_t>(k) - 1 : TSANOM_SPMD_NONE;
    double base = 1 + 2 * random_unit(seed);
    for (size_t i = 0; i < r->processes; i++) {
      r->t(i, k) = base * noisy(seed, noise);
      for (size_t q = 0; q < METRICS; q++) r->m(q, i, k) = base * noisy(seed, noise);
    }
  }
}

/* Work that is half of what a process does in all makes a difference that matters. */
void spoil(run *r, family f, uint64_t *seed) {
  size_t chains = (r->regions + DEPTH - 1) / DEPTH;
  double work = 4.0 * std::sqrt(static_cast<double>(chains)) * 2;
  size_t a = random_between(seed, 0, r->regions - 1), b = a;
  size_t q = random_between(seed, 0, METRICS - 1), p = (q + 1) % METRICS;
  if (f == TWO) { /* outermost regions without nested work */
    a = random_between(seed, 0, chains - 1) * DEPTH;
    b = (a + DEPTH) % (chains * DEPTH);
  }
  r->guilty.assign(r->regions, false);
  r->guilty[a] = r->guilty[b] = true;
  r->cause = f == PAIR ? uint64_t{1} << q | uint64_t{1} << p : uint64_t{1} << q;
  for (size_t i = 0; i < r->processes; i++) {
    size_t kind = f == PAIR ? i % 4 : i % 2;
    r->t(i, a) += work * static_cast<double>(kind);
    if (a != b) r->t(i, b) += work * static_cast<double>(kind);
    if (kind & 1) r->m(q, i, a) *= 2;
    if (kind & 2) r->m(p, i, a) *= 2;
  }
}

void include_nested(run *r) {
  for (size_t k = r->regions; k-- > 1;) {
    if (r->parent[k] < 0) continue;
    for (size_t i = 0; i < r->processes; i++) {
      r->t(i, static_cast<size_t>(r->parent[k])) += r->t(i, k);
    }
  }
}

void make(run *r, family f, size_t processes, size_t regions, double noise,
          uint64_t *seed) {
  r->processes = processes;
  r->regions = regions;
  r->time.resize(processes * regions);
  r->metric.resize(METRICS * processes * regions);
  r->parent.resize(regions);
  r->class_of.resize(processes);
  r->region.resize(regions);
  fill(r, noise, seed);
  if (f != BALANCED) spoil(r, f, seed);
  include_nested(r);
  tsanom_spmd_data_init(&r->data, sizeof r->data);
  tsanom_spmd_report_init(&r->report, sizeof r->report);
  r->data.processes = processes;
  r->data.regions = regions;
  r->data.metrics = METRICS;
  r->data.parent = r->parent.data();
  r->data.time = r->time.data();
  r->data.metric = r->metric.data();
  r->report.class_of = r->class_of.data();
  r->report.region = r->region.data();
  r->report.reduct = &r->reduct;
  r->report.reduct_capacity = 1;
}

bool analyse(run *r) {
  return tsanom_spmd_analyse(&r->data, nullptr, nullptr, nullptr, 0, &r->report) ==
         TSANOM_OK;
}

/* The classes, the regions and the cause are all those that were put in. */
bool is_right(run *r, family f) {
  if (!analyse(r)) return false;
  if (f == BALANCED) return r->report.classes == 1;
  for (size_t i = 0; i < r->processes; i++) {
    if (r->class_of[i] != static_cast<int32_t>(f == PAIR ? i % 4 : i % 2)) return false;
  }
  for (size_t k = 0; k < r->regions; k++) {
    if ((r->region[k].cccr != 0) != r->guilty[k]) return false;
  }
  return r->report.reducts == 1 && r->reduct == r->cause;
}

void print_row(size_t processes, size_t regions, double noise, uint64_t *seed) {
  run r;
  size_t size = processes * regions;
  int runs = size > 100000 ? 10 : size > 5000 ? 50 : 200, right[FAMILIES] = {0};
  double longest = 0;
  for (int f = BALANCED; f < FAMILIES; f++) {
    for (int i = 0; i < runs; i++) {
      make(&r, static_cast<family>(f), processes, regions, noise, seed);
      double start = cpu_seconds();
      right[f] += is_right(&r, static_cast<family>(f));
      longest = std::fmax(longest, cpu_seconds() - start);
    }
  }
  std::printf("| %zu | %zu | %.0f %% | %d ", processes, regions, 100 * noise, runs);
  for (int count : right) std::printf("| %.2f ", 1.0 * count / runs);
  std::printf("| %.2g |\n", longest);
  std::fflush(stdout);
}

void print_rates() {
  static const size_t processes[] = {4, 64, 1024, 4096}, regions[] = {5, 50, 200};
  static const double noise[] = {0.02, 0.05, 0.1, 0.2};
  std::printf(
      "| processes | regions | noise | runs | balanced | one region | two regions | "
      "cause in a pair | longest, s |\n|---|---|---|---|---|---|---|---|---|\n");
  uint64_t seed = 2009;
  for (size_t n : processes) {
    for (size_t k : regions) print_row(n, k, 0.01, &seed);
  }
  for (double part : noise) print_row(64, 50, part, &seed);
}

void bench_analyse(benchmark::State &state) {
  run r;
  uint64_t seed = 1;
  family f = static_cast<family>(state.range(2));
  make(&r, f, static_cast<size_t>(state.range(0)), static_cast<size_t>(state.range(1)),
       0.01, &seed);
  check(is_right(&r, f));
  double begin = cpu_seconds();
  for (auto _ : state) benchmark::DoNotOptimize(analyse(&r));
  double runs = static_cast<double>(state.iterations());
  report(state, "ms", 1e3 * (cpu_seconds() - begin) / runs);
}

const clockid_t bare_clock[] = {CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID};

/* A pair of begin and end beside two bare readings of its clock. */
void bench_record(benchmark::State &state) {
  alignas(16) char memory[512];
  int32_t clock = static_cast<int32_t>(state.range(0));
  tsanom_spmd_recorder *r;
  tsanom_spmd_recorder_init(memory, sizeof memory, 1, 1, clock, &r);
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
  report(state, "ns/pair", cost, 2e9 * bare / READINGS);
}

/* The same with events that are counted as well. */
void bench_count(benchmark::State &state) {
  alignas(16) char memory[512], space[4096];
  tsanom_spmd_event event;
  tsanom_spmd_counters *counters;
  tsanom_spmd_recorder *r;
  tsanom_spmd_event_named("page-faults", &event);
  tsanom_status status =
      tsanom_spmd_counters_open(space, sizeof space, &event, 1, 1, &counters);
  if (status != TSANOM_OK) {
    state.SkipWithError("this machine counts no page faults");
    return;
  }
  tsanom_spmd_recorder_init(memory, sizeof memory, 1, 1, TSANOM_SPMD_CLOCK_ELAPSED, &r);
  tsanom_spmd_recorder_count(r, counters);
  double begin = cpu_seconds();
  for (auto _ : state) {
    tsanom_spmd_begin(r, 0);
    tsanom_spmd_end(r, 0);
  }
  double pairs = static_cast<double>(state.iterations());
  report(state, "ns/pair", 1e9 * (cpu_seconds() - begin) / pairs);
  tsanom_spmd_counters_close(counters);
}

BENCHMARK(bench_record)
    ->ArgName("clock")
    ->Arg(TSANOM_SPMD_CLOCK_ELAPSED)
    ->Arg(TSANOM_SPMD_CLOCK_CPU);
BENCHMARK(bench_count);
BENCHMARK(bench_analyse)
    ->ArgNames({"n", "regions", "family"})
    ->ArgsProduct({{8, 4096}, {14, 200}, {BALANCED, ONE, TWO}})
    ->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char **argv) {
  if (argc > 1 && std::strcmp(argv[1], "--rates") == 0) {
    print_rates();
    return 0;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
