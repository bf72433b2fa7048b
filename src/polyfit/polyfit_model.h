/* SPDX-License-Identifier: BSD-3-Clause */
/* From a factorisation to a model: choice of the degree and the statistics. */
#ifndef TSN_POLYFIT_MODEL_H
#define TSN_POLYFIT_MODEL_H

#include <tsanom/polyfit.h>

#include "polyfit/dd.h"

/* How samples are brought near 1 before anything is computed, so that nothing
 * overflows; units are powers of two, and that of the weights an even one. */
typedef struct {
  int x_exponent, y_exponent, weight_exponent; /* x 2^x_exponent is at most 1 */
  double x_unit, y_unit, weight_unit;          /* 2^exponent */
  double center, scale;                        /* t = (x x_unit - center) scale */
} tsn_polyfit_map;

/* The weighted basis A = Q R and what it says of y, all in mapped units. */
typedef struct {
  tsn_polyfit_map map;
  uint64_t samples;
  int asked;        /* basis functions asked for */
  int rank;         /* those that are determined, from the first on */
  int ld;           /* leading dimension of r */
  int32_t method;   /* TSANOM_POLYFIT_GRAM or _QR */
  const double *r;  /* R, upper triangle of `rank` columns, by columns */
  const double *z;  /* Q^T y */
  double rss;       /* of the fit with all `rank` functions */
  double tss;       /* about the weighted mean */
  double rss_floor; /* below it an RSS is only rounding */
} tsn_polyfit_factor;

/* Bring a largest magnitude to [1/2, 1): the exponent of the unit. */
int tsn_polyfit_unit_exponent(double largest);

/* Fill rss[k] for every degree k below the rank. */
void tsn_polyfit_degree_rss(const tsn_polyfit_factor *factor, double *rss);

/* The terms of the degree that `options` selects, and the status of it. */
tsanom_status tsn_polyfit_select(const tsn_polyfit_factor *factor, const double *rss,
                                 const tsanom_polyfit_options *options, int *terms);

/* Doubles of scratch that tsn_polyfit_describe() needs for so many terms. */
size_t tsn_polyfit_describe_scratch(size_t terms);

/* Write the model of `terms` coefficients. */
void tsn_polyfit_describe(const tsn_polyfit_factor *factor, const double *rss, int terms,
                          const tsn_dd *coefficient, double *scratch,
                          tsanom_polyfit_model *model);

#endif
