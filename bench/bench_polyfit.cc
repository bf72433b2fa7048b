/* SPDX-License-Identifier: BSD-3-Clause */
/* Polynomial regression beside what one would write with LAPACK: the powers of
 * the mapped x in a matrix and one call of dgels, timed in the same run. Other
 * libraries are compared by peers/polyfit_peers.py. */
#include <lapacke.h>
#include <tsanom/polyfit.h>

#include "report.h"

namespace {

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

tsanom_polyfit_options options_of(int degree, int refine, int selection) {
  auto options = defaults(tsanom_polyfit_options_init);
  options.degree = degree;
  options.refine = refine;
  options.selection = selection;
  return options;
}

/* Nanoseconds a sample, of batches long enough for the clock; the least counts. */
template <class Work>
double time_runs(benchmark::State &state, clockid_t clock, size_t n, Work work) {
  std::vector<double> times = call_times(state, clock, (int)(1 + 20000 / n), work);
  return 1e9 * *std::min_element(times.begin(), times.end()) / (double)n;
}

struct fitter {
  tsanom_polyfit_options options;
  Workspace work;
  tsanom_polyfit_model model = sized<tsanom_polyfit_model>();

  fitter(size_t n, const tsanom_polyfit_options &how, int64_t threads,
         int64_t isa = TSANOM_ISA_AUTO)
      : options(how), work(exec_at(isa, threads), [&](const tsanom_exec *ask) {
          return tsanom_polyfit_fit(nullptr, nullptr, nullptr, n, &options, ask, nullptr);
        }) {
  }

  void fit(const samples &s) {
    check(tsanom_polyfit_fit(s.x.data(), s.y.data(), nullptr, s.x.size(), &options,
                             &work.exec, &model) == TSANOM_OK);
  }
};

/* Arguments: samples, degree, threads; `isa_at`: the place of the argument isa, 0: none. */
void run(benchmark::State &state, int refine, int selection, size_t isa_at) {
  auto n = (size_t)state.range(0);
  auto degree = (int)state.range(1);
  samples s(n);
  auto threads = (int)state.range(2);
  fitter f(n, options_of(degree, refine, selection), threads, isa_of(state, isa_at));
  double cost = time_runs(state, clock_of(threads), n, [&] { f.fit(s); });
  double reference = 0;
  double plain =
      best_of(n > 10000 ? 3 : 50, [&] { reference = fit_by_dgels(s, degree); });
  check(std::fabs(f.model.degree_rss[degree] - reference) < 1e-9 * reference);
  report(state, "ns/sample", cost, 1e9 * plain / (double)n);
  if (threads == 1) return;
  std::vector<fitter> own;
  for (int t = 0; t < threads; t++) own.emplace_back(n, f.options, 1);
  report_separate(state, threads, 1e9 / (double)n, [&](int t) { own[(size_t)t].fit(s); });
}

/* Pushes of n samples, x growing from one to the next. Arguments: samples, refine,
 * threads. */
void stream(benchmark::State &state) {
  auto n = (size_t)state.range(0);
  tsanom_polyfit_options options =
      options_of(10, (int)state.range(1), TSANOM_POLYFIT_FIXED);
  tsanom_exec exec = exec_at(TSANOM_ISA_AUTO, state.range(2));
  tsanom_polyfit_stream *stream;
  check(tsanom_polyfit_stream_create(&options, nullptr, &stream) == TSANOM_OK);
  samples s(n);
  double best = least(state, [&] {
    auto push = [&] {
      check(tsanom_polyfit_stream_push(stream, s.x.data(), s.y.data(), nullptr, n,
                                       &exec) == TSANOM_OK);
    };
    double one = best_of(1, push, clock_of(exec.threads));
    state.SetIterationTime(one);
    for (double &x : s.x) x += 10;
    return one;
  });
  auto model = sized<tsanom_polyfit_model>();
  check(tsanom_polyfit_stream_fit(stream, nullptr, nullptr, &model) == TSANOM_OK);
  check(model.samples == (uint64_t)state.iterations() * n);
  tsanom_polyfit_stream_destroy(stream);
  report(state, "ns/sample", 1e9 * best / (double)n);
  if (exec.threads == 1) return;
  report_separate(state, exec.threads, 1e9 / (double)n, [&](int) {
    tsanom_polyfit_stream *own;
    check(tsanom_polyfit_stream_create(&options, nullptr, &own) == TSANOM_OK);
    check(tsanom_polyfit_stream_push(own, s.x.data(), s.y.data(), nullptr, n, nullptr) ==
          TSANOM_OK);
    tsanom_polyfit_stream_destroy(own);
  });
}

/* Arguments: samples, degree. */
void evaluate(benchmark::State &state) {
  auto n = (size_t)state.range(0);
  samples s(n);
  fitter f(n, options_of((int)state.range(1), 1, TSANOM_POLYFIT_FIXED), 1);
  f.fit(s);
  std::vector<double> values(n);
  double cost = time_runs(state, CLOCK_THREAD_CPUTIME_ID, n, [&] {
    check(tsanom_polyfit_evaluate(&f.model, s.x.data(), n, nullptr, values.data(),
                                  nullptr) == TSANOM_OK);
  });
  double rss = 0;
  for (size_t i = 0; i < n; i++) rss += std::pow(s.y[i] - values[i], 2);
  check(std::fabs(rss - f.model.rss) < 1e-10 * rss);
  report(state, "ns/sample", cost);
}

void sizes(benchmark::internal::Benchmark *b) {
  b->ArgNames({"n", "degree", "threads"})->UseManualTime();
  b->ArgsProduct({{100, 1000, 100000, 1000000}, {1, 3, 10}, {1}})->Args({1000000, 10, 2});
}

void at_levels(benchmark::internal::Benchmark *b) {
  b->ArgNames({"n", "degree", "threads", "isa"})->UseManualTime();
  b->ArgsProduct({{1000}, {3}, {1}, levels()});
}

void selections(benchmark::internal::Benchmark *b) {
  b->ArgNames({"n", "degree", "threads"})->UseManualTime();
  b->Args({1000, 10, 1})->Args({1000000, 10, 1});
}

ROWS(refined, run, 1, TSANOM_POLYFIT_FIXED, 0)->Apply(sizes);
ROWS(plain, run, 0, TSANOM_POLYFIT_FIXED, 0)->Apply(sizes);
ROWS(refined_levels, run, 1, TSANOM_POLYFIT_FIXED, 3)->Apply(at_levels);
ROWS(plain_levels, run, 0, TSANOM_POLYFIT_FIXED, 3)->Apply(at_levels);
ROWS(selected_refined, run, 1, TSANOM_POLYFIT_AICC, 0)->Apply(selections);
ROWS(selected_plain, run, 0, TSANOM_POLYFIT_AICC, 0)->Apply(selections);
BENCHMARK(stream)
    ->ArgNames({"n", "refine", "threads"})
    ->UseManualTime()
    ->ArgsProduct({{1000000}, {1, 0}, {1, 2}});
BENCHMARK(evaluate)->ArgNames({"n", "degree"})->UseManualTime()->Args({1 << 16, 10});

}  // namespace

BENCHMARK_MAIN();
