/* SPDX-License-Identifier: BSD-3-Clause */
/* Gram-Schmidt on all samples at once, in long double. Each direction is taken out twice,
 * because rounding leaves a part of it the first time. Random data sets have units of
 * 2^-40 to 2^40. */
#include "reference.h"

#include <math.h>
#include <string.h>

#include "support/check.h"
#include "support/random.h"

void fill_dataset(dataset *set, size_t n, uint64_t *seed) {
  double x_unit = ldexp(1, (int)random_between(seed, 0, 80) - 40);
  double y_unit = ldexp(1, (int)random_between(seed, 0, 80) - 40);
  double offset = random_bits(seed) % 2 ? 10 * random_unit(seed) - 5 : 0;
  double noise = random_bits(seed) % 2 ? 0.1 * random_unit(seed) : 0;
  double bend = 6 * random_unit(seed);
  set->n = n;
  for (size_t i = 0; i < n; i++) {
    double u = ((double)i + 0.9 * random_unit(seed)) / (double)n;
    set->x[i] = x_unit * (offset + u);
    set->y[i] = y_unit * (sin(bend * u) + u + noise * (random_unit(seed) - 0.5));
    set->weights[i] = 0.1 + random_unit(seed);
  }
}

static long double product(const long double *a, const long double *b, size_t n) {
  long double sum = 0;
  for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static void take_out(long double *a, const long double *direction, size_t n) {
  long double part = product(a, direction, n);
  for (size_t i = 0; i < n; i++) a[i] -= part * direction[i];
}

void reference_fit(const double *x, const double *y, const double *weights, size_t n,
                   int degree, long double *rss, long double *fitted) {
  static long double basis[REFERENCE_DEGREE + 1][MOST_SAMPLES], rest[MOST_SAMPLES];
  double low = x[0], high = x[0];
  for (size_t i = 0; i < n; i++) {
    low = fmin(low, x[i]);
    high = fmax(high, x[i]);
    rest[i] = y[i] * (weights ? sqrtl(weights[i]) : 1);
  }
  for (int k = 0; k <= degree; k++) {
    for (size_t i = 0; i < n; i++) {
      long double t = ((long double)x[i] - low) / ((long double)high - low) * 2 - 1;
      basis[k][i] = k == 0 ? (weights ? sqrtl(weights[i]) : 1) : basis[k - 1][i] * t;
    }
    for (int again = 0; again < 2; again++) {
      for (int j = 0; j < k; j++) take_out(basis[k], basis[j], n);
    }
    long double norm = sqrtl(product(basis[k], basis[k], n));
    for (size_t i = 0; i < n; i++) basis[k][i] /= norm;
    for (int again = 0; again < 2; again++) take_out(rest, basis[k], n);
    rss[k] = product(rest, rest, n);
  }
  for (size_t i = 0; i < n; i++) {
    fitted[i] = y[i] - rest[i] / (weights ? sqrtl(weights[i]) : 1);
  }
}

tsanom_polyfit_model new_model(void) {
  tsanom_polyfit_model model = {.struct_size = sizeof model};
  return model;
}

tsanom_polyfit_options options_of(int32_t degree, int32_t selection, int32_t refine) {
  tsanom_polyfit_options options;
  CHECK_STATUS(tsanom_polyfit_options_init(&options, sizeof options), TSANOM_OK);
  options.degree = degree;
  options.selection = selection;
  options.refine = refine;
  return options;
}

int same_model(const tsanom_polyfit_model *a, const tsanom_polyfit_model *b) {
  return memcmp(a, b, sizeof *a) == 0; /* NOLINT: bits are what is asked */
}
