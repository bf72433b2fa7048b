/* SPDX-License-Identifier: BSD-3-Clause */
/* OPTICS of Gaussian blobs with 10 % noise, min_points 5. One thread, in processor time,
 * beside the definition as a double loop of the same run; several threads, in time that
 * passes, beside one thread; growth with the number of points, also of equal ones.
 * Results are compared. */
#include <tsanom/optics.h>

#include "report.h"

namespace {

std::vector<double> blobs(size_t n, size_t d) {
  constexpr size_t kBlobs = 20;
  uint64_t seed = 7;
  std::vector<double> centre(kBlobs * d), x(n * d);
  for (double &c : centre) c = random_unit(&seed) * 100;
  for (size_t i = 0; i < n; i++) {
    bool noise = random_unit(&seed) < 0.1;
    size_t blob = random_between(&seed, 0, kBlobs - 1);
    for (size_t c = 0; c < d; c++) {
      x[i * d + c] = noise ? random_unit(&seed) * 100
                           : centre[blob * d + c] + 2 * random_normal(&seed);
    }
  }
  return x;
}

struct Order {
  explicit Order(size_t n) : order(n), reachability(n), core(n) {
  }
  std::vector<size_t> order;
  std::vector<double> reachability, core;

  bool operator==(const Order &other) const {
    return order == other.order && reachability == other.reachability &&
           core == other.core;
  }
};

double distance(const double *x, const double *y, size_t d) {
  double sum = 0;
  for (size_t c = 0; c < d; c++) sum += (x[c] - y[c]) * (x[c] - y[c]);
  return std::sqrt(sum);
}

/* The definition; O(n^2) time, O(n) memory. */
Order plain(const std::vector<double> &x, size_t n, size_t d, size_t k, double eps) {
  Order r(n);
  std::vector<double> row(n), reach(n, INFINITY);
  std::vector<char> done(n);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) row[j] = distance(&x[i * d], &x[j * d], d);
    std::nth_element(row.begin(), row.begin() + (ptrdiff_t)(k - 1), row.end());
    r.core[i] = row[k - 1] <= eps ? row[k - 1] : INFINITY;
  }
  for (size_t t = 0; t < n; t++) {
    size_t next = n;
    for (size_t i = 0; i < n; i++) {
      if (!done[i] && (next == n || reach[i] < reach[next])) next = i;
    }
    done[next] = 1;
    r.order[t] = next;
    r.reachability[t] = reach[next];
    for (size_t i = 0; i < n; i++) {
      if (done[i]) continue;
      double through = distance(&x[next * d], &x[i * d], d);
      if (through <= eps) reach[i] = std::min(reach[i], std::max(through, r.core[next]));
    }
  }
  return r;
}

/* Blobs, and the options of their order. */
struct Problem {
  Problem(size_t points, size_t dimensions, double radius)
      : n(points), d(dimensions), eps(radius), x(blobs(points, dimensions)) {
    options.eps = eps;
    options.min_points = std::min<size_t>(5, n / 2);
  }
  size_t n, d;
  double eps;
  std::vector<double> x;
  tsanom_optics_options options = defaults(tsanom_optics_options_init);
};

/* A call with a workspace of the caller. */
class Call {
 public:
  Call(const Problem &problem, const tsanom_exec &how, Order *r)
      : p(problem), work(how, [&](const tsanom_exec *ask) {
          return tsanom_optics_order(nullptr, p.n, p.d, p.d, &p.options, ask, nullptr);
        }) {
    ordering.order = r->order.data();
    ordering.reachability = r->reachability.data();
    ordering.core_distance = r->core.data();
  }

  void run() {
    check(tsanom_optics_order(p.x.data(), p.n, p.d, p.d, &p.options, &work.exec,
                              &ordering) == TSANOM_OK);
  }

 private:
  const Problem &p;
  Workspace work;
  tsanom_optics_ordering ordering = sized<tsanom_optics_ordering>();
};

/* Points, dimensions, eps in thousandths (0: infinite). */
Problem problem_of(const benchmark::State &state) {
  double eps = state.range(2) ? (double)state.range(2) / 1000 : INFINITY;
  return Problem((size_t)state.range(0), (size_t)state.range(1), eps);
}

void measure(benchmark::State &state, const Problem &p, int64_t isa = TSANOM_ISA_AUTO) {
  Order r(p.n), q(0);
  Call call(p, exec_at(isa), &r);
  double best = best_iteration(state, [&] { call.run(); }), by_definition = 0;
  if (p.n <= 10000) {
    by_definition =
        best_of(1, [&] { q = plain(p.x, p.n, p.d, p.options.min_points, p.eps); });
    check(q == r);
  }
  report(state, "ms", best * 1e3, by_definition * 1e3);
}

/* `isa_at`: the place of the argument isa, 0: there is none. */
void order(benchmark::State &state, size_t isa_at) {
  measure(state, problem_of(state), isa_of(state, isa_at));
}

/* Points in the plane, of which a percentage is at one place, in turns with others. */
void order_equal(benchmark::State &state) {
  Problem p((size_t)state.range(0), 2, INFINITY);
  for (size_t i = 0; i < p.n; i++) {
    if ((int64_t)(i * 37 % 100) < state.range(1)) p.x[2 * i] = p.x[2 * i + 1] = 50;
  }
  measure(state, p);
}

/* The fourth argument: threads. `plain` is one thread. */
void order_threads(benchmark::State &state) {
  Problem p = problem_of(state);
  auto threads = (int32_t)state.range(3);
  Order one(p.n), several(p.n);
  Call by_threads(p, exec_at(TSANOM_ISA_AUTO, threads), &several);
  Call by_one(p, exec_at(TSANOM_ISA_AUTO), &one);
  double best = best_iteration(
      state, [&] { by_threads.run(); }, CLOCK_MONOTONIC);
  double alone = best_of((int)state.iterations(), [&] { by_one.run(); }, CLOCK_MONOTONIC);
  report(state, "ms", best * 1e3, alone * 1e3);
  std::vector<Order> own((size_t)threads, one);
  std::vector<Call> calls;
  for (Order &r : own) calls.emplace_back(p, exec_at(TSANOM_ISA_AUTO), &r);
  report_separate(state, threads, 1e3, [&](int t) { calls[(size_t)t].run(); });
  check(one == several);
}

void cases(benchmark::internal::Benchmark *b) {
  b->ArgNames({"n", "d", "milli_eps"});
}

void threaded_cases(benchmark::internal::Benchmark *b) {
  b->ArgNames({"n", "d", "milli_eps", "threads"})->UseRealTime();
}

}  // namespace

ROWS(order, order, 0)
    ->Apply(cases)
    ->Args({8, 14, 0})
    ->Args({10000, 1, 0})
    ->Args({10000, 2, 0})
    ->Args({10000, 2, 1500})
    ->Args({10000, 14, 0})
    ->Args({10000, 64, 0})
    ->Args({100000, 2, 0})
    ->Args({100000, 2, 800})
    ->Args({1000000, 2, 0});
ROWS(order_levels, order, 3)
    ->ArgNames({"n", "d", "milli_eps", "isa"})
    ->ArgsProduct({{4000}, {14}, {0}, levels()})
    ->ArgsProduct({{1000}, {64}, {0}, levels()})
    ->ArgsProduct({{4000}, {2}, {0}, levels()});
ROWS(order_growth, order, 0)
    ->Apply(cases)
    ->ArgsProduct({benchmark::CreateRange(12500, 400000, 2), {2}, {0}});
ROWS(order_growth_many_dimensions, order, 0)
    ->Apply(cases)
    ->ArgsProduct({benchmark::CreateRange(1000, 8000, 2), {14}, {0}});
BENCHMARK(order_equal)
    ->Name("order_growth_half_equal")
    ->ArgNames({"n", "percent"})
    ->ArgsProduct({benchmark::CreateRange(12500, 100000, 2), {50}});
BENCHMARK(order_equal)
    ->Name("order_growth_all_equal")
    ->ArgNames({"n", "percent"})
    ->ArgsProduct({benchmark::CreateRange(12500, 100000, 2), {100}});
BENCHMARK(order_threads)
    ->Apply(threaded_cases)
    ->Args({100000, 2, 0, 2})
    ->Args({100000, 2, 800, 2})
    ->Iterations(5);
BENCHMARK(order_threads)
    ->Name("order_threads_large")
    ->Apply(threaded_cases)
    ->Args({1000000, 2, 0, 2})
    ->Args({100000, 14, 6000, 2})
    ->Iterations(3);
BENCHMARK(order_threads)
    ->Name("order_threads_many_dimensions")
    ->Apply(threaded_cases)
    ->Args({20000, 64, 0, 2})
    ->Iterations(1);
BENCHMARK_MAIN();
