/* SPDX-License-Identifier: BSD-3-Clause */
/* SPMD similarity: what an analysis costs and what recording costs. */
#include <tsanom/record.h>
#include <tsanom/spmd.h>

#include <random>

#include "report.h"

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
  tsanom_spmd_data data = sized<tsanom_spmd_data>();
  tsanom_spmd_report report = sized<tsanom_spmd_report>();

  Run(size_t n, size_t k)
      : processes(n),
        regions(k),
        time(n * k),
        metric(METRICS * n * k),
        parent(k),
        class_of(n),
        region(k),
        guilty(k) {
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
    r->parent[k] = k % DEPTH ? (int32_t)(k - 1) : TSANOM_SPMD_NONE;
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
  double work = 2.0 * DEPTH * std::sqrt((double)groups);
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
      r->time_of(i, (size_t)r->parent[k]) += r->time_of(i, k);
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
    if (r->class_of[i] != (int32_t)(i % r->kinds)) return false;
  }
  if (r->kinds == 1) return true;
  for (size_t k = 0; k < r->regions; k++) {
    if ((r->region[k].cccr != 0) != r->guilty[k]) return false;
  }
  return r->report.reducts == 1 && r->reduct == r->cause;
}

/* Milliseconds of an analysis, on average. */
void report_analysis(benchmark::State &state, Run *r, const tsanom_exec *exec) {
  double begin = cpu_seconds();
  for (auto _ : state) benchmark::DoNotOptimize(analyse(r, exec));
  report(state, "ms", 1e3 * (cpu_seconds() - begin) / (double)state.iterations());
}

/* `isa_at`: the place of the argument isa, 0: there is none. */
void bench_analyse(benchmark::State &state, size_t isa_at) {
  const tsanom_exec exec = exec_at(isa_of(state, isa_at));
  uint64_t seed = 1;
  Run r((size_t)state.range(0), (size_t)state.range(1));
  make(&r, (Family)state.range(2), (double)state.range(3) / 100, &seed);
  check(is_right(&r));
  report_analysis(state, &r, &exec);
}

/* Independent times from 0 to 1 in outermost regions: every process is a kind of its own,
 * and combinations of regions are left out. */
void bench_distinct(benchmark::State &state) {
  Run r((size_t)state.range(0), (size_t)state.range(1));
  std::mt19937_64 random;
  for (double &t : r.time) t = (double)(random() >> 11) * 0x1p-53;
  for (int32_t &p : r.parent) p = TSANOM_SPMD_NONE;
  r.data.metrics = 0;
  r.data.metric = nullptr;
  analyse(&r, nullptr);
  check(r.report.classes == r.processes);
  report_analysis(state, &r, nullptr);
}

const clockid_t bare_clock[] = {CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID};

/* A pair of begin and end beside two bare readings of its clock. */
void bench_record(benchmark::State &state) {
  int32_t clock = (int32_t)state.range(0);
  auto options = defaults(tsanom_spmd_recorder_options_init);
  tsanom_spmd_recorder *r;
  options.clock = clock;
  check(tsanom_spmd_recorder_create(1, 1, &options, nullptr, &r) == TSANOM_OK, "create");
  double begin = cpu_seconds();
  for (auto _ : state) {
    tsanom_spmd_begin(r, 0);
    tsanom_spmd_end(r, 0);
  }
  double pairs = (double)state.iterations();
  double cost = 1e9 * (cpu_seconds() - begin) / pairs;
  uint64_t calls = 0;
  tsanom_spmd_recorder_read(r, nullptr, &calls, nullptr);
  check(calls == (uint64_t)state.iterations(), "count");
  constexpr int READINGS = 20000;
  double bare = best_of(5, [clock] {
    for (int i = 0; i < READINGS; i++)
      benchmark::DoNotOptimize(seconds(bare_clock[clock]));
  });
  tsanom_spmd_recorder_destroy(r);
  report(state, "ns/pair", cost, 2e9 * bare / READINGS);
}

void cases(benchmark::internal::Benchmark *b) {
  b->ArgNames({"n", "regions", "family", "percent"});
}

BENCHMARK(bench_record)
    ->ArgName("clock")
    ->Arg(TSANOM_SPMD_CLOCK_ELAPSED)
    ->Arg(TSANOM_SPMD_CLOCK_CPU);
ROWS(bench_analyse, bench_analyse, 0)
    ->Apply(cases)
    ->ArgsProduct({{8, 4096}, {14, 200}, {BALANCED, ONE, TWO}, {1}});
ROWS(bench_levels, bench_analyse, 4)
    ->ArgNames({"n", "regions", "family", "percent", "isa"})
    ->ArgsProduct({{512}, {200}, {BALANCED, TWO}, {1}, levels()});
/* Without noise: all processes equal, then two kinds of equal processes. */
ROWS(bench_growth_equal, bench_analyse, 0)
    ->Apply(cases)
    ->ArgsProduct({{12500, 25000, 50000, 100000}, {20}, {BALANCED}, {0}});
ROWS(bench_growth_two_equal, bench_analyse, 0)
    ->Apply(cases)
    ->ArgsProduct({{12500, 25000, 50000, 100000}, {20}, {ONE}, {0}});

/* Noise of 1 % in 200 regions, 50 of them outermost, where all distances are similar. */
ROWS(bench_growth_balanced, bench_analyse, 0)
    ->Apply(cases)
    ->ArgsProduct({{3125, 6250, 12500, 25000}, {200}, {BALANCED}, {1}});
/* Two kinds that no single region separates: combinations. */
ROWS(bench_growth_two, bench_analyse, 0)
    ->Apply(cases)
    ->ArgsProduct({{3125, 6250, 12500, 25000}, {200}, {TWO}, {1}});
BENCHMARK(bench_distinct)
    ->Name("bench_growth_distinct")
    ->ArgNames({"n", "regions"})
    ->ArgsProduct({{2500, 5000, 10000, 20000}, {50}});

}  // namespace

BENCHMARK_MAIN();
