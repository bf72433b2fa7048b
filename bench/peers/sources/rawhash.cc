/* SPDX-License-Identifier: BSD-3-Clause */
/* DTW of two series in single precision beside RawHash (src/dtw.cpp), whose kernel
 * computes antidiagonals by AVX-512. */
#include "distance.h"
#include "dtw.h" /* of RawHash */

static void compare_pair(size_t n, size_t radius) {
  distance_call<float> ours(n, radius, TSANOM_COST_ABSOLUTE);
  float other = 0;
  auto length = (uint32_t)n;
  auto theirs = [&] {
    other = DTW_global_slantedbanded_antidiagonalwise(
        ours.x.data(), length, ours.y.data(), length, (int)std::min(radius, n));
  };
  ours();
  theirs();
  check(ours.whole ? std::fabs(ours.distance - other) <= 1e-4F * other
                   : ours.distance <= other * 1.0001F,
        "distance of RawHash");
  double cells = 0;
  for (size_t i = 0; i < n; i++) {
    cells += (double)(std::min(n, i + radius + 1) - (i > radius ? i - radius : 0));
  }
  compare(ours.problem, "ns/cell", cells, ours, theirs);
}

int main() {
  const size_t lengths[] = {4, 8, 16, 32, 64, 128, 256, 1000, 2000, 10000};
  for (size_t n : lengths) compare_pair(n, n);
  for (size_t n : lengths)
    if (n >= 64) compare_pair(n, n / 10);
  return 0;
}
