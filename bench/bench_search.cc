/* SPDX-License-Identifier: BSD-3-Clause */
/* Nearest neighbors under DTW, beside a plain scalar cascade in the same run.
 * Every result is compared with that of the plain program before it counts.
 *
 * Bounds remove most candidates among random walks and none in white noise: the two ends
 * of what a search costs. */
#include <tsanom/search.h>

#include "plain.h"
#include "report.h"
#include "support/rows.h"

namespace {

enum { LENGTH = 256, SERIES = 5000, QUERIES = 100, RADIUS = 12 };
enum { SAMPLES = 1000000, STREAM_RADIUS = 12 }; /* 5 % of the query */
enum { NOISE_QUERIES = 10, NOISE_SAMPLES = 100000 };

std::vector<double> noise(size_t n, uint64_t *seed) {
  std::vector<double> x(n);
  for (double &value : x) value = random_unit(seed);
  return x;
}

struct problem {
  std::vector<double> series, queries, stream, query;
  std::vector<plain_match> expected;
  plain_match match;
  size_t query_count;
  double plain_nearest_seconds, plain_stream_seconds;
};

problem make_problem(std::vector<double> series(size_t, uint64_t *), size_t queries,
                     size_t samples) {
  problem p;
  p.query_count = queries;
  uint64_t seed = 2026;
  for (size_t i = 0; i < SERIES + queries; i++) {
    std::vector<double> x = series(LENGTH, &seed);
    tsanom_search_normalize(x.data(), LENGTH, nullptr, x.data());
    std::vector<double> &to = i < SERIES ? p.series : p.queries;
    to.insert(to.end(), x.begin(), x.end());
  }
  p.plain_nearest_seconds = best_of(3, [&] {
    std::vector<double> lower(p.series.size()), upper(p.series.size());
    for (size_t i = 0; i < SERIES; i++) {
      plain_envelope(p.series.data() + i * LENGTH, LENGTH, RADIUS,
                     lower.data() + i * LENGTH, upper.data() + i * LENGTH);
    }
    p.expected.clear();
    for (size_t i = 0; i < queries; i++) {
      p.expected.push_back(plain_nearest(p.queries.data() + i * LENGTH, p.series.data(),
                                         lower.data(), upper.data(), SERIES, LENGTH,
                                         RADIUS));
    }
  });
  p.stream = series(samples, &seed);
  p.query = series(LENGTH, &seed);
  tsanom_search_normalize(p.query.data(), LENGTH, nullptr, p.query.data());
  p.plain_stream_seconds = best_of(3, [&] {
    p.match =
        plain_stream(p.query.data(), LENGTH, p.stream.data(), samples, STREAM_RADIUS);
  });
  return p;
}

const problem &of_walks() {
  static const problem p = make_problem(walk<>, QUERIES, SAMPLES);
  return p;
}

const problem &of_noise() {
  static const problem p = make_problem(noise, NOISE_QUERIES, NOISE_SAMPLES);
  return p;
}

void report_counts(benchmark::State &state, const tsanom_search_report &r) {
  double all = (double)r.candidates;
  state.counters["kim%"] = 100 * (double)r.kim / all;
  state.counters["means%"] = 100 * (double)r.means / all;
  state.counters["keogh%"] = 100 * (double)r.keogh / all;
  state.counters["reversed%"] = 100 * (double)r.keogh_reversed / all;
  state.counters["dtw%"] = 100 * (double)(r.abandoned + r.computed) / all;
}

void nearest(benchmark::State &state, const problem &of()) {
  const problem &p = of();
  tsanom_exec exec = exec_at(state.range(0), state.range(1));
  auto options = defaults(tsanom_search_options_init);
  options.radius = RADIUS;
  options.borrow = 1;
  tsanom_series series = rows_of(p.series.data(), SERIES, LENGTH, 0),
                queries = rows_of(p.queries.data(), p.query_count, LENGTH, 0);
  options.cost = TSANOM_COST_SQUARED;
  std::vector<size_t> indices(p.query_count);
  std::vector<double> distances(p.query_count);
  std::vector<tsanom_search_report> reports(p.query_count);
  double best = best_iteration(
      state,
      [&] {
        tsanom_search_index *index = nullptr;
        tsanom_search_index_create(&series, &options, &exec, &index);
        tsanom_search_nearest(index, &queries, 1, &exec, indices.data(), distances.data(),
                              reports.data());
        tsanom_search_index_destroy(index);
      },
      clock_of(exec.threads));
  tsanom_search_report sum = {};
  for (size_t i = 0; i < p.query_count; i++) {
    check(indices[i] == p.expected[i].index &&
              std::fabs(distances[i] - p.expected[i].distance) <= 1e-9 * distances[i],
          "nearest");
    sum.candidates += reports[i].candidates;
    sum.kim += reports[i].kim;
    sum.means += reports[i].means;
    sum.keogh += reports[i].keogh;
    sum.keogh_reversed += reports[i].keogh_reversed;
    sum.abandoned += reports[i].abandoned;
    sum.computed += reports[i].computed;
  }
  report_counts(state, sum);
  report(state, "ms", 1e3 * best, 1e3 * p.plain_nearest_seconds);
  if (exec.threads == 1) return;
  report_separate(state, exec.threads, 1e3, [&](int) {
    std::vector<size_t> own_indices(p.query_count);
    std::vector<double> own_distances(p.query_count);
    tsanom_search_index *index = nullptr;
    tsanom_search_index_create(&series, &options, nullptr, &index);
    tsanom_search_nearest(index, &queries, 1, nullptr, own_indices.data(),
                          own_distances.data(), nullptr);
    tsanom_search_index_destroy(index);
  });
}

void stream(benchmark::State &state, const problem &of()) {
  const problem &p = of();
  tsanom_exec exec = exec_at(state.range(0), state.range(1));
  auto options = defaults(tsanom_search_options_init);
  options.radius = STREAM_RADIUS;
  options.cost = TSANOM_COST_SQUARED;
  options.z_normalize = 1;
  size_t start = 0;
  double distance = 0;
  tsanom_search_report counts;
  double best = best_iteration(
      state,
      [&] {
        tsanom_search_stream(p.query.data(), LENGTH, p.stream.data(), p.stream.size(),
                             &options, &exec, &start, &distance, &counts);
      },
      clock_of(exec.threads));
  check(counts.found == 1 && start == p.match.index &&
            std::fabs(distance - p.match.distance) <= 1e-6 * distance,
        "stream");
  report_counts(state, counts);
  report(state, "ms", 1e3 * best, 1e3 * p.plain_stream_seconds);
  if (exec.threads == 1) return;
  report_separate(state, exec.threads, 1e3, [&](int) {
    size_t own_start = 0;
    double own_distance = 0;
    tsanom_search_stream(p.query.data(), LENGTH, p.stream.data(), p.stream.size(),
                         &options, nullptr, &own_start, &own_distance, nullptr);
  });
}

/* Constant, or periodic: copies of the query are everywhere. */
std::vector<double> repeated(size_t n, size_t period) {
  uint64_t seed = 2027;
  std::vector<double> x(n);
  for (size_t i = 0; i < n; i++) x[i] = i < period ? random_unit(&seed) : x[i - period];
  return x;
}

void stream_of_period(benchmark::State &state) {
  size_t period = (size_t)state.range(0);
  const std::vector<double> x = repeated(SAMPLES, period);
  auto options = defaults(tsanom_search_options_init);
  options.radius = STREAM_RADIUS;
  size_t start = 1;
  double distance = 1;
  double best = best_iteration(state, [&] {
    tsanom_search_stream(x.data(), LENGTH, x.data(), SAMPLES, &options, nullptr, &start,
                         &distance, nullptr);
  });
  check(start == 0 && distance == 0, "stream_of_period");
  report(state, "ms", 1e3 * best);
}

void nearest_of_period(benchmark::State &state) {
  size_t period = (size_t)state.range(0), n = LENGTH;
  const std::vector<double> x = repeated(SERIES + LENGTH, period);
  std::vector<double> rows;
  for (size_t i = 0; i < SERIES; i++) {
    rows.insert(rows.end(), x.begin() + (long)i, x.begin() + (long)(i + n));
  }
  auto options = defaults(tsanom_search_options_init);
  options.radius = RADIUS;
  options.borrow = 1;
  tsanom_series series = rows_of(rows.data(), SERIES, LENGTH, 0),
                queries = rows_of(rows.data(), QUERIES, LENGTH, 0);
  std::vector<size_t> indices(QUERIES);
  std::vector<double> distances(QUERIES);
  tsanom_search_index *index = nullptr;
  tsanom_search_index_create(&series, &options, nullptr, &index);
  double best = best_iteration(state, [&] {
    tsanom_search_nearest(index, &queries, 1, nullptr, indices.data(), distances.data(),
                          nullptr);
  });
  tsanom_search_index_destroy(index);
  for (size_t i = 0; i < QUERIES; i++) {
    check(indices[i] == i % period && distances[i] == 0, "nearest_of_period");
  }
  report(state, "ms", 1e3 * best);
}

void arguments(benchmark::internal::Benchmark *b) {
  b->ArgNames({"isa", "threads"})->UseRealTime();
  for (int64_t isa : levels()) b->Args({isa, 1});
  b->Args({tsanom_isa_best(), 2});
}

ROWS(nearest, nearest, of_walks)->Apply(arguments);
ROWS(nearest_levels, nearest, of_walks)
    ->ArgNames({"isa", "threads"})
    ->ArgsProduct({levels(), {1}});
ROWS(nearest_in_noise, nearest, of_noise)->Apply(arguments);
ROWS(stream, stream, of_walks)->Apply(arguments);
ROWS(stream_of_noise, stream, of_noise)->Apply(arguments);
BENCHMARK(stream_of_period)->ArgName("period")->Arg(1)->Arg(100);
BENCHMARK(nearest_of_period)->ArgName("period")->Arg(1)->Arg(100);

}  // namespace

BENCHMARK_MAIN();
