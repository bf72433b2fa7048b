/* SPDX-License-Identifier: BSD-3-Clause */
/* Polynomial regression beside what one would write with LAPACK: the powers of
 * the mapped x in a matrix and one call of dgels, timed in the same run. Other
 * libraries are compared by peers/polyfit_peers.py. */
#include <benchmark/benchmark.h>
#include <lapacke.h>
#include <tsanom/polyfit.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "support/random.h"

namespace {

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void check(bool good) {
  if (good) return;
  std::fprintf(stderr, "wrong result\n");
  std::abort();
}

struct samples {
  std::vector<double> x, y;
  explicit samples(size_t n) : x(n), y(n) {
    uint64_t seed = 1;
    for (size_t i = 0; i < n; i++) {
      double u = ((double)i + 0.9 * random_unit(&seed)) / (double)n;
      x[i] = 100 + 10 * u;
      y[i] = std::sin(7 * u) + 0.1 * random_unit(&seed);
    }
  }
};

/* RSS of the fit by dgels. */
double fit_by_dgels(const samples &s, int degree) {
  size_t n = s.x.size();
  std::vector<double> a(n * (size_t)(degree + 1)), b = s.y;
  double low = *std::min_element(s.x.begin(), s.x.end());
  double high = *std::max_element(s.x.begin(), s.x.end());
  for (size_t i = 0; i < n; i++) {
    double t = (2 * s.x[i] - low - high) / (high - low), power = 1;
    for (int k = 0; k <= degree; k++, power *= t) a[i + (size_t)k * n] = power;
  }
  check(LAPACKE_dgels(LAPACK_COL_MAJOR, 'N', (lapack_int)n, degree + 1, 1, a.data(),
                      (lapack_int)n, b.data(), (lapack_int)n) == 0);
  double rss = 0;
  for (size_t i = (size_t)degree + 1; i < n; i++) rss += b[i] * b[i];
  return rss;
}

double dgels_seconds(const samples &s, int degree) {
  double best = INFINITY;
  for (int repeat = 0; repeat < (s.x.size() > 10000 ? 3 : 50); repeat++) {
    double start = cpu_seconds();
    benchmark::DoNotOptimize(fit_by_dgels(s, degree));
    best = std::min(best, cpu_seconds() - start);
  }
  return best;
}

struct fitter {
  tsanom_polyfit_options options;
  tsanom_polyfit_model model;
  std::vector<char> work;

  fitter(size_t n, int degree, int refine, int selection) {
    tsanom_polyfit_options_init(&options, sizeof options);
    tsanom_polyfit_model_init(&model, sizeof model);
    options.degree = degree;
    options.refine = refine;
    options.selection = selection;
    size_t bytes;
    check(tsanom_polyfit_workspace(n, &options, nullptr, &bytes) == TSANOM_OK);
    work.resize(bytes);
  }

  void fit(const samples &s) {
    check(tsanom_polyfit_fit(s.x.data(), s.y.data(), nullptr, s.x.size(), &options,
                             nullptr, work.data(), work.size(), &model) == TSANOM_OK);
  }
};

void run(benchmark::State &state, int refine, int selection) {
  samples s((size_t)state.range(0));
  int degree = (int)state.range(1);
  fitter f(s.x.size(), degree, refine, selection);
  double start = cpu_seconds();
  for (auto _ : state) f.fit(s);
  double seconds = (cpu_seconds() - start) / (double)state.iterations();
  double reference = fit_by_dgels(s, degree);
  check(std::fabs(f.model.degree_rss[degree] - reference) < 1e-9 * reference);
  state.counters["times_dgels"] = dgels_seconds(s, degree) / seconds;
  state.counters["ns/sample"] = 1e9 * seconds / (double)s.x.size();
}

void refined(benchmark::State &state) {
  run(state, 1, TSANOM_POLYFIT_FIXED);
}

void plain(benchmark::State &state) {
  run(state, 0, TSANOM_POLYFIT_FIXED);
}

void selected_refined(benchmark::State &state) {
  run(state, 1, TSANOM_POLYFIT_AICC);
}

void selected_plain(benchmark::State &state) {
  run(state, 0, TSANOM_POLYFIT_AICC);
}

/* Samples made on the way: no array of all of them. */
void stream(benchmark::State &state) {
  tsanom_polyfit_options options;
  tsanom_polyfit_options_init(&options, sizeof options);
  options.degree = 10;
  options.refine = (int)state.range(0);
  tsanom_polyfit_stream *stream;
  check(tsanom_polyfit_stream_create(&options, nullptr, &stream) == TSANOM_OK);
  samples s(1 << 16);
  double shift = 0;
  for (auto _ : state) {
    check(tsanom_polyfit_stream_push(stream, s.x.data(), s.y.data(), nullptr, s.x.size(),
                                     nullptr) == TSANOM_OK);
    state.PauseTiming();
    shift += 10;
    for (double &x : s.x) x += 10;
    state.ResumeTiming();
  }
  tsanom_polyfit_model model;
  tsanom_polyfit_model_init(&model, sizeof model);
  check(tsanom_polyfit_stream_fit(stream, nullptr, nullptr, &model) == TSANOM_OK);
  check(model.samples == (uint64_t)state.iterations() * s.x.size());
  tsanom_polyfit_stream_destroy(stream, nullptr);
  state.SetItemsProcessed(state.iterations() * (int64_t)s.x.size());
}

void evaluate(benchmark::State &state) {
  samples s(1 << 16);
  fitter f(s.x.size(), (int)state.range(0), 1, TSANOM_POLYFIT_FIXED);
  f.fit(s);
  std::vector<double> values(s.x.size());
  for (auto _ : state) {
    check(tsanom_polyfit_evaluate(&f.model, s.x.data(), s.x.size(), nullptr,
                                  values.data(), nullptr) == TSANOM_OK);
  }
  double rss = 0;
  for (size_t i = 0; i < values.size(); i++) rss += std::pow(s.y[i] - values[i], 2);
  check(std::fabs(rss - f.model.rss) < 1e-10 * rss);
  state.SetItemsProcessed(state.iterations() * (int64_t)s.x.size());
}

void sizes(benchmark::internal::Benchmark *b) {
  for (int n : {100, 1000, 100000, 1000000}) {
    for (int degree : {1, 3, 10}) b->Args({n, degree});
  }
}

BENCHMARK(refined)->Apply(sizes);
BENCHMARK(plain)->Apply(sizes);
BENCHMARK(selected_refined)->Args({1000, 10})->Args({1000000, 10});
BENCHMARK(selected_plain)->Args({1000, 10})->Args({1000000, 10});
BENCHMARK(stream)->Arg(1)->Arg(0);
BENCHMARK(evaluate)->Arg(3)->Arg(10);

}  // namespace

BENCHMARK_MAIN();
