/* SPDX-License-Identifier: BSD-3-Clause */
/* Where does the cost jump? The cost of each problem per unit of its work is measured at
 * all sizes, one by one up to 600, then doubling. A size that costs more than 1.25 times
 * as much per unit as the one before it is measured again, both in turns, and printed if
 * it still does. Exit status 1: some jump has no reason in the table below. */
#include <malloc.h>
#include <tsanom/tsanom.h>

#include <climits>
#include <cstring>
#include <functional>

#include "timing.h"

namespace {

constexpr double kJump = 1.25;

using Call = std::function<void()>;

/* The work of size n is n^power. */
struct Problem {
  const char *name;
  double power;
  size_t first, one_by_one, last;
  std::function<Call(size_t)> make;
};

/* Jumps that are known, up to a ratio. The place is the larger size. */
struct Known {
  const char *name;
  size_t from, to;
  double most;
  const char *reason;
};

const Known kKnown[] = {
    {"dtw full", 18, 18, 2.0, "the sweep of short series takes 17 samples at level v4"},
    {"dtw full", 25, 65, 1.7, "one row more makes strips higher, or begins another"},
    {"dtw full", 129, 129, 1.4, "one row more begins another strip"},
    {"dtw radius, n=600", 290, 300, 1.5, "a window as long as a row: strips, no chain"},
    {"dtw radius, n=600", 16, 16, 1.8, "a diagonal leaves the registers of level v3"},
    {"dtw radius, n=600", 64, 64, 2, "a diagonal leaves the registers of level v4"},
    {"dtw 10 %", 160, 169, 1.8, "a diagonal leaves the registers of level v3"},
    {"attributes", 2, 22, 2.3, "the bitmap of all subsets doubles with each attribute"},
    {"reducts", 20, 20, 4,
     "no attribute of 20 is in the core, one of 19: 4 times the bitmap"},
    {"reducts", 22, 22, 4,
     "no attribute of 22 is in the core, one of 21: 4 times the bitmap"},
    {"reducts", 2, 26, 2.3, "the bitmap of all subsets doubles with each attribute"},
};

std::vector<double> uniform(size_t n) {
  uint64_t seed = 3;
  std::vector<double> x(n);
  for (double &v : x) v = random_unit(&seed);
  return x;
}

Call dtw(size_t n, size_t radius) {
  auto x = uniform(2 * n);
  auto options = defaults(tsanom_dtw_options_init);
  options.radius = radius;
  return [=] {
    double d;
    check(tsanom_dtw_distance(x.data(), n, x.data() + n, n, &options, nullptr, &d) >= 0);
  };
}

Call envelope(size_t n) {
  auto x = uniform(n);
  return [=] {
    std::vector<double> low(n), high(n);
    check(tsanom_lbkeogh_envelope(x.data(), n, n / 10, nullptr, low.data(),
                                  high.data()) >= 0);
  };
}

Call values(size_t window) {
  auto x = uniform(2 * window);
  return [=] {
    auto options = defaults(tsanom_dpd_value_options_init);
    tsanom_dpd_value *detector;
    options.window = window;
    options.significance = 0;
    check(tsanom_dpd_value_create(&options, nullptr, &detector) >= 0);
    tsanom_dpd_value_push_many(detector, x.data(), x.size(), nullptr, nullptr, nullptr);
    tsanom_dpd_value_destroy(detector);
  };
}

Call fit(size_t n, int32_t degree) {
  auto y = uniform(n);
  std::vector<double> x(n);
  for (size_t i = 0; i < n; i++) x[i] = (double)i;
  auto options = defaults(tsanom_polyfit_options_init);
  options.degree = degree;
  return [=] {
    auto model = sized<tsanom_polyfit_model>();
    check(tsanom_polyfit_fit(x.data(), y.data(), nullptr, n, &options, nullptr, &model) >=
          0);
  };
}

/* Other points in each call: the branches of a call that is repeated are learned, of up to some
 * 600 points, which then take .47 instead of .69 us each in one dimension. */
Call order(size_t n, size_t d) {
  constexpr size_t kSets = 64;
  auto x = uniform(kSets * n * d);
  size_t call = 0;
  return [=]() mutable {
    const double *points = x.data() + call++ % kSets * n * d;
    std::vector<size_t> order(n);
    std::vector<double> reachability(n);
    auto ordering = sized<tsanom_optics_ordering>();
    ordering.order = order.data();
    ordering.reachability = reachability.data();
    auto options = defaults(tsanom_optics_options_init);
    options.min_points = 5;
    check(tsanom_optics_order(points, n, d, d, &options, nullptr, &ordering) >= 0);
  };
}

/* A table of two codes in each column. */
Call elements(size_t rows, size_t attributes, bool reducts) {
  uint64_t seed = 5;
  std::vector<int32_t> code(rows * attributes), decision(rows);
  for (size_t i = 0; i < rows; i++) { /* the first rows are those of a smaller table */
    decision[i] = random_unit(&seed) < 0.5;
    for (size_t a = 0; a < attributes; a++) {
      code[i * attributes + a] = random_unit(&seed) < 0.5;
    }
  }
  return [=] {
    static std::vector<uint64_t> sets((size_t)1 << 20);
    auto table = sized<tsanom_roughset_table>();
    table.rows = rows;
    table.attributes = attributes;
    table.values = code.data();
    table.decision = decision.data();
    size_t count, found;
    check(tsanom_roughset_elements(&table, nullptr, nullptr, sets.data(), sets.size(),
                                   &count) >= 0);
    if (!reducts) return;
    check(tsanom_roughset_reducts(sets.data(), count, attributes, nullptr, nullptr,
                                  nullptr, &found) >= 0);
  };
}

Call processes(size_t n, size_t regions) {
  auto time = uniform(n * regions);
  std::vector<int32_t> parent(regions, TSANOM_SPMD_NONE);
  return [=] {
    auto data = sized<tsanom_spmd_data>();
    auto report = sized<tsanom_spmd_report>();
    data.processes = n;
    data.regions = regions;
    data.parent = parent.data();
    data.time = time.data();
    auto options = defaults(tsanom_spmd_options_init);
    options.combination_size = 1;
    check(tsanom_spmd_analyze(&data, &options, nullptr, &report) >= 0);
  };
}

const Problem kProblems[] = {
    {"dtw full", 2, 1, 600, 4800, [](size_t n) { return dtw(n, SIZE_MAX); }},
    {"dtw 10 %", 2, 10, 600, 9600, [](size_t n) { return dtw(n, n / 10); }},
    {"dtw radius, n=600", 1, 1, 300, 600, [](size_t n) { return dtw(600, n); }},
    {"envelope", 1, 1, 600, 76800, envelope},
    {"dpd values", 2, 4, 600, 4800, values},
    {"polyfit degree 3", 1, 4, 600, 38400, [](size_t n) { return fit(n, 3); }},
    {"polyfit degree, n=600", 1, 1, 24, 24,
     [](size_t n) { return fit(600, (int32_t)n); }},
    {"optics d=1", 1, 8, 600, 19200, [](size_t n) { return order(n, 1); }},
    {"optics d=2", 1, 8, 600, 19200, [](size_t n) { return order(n, 2); }},
    {"optics d=5", 2, 8, 600, 9600, [](size_t n) { return order(n, 5); }},
    {"optics d, n=300", 1, 1, 80, 80, [](size_t n) { return order(300, n); }},
    {"elements", 2, 32, 600, 4800, [](size_t n) { return elements(n, 12, false); }},
    {"attributes", 0, 2, 22, 22, [](size_t n) { return elements(80, n, false); }},
    {"reducts", 0, 2, 26, 26, [](size_t n) { return elements(320, n, true); }},
    {"spmd", 2, 8, 600, 4800, [](size_t n) { return processes(n, 20); }},
    {"spmd regions, n=100", 1, 8, 200, 200, [](size_t n) { return processes(100, n); }},
};

/* Least processor time of a call per unit; a measurement takes at least 50 us. */
double cost(const Problem &p, size_t n, const Call &call, int repeats) {
  int calls = 1;
  double once = best_of(2, call);
  if (once < 5e-5) calls += (int)(5e-5 / once);
  double best = best_of(repeats, [&] {
    for (int k = 0; k < calls; k++) call();
  });
  return std::min(once, best / calls) / std::pow((double)n, p.power);
}

const char *reason(const Problem &p, size_t n, double ratio) {
  for (const Known &k : kKnown) {
    bool here = !std::strcmp(k.name, p.name) && n >= k.from && n <= k.to;
    if (here && ratio <= k.most) return k.reason;
  }
  return nullptr;
}

/* The ratio of the cost at n to that at the size before, measured in turns. */
double again(const Problem &p, size_t before, size_t n) {
  Call a = p.make(before), b = p.make(n);
  double least[2] = {INFINITY, INFINITY};
  for (int turn = 0; turn < 12; turn++) {
    least[0] = std::min(least[0], cost(p, before, a, 3));
    least[1] = std::min(least[1], cost(p, n, b, 3));
  }
  return least[1] / least[0];
}

int jumps_of(const Problem &p) {
  int unknown = 0;
  size_t before = 0;
  double last = INFINITY;
  for (size_t n = p.first; n <= p.last; n += n < p.one_by_one ? 1 : n) {
    double now = cost(p, n, p.make(n), 3);
    if (now > kJump * last) {
      double ratio = again(p, before, n);
      if (ratio > kJump) {
        const char *why = reason(p, n, ratio);
        std::printf("%s: %zu -> %zu costs %.2f times as much per unit: %s\n", p.name,
                    before, n, ratio, why ? why : "no reason is known");
        unknown += !why;
      }
    }
    before = n;
    last = now;
  }
  return unknown;
}

}  // namespace

/* Usage: jumps [TEXT]: the problems whose names contain TEXT.
 *
 * Freed memory stays in the process. Otherwise each call pays for the pages that the one
 * before it gave back: from 128 KiB on at the end of the heap (an envelope of 9600 samples
 * cost 1.4 times as much per sample as one of 4800), and of blocks of more than 32 MiB (the
 * workspace of the elements of 2400 rows: 49 faults a call, 1.60 in place of .93 ms). */
int main(int count, char **arguments) {
  check(mallopt(M_TRIM_THRESHOLD, INT_MAX) && mallopt(M_MMAP_MAX, 0), "mallopt");
  int unknown = 0;
  for (const Problem &p : kProblems) {
    if (count > 1 && !std::strstr(p.name, arguments[1])) continue;
    unknown += jumps_of(p);
    std::fflush(stdout);
  }
  return unknown > 0;
}
