/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums that a stream keeps, in an interval that grows. */
#ifndef TSN_POLYFIT_SUMS_H
#define TSN_POLYFIT_SUMS_H

#include <stdint.h>
#include <tsanom/polyfit.h>

#include "polyfit/polyfit_kernel.h"

typedef struct {
  uint64_t samples;
  double low, high;     /* interval of the map, in units of x */
  double x_low, x_high; /* range of the samples */
  double y_low, y_high;
  tsn_polyfit_map map;
  /* sum w T_k (2 terms - 1 of them), sum w T_k y (terms), sum w y^2. */
  tsn_dd sums[TSN_POLYFIT_MAX_SUMS];
} tsn_polyfit_sums;

void tsn_polyfit_sums_clear(tsn_polyfit_sums *sums);

/* Add a block of finite samples with positive weights; `exactly`: in
 * double-double. */
void tsn_polyfit_sums_add(tsn_polyfit_sums *sums, int terms, int32_t isa, int exactly,
                          const tsn_polyfit_samples *block);

/* Add all that `other` has; its interval and units may change, nothing else. */
void tsn_polyfit_sums_join(tsn_polyfit_sums *sums, int terms, tsn_polyfit_sums *other);

/* Map exactly the range of the samples to [-1, 1]. */
void tsn_polyfit_sums_tighten(tsn_polyfit_sums *sums, int terms);

typedef struct {
  tsn_dd *triangle;             /* terms x terms, by columns */
  double *r, *inverse, *matrix; /* the same each */
} tsn_polyfit_sums_scratch;

/* The fit of sums that were made for `stream_terms`. */
tsanom_status tsn_polyfit_sums_solve(const tsn_polyfit_sums *sums, int stream_terms,
                                     int exactly, const tsanom_polyfit_options *options,
                                     int32_t isa, const tsn_polyfit_sums_scratch *scratch,
                                     tsanom_polyfit_model *model);

#endif
