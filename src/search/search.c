/* SPDX-License-Identifier: BSD-3-Clause */
/* Options, input checks, normalization, and the margin of lower bounds: what the search
 * of an index and that of a stream share. */
#include <tsanom/search.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "core/environment.h"
#include "core/fault.h"
#include "core/series.h"
#include "core/size.h"
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

static bool is_flag(int32_t value) {
  return value == 0 || value == 1;
}

tsanom_status tsn_search_read_options(tsanom_search_options *own,
                                      const tsanom_search_options *caller,
                                      const tsanom_exec *exec) {
  tsanom_status status = tsn_versioned_read(&options_type, own, caller);
  if (status < 0) return tsn_reject(exec, status, "options.struct_size");
  const char *field = own->cost < TSANOM_COST_ABSOLUTE || own->cost > TSANOM_COST_SQUARED
                          ? "options.cost"
                      : !is_flag(own->z_normalize) ? "options.z_normalize"
                      : !is_flag(own->borrow)      ? "options.borrow"
                      : own->reserved0 != 0        ? "options.reserved0"
                                                   : NULL;
  return field ? tsn_reject(exec, TSANOM_E_OPTION, field) : TSANOM_OK;
}

tsanom_status tsn_search_read_series(tsanom_series *own, const tsanom_series *caller,
                                     const char *name, size_t length,
                                     const tsanom_exec *exec) {
  tsanom_status status = tsn_series_read(own, caller, name, exec);
  if (status < 0 || (status = tsn_series_require(own, name, exec)) < 0) return status;
  if (own->dimensions != 1) {
    return tsn_reject_field(exec, TSANOM_E_OPTION, name, "dimensions", TSANOM_NONE);
  }
  if (own->stride != 1) {
    return tsn_reject_field(exec, TSANOM_E_OPTION, name, "stride", TSANOM_NONE);
  }
  /* Lengths given one by one are accepted if all are equal; the copy has one length. */
  if (length == 0) length = tsn_series_length(own, 0);
  for (size_t i = 0; i < own->count; i++) {
    size_t samples = tsn_series_length(own, i);
    if (samples == length) continue;
    char field[sizeof((tsanom_fault *)NULL)->argument];
    (void)snprintf(field, sizeof field, "%s.%s", name,
                   own->lengths ? "lengths" : "length");
    return tsn_reject_text(exec, TSANOM_E_COUNT, field, own->lengths ? i : TSANOM_NONE,
                           "%zu samples; %zu samples are expected", samples, length);
  }
  own->length = length;
  own->lengths = NULL;
  return TSANOM_OK;
}

/* One pass over all samples, and only for a bad one a second pass that finds it. */
size_t tsn_search_first_bad(const tsn_search_kernels *kernels, const double *x, size_t n,
                            int32_t z_normalize) {
  double largest = z_normalize ? TSN_SEARCH_LARGEST : DBL_MAX;
  tsn_environment before = tsn_environment_enter(); /* NaN must not trap */
  size_t k = kernels->within(x, n, largest) ? n : 0;
  while (k < n && fabs(x[k]) <= largest) k++;
  tsn_environment_leave(before);
  return k;
}

tsanom_status tsn_search_bad_status(double sample) {
  return isfinite(sample) ? TSANOM_E_VALUE : TSANOM_E_NONFINITE;
}

/* A constant series becomes zeros: its `inverse` is 0. */
void tsn_search_normalize(const tsn_search_kernels *kernels, const double *x, size_t n,
                          double *out) {
  tsn_search_moments moments;
  kernels->moments(x, n, &moments);
  kernels->scale(x, n, &moments, out);
}

tsanom_status tsanom_search_normalize(const double *x, size_t n, const tsanom_exec *exec,
                                      double *out) {
  tsanom_exec own_exec;
  tsanom_status status = tsn_exec_read(&own_exec, exec);
  if (status < 0) return status;
  if (!x) return tsn_reject(&own_exec, TSANOM_E_NULL, "x");
  if (!out) return tsn_reject(&own_exec, TSANOM_E_NULL, "out");
  if (n == 0) return tsn_reject(&own_exec, TSANOM_E_COUNT, "n");
  if (!tsn_array_fits(n, sizeof *x)) return tsn_reject(&own_exec, TSANOM_E_OVERFLOW, "n");
  const tsn_search_kernels *kernels = tsn_search_kernels_at(own_exec.isa);
  size_t bad = tsn_search_first_bad(kernels, x, n, 1);
  if (bad < n) return tsn_reject_at(&own_exec, tsn_search_bad_status(x[bad]), "x", bad);
  tsn_environment before = tsn_environment_enter();
  tsn_search_normalize(kernels, x, n, out);
  tsn_environment_leave(before);
  return TSANOM_OK;
}

/* A query of fewer than three samples repeats its first one, with weight 0. */
void tsn_search_query_ends(const double *query, size_t n, tsn_search_kim *kim) {
  for (size_t k = 0; k < TSN_SEARCH_ENDS; k++) {
    kim->query_front[k] = query[k < n ? k : 0];
    kim->query_back[k] = query[k < n ? n - 1 - k : 0];
  }
}

/* search_internal.h derives the terms of `error`. The last factor covers the rounding of
 * two sums of up to 2n terms each, that of the bound and that of the distance. */
double tsn_search_limit(double distance, size_t n, int32_t cost, double error) {
  double length = (double)n, limit;
  if (cost == TSANOM_COST_SQUARED) {
    double root = sqrt(distance) + 4 * error * sqrt(length);
    limit = root * root;
  } else {
    limit = distance + 4 * error * length;
  }
  return limit * (1 + (4 * length + 64) * DBL_EPSILON);
}
