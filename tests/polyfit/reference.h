/* SPDX-License-Identifier: BSD-3-Clause */
/* Least squares straight from the definition, and samples to try it on. */
#ifndef TSANOM_TEST_POLYFIT_REFERENCE_H
#define TSANOM_TEST_POLYFIT_REFERENCE_H

#include <stddef.h>
#include <stdint.h>
#include <tsanom/polyfit.h>

enum { MOST_SAMPLES = 6000, REFERENCE_DEGREE = 12 };

typedef struct {
  double x[MOST_SAMPLES], y[MOST_SAMPLES], weights[MOST_SAMPLES];
  size_t n;
} dataset;

/* Random samples of a random smooth function with noise, in random units. */
void fill_dataset(dataset *set, size_t n, uint64_t *seed);

/* RSS of every degree up to `degree`, and the fitted values of that degree, by
 * Gram-Schmidt orthogonalisation, done twice, in long double. Needs
 * n > degree distinct x. weights may be NULL. */
void reference_fit(const double *x, const double *y, const double *weights, size_t n,
                   int degree, long double *rss, long double *fitted);

/* An empty model, and options of a degree. */
tsanom_polyfit_model new_model(void);
tsanom_polyfit_options options_of(int32_t degree, int32_t selection, int32_t refine);

/* Whether two models are bitwise equal. */
int same_model(const tsanom_polyfit_model *a, const tsanom_polyfit_model *b);

#endif
