/* SPDX-License-Identifier: BSD-3-Clause */
/* Fit a polynomial whose degree the data choose, and read values from it. */
#include <math.h>
#include <stdio.h>
#include <tsanom/polyfit.h>

enum { SAMPLES = 60 };

int main(void) {
  double time[SAMPLES], rate[SAMPLES];
  for (int i = 0; i < SAMPLES; i++) {
    time[i] = 5 + 0.1 * i;
    rate[i] = 100 + 20 * sin(time[i]) + (i * 7 % 5 - 2) * 0.3;
  }

  tsanom_polyfit_options options;
  tsanom_polyfit_options_init(&options, sizeof options);
  options.selection = TSANOM_POLYFIT_R2; /* the first degree with R^2 > 0.99 */
  options.r2 = 0.99;
  options.degree = 10; /* the highest to try */

  tsanom_polyfit_model model = {.struct_size = sizeof model};
  tsanom_status status =
      tsanom_polyfit_fit(time, rate, NULL, SAMPLES, &options, NULL, &model);
  if (status != TSANOM_OK) {
    (void)fprintf(stderr, "%s\n", tsanom_status_text(status));
    return 1;
  }
  printf("degree %d, R^2 %.6f, residual sd %.4f\n", model.degree, model.r2,
         model.residual_sd);
  for (int k = 0; k <= model.degree; k++) {
    printf("  x^%d  %14.6g +- %.2g\n", k, model.monomial[k], model.monomial_sd[k]);
  }

  double at[] = {5.05, 7.5, 10}, value[3], slope[3];
  status = tsanom_polyfit_evaluate(&model, at, 3, NULL, value, slope);
  for (int i = 0; status == TSANOM_OK && i < 3; i++) {
    printf("at %.2f: %.3f, rising by %.3f\n", at[i], value[i], slope[i]);
  }
  return status != TSANOM_OK;
}
