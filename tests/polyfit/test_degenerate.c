/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples that are legal but determine little, or lie at the ends of the range
 * of doubles. */
#include <float.h>
#include <math.h>
#include <string.h>
#include <tsanom/polyfit.h>

#include "reference.h"
#include "support/check.h"
#include "support/exec.h"
#include "support/random.h"

static tsanom_status fit(const double *x, const double *y, size_t n, int32_t degree,
                         int32_t selection, tsanom_polyfit_model *model) {
  tsanom_polyfit_options options = options_of(degree, selection, 1);
  *model = new_model();
  return tsanom_polyfit_fit(x, y, NULL, n, &options, NULL, model);
}

/* `far` from 0: the monomials are not known. */
static void check_numbers(const tsanom_polyfit_model *m, bool far) {
  const double scalars[] = {m->rss,         m->tss,  m->r2,  m->adjusted_r2,
                            m->residual_sd, m->aicc, m->bic, m->condition};
  for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
    cr_assert(!isnan(scalars[i]), "scalar %zu", i);
  }
  for (int k = 0; k <= m->degree; k++) {
    cr_assert(isfinite(m->high[k]) && !isnan(m->sd[k]), "coefficient %d", k);
    cr_assert(isnan(m->monomial[k]) == far && isnan(m->monomial_sd[k]) == far, "%d", k);
  }
}

static void check_no_nan(const tsanom_polyfit_model *m) {
  check_numbers(m, false);
}

Test(degenerate, repeated_x_give_the_largest_fit_there_is) {
  uint64_t seed = 1;
  for (int trial = 0; trial < CASES(2000); trial++) {
    double x[60], y[60];
    int distinct = (int)random_between(&seed, 1, 8),
        degree = (int)random_between(&seed, 0, 12);
    size_t n = random_between(&seed, 20, 60);
    double shift = 100 * random_unit(&seed);
    for (size_t i = 0; i < n; i++) {
      x[i] = shift + (double)(i % (size_t)distinct);
      y[i] = random_unit(&seed);
    }
    tsanom_polyfit_model model, full;
    tsanom_status status = fit(x, y, n, degree, TSANOM_POLYFIT_FIXED, &model);
    CHECK_STATUS(status, degree < distinct ? TSANOM_OK : TSANOM_RANK_DEFICIENT);
    int expected = degree < distinct ? degree : distinct - 1;
    cr_assert(model.degree == expected && model.rank == expected + 1,
              "trial %d: degree %d, not %d", trial, model.degree, expected);
    check_no_nan(&model);
    CHECK_STATUS(fit(x, y, n, expected, TSANOM_POLYFIT_FIXED, &full), TSANOM_OK);
    for (int k = 0; k <= expected; k++) {
      cr_assert(fabs(model.high[k] - full.high[k]) < 1e-14);
    }
  }
}

Test(degenerate, all_x_equal_determine_the_mean) {
  double x[] = {7, 7, 7, 7}, y[] = {1, 2, 3, 6};
  tsanom_polyfit_model model;
  CHECK_STATUS(fit(x, y, 4, 1, TSANOM_POLYFIT_FIXED, &model), TSANOM_RANK_DEFICIENT);
  cr_assert(model.degree == 0 && model.monomial[0] == 3 && model.r2 == 0);
  cr_assert(model.rss == 14 && model.tss == 14);
  CHECK_STATUS(fit(x, y, 4, 0, TSANOM_POLYFIT_FIXED, &model), TSANOM_OK);
  CHECK_STATUS(fit(x, y, 4, 3, TSANOM_POLYFIT_R2, &model), TSANOM_RANK_DEFICIENT);
}

Test(degenerate, constant_y_are_fitted_exactly) {
  double x[] = {1, 2, 3, 4, 5}, y[] = {0.1, 0.1, 0.1, 0.1, 0.1};
  tsanom_polyfit_model model;
  CHECK_STATUS(fit(x, y, 5, 3, TSANOM_POLYFIT_FIXED, &model), TSANOM_OK);
  cr_assert(model.degree == 3 && model.r2 == 1 && model.rss == 0 && model.tss == 0);
  cr_assert(model.monomial[0] == 0.1 && model.monomial[1] == 0 && model.monomial[3] == 0);
  for (int32_t selection = TSANOM_POLYFIT_R2; selection <= TSANOM_POLYFIT_BIC;
       selection++) {
    CHECK_STATUS(fit(x, y, 5, 3, selection, &model), TSANOM_OK);
    cr_assert(model.degree == 0 && model.high[0] == 0.1);
  }
  double zero[5] = {0};
  CHECK_STATUS(fit(x, zero, 5, 2, TSANOM_POLYFIT_FIXED, &model), TSANOM_OK);
  cr_assert(model.r2 == 1 && model.high[0] == 0);
}

Test(degenerate, one_sample_is_a_constant) {
  double x = 3, y = -2;
  tsanom_polyfit_model model;
  CHECK_STATUS(fit(&x, &y, 1, 0, TSANOM_POLYFIT_FIXED, &model), TSANOM_OK);
  cr_assert(model.monomial[0] == -2 && model.residual_sd == INFINITY);
  CHECK_STATUS(fit(&x, &y, 1, 5, TSANOM_POLYFIT_R2, &model), TSANOM_OK);
  cr_assert(model.degree == 0);
  check_no_nan(&model);
}

Test(degenerate, as_many_coefficients_as_samples_interpolate) {
  double x[] = {0, 1, 2, 3}, y[] = {1, -1, 5, 2};
  tsanom_polyfit_model model;
  CHECK_STATUS(fit(x, y, 4, 3, TSANOM_POLYFIT_FIXED, &model), TSANOM_OK);
  double value[4];
  CHECK_STATUS(tsanom_polyfit_evaluate(&model, x, 4, NULL, value, NULL), TSANOM_OK);
  for (int i = 0; i < 4; i++) cr_assert(fabs(value[i] - y[i]) < 1e-14);
  cr_assert(model.residual_sd == INFINITY && model.sd[2] == INFINITY);
  cr_assert(model.aicc == INFINITY);
  check_no_nan(&model);
}

Test(degenerate, x_of_every_magnitude) {
  const double spread[][4] = {
      {1e-300, 1, 2, 1e300},
      {-DBL_MAX, -1, 1, DBL_MAX},
      {5e-324, 1e-323, 2e-323, 4e-323},
      {1e-300, 2e-300, 3e-300, 4e-300},
      {1, nextafter(1, 2), 1 + 2 * DBL_EPSILON, 1 + 3 * DBL_EPSILON},
      {-1e-300, 0, 1e-300, 1}};
  const double y[] = {1, 3, 2, 5};
  for (size_t i = 0; i < sizeof spread / sizeof *spread; i++) {
    for (int32_t degree = 0; degree < 4; degree++) {
      tsanom_polyfit_model model;
      tsanom_status status = fit(spread[i], y, 4, degree, TSANOM_POLYFIT_FIXED, &model);
      cr_assert(status == TSANOM_OK || status == TSANOM_RANK_DEFICIENT, "%s",
                tsanom_status_name(status));
      check_no_nan(&model);
      double value[4];
      CHECK_STATUS(tsanom_polyfit_evaluate(&model, spread[i], 4, NULL, value, NULL),
                   TSANOM_OK);
      for (int j = 0; j < 4; j++) cr_assert(isfinite(value[j]));
    }
  }
  /* Two clusters, whatever lies within them: a line through their means. */
  tsanom_polyfit_model model;
  CHECK_STATUS(fit(spread[0], y, 4, 3, TSANOM_POLYFIT_FIXED, &model),
               TSANOM_RANK_DEFICIENT);
  cr_assert(model.degree == 1);
  cr_assert(fabs(model.monomial[0] - 2) < 1e-15);
}

Test(degenerate, y_and_weights_of_every_magnitude) {
  const double x[] = {0, 1, 2, 3, 4};
  const double units[] = {5e-324, 1e-300, 1, 1e150, 1e300};
  for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
    double y[5], weights[5];
    for (int i = 0; i < 5; i++) {
      y[i] = (i * i + i % 2) * units[u];
      weights[i] = (1 + i) * units[u];
    }
    tsanom_polyfit_model model;
    CHECK_STATUS(fit(x, y, 5, 2, TSANOM_POLYFIT_FIXED, &model), TSANOM_OK);
    cr_assert(fabs(model.r2 - 0.9946595460614153) < 1e-14, "%.17g", model.r2);
    check_no_nan(&model);
    tsanom_polyfit_options options = options_of(2, TSANOM_POLYFIT_FIXED, 1);
    CHECK_STATUS(tsanom_polyfit_fit(x, x, weights, 5, &options, NULL, &model), TSANOM_OK);
    cr_assert(model.monomial[1] == 1);
    check_no_nan(&model);
  }
  double mixed[] = {1e-300, 1, 1e300, 1, 1e-300};
  tsanom_polyfit_options options = options_of(1, TSANOM_POLYFIT_FIXED, 1);
  tsanom_polyfit_model model = new_model();
  tsanom_status status = tsanom_polyfit_fit(x, x, mixed, 5, &options, NULL, &model);
  cr_assert(status == TSANOM_OK || status == TSANOM_RANK_DEFICIENT);
  check_no_nan(&model);
}

Test(degenerate, of_a_high_degree_far_from_zero_only_monomials_are_not_known) {
  double x[100], y[100];
  for (int i = 0; i < 100; i++) {
    x[i] = 1e15 + i;
    y[i] = sin(0.1 * i);
  }
  tsanom_polyfit_model model;
  tsanom_status status =
      fit(x, y, 100, TSANOM_POLYFIT_MAX_DEGREE, TSANOM_POLYFIT_FIXED, &model);
  cr_assert(status == TSANOM_OK || status == TSANOM_RANK_DEFICIENT);
  check_numbers(&model, true);
  double value[100];
  CHECK_STATUS(tsanom_polyfit_evaluate(&model, x, 100, NULL, value, NULL), TSANOM_OK);
  for (int i = 0; i < 100; i++) cr_assert(fabs(value[i] - y[i]) < 1e-9);
}

Test(degenerate, the_highest_degree_of_all) {
  double x[400], y[400];
  for (int i = 0; i < 400; i++) {
    x[i] = cos(i * 3.14159265358979 / 399);
    y[i] = exp(x[i]);
  }
  tsanom_polyfit_model model;
  CHECK_STATUS(fit(x, y, 400, TSANOM_POLYFIT_MAX_DEGREE, TSANOM_POLYFIT_FIXED, &model),
               TSANOM_OK);
  cr_assert(model.degree == 63 && model.r2 == 1);
  /* exp(x) = I_0(1) + 2 sum I_k(1) T_k(x). */
  cr_assert(fabs(model.high[0] - 1.2660658777520084) < 1e-15);
  cr_assert(fabs(model.high[1] - 1.1303182079849700) < 1e-15);
}

static void check_levels(const double *x, const double *y, const double *weights,
                         size_t n, const tsanom_polyfit_options *options) {
  tsanom_polyfit_model first = new_model(), model = new_model();
  FOR_EACH_ISA (isa) {
    tsanom_exec exec = exec_at(isa, 1);
    cr_assert(tsanom_polyfit_fit(x, y, weights, n, options, &exec, &model) >= 0);
    if (isa == TSANOM_ISA_BASE) first = model;
    cr_assert(memcmp(&model, &first, sizeof model) == 0,
              "isa %d: tss %a %a, monomial %a %a", isa, model.tss, first.tss,
              model.monomial[0], first.monomial[0]);
  }
}

/* The deviation of the heavy sample is 0, so that the sums are those of the others. No
 * product loses its rounding error to underflow: levels with and without an FMA agree. */
Test(degenerate, tiny_weights_give_the_same_bits_at_every_level) {
  enum { N = 4 };
  uint64_t seed = 8;
  for (int trial = 0; trial < CASES(3000); trial++) {
    double x[N], y[N], weights[N];
    for (size_t i = 0; i < N; i++) {
      x[i] = random_unit(&seed);
      y[i] = random_unit(&seed);
      weights[i] = ldexp(random_unit(&seed), -(int)random_between(&seed, 900, 1050));
    }
    weights[0] = 1;
    tsanom_polyfit_options options = options_of(2, TSANOM_POLYFIT_FIXED, 1);
    check_levels(x, y, weights, N, &options);
  }
}

/* A sample near the largest double has a weight of about 2^-1000: in units of y, all
 * coefficients are that small. Levels with and without an FMA convert them to the same
 * monomials. */
Test(degenerate, tiny_coefficients_have_the_same_monomials_at_every_level) {
  enum { N = 6 };
  uint64_t seed = 9;
  for (int trial = 0; trial < CASES(3000); trial++) {
    double x[N], y[N], weights[N];
    for (size_t i = 0; i < N; i++) {
      x[i] = random_unit(&seed);
      y[i] = random_unit(&seed);
      weights[i] = 1;
    }
    y[0] = DBL_MAX / 2;
    weights[0] = ldexp(1, -(int)random_between(&seed, 960, 1050));
    tsanom_polyfit_options options = options_of(3, TSANOM_POLYFIT_FIXED, 0);
    check_levels(x, y, weights, N, &options);
  }
}
