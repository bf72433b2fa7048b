/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of points, of matrices of distances, and of the caller's orders. Points and
 * matrices are checked in row-major order, so that the first fault found is the smallest.
 *
 * The searches rely on what is checked here. A NaN compares false with everything, so
 * that a point with one would never become the smallest and the order would not be a
 * permutation. A matrix is read above its diagonal only; one that is not symmetric would
 * have a result that depends on this choice, and is rejected. */
#include <math.h>
#include <stddef.h>

#include "core/fault.h"
#include "core/versioned.h"
#include "optics/optics_internal.h"

/* The sum of squares of differences of such magnitudes does not overflow: a difference is
 * at most 2e150, its square 4e300, and 4e7 of these are below DBL_MAX. */
#define LARGEST 1e150

static tsanom_status check_points(const tsn_optics_input *in, const tsanom_exec *exec) {
  for (size_t i = 0; i < in->n; i++) {
    const double *row = in->points + i * in->ld;
    for (size_t c = 0; c < in->dimensions; c++) {
      if (fabs(row[c]) <= LARGEST) continue;
      bool finite = isfinite(row[c]);
      return tsn_reject_value(exec, finite ? TSANOM_E_VALUE : TSANOM_E_NONFINITE,
                              "points", i, c, row[c],
                              finite ? "a magnitude of at most 1e150 is expected"
                                     : "finite coordinates are expected");
    }
  }
  return TSANOM_OK;
}

tsanom_status tsn_optics_check_distance(double distance) {
  if (!isfinite(distance)) return TSANOM_E_NONFINITE;
  return distance < 0 ? TSANOM_E_VALUE : TSANOM_OK;
}

static tsanom_status reject_distance(double d, tsanom_status status, size_t i, size_t j,
                                     const tsanom_exec *exec) {
  return tsn_reject_value(exec, status, "distances", i, j, d, TSN_OPTICS_A_DISTANCE);
}

static tsanom_status check_condensed(const tsn_optics_input *in,
                                     const tsanom_exec *exec) {
  const double *next = in->matrix;
  for (size_t i = 0; i < in->n; i++) {
    for (size_t j = i + 1; j < in->n; j++, next++) {
      tsanom_status status = tsn_optics_check_distance(*next);
      if (status < 0) return reject_distance(*next, status, i, j, exec);
    }
  }
  return TSANOM_OK;
}

/* Each pair is compared with its mirror image once, at its second element: the first one
 * has been checked for its value by then. */
static tsanom_status check_square(const tsn_optics_input *in, const tsanom_exec *exec) {
  for (size_t i = 0; i < in->n; i++) {
    for (size_t j = 0; j < in->n; j++) {
      double d = in->matrix[i * in->ld + j], mirrored = in->matrix[j * in->ld + i];
      tsanom_status status = tsn_optics_check_distance(d);
      if (status < 0) return reject_distance(d, status, i, j, exec);
      if (i == j && d != 0) {
        return tsn_reject_value(exec, TSANOM_E_VALUE, "distances", i, j, d,
                                "a diagonal of 0 is expected");
      }
      if (j < i && d != mirrored) {
        return tsn_reject_pair_is(
            exec, TSANOM_E_VALUE, "distances", i, j,
            "%.17g, and %.17g the other way; a symmetric matrix is expected", d,
            mirrored);
      }
    }
  }
  return TSANOM_OK;
}

tsanom_status tsn_optics_check_input(const tsn_optics_input *in,
                                     const tsanom_exec *exec) {
  if (in->points) return check_points(in, exec);
  if (in->function) return TSANOM_OK;
  return in->ld ? check_square(in, exec) : check_condensed(in, exec);
}

/* The caller's struct of an order, and its checks. The struct is input and output: the
 * order functions write to the arrays that it names, and cut, split and xi read them. An
 * array that a function does not need may be NULL. */

static const tsanom_optics_ordering defaults = {.struct_size = sizeof defaults,
                                                .eps = INFINITY};

static const tsn_versioned ordering_type = {
    .size = sizeof(tsanom_optics_ordering),
    .first_size = offsetof(tsanom_optics_ordering, eps),
    .defaults = &defaults};

tsanom_status tsn_optics_check_count(size_t n, const char *name,
                                     const tsanom_exec *exec) {
  return tsn_require_size(exec, n ? TSANOM_E_OVERFLOW : TSANOM_E_COUNT, name, n, 1,
                          INT32_MAX);
}

tsanom_status tsn_optics_ordering_read(tsanom_optics_ordering *own,
                                       const tsanom_optics_ordering *caller,
                                       const tsanom_exec *exec) {
  tsanom_status status = tsn_struct_read(exec, &ordering_type, own, caller, "ordering");
  if (status < 0) return status;
  if (!isgreaterequal(own->eps, 0)) {
    return tsn_reject_value(exec, TSANOM_E_OPTION, "ordering.eps", TSANOM_NONE,
                            TSANOM_NONE, own->eps, "at least 0 is expected");
  }
  if (own->eps == 0) own->eps = INFINITY;
  return TSANOM_OK;
}

tsanom_status tsn_optics_plot_read(tsanom_optics_ordering *own,
                                   const tsanom_optics_ordering *caller,
                                   const tsanom_exec *exec) {
  if (!caller) return tsn_reject_null(exec, "ordering", TSANOM_NONE);
  tsanom_status status = tsn_optics_ordering_read(own, caller, exec);
  return status < 0 ? status : tsn_optics_check_count(own->n, "ordering.n", exec);
}

tsanom_status tsn_optics_ordering_arrays(const tsanom_optics_ordering *ordering, size_t n,
                                         const tsanom_exec *exec) {
  tsanom_status status = tsn_require_array(exec, ordering->order, n, "ordering.order");
  if (status < 0) return status;
  return tsn_require_array(exec, ordering->reachability, n, "ordering.reachability");
}

void tsn_optics_ordering_write(tsanom_optics_ordering *caller,
                               const tsanom_optics_ordering *own) {
  tsn_versioned_write(&ordering_type, caller, own);
}

tsanom_status tsn_optics_check_heights(const double *values, size_t n, const char *name,
                                       const tsanom_exec *exec) {
  /* Without an exit from the loop, which vectors do not allow: with it, a cut of 100
   * points took 196 ns in place of 167 ns. The fault is sought only if there is one. */
  bool valid = true;
  for (size_t i = 0; i < n; i++) valid &= values[i] >= 0;
  if (valid) return TSANOM_OK;
  size_t at = 0;
  while (values[at] >= 0) at++;
  return tsn_reject_value(exec, isnan(values[at]) ? TSANOM_E_NONFINITE : TSANOM_E_VALUE,
                          name, at, TSANOM_NONE, values[at], "at least 0 is expected");
}

tsanom_status tsn_optics_ordering_check(const tsanom_optics_ordering *ordering,
                                        const tsanom_exec *exec) {
  tsanom_status status = tsn_optics_ordering_arrays(ordering, ordering->n, exec);
  if (status < 0) return status;
  const size_t *order = ordering->order;
  size_t n = ordering->n, at = 0;
  while (at < n && order[at] < n) at++;
  if (at < n) {
    return tsn_reject_is(exec, TSANOM_E_INDEX, "ordering.order", at,
                         "%zu; the index of one of %zu points is expected", order[at], n);
  }
  return tsn_optics_check_heights(ordering->reachability, n, "ordering.reachability",
                                  exec);
}
