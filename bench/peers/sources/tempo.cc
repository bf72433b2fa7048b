/* SPDX-License-Identifier: BSD-3-Clause */
/* DTW of two series and nearest neighbors beside Tempo (src/tempo), which abandons and
 * prunes, and bounds by LB_Enhanced from both sides. */
#include <tsanom/search.h>

#include <tempo/distance/core/elastic/dtw.hpp>
#include <tempo/distance/core/elastic/dtw_lb_enhanced.hpp>
#include <tempo/distance/core/elastic/dtw_lb_keogh.hpp>

#include "distance.h"

static double squared(double a, double b) {
  return (a - b) * (a - b);
}

static void compare_pair(size_t n, size_t radius) {
  distance_call<double> ours(n, radius, TSANOM_COST_SQUARED);
  auto cost = [&](size_t i, size_t j) { return squared(ours.x[i], ours.y[j]); };
  double other = 0;
  auto theirs = [&] {
    other = tempo::distance::dtw<double>(n, n, cost, radius, INFINITY);
  };
  ours();
  theirs();
  check(std::fabs(ours.distance - other) <= 1e-9 * other, "distance of Tempo");
  compare(ours.problem, "µs", 1000, ours, theirs);
}

/* The nearest of 5000 walks of 256 samples to each of ten, in a window of 5 %; envelopes
 * are computed by both. */
static void compare_nearest() {
  enum { LENGTH = 256, SERIES = 5000, QUERIES = 10, RADIUS = 12, BANDS = 5 };
  uint64_t seed = 3;
  std::vector<double> all, asked;
  for (int i = 0; i < SERIES + QUERIES; i++) {
    std::vector<double> x = walk(LENGTH, &seed);
    tsanom_search_normalize(x.data(), LENGTH, nullptr, x.data());
    auto &to = i < SERIES ? all : asked;
    to.insert(to.end(), x.begin(), x.end());
  }
  tsanom_search_options options;
  tsanom_search_options_init(&options, sizeof options);
  options.radius = RADIUS;
  options.cost = TSANOM_COST_SQUARED;
  options.borrow = 1;
  tsanom_series rows{};
  rows.struct_size = sizeof rows;
  rows.count = SERIES;
  rows.data = all.data();
  rows.length = LENGTH;
  tsanom_series query_rows = rows;
  query_rows.count = QUERIES;
  query_rows.data = asked.data();
  std::vector<size_t> index(QUERIES), their_index(QUERIES);
  std::vector<double> distance(QUERIES), their_distance(QUERIES);
  auto ours = [&] {
    tsanom_search_index *made = nullptr;
    check(tsanom_search_index_create(&rows, &options, nullptr, &made) == TSANOM_OK,
          "index");
    check(tsanom_search_nearest(made, &query_rows, 1, nullptr, index.data(),
                                distance.data(), nullptr) == TSANOM_OK,
          "neighbors");
    tsanom_search_index_destroy(made);
  };
  auto theirs = [&] {
    std::vector<double> upper(all.size()), lower(all.size()), above(LENGTH),
        below(LENGTH);
    auto envelope = [](const double *x, double *high, double *low) {
      tempo::distance::univariate::get_keogh_envelopes(x, LENGTH, high, low, RADIUS);
    };
    for (size_t i = 0; i < all.size(); i += LENGTH) {
      envelope(&all[i], &upper[i], &lower[i]);
    }
    for (size_t q = 0; q < QUERIES; q++) {
      const double *query = &asked[q * LENGTH];
      envelope(query, above.data(), below.data());
      double best = INFINITY;
      for (size_t i = 0; i < SERIES; i++) {
        size_t at = i * LENGTH;
        const double *s = &all[at];
        double bound = tempo::distance::univariate::lb_Enhanced2j<double>(
            query, LENGTH, above.data(), below.data(), s, LENGTH, &upper[at], &lower[at],
            squared, BANDS, RADIUS, best);
        if (bound > best) continue;
        auto cost = [&](size_t a, size_t b) { return squared(query[a], s[b]); };
        double d = tempo::distance::dtw<double>(LENGTH, LENGTH, cost, RADIUS, best);
        if (d < best) {
          best = d;
          their_index[q] = i;
        }
      }
      their_distance[q] = best;
    }
  };
  ours();
  theirs();
  for (size_t q = 0; q < QUERIES; q++) {
    check(index[q] == their_index[q] &&
              std::fabs(distance[q] - their_distance[q]) <= 1e-9 * distance[q],
          "nearest neighbor of Tempo");
  }
  compare("nearest of 5000 walks, squared, n = 256, radius 12", "ns/series",
          SERIES * QUERIES, ours, theirs);
}

int main() {
  for (size_t n : {2, 4, 8, 16, 64, 256, 1000, 2000}) compare_pair(n, n);
  for (size_t n : {17, 24, 32, 40, 64, 256, 1000, 2000}) compare_pair(n, n / 10);
  compare_nearest();
  return 0;
}
