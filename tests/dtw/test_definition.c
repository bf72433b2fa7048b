/* SPDX-License-Identifier: BSD-3-Clause */
/* Every function against the plain double loop, bit by bit: random and degenerate
 * problems over all options, every level of instructions, several threads. */
#include <float.h>

#define REAL double
#define NAIVE(name) f64_##name
#include "naive.h"
#define REAL float
#define NAIVE(name) f32_##name
#include "naive.h"
#include "support/check.h"
#include "support/random.h"

enum { SERIES = 24 };

static size_t open_end(uint64_t *seed, size_t longest) {
  return random_bits(seed) % 4 != 0   ? 0
         : random_bits(seed) % 8 == 0 ? SIZE_MAX
                                      : random_between(seed, 0, longest);
}

static void draw_options(tsanom_dtw_options *o, uint64_t *seed, size_t longest) {
  tsanom_dtw_options_init(o, sizeof *o);
  o->cost = (int32_t)(random_bits(seed) % 2);
  o->window = (int32_t)(random_bits(seed) % 2);
  if (random_bits(seed) % 2) {
    o->radius = random_between(seed, 0, longest / (1 + random_bits(seed) % 8));
  }
  if (random_bits(seed) % 3 == 0) o->penalty = 0.25 * (double)random_between(seed, 0, 4);
  o->open_begin_x = open_end(seed, longest);
  o->open_begin_y = open_end(seed, longest);
  o->open_end_x = open_end(seed, longest);
  o->open_end_y = open_end(seed, longest);
  if (random_bits(seed) % 4 == 0) o->dimensions = random_between(seed, 1, 3);
  o->stride = o->dimensions + (random_bits(seed) % 4 == 0);
}

/* Short ones more often than their share. */
static size_t draw_length(uint64_t *seed, size_t longest) {
  return random_between(seed, 1, random_bits(seed) % 8 == 0 ? 3 : longest);
}

typedef struct {
  size_t length;
  double *f64;
  float *f32;
} sample;

/* Often values of which ties or roundings to nothing come. */
static void fill(double *x, size_t count, uint64_t *seed) {
  uint64_t kind = random_bits(seed) % 8;
  for (size_t i = 0; i < count; i++) {
    double u = random_unit(seed);
    x[i] = kind < 4    ? u * 10 - 5
           : kind == 4 ? floor(u * 4)
           : kind == 5 ? u * 0x1p-140 /* too small for a normal float */
           : kind == 6 ? (u < 0.5 ? -0.0 : 0)
                       : 1;
  }
}

static sample draw(uint64_t *seed, size_t length, size_t stride) {
  sample s = {length, malloc(length * stride * sizeof(double)),
              malloc(length * stride * sizeof(float))};
  fill(s.f64, length * stride, seed);
  for (size_t k = 0; k < length * stride; k++) s.f32[k] = (float)s.f64[k];
  return s;
}

static void drop(sample *s) {
  free(s->f64);
  free(s->f32);
}

static tsanom_exec exec_at(int32_t isa, int32_t threads) {
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  exec.isa = isa;
  exec.threads = threads;
  return exec;
}

static tsanom_status expected_status(double distance, double cutoff) {
  return isinf(distance)     ? TSANOM_INFEASIBLE
         : distance > cutoff ? TSANOM_CUTOFF
                             : TSANOM_OK;
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
    tsanom_status s64 = expected_status(d64, o.cutoff);
    tsanom_status s32 = expected_status((double)d32, o.cutoff);
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1 + trial % 3);
      double got64 = -1;
      float got32 = -1;
      CHECK_STATUS(tsanom_dtw_distance(x.f64, x.length, y.f64, y.length, &o, &exec, NULL,
                                       0, &got64),
                   s64);
      CHECK_STATUS(tsanom_dtw_distance_f32(x.f32, x.length, y.f32, y.length, &o, &exec,
                                           NULL, 0, &got32),
                   s32);
      cr_assert(got64 == (s64 == TSANOM_OK ? d64 : INFINITY), "trial %d isa %d", trial,
                isa);
      cr_assert(got32 == (s32 == TSANOM_OK ? d32 : (float)INFINITY), "trial %d isa %d",
                trial, isa);
    }
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
  for (int trial = 0; trial < 1500; trial++) {
    tsanom_dtw_options o;
    tsanom_dtw_options_init(&o, sizeof o);
    o.cost = trial % 2;
    o.stride = 1 + random_bits(&seed) % 2;
    size_t around = random_bits(&seed) % 2 ? 8 * random_between(&seed, 1, 18) : 0;
    size_t n = around ? around - 1 + random_bits(&seed) % 3 : draw_length(&seed, 300);
    sample x = draw(&seed, n, o.stride);
    sample y = draw(&seed, trial % 3 ? draw_length(&seed, 300) : n, o.stride);
    double d64 = f64_distance(x.f64, n, y.f64, y.length, &o), got64;
    float d32 = f32_distance(x.f32, n, y.f32, y.length, &o), got32;
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1);
      CHECK_STATUS(
          tsanom_dtw_distance(x.f64, n, y.f64, y.length, &o, &exec, NULL, 0, &got64),
          TSANOM_OK);
      CHECK_STATUS(
          tsanom_dtw_distance_f32(x.f32, n, y.f32, y.length, &o, &exec, NULL, 0, &got32),
          TSANOM_OK);
      cr_assert(got64 == d64 && got32 == d32, "trial %d isa %d: %zu by %zu", trial, isa,
                n, y.length);
    }
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
        CHECK_STATUS(tsanom_dtw_path(x.f64, x.length, y.f64, y.length, &o, &exec, NULL, 0,
                                     got, &length, &got64),
                     expected_status(d64, INFINITY));
        cr_assert(got64 == d64 && length == length64, "trial %d isa %d", trial, isa);
        cr_assert(memcmp(got, path64, 2 * length * sizeof *got) == 0);
        CHECK_STATUS(tsanom_dtw_path_f32(x.f32, x.length, y.f32, y.length, &o, &exec,
                                         NULL, 0, got, &length, &got32),
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
  CHECK_STATUS(tsanom_dtw_path(x.f64, LENGTH, y.f64, LENGTH, &o, NULL, NULL, 0, full,
                               &full_length, &full_distance),
               TSANOM_OK);
  o.path_memory = TSANOM_DTW_PATH_LINEAR;
  CHECK_STATUS(tsanom_dtw_path(x.f64, LENGTH, y.f64, LENGTH, &o, NULL, NULL, 0, got,
                               &length, &distance),
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
      tsanom_status status = tsanom_dtw_path(x.f64, n, y.f64, y.length, &o, &exec, NULL,
                                             0, got, &length, &distance);
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

/* Differences, squares or sums of these do not fit. */
Test(dtw_definition, a_sum_that_overflows_is_infinite) {
  uint64_t seed = 25;
  for (int trial = 0; trial < 2000; trial++) {
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
      CHECK_STATUS(
          tsanom_dtw_distance(x.f64, x.length, y.f64, y.length, &o, &exec, NULL, 0, &got),
          TSANOM_OK);
      CHECK_STATUS(tsanom_dtw_path(x.f64, x.length, y.f64, y.length, &o, &exec, NULL, 0,
                                   path, &length, &alone),
                   TSANOM_OK);
      cr_assert(got == d && alone == d && (length == 0) == (bool)isinf(d));
      o.cutoff = DBL_MAX;
      CHECK_STATUS(
          tsanom_dtw_distance(x.f64, x.length, y.f64, y.length, &o, &exec, NULL, 0, &got),
          isinf(d) ? TSANOM_CUTOFF : TSANOM_OK);
      cr_assert(got == d);
    }
    drop(&x);
    drop(&y);
  }
}

typedef struct {
  const double *f64[SERIES];
  const float *f32[SERIES];
  size_t lengths[SERIES];
  size_t count;
} sample_set;

static sample_set draw_set(uint64_t *seed, size_t longest, size_t stride) {
  sample_set s = {.count = random_between(seed, 2, SERIES)};
  bool one_length = random_bits(seed) % 2;
  size_t length = random_between(seed, 1, longest);
  for (size_t k = 0; k < s.count; k++) {
    if (!one_length) length = 1 + random_bits(seed) % longest / (1 + k % 3);
    sample one = draw(seed, length, stride);
    s.f64[k] = one.f64;
    s.f32[k] = one.f32;
    s.lengths[k] = length;
  }
  return s;
}

static void drop_set(sample_set *s) {
  for (size_t k = 0; k < s->count; k++) {
    free((void *)s->f64[k]);
    free((void *)s->f32[k]);
  }
}

/* All distances, row by row, with INFINITY above the cut-off. */
static void naive_cross(const sample_set *s, const tsanom_dtw_options *o, double *d64,
                        float *d32) {
  for (size_t a = 0; a < s->count; a++) {
    for (size_t b = 0; b < s->count; b++) {
      double e = f64_distance(s->f64[a], s->lengths[a], s->f64[b], s->lengths[b], o);
      float f = f32_distance(s->f32[a], s->lengths[a], s->f32[b], s->lengths[b], o);
      d64[a * SERIES + b] = e > o->cutoff ? INFINITY : e;
      d32[a * SERIES + b] = (double)f > o->cutoff ? (float)INFINITY : f;
    }
  }
}

static void check_condensed(const sample_set *s, const tsanom_dtw_options *o,
                            const tsanom_exec *exec, const double *d64,
                            const float *d32) {
  double got64[SERIES * SERIES];
  float got32[SERIES * SERIES];
  size_t at = 0, computed = 0;
  CHECK_STATUS(tsanom_dtw_condensed(s->f64, s->lengths, s->count, o, exec, NULL, 0, got64,
                                    &computed),
               TSANOM_OK);
  cr_assert(computed == s->count * (s->count - 1) / 2);
  CHECK_STATUS(tsanom_dtw_condensed_f32(s->f32, s->lengths, s->count, o, exec, NULL, 0,
                                        got32, NULL),
               TSANOM_OK);
  for (size_t a = 0; a < s->count; a++) {
    for (size_t b = a + 1; b < s->count; b++, at++) {
      cr_assert(got64[at] == d64[a * SERIES + b] && got32[at] == d32[a * SERIES + b]);
    }
  }
}

static void check_rectangles(const sample_set *s, const tsanom_dtw_options *o,
                             const tsanom_exec *exec, const double *d64,
                             const float *d32) {
  double got64[SERIES * SERIES];
  float got32[SERIES];
  size_t rows = s->count / 2;
  CHECK_STATUS(tsanom_dtw_cross(s->f64, s->lengths, rows, s->f64, s->lengths, s->count, o,
                                exec, NULL, 0, got64, SERIES, NULL),
               TSANOM_OK);
  for (size_t a = 0; a < rows; a++) {
    for (size_t b = 0; b < s->count; b++) {
      cr_assert(got64[a * SERIES + b] == d64[a * SERIES + b]);
    }
  }
  CHECK_STATUS(tsanom_dtw_one_to_many_f32(s->f32[0], s->lengths[0], s->f32, s->lengths,
                                          s->count, NULL, o, exec, NULL, 0, got32, NULL),
               TSANOM_OK);
  for (size_t b = 0; b < s->count; b++) cr_assert(got32[b] == d32[b]);
}

Test(dtw_definition, matrices) {
  uint64_t seed = 31;
  double d64[SERIES * SERIES];
  float d32[SERIES * SERIES];
  for (int trial = 0; trial < 240; trial++) {
    tsanom_dtw_options o;
    draw_options(&o, &seed, 50);
    sample_set s = draw_set(&seed, 50, o.stride);
    naive_cross(&s, &o, d64, d32);
    if (random_bits(&seed) % 3 == 0 && isfinite(d64[1])) {
      o.cutoff = d64[1];
      naive_cross(&s, &o, d64, d32);
    }
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1 + trial % 3);
      check_condensed(&s, &o, &exec, d64, d32);
      check_rectangles(&s, &o, &exec, d64, d32);
    }
    drop_set(&s);
  }
}

/* Each row's least cost, summed from the end: an admissible tail. */
static void tail_of(const sample *x, const sample *y, double *tail) {
  double rest = 0;
  for (size_t i = x->length; i-- > 0;) {
    double least = INFINITY;
    for (size_t j = 0; j < y->length; j++)
      least = fmin(least, fabs(x->f64[i] - y->f64[j]));
    tail[i] = rest += least;
  }
}

Test(dtw_definition, tails_abandon_nothing_that_is_wanted) {
  uint64_t seed = 41;
  for (int trial = 0; trial < 2000; trial++) {
    tsanom_dtw_options o;
    tsanom_dtw_options_init(&o, sizeof o);
    sample x = draw(&seed, random_between(&seed, 1, 200), 1);
    sample y = draw(&seed, random_between(&seed, 1, 200), 1);
    double tail[200], d = f64_distance(x.f64, x.length, y.f64, y.length, &o);
    tail_of(&x, &y, tail);
    o.cutoff = trial % 2 ? d : d * random_unit(&seed);
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1);
      double got, many;
      o.tail = tail;
      CHECK_STATUS(
          tsanom_dtw_distance(x.f64, x.length, y.f64, y.length, &o, &exec, NULL, 0, &got),
          expected_status(d, o.cutoff));
      o.tail = NULL;
      const double *series = y.f64, *tails = tail;
      CHECK_STATUS(tsanom_dtw_one_to_many(x.f64, x.length, &series, &y.length, 1, &tails,
                                          &o, &exec, NULL, 0, &many, NULL),
                   TSANOM_OK);
      cr_assert(got == (d > o.cutoff ? INFINITY : d) && many == got);
    }
    drop(&x);
    drop(&y);
  }
}

/* Large enough to be cut into tiles. */
Test(dtw_definition, a_wavefront_changes_nothing) {
  uint64_t seed = 51;
  enum { N = 2600, M = 4000 };
  sample x = draw(&seed, N, 1), y = draw(&seed, M, 1);
  for (int trial = 0; trial < 6; trial++) {
    tsanom_dtw_options o;
    tsanom_dtw_options_init(&o, sizeof o);
    o.window = trial % 2;
    if (trial > 1) o.radius = trial < 4 ? 2000 : trial == 4 ? 1450 : 600;
    if (trial == 3) o.open_begin_y = o.open_end_x = o.open_end_y = 300;
    double expected = f64_distance(x.f64, N, y.f64, M, &o);
    float expected32 = f32_distance(x.f32, N, y.f32, M, &o);
    FOR_EACH_ISA (isa) {
      for (int32_t threads = 1; threads <= 4; threads++) {
        tsanom_exec exec = exec_at(isa, threads);
        double got;
        float got32;
        CHECK_STATUS(tsanom_dtw_distance(x.f64, N, y.f64, M, &o, &exec, NULL, 0, &got),
                     TSANOM_OK);
        CHECK_STATUS(
            tsanom_dtw_distance_f32(x.f32, N, y.f32, M, &o, &exec, NULL, 0, &got32),
            TSANOM_OK);
        cr_assert(got == expected && got32 == expected32, "trial %d isa %d threads %d",
                  trial, isa, threads);
      }
    }
  }
  drop(&x);
  drop(&y);
}
