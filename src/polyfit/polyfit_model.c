/* SPDX-License-Identifier: BSD-3-Clause */
/* Choice of the degree, and the statistics of a fit. */
#include "polyfit/polyfit_model.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "polyfit/polyfit_monomial.h"

int tsn_polyfit_unit_exponent(double largest) {
  if (largest == 0) return 0;
  int exponent;
  frexp(largest, &exponent);
  return exponent < -1023 ? 1023 : -exponent;
}

void tsn_polyfit_degree_rss(const tsn_polyfit_factor *factor, double *rss) {
  rss[factor->rank - 1] = factor->rss;
  for (int k = factor->rank - 1; k > 0; k--) {
    rss[k - 1] = rss[k] + factor->z[k] * factor->z[k];
  }
}

static double r_squared(double rss, double tss) {
  if (tss == 0) return 1;
  double r2 = (tss - rss) / tss;
  return r2 > 0 ? r2 : 0;
}

/* n log(rss/n), the part of both criteria that tells of the fit. */
static double deviance(double rss, double n) {
  return n * log(rss / n);
}

static double aicc(double rss, double n, double terms) {
  double k = terms + 1; /* the variance is a parameter too */
  if (n <= k + 1) return INFINITY;
  return deviance(rss, n) + 2 * k + 2 * k * (k + 1) / (n - k - 1);
}

static double bic(double rss, double n, double terms) {
  return deviance(rss, n) + (terms + 1) * log(n);
}

static int least_criterion(const tsn_polyfit_factor *factor, const double *rss,
                           double (*criterion)(double, double, double)) {
  int best = 1;
  double least = INFINITY;
  for (int terms = 1; terms <= factor->rank; terms++) {
    double rss_seen = fmax(rss[terms - 1], factor->rss_floor);
    double value = criterion(rss_seen, (double)factor->samples, terms);
    if (value < least) {
      least = value;
      best = terms;
    }
  }
  return best;
}

tsanom_status tsn_polyfit_select(const tsn_polyfit_factor *factor, const double *rss,
                                 const tsanom_polyfit_options *options, int *terms) {
  tsanom_status full = factor->rank < factor->asked ? TSANOM_RANK_DEFICIENT : TSANOM_OK;
  *terms = factor->rank;
  if (factor->tss == 0 && options->selection != TSANOM_POLYFIT_FIXED) {
    *terms = 1;
    return TSANOM_OK;
  }
  switch (options->selection) {
    case TSANOM_POLYFIT_R2:
      for (int k = 0; k < factor->rank; k++) {
        if (r_squared(rss[k], factor->tss) > options->r2) {
          *terms = k + 1;
          return TSANOM_OK;
        }
      }
      return full == TSANOM_OK ? TSANOM_INFEASIBLE : full;
    case TSANOM_POLYFIT_AICC:
      *terms = least_criterion(factor, rss, aicc);
      return full;
    case TSANOM_POLYFIT_BIC:
      *terms = least_criterion(factor, rss, bic);
      return full;
    default:
      return full;
  }
}

size_t tsn_polyfit_describe_scratch(size_t terms) {
  return 2 * terms * terms;
}

/* inverse = R^-1, upper triangle by columns with leading dimension `terms`. */
static void invert_triangle(const double *r, int ld, int terms, double *inverse) {
  for (int k = 0; k < terms; k++) {
    double *column = inverse + (ptrdiff_t)k * terms;
    for (int i = 0; i < terms; i++) column[i] = 0;
    column[k] = 1 / r[k + (ptrdiff_t)k * ld];
    for (int j = k; j > 0; j--) {
      const double *r_column = r + (ptrdiff_t)j * ld;
      for (int i = 0; i < j; i++) column[i] -= r_column[i] * column[j];
      column[j - 1] /= r[(j - 1) + (ptrdiff_t)(j - 1) * ld];
    }
  }
}

/* ||R D||_F ||(R D)^-1||_F with D making the columns of R D unit vectors. */
static double condition(const double *r, int ld, int terms, const double *inverse) {
  double sum = 0;
  for (int k = 0; k < terms; k++) {
    double column = 0, row = 0;
    for (int i = 0; i <= k; i++) {
      double entry = r[i + (ptrdiff_t)k * ld];
      column += entry * entry;
    }
    for (int j = k; j < terms; j++) {
      double entry = inverse[k + (ptrdiff_t)j * terms];
      row += entry * entry;
    }
    sum += column * row;
  }
  return sqrt((double)terms) * sqrt(sum);
}

/* Standard errors for a residual variance of 1: the norms of the rows of
 * R^-1, and of that matrix turned to monomials. */
static void unit_errors(const double *inverse, const double *matrix, int terms,
                        double *sd, double *monomial_sd) {
  double square[TSANOM_POLYFIT_TERMS] = {0}, monomial_square[TSANOM_POLYFIT_TERMS] = {0};
  for (int k = 0; k < terms; k++) {
    const double *column = inverse + (ptrdiff_t)k * terms;
    double turned[TSANOM_POLYFIT_TERMS] = {0};
    for (int i = 0; i <= k; i++) {
      const double *powers = matrix + (ptrdiff_t)i * terms;
      for (int j = 0; j <= i; j++) turned[j] += powers[j] * column[i];
      square[i] += column[i] * column[i];
    }
    for (int j = 0; j <= k; j++) monomial_square[j] += turned[j] * turned[j];
  }
  for (int k = 0; k < terms; k++) {
    sd[k] = sqrt(square[k]);
    monomial_sd[k] = sqrt(monomial_square[k]);
  }
}

/* Back to the units of the samples. */
static void write_coefficients(const tsn_polyfit_factor *factor, int terms,
                               const tsn_dd *coefficient, double *scratch, double sigma,
                               tsanom_polyfit_model *model) {
  const tsn_polyfit_map *map = &factor->map;
  double *inverse = scratch, *matrix = scratch + (ptrdiff_t)terms * terms;
  tsn_dd monomial[TSANOM_POLYFIT_TERMS];
  double sd[TSANOM_POLYFIT_TERMS], monomial_sd[TSANOM_POLYFIT_TERMS];
  invert_triangle(factor->r, factor->ld, terms, inverse);
  tsn_polyfit_to_monomials(map->center, map->scale, terms, coefficient, monomial, matrix);
  unit_errors(inverse, matrix, terms, sd, monomial_sd);
  model->condition = condition(factor->r, factor->ld, terms, inverse);
  for (int k = 0; k < terms; k++) {
    int power = k * map->x_exponent - map->y_exponent;
    model->high[k] = ldexp(coefficient[k].high, -map->y_exponent);
    model->low[k] = ldexp(coefficient[k].low, -map->y_exponent);
    model->sd[k] = ldexp(sigma * sd[k], -map->y_exponent);
    double value = ldexp(monomial[k].high, power);
    model->monomial[k] = isnan(value) ? INFINITY : value;
    value = ldexp(sigma * monomial_sd[k], power);
    model->monomial_sd[k] = isnan(value) ? INFINITY : value;
  }
}

void tsn_polyfit_describe(const tsn_polyfit_factor *factor, const double *rss, int terms,
                          const tsn_dd *coefficient, double *scratch,
                          tsanom_polyfit_model *model) {
  const tsn_polyfit_map *map = &factor->map;
  double n = (double)factor->samples, freedom = n - terms;
  int square_exponent = -2 * map->y_exponent - map->weight_exponent;
  double own_rss = rss[terms - 1];
  model->samples = factor->samples;
  model->degree = terms - 1;
  model->highest = factor->rank - 1;
  model->rank = factor->rank;
  model->method = factor->method;
  model->unit = map->x_unit;
  model->center = map->center;
  model->scale = map->scale;
  model->rss = ldexp(own_rss, square_exponent);
  model->tss = ldexp(factor->tss, square_exponent);
  model->r2 = r_squared(own_rss, factor->tss);
  double sigma = freedom > 0 ? sqrt(own_rss / freedom) : INFINITY;
  model->residual_sd = ldexp(sigma, square_exponent / 2);
  model->adjusted_r2 = model->r2 == 1 ? 1
                       : freedom > 0  ? 1 - (1 - model->r2) * (n - 1) / freedom
                                      : -INFINITY;
  double unit_deviance = n * square_exponent * 0x1.62e42fefa39efp-1; /* log 2 */
  model->aicc = aicc(own_rss, n, terms) + unit_deviance;
  model->bic = bic(own_rss, n, terms) + unit_deviance;
  for (int k = 0; k < factor->rank; k++) {
    model->degree_rss[k] = ldexp(rss[k], square_exponent);
  }
  write_coefficients(factor, terms, coefficient, scratch, sigma, model);
}
