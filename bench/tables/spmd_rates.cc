/* SPDX-License-Identifier: BSD-3-Clause */
/* How often the SPMD analysis is right on families of made-up runs: by size, and by
 * noise for each cut. With "sizes" or "noise", that table alone. */
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "report.h"
#include "spmd_runs.h"

namespace {

/* A column of a table: a family, and whether the search goes on beyond the paper. */
struct Column {
  const char *title;
  spmd::Family family;
  int32_t deep;
};

constexpr Column by_size[] = {{"balanced", spmd::BALANCED, 0},
                              {"one region", spmd::ONE, 0},
                              {"two regions", spmd::TWO, 0},
                              {"two nested", spmd::TWO_NESTED, 0},
                              {"two nested, deep", spmd::TWO_NESTED, 1},
                              {"two in one", spmd::TWO_INSIDE, 0},
                              {"two in one, deep", spmd::TWO_INSIDE, 1},
                              {"cause in a pair", spmd::PAIR, 0}};

constexpr Column by_noise[] = {{"balanced", spmd::BALANCED, 0},
                               {"one region", spmd::ONE, 0},
                               {"two regions", spmd::TWO, 0},
                               {"two nested, deep", spmd::TWO_NESTED, 1},
                               {"two in one, deep", spmd::TWO_INSIDE, 1},
                               {"cause in a pair", spmd::PAIR, 0},
                               {"scaled", spmd::SCALED, 0},
                               {"scattered", spmd::SCATTERED, 0}};

using Columns = std::vector<Column>;

/* Larger runs are tried less often. */
int trials(size_t processes, size_t regions) {
  size_t size = processes * regions;
  return size > 100000 ? 10 : size > 5000 ? 50 : 200;
}

void print_rates(const Columns &columns, int32_t cut, size_t processes, size_t regions,
                 double noise, uint64_t *seed) {
  spmd::Run run;
  int runs = trials(processes, regions);
  double longest = 0;
  for (const Column &c : columns) {
    tsanom_spmd_options options;
    tsanom_spmd_options_init(&options, sizeof options);
    options.cut = cut;
    options.deep = c.deep;
    int right = 0;
    for (int i = 0; i < runs; i++) {
      make(&run, c.family, processes, regions, noise, seed);
      double start = cpu_seconds();
      right += is_right(&run, c.family, &options);
      longest = std::fmax(longest, cpu_seconds() - start);
    }
    std::printf("| %.2f ", 1.0 * right / runs);
  }
  std::printf("| %.2g |\n", longest);
  std::fflush(stdout);
}

void print_head(const char *first, const Columns &columns) {
  std::printf("| %s ", first);
  for (const Column &c : columns) std::printf("| %s ", c.title);
  std::printf("| longest, s |\n|");
  for (const char *at = first; at; at = std::strchr(at + 1, '|')) std::printf("---|");
  for (size_t c = 0; c <= columns.size(); c++) std::printf("---|");
  std::printf("\n");
}

void print_sizes() {
  static const size_t processes[] = {4, 16, 64, 256, 1024, 4096};
  static const size_t regions[] = {5, 50, 200};
  const Columns columns(std::begin(by_size), std::end(by_size));
  uint64_t seed = 2009;
  print_head("processes | regions | runs", columns);
  for (size_t n : processes) {
    for (size_t k : regions) {
      std::printf("| %zu | %zu | %d ", n, k, trials(n, k));
      print_rates(columns, TSANOM_SPMD_CUT_TOLERANCE, n, k, 0.01, &seed);
    }
  }
}

void print_noise() {
  static const size_t processes[] = {4, 64};
  static const char *const cuts[] = {"tolerance", "automatic", "noise"};
  const Columns columns(std::begin(by_noise), std::end(by_noise));
  print_head("cut | processes | regions | noise", columns);
  for (int32_t cut = TSANOM_SPMD_CUT_TOLERANCE; cut <= TSANOM_SPMD_CUT_NOISE; cut++) {
    uint64_t seed = 2010;
    for (size_t n : processes) {
      for (double noise : {0.01, 0.05, 0.1, 0.2, 0.3}) {
        std::printf("| %s | %zu | 50 | %.0f %% ", cuts[cut], n, 100 * noise);
        print_rates(columns, cut, n, 50, noise, &seed);
      }
    }
  }
}

}  // namespace

int main(int argc, char **argv) {
  bool all = argc < 2;
  if (all || std::strcmp(argv[1], "sizes") == 0) print_sizes();
  if (all || std::strcmp(argv[1], "noise") == 0) print_noise();
  return 0;
}
