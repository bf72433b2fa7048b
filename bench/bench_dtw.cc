/* SPDX-License-Identifier: BSD-3-Clause */
/* DTW in nanoseconds a cell of the window, beside the plain loop of plain.cc in
 * the same run. Every result is compared with that loop's, bit by bit. */
#include <tsanom/dtw.h>

#include <map>
#include <tuple>

#include "plain.h"
#include "report.h"

namespace {

template <class T>
std::vector<T> walk_of(size_t n, uint64_t seed) {
  return walk<T>(n, &seed);
}

double cells(size_t n, size_t radius) {
  double r = (double)std::min(radius, n - 1);
  return (double)n * (2 * r + 1) - r * (r + 1);
}

/* Number of calls in a row that take longer than reading the clock. */
int calls_of(double count) {
  return (int)(1 + 1e5 / count);
}

/* The plain loop's answer and time a call, found once for every problem. */
template <class T>
struct plain_result {
  T distance;
  double seconds;
};

template <class T>
plain_result<T> plain_of(const T *x, const T *y, size_t n,
                         const tsanom_dtw_options &options) {
  static std::map<std::tuple<size_t, size_t, int32_t>, plain_result<T>> known;
  auto key = std::make_tuple(n, options.radius, options.cost);
  auto found = known.find(key);
  if (found != known.end()) return found->second;
  std::vector<T> row(n + 1);
  plain_result<T> result = {};
  double count = cells(n, options.radius);
  int calls = calls_of(count);
  double time = best_of(count > 5e7 ? 1 : 7, [&] {
    for (int c = 0; c < calls; c++) {
      result.distance =
          plain_dtw(x, n, y, n, options.radius, options.cost == 1, row.data());
      benchmark::DoNotOptimize(result.distance);
    }
  });
  result.seconds = time / calls;
  return known[key] = result;
}

tsanom_dtw_options options_of(int64_t radius, int64_t cost) {
  auto options = defaults(tsanom_dtw_options_init);
  if (radius) options.radius = (size_t)radius;
  options.cost = (int32_t)cost;
  return options;
}

/* Median time of one of the `calls` of `f` that make an iteration. */
template <class F>
double timed(benchmark::State &state, int threads, int calls, F f) {
  return median(call_times(state, clock_of(threads), calls, f));
}

tsanom_status distance(const double *x, const double *y, size_t n,
                       const tsanom_dtw_options *o, const tsanom_exec *e, double *d) {
  return tsanom_dtw_distance(x, n, y, n, o, e, d);
}

tsanom_status distance(const float *x, const float *y, size_t n,
                       const tsanom_dtw_options *o, const tsanom_exec *e, float *d) {
  return tsanom_dtw_distance_f32(x, n, y, n, o, e, d);
}

/* Arguments: samples, radius (0: all), cost, instruction set, threads. */
template <class T>
void one_pair(benchmark::State &state) {
  size_t n = (size_t)state.range(0);
  tsanom_dtw_options options = options_of(state.range(1), state.range(2));
  tsanom_exec exec = exec_at(state.range(3), state.range(4));
  std::vector<T> x = walk_of<T>(n, 1), y = walk_of<T>(n, 2);
  T got = 0;
  auto call = [&](const tsanom_exec *how) {
    return distance(x.data(), y.data(), n, &options, how, &got);
  };
  Workspace work(exec, call);
  plain_result<T> plain = plain_of(x.data(), y.data(), n, options);
  double count = cells(n, options.radius);
  double time = timed(state, exec.threads, calls_of(count),
                      [&] { check(call(&work.exec) == TSANOM_OK); });
  check(got == plain.distance);
  report(state, "ns/cell", 1e9 * time / count, 1e9 * plain.seconds / count);
  if (exec.threads == 1) return;
  report_separate(state, exec.threads, 1e9 / count, [&](int) {
    T own = 0;
    check(distance(x.data(), y.data(), n, &options, nullptr, &own) == TSANOM_OK);
  });
}

/* The view of series of n samples each. */
template <class Series, class T>
Series set_of(const std::vector<const T *> &series, size_t n) {
  Series set = sized<Series>();
  set.count = series.size();
  set.pointers = series.data();
  set.length = n;
  return set;
}

tsanom_status condensed(const std::vector<const double *> &series, size_t n,
                        const tsanom_dtw_options *o, const tsanom_exec *e,
                        double *distances) {
  const auto set = set_of<tsanom_series>(series, n);
  return tsanom_dtw_condensed(&set, o, e, distances, nullptr);
}

tsanom_status condensed(const std::vector<const float *> &series, size_t n,
                        const tsanom_dtw_options *o, const tsanom_exec *e,
                        float *distances) {
  const auto set = set_of<tsanom_series_f32>(series, n);
  return tsanom_dtw_condensed_f32(&set, o, e, distances, nullptr);
}

/* Arguments: series, samples, radius (0: all), cost, instruction set, threads. */
template <class T>
void matrix(benchmark::State &state) {
  size_t count = (size_t)state.range(0), n = (size_t)state.range(1);
  tsanom_dtw_options options = options_of(state.range(2), state.range(3));
  tsanom_exec exec = exec_at(state.range(4), state.range(5));
  std::vector<std::vector<T>> samples;
  std::vector<const T *> series;
  for (size_t k = 0; k < count; k++) samples.push_back(walk_of<T>(n, k + 1));
  for (auto &s : samples) series.push_back(s.data());
  std::vector<T> distances(count * (count - 1) / 2);
  plain_result<T> plain = plain_of(series[0], series[1], n, options);
  double time = timed(state, exec.threads, 1, [&] {
    check(condensed(series, n, &options, &exec, distances.data()) == TSANOM_OK);
  });
  check(distances[0] == plain.distance);
  double each = cells(n, options.radius), all = each * (double)distances.size();
  report(state, "ns/cell", 1e9 * time / all, 1e9 * plain.seconds / each);
  state.counters["seconds"] = time;
  if (exec.threads == 1) return;
  std::vector<std::vector<T>> own((size_t)exec.threads, distances);
  report_separate(state, exec.threads, 1e9 / all, [&](int t) {
    check(condensed(series, n, &options, nullptr, own[(size_t)t].data()) == TSANOM_OK);
  });
}

/* The path, whose plain form is the distance alone. Arguments: samples, radius (0:
 * all), path memory. */
void path(benchmark::State &state) {
  size_t n = (size_t)state.range(0), length = 0;
  tsanom_dtw_options options = options_of(state.range(1), TSANOM_COST_ABSOLUTE);
  options.path_memory = (int32_t)state.range(2);
  std::vector<double> x = walk_of<double>(n, 1), y = walk_of<double>(n, 2);
  std::vector<size_t> pairs(4 * n);
  double alone = 0, got = 0;
  auto both = [&](const tsanom_exec *how) {
    return tsanom_dtw_path(x.data(), n, y.data(), n, &options, how, pairs.data(), &length,
                           &got);
  };
  tsanom_dtw_options plain = options;
  plain.path_memory = TSANOM_DTW_PATH_FULL; /* which the distance does not use */
  auto one = [&](const tsanom_exec *how) {
    return distance(x.data(), y.data(), n, &plain, how, &alone);
  };
  Workspace work(exec_at(TSANOM_ISA_AUTO), both),
      bare_work(exec_at(TSANOM_ISA_AUTO), one);
  double bare = best_of(7, [&] { one(&bare_work.exec); });
  double time = timed(state, 1, 1, [&] { check(both(&work.exec) == TSANOM_OK); });
  check(got == alone && length >= n);
  double count = cells(n, options.radius);
  report(state, "ns/cell", 1e9 * time / count, 1e9 * bare / count);
  state.counters["of_distance"] = time / bare;
}

void bound(benchmark::internal::Benchmark *b) {
  b->UseManualTime()->MinTime(0.1);
}

void pair_arguments(benchmark::internal::Benchmark *b) {
  b->ArgNames({"n", "radius", "cost", "isa", "threads"})->Apply(bound);
  for (int64_t isa : levels()) {
    for (int64_t n : {64, 256, 1000, 2000, 10000, 50000}) {
      for (int64_t band = 0; band < 2; band++) {
        for (int64_t cost = 0; cost < 2; cost++) {
          b->Args({n, band ? n / 10 : 0, cost, isa, 1});
        }
      }
    }
  }
  for (int64_t threads : {2, 4, 8}) b->Args({50000, 5000, 0, TSANOM_ISA_AUTO, threads});
}

void matrix_arguments(benchmark::internal::Benchmark *b) {
  b->ArgNames({"series", "n", "radius", "cost", "isa", "threads"})->Apply(bound);
  b->ArgsProduct({{200}, {500}, {0, 50}, {0, 1}, levels(), {1}});
  b->ArgsProduct({{200}, {500}, {0, 50}, {0}, {TSANOM_ISA_AUTO}, {2, 4, 8}});
}

BENCHMARK_TEMPLATE(one_pair, double)->Apply(pair_arguments);
BENCHMARK_TEMPLATE(one_pair, float)->Apply(pair_arguments);
BENCHMARK_TEMPLATE(one_pair, double)
    ->Name("one_pair_levels<double>")
    ->ArgNames({"n", "radius", "cost", "isa", "threads"})
    ->ArgsProduct({{1000}, {0, 25}, {TSANOM_COST_ABSOLUTE}, levels(), {1}})
    ->Apply(bound);
BENCHMARK_TEMPLATE(one_pair, float)
    ->Name("one_pair_levels<float>")
    ->ArgNames({"n", "radius", "cost", "isa", "threads"})
    ->ArgsProduct({{1000}, {0, 25}, {TSANOM_COST_ABSOLUTE}, levels(), {1}})
    ->Apply(bound);
BENCHMARK_TEMPLATE(matrix, double)->Apply(matrix_arguments);
BENCHMARK_TEMPLATE(matrix, float)->Apply(matrix_arguments);
BENCHMARK(path)
    ->ArgNames({"n", "radius", "memory"})
    ->ArgsProduct({{1000, 2000, 10000}, {0, 200}, {0, 1}})
    ->Apply(bound);

}  // namespace

BENCHMARK_MAIN();
