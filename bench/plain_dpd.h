/* SPDX-License-Identifier: BSD-3-Clause */
/* Equation 2 of the DPD paper as a user would write it: by run lengths, O(N) an event. */
#ifndef TSANOM_BENCH_PLAIN_DPD_H
#define TSANOM_BENCH_PLAIN_DPD_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

/* The smallest period with the last `window` events repeated, after each of the first `count`
 * events; 0: none. Inlined, it takes half as long again. */
__attribute__((noinline)) inline void plain_periods(const std::vector<uint64_t> &event,
                                                    size_t window, size_t count,
                                                    std::vector<size_t> &period) {
  std::vector<uint32_t> run(window + 1, 0);
  for (size_t t = 0; t < count; t++) {
    size_t found = 0;
    for (size_t m = std::min(window, t); m >= 1; m--) {
      run[m] = event[t] == event[t - m] ? run[m] + 1 : 0;
      if (run[m] >= window) found = m;
    }
    period[t] = found;
  }
}

#endif
