/* SPDX-License-Identifier: BSD-3-Clause */
/* DTW in nanoseconds a cell of the window, beside the plain loop of
 * plain_dtw.cc in the same run. Every result is compared with that loop's, bit by
 * bit. `bench_dtw --benchmark_counters_tabular=true` prints the table. */
#include <benchmark/benchmark.h>
#include <tsanom/dtw.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <type_traits>
#include <vector>

#include "plain_dtw.h"
#include "support/random.h"

namespace {

double seconds(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

template <class T>
std::vector<T> walk(size_t n, uint64_t seed) {
  std::vector<T> x(n);
  double level = 0;
  for (T &value : x) value = (T)(level += random_unit(&seed) - 0.5);
  return x;
}

void check(bool good) {
  if (good) return;
  std::fprintf(stderr, "wrong result\n");
  std::abort();
}

double cells(size_t n, size_t radius) {
  double r = (double)std::min(radius, n - 1);
  return (double)n * (2 * r + 1) - r * (r + 1);
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + (ptrdiff_t)times.size() / 2,
                   times.end());
  return times[times.size() / 2];
}

/* Median time of one of `calls` calls of `f` in a row. */
template <class F>
double median_time(int repetitions, int calls, F f) {
  std::vector<double> times;
  for (int k = 0; k < repetitions; k++) {
    double start = seconds(CLOCK_THREAD_CPUTIME_ID);
    for (int c = 0; c < calls; c++) f();
    times.push_back((seconds(CLOCK_THREAD_CPUTIME_ID) - start) / calls);
  }
  return median(times);
}

void report(benchmark::State &state, double time, double plain, double count) {
  state.counters["ns_cell"] = 1e9 * time / count;
  state.counters["plain_ns_cell"] = 1e9 * plain / count;
  state.counters["ratio"] = plain / time;
}

tsanom_exec exec_of(int64_t isa, int64_t threads) {
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  exec.isa = (int32_t)isa;
  exec.threads = (int32_t)threads;
  return exec;
}

tsanom_status distance(const double *x, size_t n, const double *y, size_t m,
                       const tsanom_dtw_options *o, const tsanom_exec *e,
                       std::vector<char> &work, double *d) {
  return tsanom_dtw_distance(x, n, y, m, o, e, work.data(), work.size(), d);
}

tsanom_status distance(const float *x, size_t n, const float *y, size_t m,
                       const tsanom_dtw_options *o, const tsanom_exec *e,
                       std::vector<char> &work, float *d) {
  return tsanom_dtw_distance_f32(x, n, y, m, o, e, work.data(), work.size(), d);
}

/* Arguments: samples, radius (0: all), cost, instruction set, threads. */
template <class T>
void one_pair(benchmark::State &state) {
  size_t n = (size_t)state.range(0), bytes = 0;
  if (!tsanom_isa_available((int32_t)state.range(3))) {
    state.SkipWithError("this machine lacks the level");
    return;
  }
  tsanom_dtw_options options;
  tsanom_dtw_options_init(&options, sizeof options);
  if (state.range(1)) options.radius = (size_t)state.range(1);
  options.cost = (int32_t)state.range(2);
  tsanom_exec exec = exec_of(state.range(3), state.range(4));
  std::vector<T> x = walk<T>(n, 1), y = walk<T>(n, 2), row(n + 1);
  auto query =
      std::is_same<T, double>::value ? tsanom_dtw_workspace : tsanom_dtw_workspace_f32;
  query(n, n, &options, &exec, &bytes);
  std::vector<char> work(bytes);
  T expected = 0, got = 0;
  double count = cells(n, options.radius);
  int calls = (int)(1 + 1e5 / count); /* the clock itself takes part of a microsecond */
  double plain = median_time(7, calls, [&] {
    expected = plain_dtw(x.data(), n, y.data(), n, options.radius, options.cost == 1,
                         row.data());
    benchmark::DoNotOptimize(expected);
  });
  clockid_t clock = exec.threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  std::vector<double> times;
  for (auto _ : state) {
    double start = seconds(clock);
    for (int c = 0; c < calls; c++) {
      check(distance(x.data(), n, y.data(), n, &options, &exec, work, &got) == TSANOM_OK);
    }
    times.push_back((seconds(clock) - start) / calls);
    state.SetIterationTime(times.back());
  }
  check(got == expected);
  report(state, median(times), plain, count);
}

/* Arguments: series, samples, radius (0: all), cost, instruction set, threads. */
template <class T>
void matrix(benchmark::State &state) {
  size_t count = (size_t)state.range(0), n = (size_t)state.range(1);
  if (!tsanom_isa_available((int32_t)state.range(4))) {
    state.SkipWithError("this machine lacks the level");
    return;
  }
  tsanom_dtw_options options;
  tsanom_dtw_options_init(&options, sizeof options);
  if (state.range(2)) options.radius = (size_t)state.range(2);
  options.cost = (int32_t)state.range(3);
  tsanom_exec exec = exec_of(state.range(4), state.range(5));
  std::vector<std::vector<T>> samples;
  std::vector<const T *> series;
  for (size_t k = 0; k < count; k++) samples.push_back(walk<T>(n, k));
  for (auto &s : samples) series.push_back(s.data());
  std::vector<size_t> lengths(count, n);
  std::vector<T> distances(count * (count - 1) / 2), row(n + 1);
  T expected = 0;
  double plain = median_time(7, 1, [&] {
    expected = plain_dtw(series[0], n, series[1], n, options.radius, options.cost == 1,
                         row.data());
    benchmark::DoNotOptimize(expected);
  });
  std::vector<double> times;
  double total = (double)distances.size() * cells(n, options.radius);
  clockid_t clock = exec.threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  for (auto _ : state) {
    double start = seconds(clock);
    tsanom_status status;
    if constexpr (std::is_same<T, double>::value) {
      status = tsanom_dtw_condensed(series.data(), lengths.data(), count, &options, &exec,
                                    nullptr, 0, distances.data(), nullptr);
    } else {
      status = tsanom_dtw_condensed_f32(series.data(), lengths.data(), count, &options,
                                        &exec, nullptr, 0, distances.data(), nullptr);
    }
    double time = seconds(clock) - start;
    check(status == TSANOM_OK);
    state.SetIterationTime(time);
    times.push_back(time);
  }
  check(distances[0] == expected);
  report(state, median(times), plain * (double)distances.size(), total);
  state.counters["seconds"] = median(times);
}

/* Arguments: samples, radius (0: all), path memory. */
void path(benchmark::State &state) {
  size_t n = (size_t)state.range(0), length = 0;
  tsanom_dtw_options options;
  tsanom_dtw_options_init(&options, sizeof options);
  if (state.range(1)) options.radius = (size_t)state.range(1);
  options.path_memory = (int32_t)state.range(2);
  std::vector<double> x = walk<double>(n, 1), y = walk<double>(n, 2);
  std::vector<size_t> pairs(4 * n);
  double alone = 0, got = 0;
  std::vector<double> times;
  double bare = median_time(7, 1, [&] {
    tsanom_dtw_distance(x.data(), n, y.data(), n, &options, nullptr, nullptr, 0, &alone);
  });
  for (auto _ : state) {
    double start = seconds(CLOCK_THREAD_CPUTIME_ID);
    check(tsanom_dtw_path(x.data(), n, y.data(), n, &options, nullptr, nullptr, 0,
                          pairs.data(), &length, &got) == TSANOM_OK);
    double time = seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    state.SetIterationTime(time);
    times.push_back(time);
  }
  check(got == alone);
  state.counters["ns_cell"] = 1e9 * median(times) / cells(n, options.radius);
  state.counters["of_distance"] = median(times) / bare;
}

void pair_arguments(benchmark::internal::Benchmark *b) {
  b->ArgNames({"n", "radius", "cost", "isa", "threads"})->UseManualTime();
  for (int64_t isa = TSANOM_ISA_V4; isa >= TSANOM_ISA_BASE; isa--) {
    for (int64_t n : {64, 256, 1000, 2000, 10000, 50000}) {
      for (int64_t band = 0; band < 2; band++) {
        if (n == 50000 && !band) continue;
        for (int64_t cost = 0; cost < 2; cost++) {
          b->Args({n, band ? n / 10 : 0, cost, isa, 1});
        }
      }
    }
  }
  for (int64_t threads : {2, 4, 8}) b->Args({50000, 5000, 0, TSANOM_ISA_AUTO, threads});
}

void matrix_arguments(benchmark::internal::Benchmark *b) {
  b->ArgNames({"series", "n", "radius", "cost", "isa", "threads"})->UseManualTime();
  b->Iterations(3);
  for (int64_t isa = TSANOM_ISA_V4; isa >= TSANOM_ISA_BASE; isa--) {
    for (int64_t radius : {0, 50}) {
      for (int64_t cost = 0; cost < 2; cost++) b->Args({200, 500, radius, cost, isa, 1});
    }
  }
  for (int64_t threads : {2, 4, 8}) {
    b->Args({200, 500, 0, 0, TSANOM_ISA_AUTO, threads});
  }
}

BENCHMARK_TEMPLATE(one_pair, double)->Apply(pair_arguments);
BENCHMARK_TEMPLATE(one_pair, float)->Apply(pair_arguments);
BENCHMARK_TEMPLATE(matrix, double)->Apply(matrix_arguments);
BENCHMARK_TEMPLATE(matrix, float)->Apply(matrix_arguments);
BENCHMARK(path)
    ->ArgNames({"n", "radius", "memory"})
    ->ArgsProduct({{1000, 2000, 10000}, {0, 200}, {0, 1}})
    ->UseManualTime();

}  // namespace

BENCHMARK_MAIN();
