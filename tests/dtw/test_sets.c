/* SPDX-License-Identifier: BSD-3-Clause */
/* Every function of sets against the plain double loop, bit by bit. */
#include "problems.h"
#include "series.h"

enum { SERIES = 24 };

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

/* The options without what the view of a set has. */
static tsanom_dtw_options set_options(const tsanom_dtw_options *o) {
  tsanom_dtw_options own = *o;
  own.dimensions = 1;
  own.stride = 0;
  return own;
}

static tsanom_series view_of(const sample_set *s, size_t count,
                             const tsanom_dtw_options *o) {
  tsanom_series set = series_of(s->f64, s->lengths, count);
  set.dimensions = o->dimensions;
  set.stride = o->stride;
  return set;
}

static tsanom_series_f32 view_of_f32(const sample_set *s, const tsanom_dtw_options *o) {
  tsanom_series_f32 set = series_of_f32(s->f32, s->lengths, s->count);
  set.dimensions = o->dimensions;
  set.stride = o->stride;
  return set;
}

static void check_condensed(const sample_set *s, const tsanom_dtw_options *o,
                            const tsanom_exec *exec, const double *d64,
                            const float *d32) {
  double got64[SERIES * SERIES];
  float got32[SERIES * SERIES];
  size_t at = 0, computed = 0;
  tsanom_dtw_options own = set_options(o);
  tsanom_series set = view_of(s, s->count, o);
  tsanom_series_f32 set32 = view_of_f32(s, o);
  CHECK_STATUS(tsanom_dtw_condensed(&set, &own, exec, got64, &computed), TSANOM_OK);
  cr_assert(computed == s->count * (s->count - 1) / 2);
  CHECK_STATUS(tsanom_dtw_condensed_f32(&set32, &own, exec, got32, NULL), TSANOM_OK);
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
  tsanom_dtw_options own = set_options(o);
  tsanom_series xs = view_of(s, rows, o), ys = view_of(s, s->count, o);
  tsanom_series_f32 set32 = view_of_f32(s, o);
  CHECK_STATUS(tsanom_dtw_cross(&xs, &ys, &own, exec, got64, SERIES, NULL), TSANOM_OK);
  for (size_t a = 0; a < rows; a++) {
    for (size_t b = 0; b < s->count; b++) {
      cr_assert(got64[a * SERIES + b] == d64[a * SERIES + b]);
    }
  }
  CHECK_STATUS(tsanom_dtw_one_to_many_f32(s->f32[0], s->lengths[0], &set32, &own, exec,
                                          got32, NULL),
               TSANOM_OK);
  for (size_t b = 0; b < s->count; b++) cr_assert(got32[b] == d32[b]);
}

Test(dtw_sets, matrices) {
  uint64_t seed = 31;
  double d64[SERIES * SERIES];
  float d32[SERIES * SERIES];
  for (int trial = 0; trial < CASES(240); trial++) {
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
static void tail_of(const sample *x, const sample *y, size_t radius, double *tail) {
  double rest = 0;
  for (size_t i = x->length; i-- > 0;) {
    double least = INFINITY;
    for (size_t j = 0; j < y->length; j++) {
      if ((i > j ? i - j : j - i) > radius) continue;
      least = fmin(least, fabs(x->f64[i] - y->f64[j]));
    }
    tail[i] = rest += least;
  }
}

Test(dtw_sets, tails_abandon_nothing_that_is_wanted) {
  uint64_t seed = 41;
  for (int trial = 0; trial < CASES(2000); trial++) {
    tsanom_dtw_options o;
    tsanom_dtw_options_init(&o, sizeof o);
    sample x = draw(&seed, random_between(&seed, 1, 200), 1);
    sample y = draw(&seed, random_between(&seed, 1, 200), 1);
    double tail[200], d = f64_distance(x.f64, x.length, y.f64, y.length, &o);
    tail_of(&x, &y, SIZE_MAX, tail);
    o.cutoff = trial % 2 ? d : d * random_unit(&seed);
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1);
      double got, many;
      const double *const tails[] = {tail}, *const pointers[] = {y.f64};
      tsanom_series set = series_of(pointers, &y.length, 1);
      o.tails = tails;
      CHECK_STATUS(tsanom_dtw_distance(x.f64, x.length, y.f64, y.length, &o, &exec, &got),
                   expected_status(d, o.cutoff));
      CHECK_STATUS(tsanom_dtw_one_to_many(x.f64, x.length, &set, &o, &exec, &many, NULL),
                   TSANOM_OK);
      cr_assert(got == (d > o.cutoff ? INFINITY : d) && many == got);
    }
    drop(&x);
    drop(&y);
  }
}

/* With a radius of 0 a tail is the rest of the distance, summed in another order: its
 * rounding abandons no pair whose distance is the cut-off. */
Test(dtw_sets, tails_are_compared_with_a_margin) {
  enum { LENGTH = 200, COPIES = 17 };
  uint64_t seed = 43;
  tsanom_dtw_options o;
  tsanom_dtw_options_init(&o, sizeof o);
  o.radius = 0;
  for (int trial = 0; trial < 50; trial++) {
    sample x = draw(&seed, LENGTH, 1), y = draw(&seed, LENGTH, 1);
    double tail[LENGTH], d[COPIES];
    const double *tails[COPIES], *pointers[COPIES];
    size_t lengths[COPIES];
    tail_of(&x, &y, o.radius, tail);
    for (size_t k = 0; k < COPIES; k++) {
      tails[k] = tail;
      pointers[k] = y.f64;
      lengths[k] = LENGTH;
    }
    tsanom_series set = series_of(pointers, lengths, COPIES);
    o.cutoff = f64_distance(x.f64, LENGTH, y.f64, LENGTH, &o);
    o.tails = tails;
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1);
      CHECK_STATUS(tsanom_dtw_one_to_many(x.f64, LENGTH, &set, &o, &exec, d, NULL),
                   TSANOM_OK);
      for (size_t k = 0; k < COPIES; k++) {
        cr_assert(d[k] == o.cutoff, "trial %d isa %d: %zu", trial, isa, k);
      }
    }
    drop(&x);
    drop(&y);
  }
}

/* The two sets of a cross matrix may be laid out differently. */
Test(dtw_sets, sets_of_different_strides) {
  uint64_t seed = 42;
  for (int trial = 0; trial < CASES(200); trial++) {
    size_t dimensions = 1 + (size_t)trial % 2, lengths[3], length = 0;
    sample dense[3], apart[3];
    const double *xs[3], *ys[3];
    tsanom_dtw_options o;
    tsanom_dtw_options_init(&o, sizeof o);
    if (trial % 3) o.radius = random_between(&seed, 0, 40);
    for (size_t k = 0; k < 3; k++) {
      if (k == 0 || trial % 5 == 0) length = draw_length(&seed, 60);
      lengths[k] = length;
      dense[k] = draw(&seed, length, dimensions);
      apart[k] = draw(&seed, length, dimensions + 2);
      for (size_t i = 0; i < length; i++) {
        for (size_t d = 0; d < dimensions; d++) {
          apart[k].f64[i * (dimensions + 2) + d] = dense[k].f64[i * dimensions + d];
        }
      }
      xs[k] = dense[k].f64;
      ys[k] = apart[k].f64;
    }
    tsanom_series x = series_of(xs, lengths, 3), y = series_of(ys, lengths, 3);
    x.dimensions = y.dimensions = dimensions;
    y.stride = dimensions + 2;
    double got[9], same[9];
    CHECK_STATUS(tsanom_dtw_cross(&x, &x, &o, NULL, same, 3, NULL), TSANOM_OK);
    CHECK_STATUS(tsanom_dtw_cross(&x, &y, &o, NULL, got, 3, NULL), TSANOM_OK);
    cr_assert(memcmp(got, same, sizeof got) == 0);
    CHECK_STATUS(tsanom_dtw_cross(&y, &x, &o, NULL, got, 3, NULL), TSANOM_OK);
    cr_assert(memcmp(got, same, sizeof got) == 0);
    for (size_t k = 0; k < 3; k++) drop(&dense[k]), drop(&apart[k]);
  }
}
