/* SPDX-License-Identifier: BSD-3-Clause */
/* DTW of two series beside the C library of dtaidistance (dd_dtw.h). Its window w admits
 * |i - j| < w, 0 all pairs; of squared costs it returns the root. */
extern "C" {
#include <dd_dtw.h>
}

#include "distance.h"

static void compare_pair(size_t n, size_t radius) {
  distance_call<double> ours(n, radius, TSANOM_COST_SQUARED);
  DTWSettings settings = dtw_settings_default();
  settings.window = ours.whole ? 0 : (idx_t)radius + 1;
  ours.compare_with([&] {
    double root =
        dtw_distance(ours.x.data(), (idx_t)n, ours.y.data(), (idx_t)n, &settings);
    return root * root;
  });
}

/* Windows, penalties and open ends, by the table of definitions in docs/python.md. */
static void check_definitions() {
  uint64_t seed = 3;
  for (int i = 0; i < 300; i++) {
    size_t n = random_between(&seed, 4, 59), window = random_between(&seed, 1, n);
    std::vector<double> x = walk(n, &seed), y = walk(n, &seed);
    auto end = [&] { return random_between(&seed, 0, std::min<size_t>(3, window) - 1); };
    double penalty = random_unit(&seed);
    auto options = defaults(tsanom_dtw_options_init);
    options.radius = window - 1;
    options.penalty = penalty * penalty;
    DTWSettings settings = dtw_settings_default();
    settings.window = (idx_t)window;
    settings.penalty = penalty;
    for (int cost : {TSANOM_COST_ABSOLUTE, TSANOM_COST_SQUARED}) {
      bool squared = cost == TSANOM_COST_SQUARED;
      options.cost = cost;
      settings.inner_dist = squared ? 0 : 1;
      if (squared) {
        settings.psi_1b = (idx_t)(options.open_begin_x = end());
        settings.psi_1e = (idx_t)(options.open_end_x = end());
        settings.psi_2b = (idx_t)(options.open_begin_y = end());
        settings.psi_2e = (idx_t)(options.open_end_y = end());
      }
      double own = 0,
             other = dtw_distance(x.data(), (idx_t)n, y.data(), (idx_t)n, &settings);
      distance_of(x.data(), y.data(), n, &options, nullptr, &own);
      check(std::fabs((squared ? std::sqrt(own) : own) - other) <= 1e-9 * (1 + other),
            "definition of dtaidistance");
    }
  }
}

int main() {
  check_definitions();
  for (size_t radius : {12, 128}) compare_pair(128, radius);
  for (size_t radius : {50, 1024}) compare_pair(1024, radius);
  compare_pair(8192, 400);
  return 0;
}
