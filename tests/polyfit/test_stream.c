/* SPDX-License-Identifier: BSD-3-Clause */
/* Fits of streams beside the fit of an array of the same samples: pushed in random
 * pieces, merged, or saved and restored in between. Changed states are rejected or do no
 * harm. test_stream_blocks.c has pushes on several threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/polyfit.h>

#include "reference.h"
#include "support/check.h"
#include "support/exec.h"
#include "support/random.h"
#include "support/state.h"

static tsanom_polyfit_stream *new_stream(const tsanom_polyfit_options *options) {
  tsanom_polyfit_stream *stream;
  CHECK_STATUS(tsanom_polyfit_stream_create(options, NULL, &stream), TSANOM_OK);
  return stream;
}

static void push_in_pieces(tsanom_polyfit_stream *stream, const dataset *set,
                           const double *weights, size_t begin, size_t end,
                           uint64_t *seed) {
  while (begin < end) {
    size_t count = random_between(seed, 0, end - begin < 3000 ? end - begin : 3000);
    CHECK_STATUS(
        tsanom_polyfit_stream_push(stream, set->x + begin, set->y + begin,
                                   weights ? weights + begin : NULL, count, NULL),
        TSANOM_OK);
    begin += count;
  }
}

/* To the rounding of the last digit: both are exact to more. */
static void check_same_fit(const tsanom_polyfit_model *a, const tsanom_polyfit_model *b,
                           double tolerance) {
  cr_assert(a->degree == b->degree && a->samples == b->samples);
  double size = 0;
  for (int k = 0; k <= a->degree; k++) size = fmax(size, fabs(b->high[k]));
  for (int k = 0; k <= a->degree; k++) {
    cr_assert(fabs(a->high[k] - b->high[k]) <= tolerance * size, "%d: %.17g, not %.17g",
              k, a->high[k], b->high[k]);
    cr_assert(fabs(a->degree_rss[k] - b->degree_rss[k]) <= 10 * tolerance * b->tss);
    cr_assert(fabs(a->sd[k] - b->sd[k]) <= 1e-8 * b->sd[k] || b->rss < 1e-12 * b->tss ||
              tolerance > 1e-10);
  }
  cr_assert(fabs(a->r2 - b->r2) <= tolerance);
}

Test(polyfit_stream, equals_the_fit_of_the_array) {
  static dataset set;
  uint64_t seed = 1;
  for (int trial = 0; trial < CASES(300); trial++) {
    fill_dataset(&set, random_between(&seed, 30, trial % 6 ? 300 : MOST_SAMPLES), &seed);
    int shuffled = trial % 2;
    for (size_t i = set.n - 1; shuffled && i > 0; i--) {
      size_t j = random_between(&seed, 0, i);
      double x = set.x[i], y = set.y[i];
      set.x[i] = set.x[j], set.y[i] = set.y[j];
      set.x[j] = x, set.y[j] = y;
    }
    const double *weights = trial % 3 ? NULL : set.weights;
    int refine = trial % 4 != 0;
    tsanom_polyfit_options options =
        options_of((int32_t)random_between(&seed, 0, 11), TSANOM_POLYFIT_FIXED, refine);
    tsanom_polyfit_stream *stream = new_stream(&options);
    push_in_pieces(stream, &set, weights, 0, set.n, &seed);
    tsanom_polyfit_model streamed = new_model(), whole = new_model();
    CHECK_STATUS(tsanom_polyfit_stream_fit(stream, NULL, NULL, &streamed), TSANOM_OK);
    options.refine = 1;
    CHECK_STATUS(tsanom_polyfit_fit(set.x, set.y, weights, set.n, &options, NULL, &whole),
                 TSANOM_OK);
    check_same_fit(&streamed, &whole, refine ? 1e-15 : 1e-9);
    options.refine = refine;
    options.coefficients_only = 1;
    CHECK_STATUS(tsanom_polyfit_stream_fit(stream, &options, NULL, &whole), TSANOM_OK);
    size_t bytes = sizeof(double) * (size_t)(whole.degree + 1);
    cr_assert(memcmp(whole.high, streamed.high, bytes) == 0 && isnan(whole.r2));
    tsanom_polyfit_stream_destroy(stream);
  }
}

Test(polyfit_stream, does_not_depend_on_division_into_pushes_or_on_the_level) {
  static dataset set;
  uint64_t seed = 2;
  tsanom_polyfit_options options = options_of(6, TSANOM_POLYFIT_FIXED, 1);
  fill_dataset(&set, MOST_SAMPLES, &seed);
  tsanom_polyfit_model first = new_model();
  for (int trial = 0; trial < 20; trial++) {
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1);
      tsanom_polyfit_stream *stream = new_stream(&options);
      for (size_t i = 0; i < set.n;) {
        size_t count = random_between(&seed, 1, 2500);
        count = count < set.n - i ? count : set.n - i;
        tsanom_polyfit_stream_push(stream, set.x + i, set.y + i, NULL, count, &exec);
        i += count;
      }
      tsanom_polyfit_model model = new_model();
      CHECK_STATUS(tsanom_polyfit_stream_fit(stream, NULL, &exec, &model), TSANOM_OK);
      if (first.samples == 0) first = model;
      cr_assert(same_model(&model, &first), "trial %d isa %d", trial, isa);
      tsanom_polyfit_stream_destroy(stream);
    }
  }
}

Test(polyfit_stream, a_fit_at_any_time_is_that_of_the_samples_so_far) {
  static dataset set;
  uint64_t seed = 3;
  fill_dataset(&set, 5000, &seed);
  tsanom_polyfit_options options = options_of(5, TSANOM_POLYFIT_FIXED, 1);
  tsanom_polyfit_stream *stream = new_stream(&options);
  for (size_t n = 10; n <= 5000; n += 499) {
    tsanom_polyfit_model now = new_model(), again = new_model(), whole = new_model();
    size_t seen = n == 10 ? 0 : n - 499;
    push_in_pieces(stream, &set, NULL, seen, n, &seed);
    CHECK_STATUS(tsanom_polyfit_stream_fit(stream, NULL, NULL, &now), TSANOM_OK);
    CHECK_STATUS(tsanom_polyfit_stream_fit(stream, NULL, NULL, &again), TSANOM_OK);
    cr_assert(same_model(&now, &again));
    tsanom_polyfit_fit(set.x, set.y, NULL, n, &options, NULL, &whole);
    check_same_fit(&now, &whole, 1e-15);
  }
  tsanom_polyfit_stream_destroy(stream);
}

/* Nine samples crowd at one end of the interval. Sums in double-double keep 7 digits of
 * the last of these, whose condition number is 5e12. */
Test(polyfit_stream, few_samples_keep_the_digits_of_the_array) {
  static const double y[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
  static const double far[] = {1e4, 1e5, 1e6};
  for (int i = 0; i < 3; i++) {
    double x[] = {1, 2, 3, 5, 9, 17, 33, 65, 129, far[i]};
    tsanom_polyfit_options options = options_of(4, TSANOM_POLYFIT_FIXED, 1);
    tsanom_polyfit_stream *stream = new_stream(&options);
    tsanom_polyfit_model streamed = new_model(), whole = new_model();
    for (int k = 0; k < 10; k++) {
      CHECK_STATUS(tsanom_polyfit_stream_push(stream, x + k, y + k, NULL, 1, NULL),
                   TSANOM_OK);
    }
    CHECK_STATUS(tsanom_polyfit_stream_fit(stream, NULL, NULL, &streamed), TSANOM_OK);
    CHECK_STATUS(tsanom_polyfit_fit(x, y, NULL, 10, &options, NULL, &whole), TSANOM_OK);
    cr_assert(memcmp(streamed.monomial, whole.monomial, 5 * sizeof(double)) == 0, "%g",
              far[i]);
    tsanom_polyfit_stream_destroy(stream);
  }
}

Test(polyfit_stream, merged_streams_are_one) {
  enum { BLOCK = 2048 };
  static dataset set;
  uint64_t seed = 4;
  for (int trial = 0; trial < CASES(100); trial++) {
    size_t n = BLOCK + (size_t)trial / 3 % 3;
    if (trial % 3) n = random_between(&seed, 40, MOST_SAMPLES);
    fill_dataset(&set, n, &seed);
    tsanom_polyfit_options options = options_of(7, TSANOM_POLYFIT_FIXED, 1);
    tsanom_polyfit_stream *left = new_stream(&options), *right = new_stream(&options);
    size_t cut = random_between(&seed, 0, n - 1);
    push_in_pieces(left, &set, set.weights, 0, cut, &seed);
    push_in_pieces(right, &set, set.weights, cut, n - 1, &seed);
    CHECK_STATUS(tsanom_polyfit_stream_merge(left, right, NULL), TSANOM_OK);
    push_in_pieces(left, &set, set.weights, n - 1, n, &seed);
    tsanom_polyfit_model merged = new_model(), whole = new_model();
    CHECK_STATUS(tsanom_polyfit_stream_fit(left, NULL, NULL, &merged), TSANOM_OK);
    tsanom_polyfit_fit(set.x, set.y, set.weights, set.n, &options, NULL, &whole);
    check_same_fit(&merged, &whole, 1e-15);
    /* Few samples are fitted exactly as those of an array. */
    cr_assert(n >= BLOCK || (merged.condition == whole.condition &&
                             memcmp(merged.low, whole.low, sizeof merged.low) == 0));
    tsanom_polyfit_stream_destroy(left);
    tsanom_polyfit_stream_destroy(right);
  }
}

static unsigned char *saved(const tsanom_polyfit_stream *stream, size_t *bytes) {
  CHECK_STATUS(tsanom_save(stream, NULL, 0, bytes), TSANOM_PARTIAL);
  cr_assert(*bytes <= 52 << 10);
  unsigned char *state = malloc(*bytes);
  CHECK_STATUS(tsanom_save(stream, state, *bytes, bytes), TSANOM_OK);
  return state;
}

Test(polyfit_stream, a_restored_stream_continues) {
  static dataset set;
  uint64_t seed = 6;
  for (int trial = 0; trial < CASES(200); trial++) {
    fill_dataset(&set, random_between(&seed, 15, MOST_SAMPLES), &seed);
    double *weights = trial % 2 ? set.weights : NULL;
    tsanom_polyfit_options options = options_of((int32_t)random_between(&seed, 0, 12),
                                                TSANOM_POLYFIT_FIXED, trial % 3 > 0);
    tsanom_polyfit_stream *stream = new_stream(&options), *copy = new_stream(&options);
    size_t cut = random_between(&seed, 0, set.n), bytes;
    push_in_pieces(stream, &set, weights, 0, cut, &seed);
    unsigned char *state = saved(stream, &bytes);
    if (trial % 2) push_in_pieces(copy, &set, weights, 0, set.n, &seed);
    CHECK_STATUS(tsanom_restore(copy, state, bytes, NULL), TSANOM_OK);
    push_in_pieces(stream, &set, weights, cut, set.n, &seed);
    push_in_pieces(copy, &set, weights, cut, set.n, &seed);
    tsanom_polyfit_model expected = new_model(), model = new_model();
    tsanom_status status = tsanom_polyfit_stream_fit(stream, NULL, NULL, &expected);
    CHECK_STATUS(tsanom_polyfit_stream_fit(copy, NULL, NULL, &model), status);
    cr_assert(same_model(&model, &expected));
    tsanom_polyfit_stream_destroy(stream);
    tsanom_polyfit_stream_destroy(copy);
    free(state);
  }
}

Test(polyfit_stream, changed_states_do_no_harm) {
  static dataset set;
  uint64_t seed = 7;
  size_t rejected = 0, accepted = 0;
  for (int trial = 0; trial < CASES(100); trial++) {
    fill_dataset(&set, random_between(&seed, 15, MOST_SAMPLES), &seed);
    tsanom_polyfit_options options =
        options_of((int32_t)random_between(&seed, 0, 12), TSANOM_POLYFIT_FIXED, 1);
    tsanom_polyfit_stream *stream = new_stream(&options), *made = new_stream(&options);
    size_t bytes;
    push_in_pieces(stream, &set, NULL, 0, random_between(&seed, 0, set.n), &seed);
    unsigned char *good = saved(stream, &bytes), *bad = malloc(bytes);
    for (int k = 0; k < 100; k++) {
      bool is_restored = restore_damaged(made, good, bad, bytes, &seed);
      rejected += !is_restored;
      if (!is_restored) continue;
      accepted++;
      tsanom_polyfit_model model = new_model();
      (void)tsanom_polyfit_stream_fit(made, NULL, NULL, &model);
      push_in_pieces(made, &set, NULL, 0, set.n, &seed);
      (void)tsanom_polyfit_stream_fit(made, NULL, NULL, &model);
      (void)tsanom_polyfit_stream_merge(made, stream, NULL);
    }
    tsanom_polyfit_stream_destroy(made);
    tsanom_polyfit_stream_destroy(stream);
    free(bad);
    free(good);
  }
  cr_assert(rejected > 0 && accepted > 0);
}

Test(polyfit_stream, units_may_grow_between_pushes) {
  tsanom_polyfit_options options = options_of(1, TSANOM_POLYFIT_FIXED, 1);
  tsanom_polyfit_stream *stream = new_stream(&options);
  double x[2048], y[2048], weights[2048];
  for (int block = 0; block < 8; block++) {
    double unit = pow(10, -280 + 70 * block);
    for (int i = 0; i < 2048; i++) {
      x[i] = unit * (i + 1);
      y[i] = 1e-10 * x[i];
      weights[i] = 1 / unit;
    }
    CHECK_STATUS(
        tsanom_polyfit_stream_push(stream, x, y, block % 2 ? weights : NULL, 2048, NULL),
        TSANOM_OK);
    tsanom_polyfit_model model = new_model();
    tsanom_status status = tsanom_polyfit_stream_fit(stream, NULL, NULL, &model);
    cr_assert(status == TSANOM_OK || status == TSANOM_RANK_DEFICIENT);
    cr_assert(isfinite(model.high[0]) && !isnan(model.monomial[0]) && !isnan(model.r2));
  }
  tsanom_polyfit_stream_destroy(stream);
}

Test(polyfit_stream, selects_and_reports_like_a_fit) {
  double x[200], y[200];
  for (int i = 0; i < 200; i++) x[i] = i, y[i] = i < 100 ? 1 : 1 + (i - 100) * (i - 100);
  tsanom_polyfit_options options = options_of(9, TSANOM_POLYFIT_R2, 1);
  tsanom_polyfit_stream *stream = new_stream(&options);
  tsanom_polyfit_model streamed = new_model(), whole = new_model();
  tsanom_polyfit_stream_push(stream, x, y, NULL, 200, NULL);
  for (int32_t selection = 0; selection <= TSANOM_POLYFIT_BIC; selection++) {
    options.selection = selection;
    tsanom_status status = tsanom_polyfit_stream_fit(stream, &options, NULL, &streamed);
    CHECK_STATUS(tsanom_polyfit_fit(x, y, NULL, 200, &options, NULL, &whole), status);
    check_same_fit(&streamed, &whole, 1e-15);
  }
  tsanom_polyfit_stream_destroy(stream);
}

Test(polyfit_stream, degenerate_samples) {
  tsanom_polyfit_options options = options_of(3, TSANOM_POLYFIT_FIXED, 1);
  tsanom_polyfit_stream *stream = new_stream(&options);
  tsanom_polyfit_model model = new_model(), untouched = new_model();
  CHECK_STATUS(tsanom_polyfit_stream_fit(stream, NULL, NULL, &model), TSANOM_E_COUNT);
  double x[] = {2, 2, 2, 2, 2, 2}, y[] = {1, 2, 3, 1, 2, 3};
  tsanom_polyfit_stream_push(stream, x, y, NULL, 2, NULL);
  CHECK_STATUS(tsanom_polyfit_stream_fit(stream, NULL, NULL, &model), TSANOM_E_COUNT);
  cr_assert(same_model(&model, &untouched));
  tsanom_polyfit_stream_push(stream, x, y, NULL, 6, NULL);
  CHECK_STATUS(tsanom_polyfit_stream_fit(stream, NULL, NULL, &model),
               TSANOM_RANK_DEFICIENT);
  cr_assert(model.degree == 0 && fabs(model.monomial[0] - 15.0 / 8) < 1e-15);
  tsanom_polyfit_stream_destroy(stream);

  stream = new_stream(&options);
  double xs[] = {1, 2, 3, 4, 5}, constant[] = {0.3, 0.3, 0.3, 0.3, 0.3};
  tsanom_polyfit_stream_push(stream, xs, constant, NULL, 5, NULL);
  CHECK_STATUS(tsanom_polyfit_stream_fit(stream, NULL, NULL, &model), TSANOM_OK);
  cr_assert(model.r2 == 1 && model.high[0] == 0.3 && model.high[1] == 0);
  tsanom_polyfit_stream_destroy(stream);
}

Test(polyfit_stream, bad_arguments_are_rejected_and_leave_the_stream) {
  double x[] = {1, 2, 3}, y[] = {1, 4, 9};
  tsanom_polyfit_options options = options_of(2, TSANOM_POLYFIT_FIXED, 1);
  tsanom_polyfit_stream *stream = new_stream(&options);
  tsanom_polyfit_model model = new_model();
  CHECK_STATUS(tsanom_polyfit_stream_push(stream, x, y, NULL, 3, NULL), TSANOM_OK);
  CHECK_STATUS(tsanom_polyfit_stream_push(stream, NULL, NULL, NULL, 0, NULL), TSANOM_OK);
  CHECK_STATUS(tsanom_polyfit_stream_fit(stream, NULL, NULL, &model), TSANOM_OK);
  cr_assert(model.samples == 3 && model.monomial[2] == 1);
  options.degree = 3;
  CHECK_STATUS(tsanom_polyfit_stream_fit(stream, &options, NULL, &model),
               TSANOM_E_OPTION);
  tsanom_polyfit_stream *other = new_stream(&options);
  CHECK_STATUS(tsanom_polyfit_stream_merge(stream, other, NULL), TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_polyfit_stream_merge(stream, stream, NULL), TSANOM_E_OPTION);
  tsanom_polyfit_stream_destroy(other);
  options.degree = 2;
  options.refine = !options.refine;
  other = new_stream(&options);
  CHECK_STATUS(tsanom_polyfit_stream_merge(stream, other, NULL), TSANOM_E_OPTION);
  options.degree = -1;
  tsanom_polyfit_stream *none = NULL;
  CHECK_STATUS(tsanom_polyfit_stream_create(&options, NULL, &none), TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_restore(stream, x, sizeof x, NULL), TSANOM_E_FORMAT);
  cr_assert_null(none);
  tsanom_polyfit_stream_destroy(stream);
  tsanom_polyfit_stream_destroy(other);
}
