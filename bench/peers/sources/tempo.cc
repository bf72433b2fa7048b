/* SPDX-License-Identifier: BSD-3-Clause */
/* DTW of two series and nearest neighbors beside Tempo (src/tempo), which abandons and
 * prunes, and bounds by LB_Enhanced from both sides. */
#include <tempo/distance/core/elastic/dtw.hpp>
#include <tempo/distance/core/elastic/dtw_lb_enhanced.hpp>
#include <tempo/distance/core/elastic/dtw_lb_keogh.hpp>

#include "distance.h"
#include "nearest.h"

static double squared(double a, double b) {
  return (a - b) * (a - b);
}

static void compare_pair(size_t n, size_t radius) {
  distance_call<double> ours(n, radius, TSANOM_COST_SQUARED);
  auto cost = [&](size_t i, size_t j) { return squared(ours.x[i], ours.y[j]); };
  ours.compare_with(
      [&] { return tempo::distance::dtw<double>(n, n, cost, radius, INFINITY); });
}

/* Envelopes are computed by both. */
static void compare_nearest() {
  enum { BANDS = 5 };
  nearest_problem ours(5000, TSANOM_COST_SQUARED, true, 3);
  std::vector<double> distance(QUERIES);
  auto theirs = [&] {
    std::vector<double> upper(ours.count * LENGTH), lower(ours.count * LENGTH),
        above(LENGTH), below(LENGTH);
    auto envelope = [](const double *x, double *high, double *low) {
      tempo::distance::univariate::get_keogh_envelopes(x, LENGTH, high, low, RADIUS);
    };
    for (size_t i = 0; i < ours.count; i++) {
      envelope(ours.series[i].data(), &upper[i * LENGTH], &lower[i * LENGTH]);
    }
    for (size_t q = 0; q < QUERIES; q++) {
      const double *query = ours.queries[q].data();
      envelope(query, above.data(), below.data());
      double best = INFINITY;
      for (size_t i = 0; i < ours.count; i++) {
        const double *s = ours.series[i].data();
        double bound = tempo::distance::univariate::lb_Enhanced2j<double>(
            query, LENGTH, above.data(), below.data(), s, LENGTH, &upper[i * LENGTH],
            &lower[i * LENGTH], squared, BANDS, RADIUS, best);
        if (bound > best) continue;
        auto cost = [&](size_t a, size_t b) { return squared(query[a], s[b]); };
        best = std::min(best,
                        tempo::distance::dtw<double>(LENGTH, LENGTH, cost, RADIUS, best));
      }
      distance[q] = best;
    }
  };
  ours.compare_with(theirs, distance, ", squared");
}

int main() {
  for (size_t n : {2, 4, 8, 16, 64, 256, 1000, 2000}) compare_pair(n, n);
  for (size_t n : {17, 24, 32, 40, 64, 256, 1000, 2000}) compare_pair(n, n / 10);
  compare_nearest();
  return 0;
}
