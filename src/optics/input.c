/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of points and of matrices of distances, in row-major order, so that the first
 * fault found is the smallest.
 *
 * The searches rely on what is checked here. A NaN compares false with everything, so
 * that a point with one would never become the smallest and the order would not be a
 * permutation. A matrix is read above its diagonal only; one that is not symmetric would
 * have a result that depends on this choice, and is rejected. */
#include <math.h>

#include "core/fault.h"
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
