/* SPDX-License-Identifier: BSD-3-Clause */
/* Envelopes, and nearest neighbors under DTW, beside lbimproved (include/dtw.h). */
#include "dtw.h" /* of lbimproved: uses names of namespace std */

#include <tsanom/lbkeogh.h>

#include "nearest.h"

static void compare_envelope(size_t n, size_t radius) {
  uint64_t seed = 1;
  std::vector<double> x = walk(n, &seed);
  std::vector<double> lower(n), upper(n), their_lower(n), their_upper(n);
  auto ours = [&] {
    tsanom_lbkeogh_envelope(x.data(), n, radius, nullptr, lower.data(), upper.data());
  };
  auto theirs = [&] { computeEnvelope(x, (uint)radius, their_upper, their_lower); };
  ours();
  theirs();
  check(lower == their_lower && upper == their_upper, "envelope of lbimproved");
  compare("envelope, n = " + std::to_string(n) + ", radius " + std::to_string(radius),
          "ns/sample", (double)n, ours, theirs);
}

static void compare_nearest() {
  nearest_problem ours(2000, TSANOM_COST_ABSOLUTE, false, 2);
  std::vector<double> distance(QUERIES);
  auto theirs = [&] {
    for (size_t q = 0; q < QUERIES; q++) {
      LB_Improved neighbor(ours.queries[q], RADIUS);
      for (const auto &s : ours.series) distance[q] = neighbor.test(s);
    }
  };
  ours.compare_with(theirs, distance, "");
}

int main() {
  for (size_t radius : {10, 100, 1000}) compare_envelope(100000, radius);
  compare_nearest();
  return 0;
}
