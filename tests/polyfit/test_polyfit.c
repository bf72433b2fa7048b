/* SPDX-License-Identifier: BSD-3-Clause */
/* Fits of arrays beside least squares by the definition, whichever method is used, and
 * with the same bits for all threads and instruction sets. Selected degrees are compared
 * with criteria that are computed here from a fit of each degree. */
#include <math.h>
#include <stdlib.h>
#include <tsanom/polyfit.h>

#include "reference.h"
#include "support/check.h"
#include "support/exec.h"
#include "support/random.h"

static void check_against_reference(const dataset *set, int degree, int weighted,
                                    int refine, int32_t isa, int32_t threads) {
  static long double fitted[MOST_SAMPLES];
  static double values[MOST_SAMPLES];
  long double rss[REFERENCE_DEGREE + 1];
  const double *weights = weighted ? set->weights : NULL;
  reference_fit(set->x, set->y, weights, set->n, degree, rss, fitted);
  tsanom_exec exec = exec_at(isa, threads);
  tsanom_polyfit_options options = options_of(degree, TSANOM_POLYFIT_FIXED, refine);
  tsanom_polyfit_model model = new_model();
  CHECK_STATUS(
      tsanom_polyfit_fit(set->x, set->y, weights, set->n, &options, &exec, &model),
      TSANOM_OK);
  double scale = sqrt(model.tss);
  double tolerance = refine ? 1e-14 : 1e-11;
  for (int k = 0; k <= degree; k++) {
    double error = (double)fabsl(model.degree_rss[k] - rss[k]) / model.tss;
    int nested = k < degree && model.method == TSANOM_POLYFIT_QR;
    double allowed = nested ? 1e-16 * 64 * model.condition : tolerance;
    cr_assert(error < allowed, "n %zu degree %d: rss of %d off by %g", set->n, degree, k,
              error);
  }
  cr_assert(fabs(model.r2 - (double)(1 - rss[degree] / rss[0])) < tolerance);
  CHECK_STATUS(tsanom_polyfit_evaluate(&model, set->x, set->n, &exec, values, NULL),
               TSANOM_OK);
  /* Where samples crowd the curve is steep in t, whose last digit then counts. */
  double steep = fmax(tolerance, 1e-16 * 64 * model.condition);
  for (size_t i = 0; i < set->n; i++) {
    double error = (double)fabsl(values[i] - fitted[i]) / scale;
    cr_assert(error < steep, "n %zu degree %d: value off by %g", set->n, degree, error);
  }
}

Test(polyfit, equals_the_definition_at_every_level) {
  static dataset set;
  uint64_t seed = 1;
  for (int trial = 0; trial < CASES(3000); trial++) {
    size_t n = random_between(&seed, 30, 120);
    int degree = (int)random_between(&seed, 0, 10);
    fill_dataset(&set, n, &seed);
    int weighted = (int)(random_bits(&seed) % 2), refine = (int)(random_bits(&seed) % 2);
    FOR_EACH_ISA (isa) check_against_reference(&set, degree, weighted, refine, isa, 1);
  }
}

Test(polyfit, equals_the_definition_over_several_blocks) {
  static dataset set;
  uint64_t seed = 2;
  for (int trial = 0; trial < 12; trial++) {
    fill_dataset(&set, random_between(&seed, 2000, MOST_SAMPLES), &seed);
    check_against_reference(&set, 12, trial % 2, trial % 3 != 0, TSANOM_ISA_AUTO,
                            1 + trial % 4);
  }
}

Test(polyfit, ill_conditioned_samples_go_through_qr) {
  /* Nearly all samples crowd at one end. */
  static dataset set;
  uint64_t seed = 3;
  for (int trial = 0; trial < 60; trial++) {
    fill_dataset(&set, random_between(&seed, 100, 3000), &seed);
    for (size_t i = 0; i + 12 < set.n; i++)
      set.x[i] = set.x[0] + 1e-4 * (set.x[i] - set.x[0]);
    tsanom_polyfit_options options = options_of(8, TSANOM_POLYFIT_FIXED, 1);
    tsanom_polyfit_model model = new_model();
    CHECK_STATUS(tsanom_polyfit_fit(set.x, set.y, NULL, set.n, &options, NULL, &model),
                 TSANOM_OK);
    cr_assert(model.method == TSANOM_POLYFIT_QR);
    check_against_reference(&set, 8, trial % 2, 1, TSANOM_ISA_AUTO, 1 + trial % 3);
  }
}

/* The model without what describes the fit. */
static tsanom_polyfit_model curve_of(const tsanom_polyfit_model *model) {
  tsanom_polyfit_model curve = *model;
  curve.rss = curve.tss = curve.r2 = curve.adjusted_r2 = NAN;
  curve.residual_sd = curve.aicc = curve.bic = NAN;
  for (int k = 0; k <= model->degree; k++) {
    curve.sd[k] = curve.monomial[k] = curve.monomial_sd[k] = NAN;
  }
  for (int k = 0; k <= model->highest; k++) curve.degree_rss[k] = NAN;
  return curve;
}

Test(polyfit, the_curve_is_the_same_without_statistics) {
  static dataset set;
  uint64_t seed = 7;
  for (int trial = 0; trial < CASES(2000); trial++) {
    size_t n = trial % 50 ? random_between(&seed, 1, 40) : 3000;
    fill_dataset(&set, n, &seed);
    int equal = trial % 20 == 0, crowded = trial % 20 == 1;
    for (size_t i = 0; i < n; i++) set.y[i] = equal ? 3 : set.y[i];
    for (size_t i = 0; crowded && i + 5 < n; i++) set.x[i] *= 1e-5;
    const double *weights = trial % 3 ? NULL : set.weights;
    tsanom_polyfit_options options =
        options_of((int32_t)random_between(&seed, 0, n < 12 ? n - 1 : 11),
                   (int32_t)random_between(&seed, 0, 3), (int32_t)(trial % 2));
    tsanom_polyfit_model whole = new_model(), curve = new_model();
    tsanom_status expected =
        tsanom_polyfit_fit(set.x, set.y, weights, n, &options, NULL, &whole);
    options.coefficients_only = 1;
    CHECK_STATUS(tsanom_polyfit_fit(set.x, set.y, weights, n, &options, NULL, &curve),
                 expected);
    whole = curve_of(&whole);
    cr_assert(same_model(&curve, &whole), "trial %d", trial);
  }
}

Test(polyfit, bits_do_not_depend_on_level_or_threads) {
  static dataset set;
  uint64_t seed = 4;
  for (int trial = 0; trial < CASES(300); trial++) {
    size_t n = trial % 10 ? random_between(&seed, 1, 200) : MOST_SAMPLES;
    fill_dataset(&set, n, &seed);
    int crowded = trial % 3 == 0;
    for (size_t i = 0; crowded && i + 9 < n; i++) set.x[i] *= 1e-5;
    tsanom_polyfit_options options =
        options_of((int32_t)random_between(&seed, 0, 24),
                   (int32_t)random_between(&seed, 0, 3), (int32_t)(trial % 2));
    if (options.selection == TSANOM_POLYFIT_FIXED && (size_t)options.degree >= n)
      continue;
    tsanom_polyfit_model first = new_model();
    tsanom_status expected = TSANOM_OK;
    int started = 0;
    FOR_EACH_ISA (isa) {
      for (int32_t threads = 1; threads <= 4; threads++) {
        tsanom_exec exec = exec_at(isa, threads);
        tsanom_polyfit_model model = new_model();
        tsanom_status status = tsanom_polyfit_fit(
            set.x, set.y, trial % 4 ? NULL : set.weights, n, &options, &exec, &model);
        cr_assert(status >= 0);
        if (!started) {
          first = model;
          expected = status;
          started = 1;
        }
        cr_assert(status == expected && same_model(&model, &first),
                  "trial %d isa %d threads %d", trial, isa, threads);
      }
    }
  }
}

Test(polyfit, an_unreachable_threshold_gives_the_highest_degree) {
  static dataset set;
  uint64_t seed = 5;
  fill_dataset(&set, 100, &seed);
  for (size_t i = 0; i < set.n; i++) set.y[i] = random_unit(&seed);
  tsanom_polyfit_options options = options_of(4, TSANOM_POLYFIT_R2, 1);
  tsanom_polyfit_model model = new_model();
  CHECK_STATUS(tsanom_polyfit_fit(set.x, set.y, NULL, 100, &options, NULL, &model),
               TSANOM_INFEASIBLE);
  cr_assert(model.degree == 4);
  cr_assert(model.r2 < 0.9);
}

/* A selected fit is the same as a fit of the degree that was selected. */
Test(polyfit, a_selected_degree_is_fitted_like_a_fixed_one) {
  static dataset set;
  uint64_t seed = 6;
  for (int trial = 0; trial < CASES(500); trial++) {
    fill_dataset(&set, random_between(&seed, 20, 150), &seed);
    int32_t selection =
        (int32_t)random_between(&seed, TSANOM_POLYFIT_R2, TSANOM_POLYFIT_BIC);
    tsanom_polyfit_options options = options_of(9, selection, 1);
    if (selection == TSANOM_POLYFIT_R2) options.r2 = 0.99;
    tsanom_polyfit_model chosen = new_model(), asked = new_model();
    tsanom_status status =
        tsanom_polyfit_fit(set.x, set.y, NULL, set.n, &options, NULL, &chosen);
    cr_assert(status == TSANOM_OK || status == TSANOM_INFEASIBLE);
    options = options_of(chosen.degree, TSANOM_POLYFIT_FIXED, 1);
    CHECK_STATUS(tsanom_polyfit_fit(set.x, set.y, NULL, set.n, &options, NULL, &asked),
                 TSANOM_OK);
    double size = 0;
    for (int k = 0; k <= asked.degree; k++) size = fmax(size, fabs(asked.high[k]));
    for (int k = 0; k <= asked.degree; k++) {
      cr_assert(fabs(chosen.high[k] - asked.high[k]) <= 4e-16 * size);
      cr_assert(fabs(chosen.degree_rss[k] - asked.degree_rss[k]) <= 1e-14 * asked.tss);
    }
    cr_assert(fabs(chosen.r2 - asked.r2) <= 1e-15);
  }
}

/* The criteria, recomputed for every degree from its own fit. */
Test(polyfit, criteria_select_their_minimum) {
  static dataset set;
  uint64_t seed = 7;
  for (int trial = 0; trial < CASES(200); trial++) {
    fill_dataset(&set, random_between(&seed, 15, 60), &seed);
    for (size_t i = 0; i < set.n; i++) set.y[i] *= 1 + 0.05 * random_unit(&seed);
    for (int32_t selection = TSANOM_POLYFIT_AICC; selection <= TSANOM_POLYFIT_BIC;
         selection++) {
      tsanom_polyfit_options options = options_of(8, selection, 1);
      tsanom_polyfit_model chosen = new_model();
      CHECK_STATUS(tsanom_polyfit_fit(set.x, set.y, NULL, set.n, &options, NULL, &chosen),
                   TSANOM_OK);
      double least = INFINITY;
      int best = -1;
      for (int degree = 0; degree <= 8; degree++) {
        options = options_of(degree, TSANOM_POLYFIT_FIXED, 1);
        tsanom_polyfit_model model = new_model();
        tsanom_polyfit_fit(set.x, set.y, NULL, set.n, &options, NULL, &model);
        double n = (double)set.n, k = degree + 2;
        double aicc = n * log(model.rss / n) + 2 * k + 2 * k * (k + 1) / (n - k - 1);
        double bic = n * log(model.rss / n) + k * log(n);
        cr_assert(fabs(model.aicc - aicc) < 1e-9 * (1 + fabs(aicc)));
        cr_assert(fabs(model.bic - bic) < 1e-9 * (1 + fabs(bic)));
        double value = selection == TSANOM_POLYFIT_AICC ? aicc : bic;
        if (value < least) {
          least = value;
          best = degree;
        }
      }
      cr_assert(chosen.degree == best, "trial %d: %d, not %d", trial, chosen.degree,
                best);
    }
  }
}

Test(polyfit, the_degree_of_an_exact_polynomial_is_recognised) {
  uint64_t seed = 10;
  double x[200], y[200], c[7];
  for (int trial = 0; trial < CASES(1000); trial++) {
    int n = (int)random_between(&seed, 20, 200),
        degree = (int)random_between(&seed, 0, 6);
    double offset = trial % 2 ? 1000 * random_unit(&seed) : 0;
    for (int k = 0; k <= degree; k++) c[k] = 0.2 + random_unit(&seed);
    for (int i = 0; i < n; i++) {
      x[i] = offset + 2 * (i + random_unit(&seed)) / n - 1;
      y[i] = 0;
      for (int k = degree; k >= 0; k--) y[i] = y[i] * (x[i] - offset) + c[k];
    }
    for (int32_t rule = TSANOM_POLYFIT_R2; rule <= TSANOM_POLYFIT_BIC; rule++) {
      tsanom_polyfit_options options = options_of(12, rule, trial % 3 != 0);
      if (rule == TSANOM_POLYFIT_R2) options.r2 = 1 - 1e-12;
      tsanom_polyfit_model model = new_model();
      CHECK_STATUS(tsanom_polyfit_fit(x, y, NULL, (size_t)n, &options, NULL, &model),
                   TSANOM_OK);
      cr_assert(model.degree == degree, "trial %d rule %d: %d, not %d", trial, rule,
                model.degree, degree);
    }
  }
}

Test(polyfit, slopes_are_the_limit_of_differences) {
  static dataset set;
  uint64_t seed = 9;
  fill_dataset(&set, 80, &seed);
  tsanom_polyfit_options options = options_of(7, TSANOM_POLYFIT_FIXED, 1);
  tsanom_polyfit_model model = new_model();
  tsanom_polyfit_fit(set.x, set.y, NULL, set.n, &options, NULL, &model);
  double step = (set.x[79] - set.x[0]) * 1e-5;
  for (int i = 0; i < 80; i++) {
    double at[] = {set.x[i] - step, set.x[i] + step}, value[2], slope;
    CHECK_STATUS(tsanom_polyfit_evaluate(&model, at, 2, NULL, value, NULL), TSANOM_OK);
    CHECK_STATUS(tsanom_polyfit_evaluate(&model, &set.x[i], 1, NULL, NULL, &slope),
                 TSANOM_OK);
    double difference = (value[1] - value[0]) / (2 * step);
    double unit = sqrt(model.tss) / (set.x[79] - set.x[0]);
    cr_assert(fabs(slope - difference) < 1e-6 * unit, "%g, not %g", slope, difference);
  }
}

Test(polyfit, values_do_not_depend_on_level_or_threads_or_place) {
  static double x[40000], expected[40000], values[40000];
  tsanom_polyfit_model model = new_model();
  double xs[] = {0, 1, 2, 3, 4}, ys[] = {1, 0, 2, 5, 3};
  tsanom_polyfit_options options = options_of(4, TSANOM_POLYFIT_FIXED, 1);
  tsanom_polyfit_fit(xs, ys, NULL, 5, &options, NULL, &model);
  for (int i = 0; i < 40000; i++) x[i] = i * 1e-4;
  for (int i = 0; i < 40000; i++) {
    tsanom_polyfit_evaluate(&model, &x[i], 1, NULL, &expected[i], NULL);
  }
  FOR_EACH_ISA (isa) {
    for (int32_t threads = 1; threads <= 3; threads++) {
      tsanom_exec exec = exec_at(isa, threads);
      for (int i = 0; i < 40000; i++) values[i] = x[i];
      CHECK_STATUS(tsanom_polyfit_evaluate(&model, values, 40000, &exec, values, NULL),
                   TSANOM_OK);
      for (int i = 0; i < 40000; i++) cr_assert(values[i] == expected[i]);
    }
  }
}
