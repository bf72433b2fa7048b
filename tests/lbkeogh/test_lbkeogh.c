/* SPDX-License-Identifier: BSD-3-Clause */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/dtw.h>
#include <tsanom/lbkeogh.h>

#include "support/allocator.h"
#include "support/check.h"
#include "support/random.h"

enum { LONGEST = 200 };

static tsanom_lbkeogh_options options_of(size_t radius, int32_t cost) {
  tsanom_lbkeogh_options options;
  tsanom_lbkeogh_options_init(&options, sizeof options);
  options.radius = radius;
  options.cost = cost;
  return options;
}

static tsanom_exec exec_at(int32_t isa) {
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  exec.isa = isa;
  return exec;
}

/* The definition, one window at a time; the samples that position i of
 * another series meets, 0 <= i < count. */
static void naive_envelope(const double *x, size_t n, size_t radius, size_t count,
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

static double term(double c, double lower, double upper, int32_t cost) {
  double d = c > upper ? c - upper : c < lower ? lower - c : 0;
  return cost == TSANOM_LBKEOGH_SQUARED ? d * d : d;
}

static double naive_bound(const double *c, const double *lower, const double *upper,
                          size_t n, int32_t cost) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += term(c[i], lower[i], upper[i], cost);
  return sum;
}

static double dtw(const double *x, size_t n, const double *y, size_t m, size_t radius,
                  int32_t cost) {
  tsanom_dtw_options options;
  tsanom_dtw_options_init(&options, sizeof options);
  options.radius = radius;
  options.cost = cost;
  double distance;
  cr_assert(tsanom_dtw_distance(x, n, y, m, &options, NULL, NULL, 0, &distance) >= 0);
  return distance;
}

static void fill_walk(double *x, size_t n, uint64_t *seed) {
  double level = 0;
  for (size_t i = 0; i < n; i++) x[i] = level += random_unit(seed) - 0.5;
}

/* Noise, few values (many ties, zeros of both signs), a constant, a walk. */
static void fill(double *x, size_t n, uint64_t *seed) {
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

static size_t some_radius(uint64_t *seed) {
  uint64_t kind = random_bits(seed) % 8;
  return kind == 0 ? SIZE_MAX : kind == 1 ? 0 : random_between(seed, 0, LONGEST + 10);
}

/* A bound may exceed the distance by the rounding of both sums only. */
static int at_most(double bound, double distance, size_t n) {
  return bound <= distance * (1 + 4 * (double)n * DBL_EPSILON);
}

static int nearly(double a, double b) {
  return fabs(a - b) <= 1e-12 * (fabs(a) + fabs(b));
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
  tsanom_lbkeogh_options options = options_of(radius, 0);
  naive_envelope(x, n, radius, n, lower, upper);
  FOR_EACH_ISA (isa) {
    tsanom_exec exec = exec_at(isa);
    CHECK_STATUS(tsanom_lbkeogh_envelope(x, n, &options, &exec, NULL, 0, low, high),
                 TSANOM_OK);
    CHECK_STATUS(tsanom_lbkeogh_envelope_f32(single, n, &options, &exec, NULL, 0, low_f32,
                                             high_f32),
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
  for (int trial = 0; trial < 4000; trial++) {
    try_envelope(LONGEST, some_radius(&seed), &seed);
  }
}

/* Of windows as long as several groups of rows in either precision. */
Test(lbkeogh, envelope_of_wide_windows) {
  uint64_t seed = 11;
  for (int trial = 0; trial < 200; trial++) {
    try_envelope(1500, random_between(&seed, 100, 1000), &seed);
  }
}

Test(lbkeogh, envelope_of_a_long_series) {
  enum { N = 20000 };
  double *x = malloc(5 * N * sizeof *x), *lower = x + N, *upper = x + 2 * N,
         *low = x + 3 * N, *high = x + 4 * N;
  uint64_t seed = 2;
  fill_walk(x, N, &seed);
  size_t radii[] = {0, 1, 3, 4, 7, 10, 100, 511, 1000, 4099, N - 1, N, SIZE_MAX};
  for (size_t k = 0; k < sizeof radii / sizeof *radii; k++) {
    size_t r = radii[k] < N ? radii[k] : N;
    for (size_t i = 0; i < N; i++) {
      size_t first = i > r ? i - r : 0, last = i + r < N ? i + r : N - 1;
      /* From the neighbour's window where that is enough. */
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
    tsanom_lbkeogh_options options = options_of(radii[k], 0);
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa);
      tsanom_lbkeogh_envelope(x, N, &options, &exec, NULL, 0, low, high);
      cr_assert(memcmp(low, lower, N * sizeof *x) == 0, "radius %zu", radii[k]);
      cr_assert(memcmp(high, upper, N * sizeof *x) == 0, "radius %zu", radii[k]);
    }
  }
  free(x);
}

Test(lbkeogh, bound_and_tail_equal_the_definition_and_each_level_agrees) {
  uint64_t seed = 3;
  for (int trial = 0; trial < 4000; trial++) {
    double c[LONGEST], q[LONGEST], lower[LONGEST], upper[LONGEST], tail[LONGEST + 1];
    size_t n = random_between(&seed, 1, LONGEST);
    fill(c, n, &seed);
    fill(q, n, &seed);
    tsanom_lbkeogh_options options =
        options_of(some_radius(&seed), (int32_t)(random_bits(&seed) % 2));
    naive_envelope(q, n, options.radius, n, lower, upper);
    double expected = naive_bound(c, lower, upper, n, options.cost), first = -1;
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa);
      double bound;
      CHECK_STATUS(tsanom_lbkeogh_bound(c, lower, upper, n, &options, &exec, &bound),
                   TSANOM_OK);
      cr_assert(nearly(bound, expected), "%.17g, not %.17g", bound, expected);
      if (isa == TSANOM_ISA_BASE) first = bound;
      cr_assert(bound == first);
      enum { MISALIGNED = 8 };
      double copy[LONGEST + MISALIGNED], *moved = copy + random_bits(&seed) % MISALIGNED;
      memcpy(moved, c, n * sizeof *c);
      tsanom_lbkeogh_bound(moved, lower, upper, n, &options, &exec, &bound);
      cr_assert(bound == first);
      CHECK_STATUS(tsanom_lbkeogh_tail(c, lower, upper, n, &options, &exec, tail),
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
  CHECK_STATUS(tsanom_lbkeogh_bound(c, lower, upper, 3, NULL, NULL, &bound), TSANOM_OK);
  cr_assert(bound == 2.5);
}

Test(lbkeogh, no_bound_exceeds_the_distance) {
  uint64_t seed = 4;
  double tight[2] = {0, 0}, enhanced_tight = 0, keogh_tight = 0;
  for (int trial = 0; trial < 100000; trial++) {
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
    CHECK_STATUS(tsanom_lbkeogh_kim(x, n, y, m, &options, NULL, &kim), TSANOM_OK);
    cr_assert(at_most(kim, distance, terms), "Kim %.17g of %.17g", kim, distance);
    tsanom_status status = tsanom_lbkeogh_pair(x, n, y, m, &options, NULL, NULL, 0, pair);
    CHECK_STATUS(status, isinf(distance) ? TSANOM_INFEASIBLE : TSANOM_OK);
    cr_assert(at_most(pair[0], distance, terms) && at_most(pair[1], distance, terms));
    if (n != m) continue;
    naive_envelope(x, n, radius, n, lower, upper);
    double keogh, improved;
    tsanom_lbkeogh_bound(y, lower, upper, n, &options, NULL, &keogh);
    cr_assert(keogh == pair[0]);
    CHECK_STATUS(tsanom_lbkeogh_improved(y, x, lower, upper, n, &options, NULL, NULL, 0,
                                         &improved),
                 TSANOM_OK);
    cr_assert(improved >= keogh && at_most(improved, distance, terms),
              "improved %.17g keogh %.17g of %.17g", improved, keogh, distance);
    if (distance > 0) tight[options.cost] += improved / distance;
    double enhanced;
    options.bands = random_between(&seed, 0, 8);
    CHECK_STATUS(
        tsanom_lbkeogh_enhanced(y, x, lower, upper, n, &options, NULL, &enhanced),
        TSANOM_OK);
    cr_assert(at_most(enhanced, distance, terms), "enhanced %.17g of %.17g", enhanced,
              distance);
    cr_assert(options.bands > 0 || enhanced == keogh);
    cr_assert(options.bands < 3 || n < 6 || at_most(kim, enhanced, terms));
    if (distance > 0) enhanced_tight += enhanced / distance;
    if (distance > 0) keogh_tight += keogh / distance;
    /* The tail completes the distance of any two heads. */
    tsanom_lbkeogh_tail(y, lower, upper, n, &options, NULL, tail);
    size_t row = random_between(&seed, 1, n);
    double cheapest = INFINITY;
    for (size_t i = 1; i <= n; i++) {
      cheapest = fmin(cheapest, dtw(x, i, y, row, radius, options.cost));
    }
    cr_assert(at_most(cheapest + tail[row], distance, terms));
  }
  cr_assert(enhanced_tight > 1.01 * keogh_tight);
  cr_assert(tight[0] > 3000 && tight[1] > 3000, "no bound at all: %g %g", tight[0],
            tight[1]);
}

Test(lbkeogh, pair_meets_the_definition_for_unequal_lengths) {
  uint64_t seed = 5;
  for (int trial = 0; trial < 4000; trial++) {
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
      tsanom_exec exec = exec_at(isa);
      CHECK_STATUS(tsanom_lbkeogh_pair(x, n, y, m, &options, &exec, NULL, 0, pair),
                   TSANOM_OK);
      cr_assert(nearly(pair[0], expected));
      double other = pair[1];
      CHECK_STATUS(tsanom_lbkeogh_pair(y, m, x, n, &options, &exec, NULL, 0, pair),
                   TSANOM_OK);
      cr_assert(pair[0] == other);
    }
  }
}

/* Each function that takes a workspace, by number. */
enum { FUNCTIONS = 4 };

static tsanom_status workspace_of(int function, size_t n,
                                  const tsanom_lbkeogh_options *options,
                                  const tsanom_exec *exec, size_t *bytes) {
  switch (function) {
    case 2:
      return tsanom_lbkeogh_pair_workspace(n, n, options, exec, bytes);
    case 3:
      return tsanom_lbkeogh_improved_workspace(n, options, exec, bytes);
    default:
      return tsanom_lbkeogh_envelope_workspace(n, options, exec, bytes);
  }
}

static tsanom_status call(int function, const double *x, size_t n,
                          const tsanom_lbkeogh_options *options, const tsanom_exec *exec,
                          void *work, size_t bytes, double *out, double *out2) {
  static const float single[LONGEST] = {1, 2};
  switch (function) {
    case 0:
      return tsanom_lbkeogh_envelope(x, n, options, exec, work, bytes, out, out2);
    case 1:
      return tsanom_lbkeogh_envelope_f32(single, n, options, exec, work, bytes,
                                         (float *)out, (float *)out2);
    case 2:
      return tsanom_lbkeogh_pair(x, n, x, n, options, exec, work, bytes, out);
    default:
      return tsanom_lbkeogh_improved(x, x, x, x, n, options, exec, work, bytes, out);
  }
}

Test(lbkeogh, a_workspace_of_the_size_asked_for_means_no_allocation) {
  uint64_t seed = 6;
  for (int trial = 0; trial < 400; trial++) {
    double x[LONGEST], out[LONGEST], out2[LONGEST];
    size_t n = random_between(&seed, 1, LONGEST), bytes = 0;
    fill(x, n, &seed);
    tsanom_lbkeogh_options options = options_of(some_radius(&seed), 0);
    int function = trial % FUNCTIONS;
    test_allocator allocator = {0};
    tsanom_exec exec = test_exec(&allocator);
    CHECK_STATUS(workspace_of(function, n, &options, &exec, &bytes), TSANOM_OK);
    unsigned char *block = malloc(bytes + 1);
    CHECK_STATUS(
        call(function, x, n, &options, &exec, block + trial % 3 % 2, bytes, out, out2),
        TSANOM_OK);
    cr_assert(allocator.calls == 0);
    out[0] = -7;
    CHECK_STATUS(call(function, x, n, &options, &exec, block, bytes - 1, out, out2),
                 TSANOM_E_WORKSPACE);
    allocator.fail_at = 1;
    CHECK_STATUS(call(function, x, n, &options, &exec, NULL, 0, out, out2),
                 TSANOM_E_MEMORY);
    cr_assert(out[0] == -7);
    allocator.fail_at = 0;
    CHECK_STATUS(call(function, x, n, &options, &exec, NULL, 0, out, out2), TSANOM_OK);
    cr_assert(allocator.live == 0);
    free(block);
  }
}

Test(lbkeogh, workspaces_are_monotone_and_checked) {
  for (int function = 0; function < FUNCTIONS; function++) {
    for (size_t radius = 0; radius < 40; radius++) {
      tsanom_lbkeogh_options options = options_of(radius, 0), wider = options;
      wider.radius++;
      for (size_t n = 1; n < 40; n++) {
        size_t bytes, longer, wide;
        CHECK_STATUS(workspace_of(function, n, &options, NULL, &bytes), TSANOM_OK);
        CHECK_STATUS(workspace_of(function, n + 1, &options, NULL, &longer), TSANOM_OK);
        CHECK_STATUS(workspace_of(function, n, &wider, NULL, &wide), TSANOM_OK);
        cr_assert(longer >= bytes && wide >= bytes);
      }
    }
    size_t bytes = 7;
    CHECK_STATUS(workspace_of(function, SIZE_MAX, NULL, NULL, &bytes), TSANOM_E_OVERFLOW);
    CHECK_STATUS(workspace_of(function, 0, NULL, NULL, &bytes), TSANOM_E_COUNT);
    CHECK_STATUS(workspace_of(function, 3, NULL, NULL, NULL), TSANOM_E_NULL);
    cr_assert(bytes == 7);
  }
}

Test(lbkeogh, bad_arguments_are_refused_and_leave_the_outputs) {
  double x[] = {1, 2}, bad[] = {1, NAN}, worse[] = {INFINITY, 1}, out[3] = {-1, -1, -1},
         out2[] = {-1, -1};
  tsanom_lbkeogh_options unknown = options_of(1, 7), reserved = options_of(1, 0);
  reserved.reserved0 = 1;
  for (int function = 0; function < FUNCTIONS; function++) {
    CHECK_STATUS(call(function, x, 0, NULL, NULL, NULL, 0, out, out2), TSANOM_E_COUNT);
    CHECK_STATUS(call(function, x, 2, &unknown, NULL, NULL, 0, out, out2),
                 TSANOM_E_OPTION);
    CHECK_STATUS(call(function, x, 2, &reserved, NULL, NULL, 0, out, out2),
                 TSANOM_E_OPTION);
    if (function == 1) continue;
    CHECK_STATUS(call(function, NULL, 2, NULL, NULL, NULL, 0, out, out2), TSANOM_E_NULL);
    CHECK_STATUS(call(function, bad, 2, NULL, NULL, NULL, 0, out, out2),
                 TSANOM_E_NONFINITE);
    CHECK_STATUS(call(function, worse, 2, NULL, NULL, NULL, 0, out, out2),
                 TSANOM_E_NONFINITE);
  }
  double *cases[] = {bad, worse};
  for (int k = 0; k < 2; k++) {
    CHECK_STATUS(tsanom_lbkeogh_bound(cases[k], x, x, 2, NULL, NULL, out),
                 TSANOM_E_NONFINITE);
    CHECK_STATUS(tsanom_lbkeogh_tail(cases[k], x, x, 2, NULL, NULL, out),
                 TSANOM_E_NONFINITE);
    CHECK_STATUS(tsanom_lbkeogh_kim(cases[k], 2, x, 2, NULL, NULL, out),
                 TSANOM_E_NONFINITE);
    CHECK_STATUS(tsanom_lbkeogh_kim(x, 2, cases[k], 2, NULL, NULL, out),
                 TSANOM_E_NONFINITE);
    CHECK_STATUS(tsanom_lbkeogh_pair(x, 2, cases[k], 2, NULL, NULL, NULL, 0, out),
                 TSANOM_E_NONFINITE);
  }
  CHECK_STATUS(tsanom_lbkeogh_enhanced(x, bad, x, x, 2, NULL, NULL, out),
               TSANOM_E_NONFINITE);
  CHECK_STATUS(tsanom_lbkeogh_enhanced(x, NULL, x, x, 2, NULL, NULL, out), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_lbkeogh_enhanced(x, x, x, x, 0, NULL, NULL, out), TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_lbkeogh_bound(x, NULL, x, 2, NULL, NULL, out), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_lbkeogh_bound(x, x, x, 0, NULL, NULL, out), TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_lbkeogh_bound(x, x, x, 2, &unknown, NULL, out), TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_lbkeogh_tail(x, x, x, 2, NULL, NULL, NULL), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_lbkeogh_tail(x, x, x, 0, NULL, NULL, out), TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_lbkeogh_kim(x, 2, NULL, 2, NULL, NULL, out), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_lbkeogh_kim(x, 2, x, 0, NULL, NULL, out), TSANOM_E_COUNT);
  tsanom_exec exec = exec_at(99);
  CHECK_STATUS(tsanom_lbkeogh_kim(x, 2, x, 2, NULL, &exec, out), TSANOM_E_EXEC);
  cr_assert(out[0] == -1 && out[1] == -1 && out[2] == -1 && out2[0] == -1);
  double huge[] = {DBL_MAX, DBL_MAX}, low[] = {-DBL_MAX, -DBL_MAX};
  CHECK_STATUS(tsanom_lbkeogh_bound(huge, low, low, 2, NULL, NULL, out), TSANOM_OK);
  cr_assert(isinf(out[0]));
}

Test(lbkeogh, an_infeasible_window_is_said) {
  double x[] = {1, 2, 3, 4}, bounds[2];
  tsanom_lbkeogh_options options = options_of(1, 0);
  CHECK_STATUS(tsanom_lbkeogh_pair(x, 4, x, 2, &options, NULL, NULL, 0, bounds),
               TSANOM_INFEASIBLE);
  cr_assert(isinf(bounds[0]) && isinf(bounds[1]));
}

static tsanom_lbkeogh_stream *make_stream(const tsanom_lbkeogh_options *options) {
  size_t bytes;
  tsanom_lbkeogh_stream *stream = NULL;
  CHECK_STATUS(tsanom_lbkeogh_stream_size(options, &bytes), TSANOM_OK);
  void *memory = malloc(bytes);
  CHECK_STATUS(tsanom_lbkeogh_stream_init(memory, bytes - 1, options, &stream),
               TSANOM_E_WORKSPACE);
  cr_assert(stream == NULL);
  CHECK_STATUS(tsanom_lbkeogh_stream_init(memory, bytes, options, &stream), TSANOM_OK);
  return stream;
}

Test(lbkeogh, a_stream_gives_the_envelope) {
  uint64_t seed = 7;
  for (int trial = 0; trial < 3000; trial++) {
    double x[LONGEST], lower[LONGEST], upper[LONGEST], low[LONGEST], high[LONGEST];
    float single[LONGEST], low_f32[LONGEST], high_f32[LONGEST];
    size_t radius = random_between(&seed, 0, trial % 2 ? 8 : LONGEST);
    tsanom_lbkeogh_options options = options_of(radius, 0);
    tsanom_lbkeogh_stream *stream = make_stream(&options);
    for (int series = 0; series < 2; series++) {
      size_t n = random_between(&seed, 0, LONGEST), done = 0, out = 0, produced;
      fill(x, n, &seed);
      for (size_t i = 0; i < n; i++) x[i] = single[i] = (float)x[i];
      naive_envelope(x, n, radius, n, lower, upper);
      while (done < n) {
        size_t piece = random_between(&seed, 0, n - done);
        if (random_bits(&seed) % 2) {
          CHECK_STATUS(tsanom_lbkeogh_stream_push(stream, x + done, piece, low + out,
                                                  high + out, &produced),
                       TSANOM_OK);
        } else {
          CHECK_STATUS(tsanom_lbkeogh_stream_push_f32(stream, single + done, piece,
                                                      low_f32, high_f32, &produced),
                       TSANOM_OK);
          for (size_t i = 0; i < produced; i++) {
            low[out + i] = (double)low_f32[i], high[out + i] = (double)high_f32[i];
          }
        }
        done += piece;
        out += produced;
        cr_assert(out == (done > radius ? done - radius : 0));
      }
      double last_low[LONGEST], last_high[LONGEST];
      CHECK_STATUS(tsanom_lbkeogh_stream_finish(stream, last_low, last_high, &produced),
                   TSANOM_OK);
      cr_assert(out + produced == n);
      memcpy(low + out, last_low, produced * sizeof *low);
      memcpy(high + out, last_high, produced * sizeof *high);
      for (size_t i = 0; i < n; i++) {
        cr_assert(low[i] == lower[i] && high[i] == upper[i]);
        cr_assert(low[i] != 0 || !signbit(low[i]));
      }
    }
    free(stream);
  }
}

Test(lbkeogh, a_stream_refuses_bad_input_and_takes_nothing_in) {
  double x[] = {1, NAN}, low[2] = {-1, -1}, high[2];
  size_t produced = 7, bytes = 7;
  tsanom_lbkeogh_options options = options_of(1, 0);
  tsanom_lbkeogh_stream *stream = make_stream(&options);
  CHECK_STATUS(tsanom_lbkeogh_stream_push(stream, x, 2, low, high, &produced),
               TSANOM_E_NONFINITE);
  CHECK_STATUS(tsanom_lbkeogh_stream_push(stream, NULL, 2, low, high, &produced),
               TSANOM_E_NULL);
  CHECK_STATUS(tsanom_lbkeogh_stream_finish(stream, low, high, NULL), TSANOM_E_NULL);
  cr_assert(produced == 7 && low[0] == -1);
  CHECK_STATUS(tsanom_lbkeogh_stream_push(stream, NULL, 0, NULL, NULL, &produced),
               TSANOM_OK);
  CHECK_STATUS(tsanom_lbkeogh_stream_finish(stream, low, high, &produced), TSANOM_OK);
  cr_assert(produced == 0);
  free(stream);
  CHECK_STATUS(tsanom_lbkeogh_stream_size(NULL, &bytes), TSANOM_E_OVERFLOW);
  CHECK_STATUS(tsanom_lbkeogh_stream_size(&options, NULL), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_lbkeogh_stream_init(NULL, 100, &options, &stream), TSANOM_E_NULL);
  cr_assert(bytes == 7);
}
