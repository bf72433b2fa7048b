/* SPDX-License-Identifier: BSD-3-Clause */
/* Envelopes and bounds beside their definitions, at every instruction set. And what makes
 * them bounds: none exceeds the distance that tsanom_dtw_distance() returns, but for
 * rounding. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/dtw.h>

#include "cases.h"
#include "support/check.h"
#include "support/exec.h"

static double dtw(const double *x, size_t n, const double *y, size_t m, size_t radius,
                  int32_t cost) {
  tsanom_dtw_options options;
  tsanom_dtw_options_init(&options, sizeof options);
  options.radius = radius;
  options.cost = cost;
  double distance;
  cr_assert(tsanom_dtw_distance(x, n, y, m, &options, NULL, &distance) >= 0);
  return distance;
}

/* A series of at most `longest` samples, in both precisions, wherever the result lies. */
static void try_envelope(size_t longest, size_t radius, uint64_t *seed) {
  enum { MOST = 1500, MISALIGNED = 16 };
  double x[MOST], lower[MOST], upper[MOST], lows[MOST + MISALIGNED],
      highs[MOST + MISALIGNED], *low = lows + random_bits(seed) % MISALIGNED,
                                *high = highs + random_bits(seed) % MISALIGNED;
  float single[MOST], lows_f32[MOST + MISALIGNED], highs_f32[MOST + MISALIGNED],
      *low_f32 = lows_f32 + random_bits(seed) % MISALIGNED,
      *high_f32 = highs_f32 + random_bits(seed) % MISALIGNED;
  cr_assert(longest <= MOST);
  size_t n = random_between(seed, 1, longest);
  fill(x, n, seed);
  for (size_t i = 0; i < n; i++) x[i] = single[i] = (float)x[i];
  naive_envelope(x, n, radius, n, lower, upper);
  FOR_EACH_ISA (isa) {
    tsanom_exec exec = exec_at(isa, 1);
    CHECK_STATUS(tsanom_lbkeogh_envelope(x, n, radius, &exec, low, high), TSANOM_OK);
    CHECK_STATUS(tsanom_lbkeogh_envelope_f32(single, n, radius, &exec, low_f32, high_f32),
                 TSANOM_OK);
    for (size_t i = 0; i < n; i++) {
      cr_assert(low[i] == lower[i] && high[i] == upper[i],
                "n %zu radius %zu isa %d at %zu: [%g, %g], not [%g, %g]", n, radius, isa,
                i, low[i], high[i], lower[i], upper[i]);
      cr_assert(low_f32[i] == (float)lower[i] && high_f32[i] == (float)upper[i],
                "single: n %zu radius %zu isa %d at %zu", n, radius, isa, i);
      cr_assert((low[i] != 0 || !signbit(low[i])) && (high[i] != 0 || !signbit(high[i])));
    }
  }
}

Test(lbkeogh, envelope_equals_the_definition_at_every_level) {
  uint64_t seed = 1;
  for (int trial = 0; trial < CASES(4000); trial++) {
    try_envelope(LONGEST, some_radius(&seed), &seed);
  }
}

/* Of windows as long as several groups of rows in either precision. */
Test(lbkeogh, envelope_of_wide_windows) {
  uint64_t seed = 11;
  for (int trial = 0; trial < CASES(200); trial++) {
    try_envelope(1500, random_between(&seed, 100, 1000), &seed);
  }
}

Test(lbkeogh, envelope_of_a_long_series) {
  enum { N = CASES(20000) };
  double *x = malloc(5 * N * sizeof *x), *lower = x + N, *upper = x + 2 * N,
         *low = x + 3 * N, *high = x + 4 * N;
  uint64_t seed = 2;
  fill_walk(x, N, &seed);
  size_t radii[] = {0, 1, 3, 4, 7, 10, 100, 511, 1000, 4099, N - 1, N, SIZE_MAX};
  for (size_t k = 0; k < sizeof radii / sizeof *radii; k++) {
    size_t r = radii[k] < N ? radii[k] : N;
    for (size_t i = 0; i < N; i++) {
      size_t first = i > r ? i - r : 0, last = i + r < N ? i + r : N - 1;
      /* From the neighbor's window where that is enough. */
      if (i > 0 && first == 0 && last == N - 1 && i > 1 && N - 1 <= i - 1 + r) {
        lower[i] = lower[i - 1], upper[i] = upper[i - 1];
        continue;
      }
      lower[i] = upper[i] = x[first];
      for (size_t j = first; j <= last; j++) {
        lower[i] = fmin(lower[i], x[j]);
        upper[i] = fmax(upper[i], x[j]);
      }
    }
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1);
      tsanom_lbkeogh_envelope(x, N, radii[k], &exec, low, high);
      cr_assert(memcmp(low, lower, N * sizeof *x) == 0, "radius %zu", radii[k]);
      cr_assert(memcmp(high, upper, N * sizeof *x) == 0, "radius %zu", radii[k]);
    }
  }
  free(x);
}

Test(lbkeogh, bound_and_tail_equal_the_definition_and_each_level_agrees) {
  uint64_t seed = 3;
  for (int trial = 0; trial < CASES(4000); trial++) {
    double c[LONGEST], q[LONGEST], lower[LONGEST], upper[LONGEST], tail[LONGEST + 1];
    size_t n = random_between(&seed, 1, LONGEST);
    fill(c, n, &seed);
    fill(q, n, &seed);
    tsanom_lbkeogh_options options =
        options_of(some_radius(&seed), (int32_t)(random_bits(&seed) % 2));
    naive_envelope(q, n, options.radius, n, lower, upper);
    double expected = naive_bound(c, lower, upper, n, options.cost), first = -1;
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1);
      double bound;
      CHECK_STATUS(tsanom_lbkeogh_bound(c, lower, upper, n, options.cost, &exec, &bound),
                   TSANOM_OK);
      cr_assert(nearly(bound, expected), "%.17g, not %.17g", bound, expected);
      if (isa == TSANOM_ISA_BASE) first = bound;
      cr_assert(bound == first);
      enum { MISALIGNED = 8 };
      double copy[LONGEST + MISALIGNED], *moved = copy + random_bits(&seed) % MISALIGNED;
      memcpy(moved, c, n * sizeof *c);
      tsanom_lbkeogh_bound(moved, lower, upper, n, options.cost, &exec, &bound);
      cr_assert(bound == first);
      CHECK_STATUS(tsanom_lbkeogh_tail(c, lower, upper, n, options.cost, &exec, tail),
                   TSANOM_OK);
      for (size_t i = 0; i <= n; i++) {
        cr_assert(nearly(tail[i],
                         naive_bound(c + i, lower + i, upper + i, n - i, options.cost)));
      }
    }
  }
}

Test(lbkeogh, an_open_envelope_bounds_nothing) {
  double c[] = {1, 2, 3}, lower[] = {-INFINITY, -INFINITY, 5},
         upper[] = {INFINITY, 1.5, INFINITY}, bound;
  CHECK_STATUS(
      tsanom_lbkeogh_bound(c, lower, upper, 3, TSANOM_COST_ABSOLUTE, NULL, &bound),
      TSANOM_OK);
  cr_assert(bound == 2.5);
}

Test(lbkeogh, no_bound_exceeds_the_distance) {
  uint64_t seed = 4;
  double tight[2] = {0, 0}, enhanced_tight = 0, keogh_tight = 0;
  for (int trial = 0; trial < CASES(100000); trial++) {
    enum { SHORT = 48 };
    double x[SHORT], y[SHORT], lower[SHORT], upper[SHORT], tail[SHORT + 1];
    size_t n = random_between(&seed, 1, SHORT), m = n;
    if (trial % 2) m = random_between(&seed, 1, SHORT);
    fill(x, n, &seed);
    fill(y, m, &seed);
    size_t radius =
        random_bits(&seed) % 4 ? random_between(&seed, 0, 12) : some_radius(&seed);
    tsanom_lbkeogh_options options =
        options_of(radius, (int32_t)(random_bits(&seed) % 2));
    double distance = dtw(x, n, y, m, radius, options.cost), kim, pair[2];
    size_t terms = n + m;
    CHECK_STATUS(tsanom_lbkeogh_kim(x, n, y, m, options.cost, NULL, &kim), TSANOM_OK);
    cr_assert(at_most(kim, distance, terms), "Kim %.17g of %.17g", kim, distance);
    tsanom_status status = tsanom_lbkeogh_pair(x, n, y, m, &options, NULL, pair);
    CHECK_STATUS(status, isinf(distance) ? TSANOM_INFEASIBLE : TSANOM_OK);
    cr_assert(at_most(pair[0], distance, terms) && at_most(pair[1], distance, terms));
    if (n != m) continue;
    naive_envelope(x, n, radius, n, lower, upper);
    double keogh, improved;
    tsanom_lbkeogh_bound(y, lower, upper, n, options.cost, NULL, &keogh);
    cr_assert(keogh == pair[0]);
    CHECK_STATUS(
        tsanom_lbkeogh_improved(y, x, lower, upper, n, &options, NULL, &improved),
        TSANOM_OK);
    cr_assert(improved >= keogh && at_most(improved, distance, terms),
              "improved %.17g keogh %.17g of %.17g", improved, keogh, distance);
    if (distance > 0) tight[options.cost] += improved / distance;
    double enhanced;
    options.bands = random_between(&seed, 0, 8);
    CHECK_STATUS(
        tsanom_lbkeogh_enhanced(y, x, lower, upper, n, &options, NULL, &enhanced),
        TSANOM_OK);
    cr_assert(nearly(enhanced, naive_enhanced(y, x, lower, upper, n, &options)));
    cr_assert(at_most(enhanced, distance, terms), "enhanced %.17g of %.17g", enhanced,
              distance);
    cr_assert(options.bands > 0 || enhanced == keogh);
    cr_assert(options.bands < 3 || n < 6 || at_most(kim, enhanced, terms));
    if (distance > 0) enhanced_tight += enhanced / distance;
    if (distance > 0) keogh_tight += keogh / distance;
    /* The tail completes the distance of any two heads. */
    tsanom_lbkeogh_tail(y, lower, upper, n, options.cost, NULL, tail);
    size_t row = random_between(&seed, 1, n);
    double cheapest = INFINITY;
    for (size_t i = 1; i <= n; i++) {
      cheapest = fmin(cheapest, dtw(x, i, y, row, radius, options.cost));
    }
    cr_assert(at_most(cheapest + tail[row], distance, terms));
  }
  cr_assert(enhanced_tight > 1.01 * keogh_tight);
  cr_assert(tight[0] > CASES(3000) && tight[1] > CASES(3000), "no bound at all: %g %g",
            tight[0], tight[1]);
}

Test(lbkeogh, pair_meets_the_definition_for_unequal_lengths) {
  uint64_t seed = 5;
  for (int trial = 0; trial < CASES(4000); trial++) {
    double x[LONGEST], y[LONGEST], lower[LONGEST], upper[LONGEST], pair[2];
    size_t n = random_between(&seed, 1, LONGEST), m = random_between(&seed, 1, LONGEST);
    fill(x, n, &seed);
    fill(y, m, &seed);
    tsanom_lbkeogh_options options =
        options_of(some_radius(&seed), (int32_t)(random_bits(&seed) % 2));
    if ((n > m ? n - m : m - n) > options.radius) continue;
    naive_envelope(x, n, options.radius, m, lower, upper);
    double expected = naive_bound(y, lower, upper, m, options.cost);
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1);
      CHECK_STATUS(tsanom_lbkeogh_pair(x, n, y, m, &options, &exec, pair), TSANOM_OK);
      cr_assert(nearly(pair[0], expected));
      double other = pair[1];
      CHECK_STATUS(tsanom_lbkeogh_pair(y, m, x, n, &options, &exec, pair), TSANOM_OK);
      cr_assert(pair[0] == other);
    }
  }
}
