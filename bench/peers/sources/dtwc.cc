/* SPDX-License-Identifier: BSD-3-Clause */
/* DTW of two short series beside DTWC++ (dtwc/warping.hpp). */
namespace dtwc::settings {
constexpr int DEFAULT_BAND_LENGTH = -1; /* of settings.hpp, which wants folders, too */
}
#include <dtwc/warping.hpp>

#include "distance.h"

static void compare_pair(size_t n, size_t radius) {
  distance_call<double> ours(n, radius, TSANOM_COST_ABSOLUTE);
  ours.compare_with(
      [&] { return dtwc::dtwBanded(ours.x, ours.y, ours.whole ? -1 : (int)radius); });
}

int main() {
  for (size_t n : {2, 4, 8, 16, 32, 256}) compare_pair(n, n);
  for (size_t n : {17, 24, 32, 40, 256}) compare_pair(n, n / 10);
  return 0;
}
