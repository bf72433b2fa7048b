/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of searches, and series to search. */
#ifndef TSANOM_TEST_SEARCH_CALLS_H
#define TSANOM_TEST_SEARCH_CALLS_H

#include <math.h>
#include <string.h>
#include <tsanom/search.h>

#include "support/check.h"
#include "support/random.h"
#include "support/rows.h"

static inline tsanom_search_options options_of(size_t radius, int32_t cost,
                                               int32_t normalize) {
  tsanom_search_options options;
  tsanom_search_options_init(&options, sizeof options);
  options.radius = radius;
  options.cost = cost;
  options.z_normalize = normalize;
  return options;
}

static inline tsanom_search_index *index_of(const double *data, size_t count,
                                            size_t length, size_t ld,
                                            const tsanom_search_options *options,
                                            const tsanom_exec *exec) {
  tsanom_series series = rows_of(data, count, length, ld);
  tsanom_search_index *index = NULL;
  CHECK_STATUS(tsanom_search_index_create(&series, options, exec, &index), TSANOM_OK);
  return index;
}

/* Noise, few values (ties), a walk, a walk with flat parts and jumps, sometimes with a
 * large offset, or in a unit whose squares underflow. */
static inline void fill(double *x, size_t n, uint64_t *seed) {
  uint64_t kind = random_bits(seed) % 4;
  static const double offsets[16] = {1e6, 1e6, 1e12, 0x1p52}, units[3] = {1, 1, 0x1p-600};
  double offset = offsets[random_bits(seed) % 16], level = 0;
  double unit = units[random_bits(seed) % 3];
  int flat = 0;
  for (size_t i = 0; i < n; i++) {
    double u = random_unit(seed);
    if (kind == 0) {
      level = u;
    } else if (kind == 1) {
      level = floor(u * 3);
    } else {
      if (kind == 3 && u < 0.02) flat = !flat;
      if (kind == 3 && u > 0.995) level += 1e4 * (u - 0.9975);
      if (!flat) level += u - 0.5;
    }
    x[i] = unit * (level + offset);
  }
}

#endif
