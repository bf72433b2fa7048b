/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <tsanom/polyfit.h>

#include "support/check.h"

static tsanom_polyfit_model new_model(void) {
  tsanom_polyfit_model model;
  CHECK_STATUS(tsanom_polyfit_model_init(&model, sizeof model), TSANOM_OK);
  return model;
}

Test(polyfit, a_parabola_is_found_again) {
  double x[20], y[20], value[20], slope[20];
  for (int i = 0; i < 20; i++) {
    x[i] = 1000 + i;
    y[i] = 3 - 2 * x[i] + 0.5 * x[i] * x[i];
  }
  tsanom_polyfit_options options;
  tsanom_polyfit_options_init(&options, sizeof options);
  options.degree = 2;
  tsanom_polyfit_model model = new_model();
  CHECK_STATUS(tsanom_polyfit_fit(x, y, NULL, 20, &options, NULL, NULL, 0, &model),
               TSANOM_OK);
  cr_assert(model.degree == 2 && model.rank == 3 && model.samples == 20);
  cr_assert(fabs(model.monomial[0] - 3) < 1e-6);
  cr_assert(fabs(model.monomial[1] + 2) < 1e-9);
  cr_assert(fabs(model.monomial[2] - 0.5) < 1e-12);
  cr_assert(model.r2 > 1 - 1e-12);
  CHECK_STATUS(tsanom_polyfit_evaluate(&model, x, 20, NULL, value, slope), TSANOM_OK);
  for (int i = 0; i < 20; i++) {
    cr_assert(fabs(value[i] - y[i]) < 1e-9 * y[i]);
    cr_assert(fabs(slope[i] - (x[i] - 2)) < 1e-9 * x[i]);
  }
}

Test(polyfit, the_degree_rises_until_r2_is_above_the_threshold) {
  double x[50], y[50];
  for (int i = 0; i < 50; i++) {
    x[i] = i;
    y[i] = (i - 25) * (i - 25);
  }
  tsanom_polyfit_options options;
  tsanom_polyfit_options_init(&options, sizeof options);
  options.degree = 8;
  options.selection = TSANOM_POLYFIT_R2;
  tsanom_polyfit_model model = new_model();
  CHECK_STATUS(tsanom_polyfit_fit(x, y, NULL, 50, &options, NULL, NULL, 0, &model),
               TSANOM_OK);
  cr_assert(model.degree == 2);
  cr_assert(model.highest == 8);
}

Test(polyfit, repeated_x_give_the_largest_fit_there_is) {
  double x[] = {1, 1, 2, 2, 3, 3}, y[] = {1, 2, 3, 4, 7, 6};
  tsanom_polyfit_options options;
  tsanom_polyfit_options_init(&options, sizeof options);
  options.degree = 4;
  tsanom_polyfit_model model = new_model();
  CHECK_STATUS(tsanom_polyfit_fit(x, y, NULL, 6, &options, NULL, NULL, 0, &model),
               TSANOM_RANK_DEFICIENT);
  cr_assert(model.degree == 2 && model.rank == 3);
}
