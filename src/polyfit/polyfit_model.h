/* SPDX-License-Identifier: BSD-3-Clause */
/* From a factorization to a model: choice of the degree and statistics. */
#ifndef TSN_POLYFIT_MODEL_H
#define TSN_POLYFIT_MODEL_H

#include <tsanom/polyfit.h>

#include "polyfit/dd.h"
#include "polyfit/polyfit_kernel.h"

/* The weighted basis A = Q R and the projection of y on it, in mapped units. */
typedef struct {
  const tsn_polyfit_map *map;
  uint64_t samples;
  int asked;       /* requested basis functions */
  int rank;        /* leading basis functions that the data determine */
  int ld;          /* leading dimension of the inverse */
  int32_t method;  /* TSANOM_POLYFIT_GRAM or _QR */
  double *inverse; /* R^-1, upper triangle, by columns */
  double *z;       /* Q^T y */
  double norms[TSN_POLYFIT_MAX_TERMS]; /* squared norms of the columns of A */
  double rows[TSN_POLYFIT_MAX_TERMS];  /* of the rows of R^-1 */
  double condition; /* as tsanom_polyfit_model's, of all `rank` columns */
  double rss_floor; /* a smaller RSS is only rounding */
  tsn_dd tss;       /* about the weighted mean */
} tsn_polyfit_factor;

/* The number of terms that `options` selects, and the status of the selection. */
tsanom_status tsn_polyfit_select(const tsn_polyfit_factor *factor, const tsn_dd *rss,
                                 const tsanom_polyfit_options *options, int *terms);

/* Write the model of `terms` coefficients c, with what `options` asks for; matrix:
 * scratch of terms^2 and a row; lanes: tsn_polyfit_lanes() of a thread. */
void tsn_polyfit_write(tsn_polyfit_factor *factor, const tsanom_polyfit_options *options,
                       const tsn_polyfit_dd_kernels *kernels, const tsn_dd *rss,
                       int terms, const tsn_dd *c, double *matrix, double *lanes,
                       tsanom_polyfit_model *model);

#endif
