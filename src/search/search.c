/* SPDX-License-Identifier: BSD-3-Clause */
/* Options, normalisation and margins. */
#include <tsanom/search.h>

#include <float.h>
#include <math.h>

#include "core/exec.h"
#include "core/versioned.h"
#include "search/search_internal.h"

static const tsanom_search_options defaults = {.struct_size = sizeof defaults,
                                               .radius = SIZE_MAX,
                                               .neighbours = 1,
                                               .exclusion = SIZE_MAX,
                                               .cost = TSANOM_SEARCH_ABSOLUTE};

static const tsn_versioned options_type = {.size = sizeof(tsanom_search_options),
                                           .first_size = sizeof(tsanom_search_options),
                                           .defaults = &defaults};

tsanom_status tsanom_search_options_init(tsanom_search_options *options,
                                         size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

static int is_flag(int32_t value) {
  return value == 0 || value == 1;
}

tsanom_status tsn_search_read_options(tsanom_search_options *own,
                                      const tsanom_search_options *caller) {
  tsanom_status status = tsn_versioned_read(&options_type, own, caller);
  if (status < 0) return status;
  int known = own->cost == TSANOM_SEARCH_ABSOLUTE || own->cost == TSANOM_SEARCH_SQUARED;
  if (!known || own->neighbours == 0 || !is_flag(own->z_normalize) ||
      !is_flag(own->borrow) || own->reserved0 != 0) {
    return TSANOM_E_OPTION;
  }
  return TSANOM_OK;
}

tsanom_status tsn_search_check(const tsn_search_kernels *kernels, const double *x,
                               size_t n, int32_t z_normalize) {
  if (kernels->within(x, n, z_normalize ? TSN_SEARCH_LARGEST : DBL_MAX)) return TSANOM_OK;
  return kernels->within(x, n, DBL_MAX) ? TSANOM_E_VALUE : TSANOM_E_NONFINITE;
}

void tsn_search_normalize(const tsn_search_kernels *kernels, const double *x, size_t n,
                          double *out) {
  double mean, inverse;
  kernels->moments(x, n, &mean, &inverse);
  kernels->scale(x, n, mean, inverse, out);
}

tsanom_status tsanom_search_normalize(const double *x, size_t n, const tsanom_exec *exec,
                                      double *out) {
  tsanom_exec own_exec;
  if (!x || !out) return TSANOM_E_NULL;
  tsanom_status status = tsn_exec_read(&own_exec, exec);
  if (status < 0) return status;
  if (n == 0) return TSANOM_E_COUNT;
  const tsn_search_kernels *kernels = tsn_search_kernels_at(own_exec.isa);
  status = tsn_search_check(kernels, x, n, 1);
  if (status == TSANOM_OK) tsn_search_normalize(kernels, x, n, out);
  return status;
}

void tsn_search_query_ends(const double *query, size_t n, tsn_search_kim *kim) {
  for (size_t k = 0; k < TSN_SEARCH_ENDS; k++) {
    kim->query_front[k] = query[k < n ? k : 0];
    kim->query_back[k] = query[k < n ? n - 1 - k : 0];
  }
}

double tsn_search_limit(double distance, size_t n, int32_t cost, double error) {
  double length = (double)n, limit;
  if (cost == TSANOM_SEARCH_SQUARED) {
    double root = sqrt(distance) + 4 * error * sqrt(length);
    limit = root * root;
  } else {
    limit = distance + 4 * error * length;
  }
  return limit * (1 + (4 * length + 64) * DBL_EPSILON);
}
