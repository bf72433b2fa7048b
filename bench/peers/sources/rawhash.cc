/* SPDX-License-Identifier: BSD-3-Clause */
/* DTW of two series in single precision beside RawHash (src/dtw.cpp), whose kernel
 * computes antidiagonals by AVX-512. */
#include <tsanom/dtw.h>

#include "dtw.h" /* of RawHash */
#include "pairs.h"
#include "support/ask.h"

static void compare_pair(size_t n, size_t radius) {
  uint64_t seed = n;
  std::vector<double> wide_x = walk(n, &seed), wide_y = walk(n, &seed);
  std::vector<float> x(wide_x.begin(), wide_x.end()), y(wide_y.begin(), wide_y.end());
  bool whole = radius >= n;
  tsanom_dtw_options options;
  tsanom_dtw_options_init(&options, sizeof options);
  if (!whole) options.radius = radius;
  size_t bytes = 0;
  tsanom_exec exec = ask_exec(nullptr, &bytes);
  tsanom_dtw_distance_f32(nullptr, n, nullptr, n, &options, &exec, nullptr);
  std::vector<char> work(bytes);
  exec.work_needed = nullptr;
  exec.work = work.data();
  exec.work_bytes = bytes;
  float own = 0, other = 0;
  auto length = (uint32_t)n;
  auto ours = [&] {
    tsanom_dtw_distance_f32(x.data(), n, y.data(), n, &options, &exec, &own);
  };
  auto theirs = [&] {
    other = DTW_global_slantedbanded_antidiagonalwise(x.data(), length, y.data(), length,
                                                      (int)std::min(radius, n));
  };
  ours();
  theirs();
  check(whole ? std::fabs(own - other) <= 1e-4F * own : own <= other * 1.0001F,
        "distance of RawHash");
  double cells = 0;
  for (size_t i = 0; i < n; i++) {
    cells += (double)(std::min(n, i + radius + 1) - (i > radius ? i - radius : 0));
  }
  compare("DTW f32, n = " + std::to_string(n) +
              (whole ? "" : ", radius " + std::to_string(radius)),
          "ns/cell", cells, ours, theirs);
}

int main() {
  const size_t lengths[] = {4, 8, 16, 32, 64, 128, 256, 1000, 2000, 10000};
  for (size_t n : lengths) compare_pair(n, n);
  for (size_t n : lengths) {
    if (n >= 64) compare_pair(n, n / 10);
  }
  return 0;
}
