/* SPDX-License-Identifier: BSD-3-Clause */
/* The nearest of many walks of 256 samples to each of ten, in a window of 5 %; the library's
 * index is made in the time. */
#ifndef TSANOM_BENCH_NEAREST_H
#define TSANOM_BENCH_NEAREST_H

#include <tsanom/search.h>

#include "pairs.h"
#include "support/rows.h"

enum { LENGTH = 256, QUERIES = 10, RADIUS = 12 };

struct nearest_problem {
  size_t count;
  std::vector<std::vector<double>> series, queries;
  std::vector<size_t> index;
  std::vector<double> distance;

  nearest_problem(size_t number, int cost, bool normalized, uint64_t seed)
      : count(number), index(QUERIES), distance(QUERIES) {
    options.radius = RADIUS;
    options.cost = cost;
    options.borrow = 1;
    for (size_t i = 0; i < count + QUERIES; i++) {
      std::vector<double> x = walk(LENGTH, &seed);
      if (normalized) tsanom_search_normalize(x.data(), LENGTH, nullptr, x.data());
      (i < count ? series : queries).push_back(x);
    }
    for (const auto &s : series) all.insert(all.end(), s.begin(), s.end());
    for (const auto &q : queries) asked.insert(asked.end(), q.begin(), q.end());
  }

  void operator()() {
    tsanom_search_index *made = nullptr;
    tsanom_series rows = rows_of(all.data(), count, LENGTH, 0),
                  query_rows = rows_of(asked.data(), QUERIES, LENGTH, 0);
    check(tsanom_search_index_create(&rows, &options, nullptr, &made) == TSANOM_OK,
          "index");
    check(tsanom_search_nearest(made, &query_rows, 1, nullptr, index.data(),
                                distance.data(), nullptr) == TSANOM_OK,
          "neighbors");
    tsanom_search_index_destroy(made);
  }

  /* `theirs` writes its distances to `other`. */
  template <class Theirs>
  void compare_with(Theirs theirs, const std::vector<double> &other, const char *kind) {
    (*this)();
    theirs();
    for (size_t q = 0; q < QUERIES; q++) {
      check(std::fabs(distance[q] - other[q]) <= 1e-9 * distance[q], "nearest neighbor");
    }
    compare(
        "nearest of " + std::to_string(count) + " walks" + kind + ", n = 256, radius 12",
        "ns/series", (double)(count * QUERIES), [this] { (*this)(); }, theirs);
  }

 private:
  tsanom_search_options options = defaults(tsanom_search_options_init);
  std::vector<double> all, asked;
};

#endif
