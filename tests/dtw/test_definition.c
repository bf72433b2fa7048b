/* SPDX-License-Identifier: BSD-3-Clause */
/* Every function of one pair against the plain double loop, bit by bit: random and
 * degenerate problems over all options, every instruction set, several threads. */
#include <float.h>

#include "problems.h"
#include "support/exec.h"
#include "support/polls.h"

/* The distances of both precisions are the expected ones, or above the cutoff. */
static void check_pair(const sample *x, const sample *y, const tsanom_dtw_options *o,
                       double d64, float d32, int32_t threads, int trial) {
  tsanom_status s64 = expected_status(d64, o->cutoff);
  tsanom_status s32 = expected_status((double)d32, o->cutoff);
  FOR_EACH_ISA (isa) {
    tsanom_exec exec = exec_at(isa, threads);
    double got64 = -1;
    float got32 = -1;
    CHECK_STATUS(
        tsanom_dtw_distance(x->f64, x->length, y->f64, y->length, o, &exec, &got64), s64);
    CHECK_STATUS(
        tsanom_dtw_distance_f32(x->f32, x->length, y->f32, y->length, o, &exec, &got32),
        s32);
    cr_assert(got64 == (s64 == TSANOM_OK ? d64 : INFINITY) &&
                  got32 == (s32 == TSANOM_OK ? d32 : (float)INFINITY),
              "trial %d isa %d: %zu by %zu, radius %zu", trial, isa, x->length, y->length,
              o->radius);
  }
}

static void check_distances(uint64_t seed, int trials, size_t longest) {
  for (int trial = 0; trial < trials; trial++) {
    tsanom_dtw_options o;
    draw_options(&o, &seed, longest);
    sample x = draw(&seed, draw_length(&seed, longest), o.stride);
    sample y = draw(&seed, draw_length(&seed, longest), o.stride);
    double d64 = f64_distance(x.f64, x.length, y.f64, y.length, &o);
    float d32 = f32_distance(x.f32, x.length, y.f32, y.length, &o);
    if (random_bits(&seed) % 4 == 0 && isfinite(d64)) {
      o.cutoff = d64 * (double)random_between(&seed, 1, 8) / 4;
    }
    check_pair(&x, &y, &o, d64, d32, 1 + trial % 3, trial);
    drop(&x);
    drop(&y);
  }
}

Test(dtw_definition, distances_of_short_series) {
  check_distances(11, 40000, 30);
}

Test(dtw_definition, distances_of_longer_series) {
  check_distances(12, 1200, 220);
}

/* Bands of many vectors. */
Test(dtw_definition, distances_of_long_series) {
  check_distances(13, 40, 900);
}

/* Whole matrices of whole strips and of some rows and columns more or fewer. */
Test(dtw_definition, distances_without_a_window) {
  uint64_t seed = 14;
  for (int trial = 0; trial < CASES(1500); trial++) {
    tsanom_dtw_options o;
    tsanom_dtw_options_init(&o, sizeof o);
    o.cost = trial % 2;
    if (trial % 3 == 1) o.penalty = random_unit(&seed);
    if (trial % 4 == 1) o.dimensions = random_between(&seed, 2, 3);
    o.stride = o.dimensions + random_bits(&seed) % 2;
    size_t around = random_bits(&seed) % 2 ? 8 * random_between(&seed, 1, 18) : 0;
    size_t n = around ? around - 1 + random_bits(&seed) % 3 : draw_length(&seed, 300);
    sample x = draw(&seed, n, o.stride);
    sample y = draw(&seed, trial % 3 ? draw_length(&seed, 300) : n, o.stride);
    check_pair(&x, &y, &o, f64_distance(x.f64, n, y.f64, y.length, &o),
               f32_distance(x.f32, n, y.f32, y.length, &o), 1, trial);
    drop(&x);
    drop(&y);
  }
}

/* y becomes x, `shift` samples later or, if it is negative, earlier. */
static void fill_shifted(sample *y, const sample *x, ptrdiff_t shift, size_t stride) {
  for (size_t j = 0; j < y->length; j++) {
    ptrdiff_t i = (ptrdiff_t)j - shift;
    if (i < 0 || i >= (ptrdiff_t)x->length) continue;
    y->f64[j * stride] = x->f64[(size_t)i * stride];
    y->f32[j * stride] = x->f32[(size_t)i * stride];
  }
}

/* Bands that one strip after another passes through without a pause, down to the
 * narrowest: lengths around whole strips, and radii around whole turns. Shifts by the
 * radius make paths follow an edge of the window; by one sample more, they would leave
 * it. */
Test(dtw_definition, distances_in_wide_bands) {
  uint64_t seed = 15;
  for (int trial = 0; trial < CASES(300); trial++) {
    tsanom_dtw_options o;
    tsanom_dtw_options_init(&o, sizeof o);
    o.cost = trial % 2;
    if (trial % 3 == 1) o.penalty = random_unit(&seed);
    if (trial % 4 == 1) o.dimensions = random_between(&seed, 2, 3);
    o.stride = o.dimensions + random_bits(&seed) % 2;
    size_t m = random_between(&seed, 300, 1100);
    o.radius = random_between(&seed, 110, trial % 3 ? 180 : m / 2);
    size_t n = m - random_between(&seed, 0, trial % 4 ? 20 : o.radius);
    sample x = draw(&seed, n, o.stride), y = draw(&seed, m, o.stride);
    ptrdiff_t shift = (ptrdiff_t)(o.radius + random_bits(&seed) % 2);
    if (trial % 5)
      fill_shifted(&y, &x, random_bits(&seed) % 2 ? shift : -shift, o.stride);
    check_pair(&x, &y, &o, f64_distance(x.f64, n, y.f64, m, &o),
               f32_distance(x.f32, n, y.f32, m, &o), 1, trial);
    drop(&x);
    drop(&y);
  }
}

static void check_paths(uint64_t seed, int trials, size_t longest) {
  for (int trial = 0; trial < trials; trial++) {
    tsanom_dtw_options o;
    draw_options(&o, &seed, longest);
    sample x = draw(&seed, draw_length(&seed, longest), o.stride);
    sample y = draw(&seed, draw_length(&seed, longest), o.stride);
    size_t room = 2 * (x.length + y.length), length64 = 0, length32 = 0, length;
    size_t *path64 = calloc(room, sizeof *path64), *path32 = calloc(room, sizeof *path32);
    size_t *got = calloc(room, sizeof *got);
    double d64 = f64_distance(x.f64, x.length, y.f64, y.length, &o), got64;
    float d32 = f32_distance(x.f32, x.length, y.f32, y.length, &o), got32;
    if (isfinite(d64)) length64 = f64_path(x.f64, x.length, y.f64, y.length, &o, path64);
    if (isfinite(d32)) length32 = f32_path(x.f32, x.length, y.f32, y.length, &o, path32);
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1);
      for (o.path_memory = 0; o.path_memory < 2; o.path_memory++) {
        CHECK_STATUS(tsanom_dtw_path(x.f64, x.length, y.f64, y.length, &o, &exec, got,
                                     &length, &got64),
                     expected_status(d64, INFINITY));
        cr_assert(got64 == d64 && length == length64, "trial %d isa %d", trial, isa);
        cr_assert(memcmp(got, path64, 2 * length * sizeof *got) == 0);
        CHECK_STATUS(tsanom_dtw_path_f32(x.f32, x.length, y.f32, y.length, &o, &exec, got,
                                         &length, &got32),
                     expected_status((double)d32, INFINITY));
        cr_assert(got32 == d32 && length == length32, "trial %d isa %d", trial, isa);
        cr_assert(memcmp(got, path32, 2 * length * sizeof *got) == 0);
      }
    }
    free(path64);
    free(path32);
    free(got);
    drop(&x);
    drop(&y);
  }
}

Test(dtw_definition, paths_of_short_series) {
  check_paths(21, 3000, 40);
}

Test(dtw_definition, paths_across_many_tiles) {
  check_paths(22, 30, 500);
}

/* Wide enough for tiles in linear memory. */
Test(dtw_definition, paths_of_long_series) {
  check_paths(23, 20, 2000);
}

/* So long that the tiles of a path in linear memory have tiles themselves, which the
 * plain loop is too slow for: the path with every choice kept is the reference. */
Test(dtw_definition, paths_of_very_long_series) {
  enum { LENGTH = 140000, RADIUS = 4300 };
  uint64_t seed = 26;
  sample x = draw(&seed, LENGTH, 1), y = draw(&seed, LENGTH, 1);
  size_t *full = calloc(4 * LENGTH, sizeof *full), *got = calloc(4 * LENGTH, sizeof *got);
  size_t full_length, length;
  double full_distance, distance;
  tsanom_dtw_options o;
  tsanom_dtw_options_init(&o, sizeof o);
  o.radius = RADIUS;
  CHECK_STATUS(tsanom_dtw_path(x.f64, LENGTH, y.f64, LENGTH, &o, NULL, full, &full_length,
                               &full_distance),
               TSANOM_OK);
  o.path_memory = TSANOM_DTW_PATH_LINEAR;
  CHECK_STATUS(
      tsanom_dtw_path(x.f64, LENGTH, y.f64, LENGTH, &o, NULL, got, &length, &distance),
      TSANOM_OK);
  cr_assert(distance == full_distance && length == full_length);
  cr_assert(memcmp(got, full, 2 * length * sizeof *got) == 0);
  free(full);
  free(got);
  drop(&x);
  drop(&y);
}

/* A window much narrower than the tiles of a path. */
Test(dtw_definition, paths_in_narrow_windows) {
  uint64_t seed = 24;
  for (int trial = 0; trial < 24; trial++) {
    tsanom_dtw_options o;
    tsanom_dtw_options_init(&o, sizeof o);
    o.radius = (size_t)trial / 4;
    o.window = trial % 2;
    o.path_memory = trial / 2 % 2;
    size_t n = random_between(&seed, 500, 900);
    sample x = draw(&seed, n, 1), y = draw(&seed, n - o.radius, 1);
    size_t *expected = calloc(4 * n, sizeof *expected), *got = calloc(4 * n, sizeof *got);
    size_t count = f64_path(x.f64, n, y.f64, y.length, &o, expected), length;
    double d = f64_distance(x.f64, n, y.f64, y.length, &o), distance;
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1);
      tsanom_status status =
          tsanom_dtw_path(x.f64, n, y.f64, y.length, &o, &exec, got, &length, &distance);
      CHECK_STATUS(status, expected_status(d, INFINITY));
      cr_assert(distance == d && length == (isinf(d) ? 0 : count));
      cr_assert(memcmp(got, expected, 2 * length * sizeof *got) == 0);
    }
    free(expected);
    free(got);
    drop(&x);
    drop(&y);
  }
}

/* The only path of no cost runs along the right edge of the window, and so enters tiles
 * diagonally, from the last cell of a row that ends left of them. */
Test(dtw_definition, paths_along_the_edge_of_the_window) {
  enum { LENGTH = 3000, RADIUS = 400 };
  static double x[LENGTH], y[LENGTH];
  static size_t path[4 * LENGTH];
  tsanom_dtw_options o;
  tsanom_dtw_options_init(&o, sizeof o);
  o.radius = RADIUS;
  o.path_memory = TSANOM_DTW_PATH_LINEAR;
  for (size_t i = 0; i < LENGTH; i++) {
    x[i] = (double)least(i, LENGTH - 1 - RADIUS);
    y[i] = (double)(i < RADIUS ? 0 : i - RADIUS);
  }
  FOR_EACH_ISA (isa) {
    tsanom_exec exec = exec_at(isa, 1);
    size_t length = 0;
    double distance = -1;
    CHECK_STATUS(
        tsanom_dtw_path(x, LENGTH, y, LENGTH, &o, &exec, path, &length, &distance),
        TSANOM_OK);
    cr_assert(distance == 0 && length == LENGTH + RADIUS);
    for (size_t k = 0; k < length; k++) {
      cr_assert(x[path[2 * k]] == y[path[2 * k + 1]], "isa %d: pair %zu", isa, k);
    }
  }
}

/* Differences, squares or sums of these do not fit. */
Test(dtw_definition, a_sum_that_overflows_is_infinite) {
  uint64_t seed = 25;
  for (int trial = 0; trial < CASES(2000); trial++) {
    tsanom_dtw_options o;
    draw_options(&o, &seed, 40);
    o.radius = trial % 2 ? SIZE_MAX : 40;
    sample x = draw(&seed, draw_length(&seed, 40), o.stride);
    sample y = draw(&seed, draw_length(&seed, 40), o.stride);
    for (size_t k = 0; k < y.length * o.stride; k += 2) y.f64[k] = DBL_MAX;
    for (size_t k = 0; k < x.length * o.stride; k += 3) x.f64[k] = -DBL_MAX / 4;
    double d = f64_distance(x.f64, x.length, y.f64, y.length, &o);
    size_t path[160];
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1);
      double got = -1, alone = -1;
      size_t length = 0;
      o.cutoff = INFINITY;
      CHECK_STATUS(tsanom_dtw_distance(x.f64, x.length, y.f64, y.length, &o, &exec, &got),
                   TSANOM_OK);
      CHECK_STATUS(tsanom_dtw_path(x.f64, x.length, y.f64, y.length, &o, &exec, path,
                                   &length, &alone),
                   TSANOM_OK);
      cr_assert(got == d && alone == d && (length == 0) == (bool)isinf(d));
      o.cutoff = DBL_MAX;
      CHECK_STATUS(tsanom_dtw_distance(x.f64, x.length, y.f64, y.length, &o, &exec, &got),
                   isinf(d) ? TSANOM_CUTOFF : TSANOM_OK);
      cr_assert(got == d);
    }
    drop(&x);
    drop(&y);
  }
}

/* Large enough to be cut into tiles. */
Test(dtw_definition, a_wavefront_changes_nothing) {
  uint64_t seed = 51;
  enum { N = 2600, M = 4000 };
  sample x = draw(&seed, N, 2), y = draw(&seed, M, 2);
  for (int trial = 0; trial < 8; trial++) {
    tsanom_dtw_options o;
    tsanom_dtw_options_init(&o, sizeof o);
    o.window = trial % 2;
    o.stride = 2;
    if (trial > 1) o.radius = trial < 4 ? 2000 : trial == 4 ? 1450 : 600;
    if (trial > 5) o.radius = 1500, o.window = 0, o.penalty = 0.25;
    if (trial == 7) o.dimensions = 2;
    if (trial == 3) o.open_begin_y = o.open_end_x = o.open_end_y = 300;
    double expected = f64_distance(x.f64, N, y.f64, M, &o);
    float expected32 = f32_distance(x.f32, N, y.f32, M, &o);
    FOR_EACH_ISA (isa) {
      for (int32_t threads = 1; threads <= 4; threads++) {
        tsanom_exec exec = exec_at(isa, threads);
        double got;
        float got32;
        CHECK_STATUS(tsanom_dtw_distance(x.f64, N, y.f64, M, &o, &exec, &got), TSANOM_OK);
        CHECK_STATUS(tsanom_dtw_distance_f32(x.f32, N, y.f32, M, &o, &exec, &got32),
                     TSANOM_OK);
        cr_assert(got == expected && got32 == expected32, "trial %d isa %d threads %d",
                  trial, isa, threads);
      }
    }
  }
  drop(&x);
  drop(&y);
}

/* More threads than tiles that fit into a strip of the band. */
Test(dtw_definition, a_long_narrow_band_on_many_threads_ends) {
  uint64_t seed = 52;
  enum { N = 8400 };
  sample x = draw(&seed, N, 1), y = draw(&seed, N, 1);
  for (size_t radius = 140; radius <= 500; radius += 120) {
    tsanom_dtw_options o;
    tsanom_dtw_options_init(&o, sizeof o);
    o.radius = radius;
    double expected = f64_distance(x.f64, N, y.f64, N, &o);
    for (int32_t threads = 2; threads <= 8; threads += 6) {
      tsanom_exec exec = exec_at(TSANOM_ISA_AUTO, threads);
      double got, kept = -1;
      CHECK_STATUS(tsanom_dtw_distance(x.f64, N, y.f64, N, &o, &exec, &got), TSANOM_OK);
      cr_assert(got == expected, "radius %zu threads %d", radius, threads);
      test_polls p = {.stop_at = 3};
      exec.poll = test_poll;
      exec.poll_user = &p;
      tsanom_status status = tsanom_dtw_distance(x.f64, N, y.f64, N, &o, &exec, &kept);
      cr_assert(status == TSANOM_STOPPED ? kept == -1 : kept == expected);
    }
  }
  drop(&x);
  drop(&y);
}
