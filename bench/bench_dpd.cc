/* SPDX-License-Identifier: BSD-3-Clause */
/* Cost of a sample in the periodicity detectors, beside a plain form of the same
 * definition timed in the same run. What is timed is verified: the periods of the
 * detector are those of the plain form on a stretch of the same stream. */
#include <tsanom/dpd.h>

#include "plain_dpd.h"
#include "report.h"

namespace {

enum Stream { PERIODIC, NESTED, RANDOM };

/* Periodic: 29 regions. Nested: the structure of hydro2d in the paper's Table 2,
 * 1 in 24 in 269. Random: no event comes twice. */
std::vector<uint64_t> stream_of(int kind, size_t count) {
  std::vector<uint64_t> event(count);
  uint64_t seed = 1;
  for (size_t i = 0; i < count; i++) {
    size_t outer = i % 269;
    size_t inner = outer < 240 ? outer % 24 : outer;
    event[i] = kind == PERIODIC ? i % 29
               : kind == NESTED ? (inner < 12 ? 12 : inner)
                                : random_bits(&seed);
  }
  return event;
}

/* Least seconds per event; `period` receives the period after each event. */
double push_events(benchmark::State &state, const std::vector<uint64_t> &stream,
                   size_t window, std::vector<size_t> &period) {
  auto options = defaults(tsanom_dpd_event_options_init);
  options.window = window;
  return least(state, [&] {
    tsanom_dpd_event *detector = nullptr;
    tsanom_dpd_event_create(&options, nullptr, &detector);
    double time = best_of(1, [&] {
      tsanom_dpd_event_push_many(detector, stream.data(), stream.size(), period.data(),
                                 nullptr);
    });
    tsanom_dpd_event_destroy(detector);
    return time / (double)stream.size();
  });
}

/* Arguments: kind of stream, window. */
void event(benchmark::State &state) {
  size_t window = (size_t)state.range(1), count = 1000000;
  size_t compared = std::min<size_t>(count, 3 * window + 30000000 / window);
  std::vector<uint64_t> stream = stream_of((int)state.range(0), count);
  std::vector<size_t> period(count), expected(count);
  double best = push_events(state, stream, window, period);
  double plain = best_of(1, [&] { plain_periods(stream, window, compared, expected); });
  check(std::equal(expected.begin(), expected.begin() + (long)compared, period.begin()));
  report(state, "ns/event", best * 1e9, plain * 1e9 / (double)compared);
}

/* Windows too long for the plain search; no event comes twice. Argument: window. */
void event_large(benchmark::State &state) {
  size_t window = (size_t)state.range(0), count = 10 * window;
  std::vector<size_t> period(count);
  double best = push_events(state, stream_of(RANDOM, count), window, period);
  check(std::all_of(period.begin(), period.end(), [](size_t p) { return p == 0; }));
  report(state, "ns/event", best * 1e9);
}

/* Arguments: kind of stream, longest period: 1024 takes 6 windows, 4096 takes 8. */
void nest(benchmark::State &state) {
  size_t count = 1000000, found = 0;
  std::vector<uint64_t> stream = stream_of((int)state.range(0), count);
  auto options = defaults(tsanom_dpd_nest_options_init);
  options.max_period = (size_t)state.range(1);
  tsanom_dpd_period period[8];
  double best = least(state, [&] {
    tsanom_dpd_nest *object = nullptr;
    tsanom_dpd_nest_create(&options, nullptr, &object);
    double time = best_of(1, [&] {
      for (uint64_t e : stream) tsanom_dpd_nest_push(object, e, nullptr);
    });
    tsanom_dpd_nest_periods(object, period, 8, &found);
    tsanom_dpd_nest_destroy(object);
    return time / (double)count;
  });
  const size_t expected[][3] = {{29}, {1, 24, 269}, {}};
  const size_t periods[] = {1, 3, 0};
  check(found == periods[state.range(0)]);
  for (size_t k = 0; k < found; k++) {
    check(period[k].period == expected[state.range(0)][k]);
  }
  report(state, "ns/event", best * 1e9);
}

double plain_values(const std::vector<double> &x, size_t window, std::vector<double> &sum,
                    size_t *least) {
  size_t count = x.size();
  double begin = cpu_seconds();
  for (size_t t = 2 * window; t < count; t++) {
    double smallest = INFINITY;
    for (size_t m = 1; m <= window; m++) {
      sum[m] += std::fabs(x[t] - x[t - m]) - std::fabs(x[t - window] - x[t - window - m]);
      if (sum[m] < smallest) {
        smallest = sum[m];
        *least = m;
      }
    }
  }
  return (cpu_seconds() - begin) / (double)(count - 2 * window);
}

void push_values(tsanom_dpd_value *detector, const double *x, size_t count, bool single) {
  tsanom_dpd_report report;
  size_t done = 0;
  if (!single) {
    tsanom_dpd_value_push_many(detector, x, count, nullptr, nullptr, &done);
    return;
  }
  for (size_t i = 0; i < count; i++) tsanom_dpd_value_push(detector, x[i], &report);
}

/* Seconds a sample of pushing `x` from sample `first` on, by the default options but for
 * the window. */
double push_by_default(benchmark::State &state, const std::vector<double> &x,
                       size_t window, size_t first, int64_t isa, size_t *period) {
  auto options = defaults(tsanom_dpd_value_options_init);
  options.window = window;
  tsanom_exec exec = exec_at(isa);
  std::vector<size_t> periods(x.size());
  return least(state, [&] {
    tsanom_dpd_value *detector = nullptr;
    tsanom_dpd_value_create(&options, &exec, &detector);
    size_t done = 0, count = x.size() - first;
    tsanom_dpd_value_push_many(detector, x.data(), first, nullptr, nullptr, &done);
    double time = best_of(1, [&] {
      tsanom_dpd_value_push_many(detector, x.data() + first, count, periods.data(),
                                 nullptr, &done);
    });
    *period = periods[count - 1];
    tsanom_dpd_value_destroy(detector);
    return time / (double)count;
  });
}

/* Default options: white noise (stream random), which is judged by significance, and an
 * exact period of 7. Arguments: stream, window, instruction set. */
void value_default(benchmark::State &state) {
  size_t window = (size_t)state.range(1), period = 0;
  bool noise = state.range(0) == RANDOM;
  std::vector<double> x(20000 + 2 * window);
  uint64_t seed = 2;
  for (size_t i = 0; i < x.size(); i++) {
    x[i] = noise ? random_unit(&seed) : std::sin(2 * M_PI * (double)(i % 7) / 7);
  }
  double cost = push_by_default(state, x, window, 2 * window, state.range(2), &period);
  check(period == (noise ? 0 : 7));
  report(state, "ns/sample", cost * 1e9);
}

/* Arguments: window, instruction set, whether each sample is pushed by itself. */
void value(benchmark::State &state) {
  size_t window = (size_t)state.range(0), count = 20000 + 2 * window;
  uint64_t seed = 2;
  std::vector<double> x(count), sum(window + 1, 0.0), distance(window);
  for (size_t i = 0; i < count; i++) {
    x[i] = std::floor(100 * std::sin((double)i * 0.1428) + 8 * random_unit(&seed));
  }
  auto options = defaults(tsanom_dpd_value_options_init);
  options.window = options.max_period = window;
  options.significance = 0;
  tsanom_exec exec = exec_at(state.range(1));
  size_t lags = 0, smallest = 0, timed = count - 2 * window;
  double best = least(state, [&] {
    tsanom_dpd_value *detector = nullptr;
    tsanom_dpd_value_create(&options, &exec, &detector);
    push_values(detector, x.data(), 2 * window, false);
    double time =
        best_of(1, [&] { push_values(detector, &x[2 * window], timed, state.range(2)); });
    tsanom_dpd_value_distances(detector, distance.data(), window, &lags);
    tsanom_dpd_value_destroy(detector);
    return time / (double)timed;
  });
  for (size_t m = 1; m <= window; m++) {
    for (size_t i = 0; i < window; i++) {
      sum[m] += std::fabs(x[2 * window - 1 - i] - x[2 * window - 1 - i - m]);
    }
  }
  double plain = plain_values(x, window, sum, &smallest);
  check(lags == window);
  for (size_t m = 1; m <= window; m++) {
    check(std::fabs(distance[m - 1] * (double)window - sum[m]) <= 1e-9 * (1 + sum[m]));
  }
  report(state, "ns/sample", best * 1e9, plain * 1e9);
}

BENCHMARK(event)
    ->ArgNames({"stream", "n"})
    ->ArgsProduct({{PERIODIC, NESTED, RANDOM}, {100, 1024, 8192, 65536}})
    ->Iterations(5);
BENCHMARK(event_large)->ArgName("n")->Arg(1000000)->Iterations(3);
BENCHMARK(nest)
    ->ArgNames({"stream", "n"})
    ->ArgsProduct({{PERIODIC, NESTED, RANDOM}, {1024, 4096}})
    ->Iterations(5);
BENCHMARK(value)
    ->ArgNames({"n", "isa", "single"})
    ->ArgsProduct({{100, 1024, 8192}, levels(), {0, 1}})
    ->Iterations(7);
BENCHMARK(value_default)
    ->ArgNames({"stream", "n", "isa"})
    ->ArgsProduct({{PERIODIC, RANDOM}, {32, 33, 100, 1024}, {TSANOM_ISA_AUTO}})
    ->Iterations(3);
BENCHMARK(value_default)
    ->Name("value_levels")
    ->ArgNames({"stream", "n", "isa"})
    ->ArgsProduct({{PERIODIC, RANDOM}, {400}, levels()})
    ->Iterations(3);

}  // namespace

BENCHMARK_MAIN();
