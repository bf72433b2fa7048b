/* SPDX-License-Identifier: BSD-3-Clause */
/* Choice of the degree, and the statistics of a fit. With z = Q^T W^(1/2) y, the RSS of
 * neighboring degrees differ by a square:
 *
 *     RSS_{k-1} = RSS_k + z_k^2
 *
 * so that one factorization at the highest degree gives the RSS of all degrees. The
 * recurrence starts at the residuals of the highest degree and adds: starting from sum w
 * y^2 and subtracting, RSS would cancel to nothing for a good fit.
 *
 * Everything is computed in mapped units, where magnitudes are near 1, and scaled once at
 * the end by powers of two. A value below 2^-1022 in the caller's units is then rounded
 * once. */
#include "polyfit/polyfit_model.h"

#include <math.h>
#include <stddef.h>

#include "polyfit/polyfit_solve.h"

/* Limit of the conversion to monomials, far below the overflow of splitting a double into
 * two halves. */
#define LARGEST_MONOMIAL_EXPONENT 900

#define LOG_2 0x1.62e42fefa39efp-1

/* R^2, in double-double: 1 - RSS / TSS of a good fit is a difference of nearly equal numbers.
 * All y equal: 1, the constant is exact. */
static double r_squared(tsn_dd rss, tsn_dd tss) {
  if (tss.high == 0) return 1;
  tsn_dd r2 = tsn_dd_divide(tsn_dd_subtract(tss, rss), tss);
  return r2.high > 0 ? r2.high : 0;
}

/* Criteria as functions of the deviance n log(rss/n) and the number of coefficients. The
 * residual variance counts as one more parameter. C. M. Hurvich and C.-L. Tsai,
 * Biometrika 76 (1989) 297-307; G. Schwarz, Ann. Statist. 6 (1978) 461-464. */
static double aicc(double deviance, double n, double terms) {
  double k = terms + 1;
  if (n <= k + 1) return INFINITY;
  return deviance + 2 * k + 2 * k * (k + 1) / (n - k - 1);
}

static double bic(double deviance, double n, double terms) {
  return deviance + (terms + 1) * log(n);
}

/* The number of terms with the least criterion; ties go to fewer terms. An RSS below
 * rss_floor is rounding: without the floor, samples of an exact polynomial would get a
 * higher degree, whose rounding errors happen to be smaller. */
static int least_criterion(const tsn_polyfit_factor *factor, const tsn_dd *rss,
                           double (*criterion)(double, double, double)) {
  int best = 1;
  double least = INFINITY, n = (double)factor->samples;
  for (int terms = 1; terms <= factor->rank; terms++) {
    double rss_seen = fmax(rss[terms - 1].high, factor->rss_floor);
    double value = criterion(n * log(rss_seen / n), n, terms);
    if (value < least) {
      least = value;
      best = terms;
    }
  }
  return best;
}

/* TSANOM_RANK_DEFICIENT only if the selection was limited by the rank: by R^2, a lower
 * degree that reaches the threshold is what was asked for. AICc and BIC compare all
 * degrees, and so report it. */
tsanom_status tsn_polyfit_select(const tsn_polyfit_factor *factor, const tsn_dd *rss,
                                 const tsanom_polyfit_options *options, int *terms) {
  tsanom_status full = factor->rank < factor->asked ? TSANOM_RANK_DEFICIENT : TSANOM_OK;
  *terms = factor->rank;
  if (options->selection == TSANOM_POLYFIT_FIXED) return full;
  if (factor->tss.high == 0) {
    *terms = 1;
    return TSANOM_OK;
  }
  if (options->selection == TSANOM_POLYFIT_R2) {
    for (int k = 0; k < factor->rank; k++) {
      if (r_squared(rss[k], factor->tss) > options->r2) {
        *terms = k + 1;
        return TSANOM_OK;
      }
    }
    return full == TSANOM_OK ? TSANOM_INFEASIBLE : full;
  }
  *terms = least_criterion(factor, rss,
                           options->selection == TSANOM_POLYFIT_AICC ? aicc : bic);
  return full;
}

/* Whether no intermediate result of the conversion can overflow: T_k(shift + scale u) has
 * coefficients below (2 (|shift| + scale))^k. */
static int monomials_fit(const tsn_polyfit_map *map, int terms) {
  int growth; /* of the coefficients, in powers of two a degree */
  frexp(2 * (fabs(map->center * map->scale) + map->scale), &growth);
  return (terms - 1) * growth < LARGEST_MONOMIAL_EXPONENT;
}

/* Smaller parts of the largest coefficient are 0 in the conversion to monomials: no
 * product comes near the subnormal numbers, where its rounding error, and so the result,
 * would differ between an FMA and Dekker's splitting. */
#define NEGLIGIBLE_COEFFICIENT 0x1p-600

/* scaled = c 2^-exponent with the largest in [1/2, 1); returns the exponent. */
static int scale_coefficients(const tsn_dd *c, int terms, tsn_dd *scaled) {
  double largest = 0;
  int exponent;
  for (int k = 0; k < terms; k++) largest = fmax(largest, fabs(c[k].high));
  frexp(largest, &exponent);
  for (int k = 0; k < terms; k++) {
    scaled[k].high = tsn_scale(c[k].high, -exponent);
    scaled[k].low = tsn_scale(c[k].low, -exponent);
    if (fabs(scaled[k].high) < NEGLIGIBLE_COEFFICIENT) scaled[k] = tsn_dd_from(0);
  }
  return exponent;
}

/* Coefficients of powers and standard errors in the units of the samples. The covariance
 * of c is sigma^2 (R^T R)^-1, whose diagonal has the squared norms of the rows of R^-1. */
static void write_errors(const tsn_polyfit_factor *factor,
                         const tsn_polyfit_dd_kernels *kernels, int terms,
                         const tsn_dd *c, double *matrix, double sigma, double *lanes,
                         tsanom_polyfit_model *model) {
  const tsn_polyfit_map *map = factor->map;
  double *variances = lanes + tsn_polyfit_rows((size_t)terms);
  tsn_dd *scaled = (tsn_dd *)(variances + tsn_round_up((size_t)terms, TSN_POLYFIT_ROW));
  tsn_dd *monomial = scaled + terms;
  int fit = monomials_fit(map, terms);
  int c_exponent = scale_coefficients(c, terms, scaled);
  if (fit) {
    kernels->to_monomials(map, terms, scaled, lanes, monomial, matrix);
    kernels->monomial_variances(factor->inverse, factor->ld, matrix, terms, variances);
  } else {
    for (int k = 0; k < terms; k++) monomial[k] = tsn_dd_from(NAN);
  }
  for (int k = 0; k < terms; k++) {
    int power = k * map->x_exponent - map->y_exponent;
    model->sd[k] = tsn_scale(sigma * sqrt(factor->rows[k]), -map->y_exponent);
    model->monomial[k] = tsn_scale(monomial[k].high, power + c_exponent);
    model->monomial_sd[k] = fit ? tsn_scale(sigma * sqrt(variances[k]), power) : NAN;
  }
}

/* sqrt(rss / freedom), correct to the last digit. */
static double residual_sd(tsn_dd rss, double freedom) {
  if (!(freedom > 0)) return INFINITY;
  tsn_dd variance = tsn_dd_divide(rss, tsn_dd_from(freedom));
  return variance.high > 0 ? tsn_dd_sqrt(variance).high : 0;
}

static void write_curve(tsn_polyfit_factor *factor, int terms, const tsn_dd *c,
                        tsanom_polyfit_model *model) {
  const tsn_polyfit_map *map = factor->map;
  model->samples = factor->samples;
  model->degree = terms - 1;
  model->highest = factor->rank - 1;
  model->rank = factor->rank;
  model->method = factor->method;
  model->unit = map->x_unit;
  model->center = map->center;
  model->scale = map->scale;
  model->condition =
      terms == factor->rank ? factor->condition : tsn_polyfit_condition(factor, terms);
  for (int k = 0; k < terms; k++) {
    model->high[k] = tsn_scale(c[k].high, -map->y_exponent);
    model->low[k] = tsn_scale(c[k].low, -map->y_exponent);
  }
}

/* The model of an older caller ends before degree_rss or in it. */
static void write_degree_rss(const tsn_polyfit_factor *factor, const tsn_dd *rss,
                             int exponent, tsanom_polyfit_model *model) {
  size_t begin = offsetof(tsanom_polyfit_model, degree_rss);
  size_t most = (model->struct_size - begin) / sizeof *model->degree_rss;
  for (size_t k = 0; k < (size_t)factor->rank && k < most; k++) {
    model->degree_rss[k] = rss ? tsn_scale(rss[k].high, exponent) : NAN;
  }
}

static void write_no_statistics(tsanom_polyfit_model *model) {
  model->rss = model->tss = model->r2 = model->adjusted_r2 = NAN;
  model->residual_sd = model->aicc = model->bic = NAN;
  for (int k = 0; k <= model->degree; k++) {
    model->sd[k] = model->monomial[k] = model->monomial_sd[k] = NAN;
  }
}

/* Likelihood terms use log(own_rss) plus the logarithm of the units, which cannot
 * overflow as the RSS in the caller's units can. An interpolating polynomial has no
 * degree of freedom: infinite standard errors, and an adjusted R^2 of -infinity unless
 * R^2 is 1. */
static void write_statistics(const tsn_polyfit_factor *factor,
                             const tsn_polyfit_dd_kernels *kernels, const tsn_dd *rss,
                             const tsn_dd *c, double *matrix, double *lanes,
                             tsanom_polyfit_model *model) {
  const tsn_polyfit_map *map = factor->map;
  int terms = model->degree + 1;
  double n = (double)factor->samples, freedom = n - terms;
  int square_exponent = -2 * map->y_exponent - map->weight_exponent;
  double own_rss = rss[terms - 1].high;
  double sigma = residual_sd(rss[terms - 1], freedom);
  model->rss = tsn_scale(own_rss, square_exponent);
  model->tss = tsn_scale(factor->tss.high, square_exponent);
  model->r2 = r_squared(rss[terms - 1], factor->tss);
  model->residual_sd = tsn_scale(sigma, square_exponent / 2);
  model->adjusted_r2 = model->r2 == 1 ? 1
                       : freedom > 0  ? 1 - (1 - model->r2) * (n - 1) / freedom
                                      : -INFINITY;
  double deviance = n * (log(own_rss / n) + square_exponent * LOG_2);
  model->aicc = aicc(deviance, n, terms);
  model->bic = bic(deviance, n, terms);
  write_degree_rss(factor, rss, square_exponent, model);
  write_errors(factor, kernels, terms, c, matrix, sigma, lanes, model);
}

void tsn_polyfit_write(tsn_polyfit_factor *factor, const tsanom_polyfit_options *options,
                       const tsn_polyfit_dd_kernels *kernels, const tsn_dd *rss,
                       int terms, const tsn_dd *c, double *matrix, double *lanes,
                       tsanom_polyfit_model *model) {
  write_curve(factor, terms, c, model);
  if (options->coefficients_only) {
    write_no_statistics(model);
    write_degree_rss(factor, NULL, 0, model);
  } else {
    write_statistics(factor, kernels, rss, c, matrix, lanes, model);
  }
}
