/* SPDX-License-Identifier: BSD-3-Clause */
/* Envelopes, and nearest neighbors under DTW, beside lbimproved (include/dtw.h). */
#include "dtw.h" /* of lbimproved: uses names of namespace std */

#include <tsanom/lbkeogh.h>
#include <tsanom/search.h>

#include "pairs.h"

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

/* The nearest of 2000 walks of 256 samples to each of ten, in a window of 5 %. */
static void compare_nearest() {
  enum { LENGTH = 256, SERIES = 2000, QUERIES = 10, RADIUS = 12 };
  uint64_t seed = 2;
  std::vector<std::vector<double>> series, queries;
  std::vector<double> all, asked;
  for (int i = 0; i < SERIES; i++) series.push_back(walk(LENGTH, &seed));
  for (int i = 0; i < QUERIES; i++) queries.push_back(walk(LENGTH, &seed));
  for (const auto &s : series) all.insert(all.end(), s.begin(), s.end());
  for (const auto &q : queries) asked.insert(asked.end(), q.begin(), q.end());
  tsanom_search_options options;
  tsanom_search_options_init(&options, sizeof options);
  options.radius = RADIUS;
  options.borrow = 1;
  tsanom_series rows{};
  rows.struct_size = sizeof rows;
  rows.count = SERIES;
  rows.data = all.data();
  rows.length = LENGTH;
  tsanom_series query_rows = rows;
  query_rows.count = QUERIES;
  query_rows.data = asked.data();
  std::vector<size_t> index(QUERIES);
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
    for (size_t q = 0; q < QUERIES; q++) {
      LB_Improved neighbor(queries[q], RADIUS);
      for (const auto &s : series) their_distance[q] = neighbor.test(s);
    }
  };
  ours();
  theirs();
  for (size_t q = 0; q < QUERIES; q++) {
    check(std::fabs(distance[q] - their_distance[q]) <= 1e-9 * distance[q],
          "nearest neighbor of lbimproved");
  }
  compare("nearest of 2000 walks, n = 256, radius 12", "ns/series", SERIES * QUERIES,
          ours, theirs);
}

int main() {
  for (size_t radius : {10, 100, 1000}) compare_envelope(100000, radius);
  compare_nearest();
  return 0;
}
