/* SPDX-License-Identifier: BSD-3-Clause */
/* Series, radii and the definition of the envelope, for all tests of the module. */
#ifndef TSANOM_TEST_LBKEOGH_CASES_H
#define TSANOM_TEST_LBKEOGH_CASES_H

#include <math.h>
#include <tsanom/lbkeogh.h>

#include "support/random.h"

enum { LONGEST = 200 };

static inline tsanom_lbkeogh_options options_of(size_t radius, int32_t cost) {
  tsanom_lbkeogh_options options;
  tsanom_lbkeogh_options_init(&options, sizeof options);
  options.radius = radius;
  options.cost = cost;
  return options;
}

/* The definition, one window at a time; the samples that position i of
 * another series meets, 0 <= i < count. */
static inline void naive_envelope(const double *x, size_t n, size_t radius, size_t count,
                                  double *lower, double *upper) {
  for (size_t i = 0; i < count; i++) {
    lower[i] = INFINITY, upper[i] = -INFINITY;
    for (size_t j = 0; j < n; j++) {
      if ((i > j ? i - j : j - i) > radius) continue;
      lower[i] = fmin(lower[i], x[j]);
      upper[i] = fmax(upper[i], x[j]);
    }
  }
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
