/* SPDX-License-Identifier: BSD-3-Clause */
/* Options, checks of samples, normalization, and the margin of lower bounds: what the search
 * of an index and that of a stream share, besides DTW (distances.c). */
#include <tsanom/search.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/environment.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/versioned.h"
#include "search/search_internal.h"

static const tsanom_search_options defaults = {.struct_size = sizeof defaults,
                                               .radius = TSANOM_NONE,
                                               .neighbors = 1,
                                               .exclusion = TSANOM_NONE,
                                               .cost = TSANOM_COST_ABSOLUTE};

static const tsn_versioned options_type = {.size = sizeof(tsanom_search_options),
                                           .first_size = sizeof(tsanom_search_options),
                                           .defaults = &defaults};

tsanom_status tsanom_search_options_init(tsanom_search_options *options,
                                         size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

tsanom_status tsn_search_read_options(tsanom_search_options *own,
                                      const tsanom_search_options *caller,
                                      const tsanom_exec *exec) {
  const tsanom_status option = TSANOM_E_OPTION;
  tsanom_status status = tsn_struct_read(exec, &options_type, own, caller, "options");
  if (status < 0) return status;
  if ((status = tsn_require_int(exec, option, "options.cost", own->cost, 0, 1)) < 0 ||
      (status = tsn_require_int(exec, option, "options.z_normalize", own->z_normalize, 0,
                                1)) < 0 ||
      (status = tsn_require_int(exec, option, "options.borrow", own->borrow, 0, 1)) < 0) {
    return status;
  }
  return tsn_require_int(exec, option, "options.reserved0", own->reserved0, 0, 0);
}

/* One pass over all samples, and only for a bad one a second pass that finds it. */
tsanom_status tsn_search_check(const tsanom_exec *exec, const char *name, size_t series,
                               const double *x, size_t n, int32_t z_normalize) {
  double largest = z_normalize ? TSN_SEARCH_LARGEST : DBL_MAX;
  tsn_environment before = tsn_environment_enter(); /* NaN must not trap */
  size_t k = tsn_search_kernels_at(exec->isa)->within(x, n, largest) ? n : 0;
  while (k < n && fabs(x[k]) <= largest) k++;
  tsn_environment_leave(before);
  if (k == n) return TSANOM_OK;
  bool finite = isfinite(x[k]), is_one = series == TSANOM_NONE;
  return tsn_reject_value(exec, finite ? TSANOM_E_VALUE : TSANOM_E_NONFINITE, name,
                          is_one ? k : series, is_one ? TSANOM_NONE : k, x[k],
                          finite ? "magnitudes up to 1e140 are expected" : TSN_FINITE);
}

/* A constant series becomes zeros: its `inverse` is 0. */
void tsn_search_prepare(const tsn_search_kernels *kernels, const double *x, size_t n,
                        int32_t z_normalize, double *out) {
  if (!z_normalize) {
    memcpy(out, x, n * sizeof *x);
    return;
  }
  tsn_search_moments moments;
  kernels->moments(x, n, &moments);
  kernels->scale(x, n, &moments, out);
}

tsanom_status tsanom_search_normalize(const double *x, size_t n, const tsanom_exec *exec,
                                      double *out) {
  tsanom_exec own_exec;
  tsanom_status status = tsn_exec_read(&own_exec, exec);
  if (status < 0) return status;
  if ((status = tsn_require_size(&own_exec, TSANOM_E_COUNT, "n", n, 1, SIZE_MAX)) < 0 ||
      (status = tsn_require_size(&own_exec, TSANOM_E_OVERFLOW, "n", n, 1,
                                 PTRDIFF_MAX / sizeof *x)) < 0 ||
      (status = tsn_require_array(&own_exec, x, n, "x")) < 0 ||
      (status = tsn_require_array(&own_exec, out, n, "out")) < 0 ||
      (status = tsn_search_check(&own_exec, "x", TSANOM_NONE, x, n, 1)) < 0) {
    return status;
  }
  tsn_environment before = tsn_environment_enter();
  tsn_search_prepare(tsn_search_kernels_at(own_exec.isa), x, n, 1, out);
  tsn_environment_leave(before);
  return TSANOM_OK;
}

/* search_internal.h derives the terms of `error`. The last factor covers the rounding of
 * two sums of up to 2n terms each, that of the bound and that of the distance. */
double tsn_search_limit(const tsn_search_dtw *dtw, double distance, double error) {
  double length = (double)dtw->n, limit;
  if (dtw->cost == TSANOM_COST_SQUARED) {
    double root = sqrt(distance) + 4 * error * sqrt(length);
    limit = root * root;
  } else {
    limit = distance + 4 * error * length;
  }
  return limit * (1 + (4 * length + 64) * DBL_EPSILON);
}
