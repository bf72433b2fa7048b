/* SPDX-License-Identifier: BSD-3-Clause */
/* Series and radii for all tests of the module. */
#ifndef TSANOM_TEST_LBKEOGH_CASES_H
#define TSANOM_TEST_LBKEOGH_CASES_H

#include <math.h>
#include <tsanom/lbkeogh.h>

#include "lbkeogh/naive.h"
#include "support/random.h"

enum { LONGEST = 200 };

static inline tsanom_lbkeogh_options options_of(size_t radius, int32_t cost) {
  tsanom_lbkeogh_options options;
  tsanom_lbkeogh_options_init(&options, sizeof options);
  options.radius = radius;
  options.cost = cost;
  return options;
}

static inline void fill_walk(double *x, size_t n, uint64_t *seed) {
  double level = 0;
  for (size_t i = 0; i < n; i++) x[i] = level += random_unit(seed) - 0.5;
}

/* Noise, few values (many ties, zeros of both signs), a constant, a walk. */
static inline void fill(double *x, size_t n, uint64_t *seed) {
  uint64_t kind = random_bits(seed) % 4;
  if (kind == 3) {
    fill_walk(x, n, seed);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    double u = random_unit(seed);
    x[i] = kind == 0 ? u * 10 - 5 : kind == 1 ? rint(u * 4 - 2) : 1;
  }
}

static inline size_t some_radius(uint64_t *seed) {
  uint64_t kind = random_bits(seed) % 8;
  return kind == 0 ? SIZE_MAX : kind == 1 ? 0 : random_between(seed, 0, LONGEST + 10);
}

#endif
