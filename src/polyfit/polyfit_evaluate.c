/* SPDX-License-Identifier: BSD-3-Clause */
/* Evaluation of a model by Clenshaw's recurrence (C. W. Clenshaw, MTAC 9 (1955) 118-120):
 *
 *     b_k = c_k + 2 t b_{k+1} - b_{k+2},    p(t) = c_0 + t b_1 - b_2
 *
 * The loop, and that for slopes, is in polyfit_kernel.c. This file checks model and
 * arguments, and divides the points among threads; each point is independent, so that
 * chunks do not affect the result. A result is finite or the call is rejected before
 * anything is written: whether a value could overflow is decided from a bound on |p|,
 * once for the range of x. */
#include <math.h>
#include <tsanom/polyfit.h>

#include "core/check.h"
#include "core/environment.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/parallel.h"
#include "core/size.h"
#include "polyfit/polyfit_call.h"
#include "polyfit/polyfit_kernel.h"

/* Points of a chunk: 128 KiB of x, enough work to outweigh the start of a chunk on a
 * thread. */
enum { SAMPLES_PER_CHUNK = 1 << 14 };

static tsanom_status reject_number(const tsanom_exec *exec, const char *name, size_t at,
                                   double value) {
  return tsn_reject_value(exec, TSANOM_E_FORMAT, name, at, TSANOM_NONE, value,
                          "a finite number is expected");
}

/* A model may come from a damaged file: its degree indexes arrays, and its numbers enter
 * the bound of stays_finite(). */
static tsanom_status check_model(const tsanom_polyfit_model *model,
                                 const tsanom_exec *exec) {
  tsanom_status status = tsn_polyfit_model_check(model, exec);
  if (status < 0) return status;
  status = tsn_require_int(exec, TSANOM_E_FORMAT, "model.degree", model->degree, 0,
                           TSANOM_POLYFIT_MAX_DEGREE);
  if (status < 0) return status;
  size_t terms = (size_t)model->degree + 1;
  size_t at = tsn_first_nonfinite(model->high, terms);
  if (at < terms) return reject_number(exec, "model.high", at, model->high[at]);
  const char *const names[] = {"model.unit", "model.center", "model.scale"};
  const double numbers[] = {model->unit, model->center, model->scale};
  for (int i = 0; i < 3; i++) {
    if (!isfinite(numbers[i])) {
      return reject_number(exec, names[i], TSANOM_NONE, numbers[i]);
    }
  }
  return TSANOM_OK;
}

/* Whether results stay finite for x in the range: |T_k(t)| < (2|t|)^k for |t| > 1, and
 * the derivative of T_k is below k^2 times that. A bound in bits, not in values, which
 * could overflow themselves. It may reject values close to the largest double that would
 * just fit. */
static int stays_finite(const tsanom_polyfit_model *model, tsn_polyfit_range x,
                        int with_slopes) {
  double low = (x.low * model->unit - model->center) * model->scale;
  double high = (x.high * model->unit - model->center) * model->scale;
  double t = fmax(fabs(low), fabs(high)), size = 0;
  for (int k = 0; k <= model->degree; k++) size = fmax(size, fabs(model->high[k]));
  if (!isfinite(t)) return 0;
  /* Binary logarithms: at most 2^6 coefficients, k^2 <= 2^12. */
  double power = size > 0 ? log2(size) : 0;
  double bits = power + 6 + (t > 1 ? model->degree * log2(2 * t) : 0);
  if (with_slopes) bits += 12 + fmax(0, log2(model->scale) + log2(model->unit));
  return bits < 1023;
}

typedef struct {
  const tsn_polyfit_kernels *kernels;
  const tsanom_polyfit_model *model;
  tsn_polyfit_map map;
  const double *x;
  double *values, *slopes;
} evaluation;

static void evaluate(void *context, size_t begin, size_t end, int thread) {
  const evaluation *e = context;
  (void)thread;
  e->kernels->evaluate(&e->map, e->model->degree + 1, e->model->high, e->x + begin,
                       end - begin, e->values ? e->values + begin : NULL,
                       e->slopes ? e->slopes + begin : NULL);
}

/* If the range does not stay finite, one of its ends does not: |t| is largest there. So
 * the search for the first point to report always ends. */
static tsanom_status check_arguments(const evaluation *e, size_t n,
                                     const tsanom_exec *exec) {
  tsanom_status status = tsn_require_array(exec, e->x, n, "x");
  if (status < 0) return status;
  if (!e->values && !e->slopes) {
    return tsn_reject_is(exec, TSANOM_E_NULL, "values", TSANOM_NONE,
                         "NULL, as slopes is; an array of %zu is expected in one of them",
                         n);
  }
  status = tsn_require_size(exec, TSANOM_E_COUNT, "n", n, 1, SIZE_MAX);
  if (status == TSANOM_OK) status = tsn_polyfit_check_size(n, exec);
  if (status < 0) return status;
  tsn_polyfit_range range;
  e->kernels->find_range(e->x, n, &range);
  if (!range.finite) {
    size_t first = tsn_first_nonfinite(e->x, n);
    return tsn_reject_value(exec, TSANOM_E_NONFINITE, "x", first, TSANOM_NONE,
                            e->x[first], "finite arguments are expected");
  }
  int with_slopes = e->slopes != NULL;
  if (stays_finite(e->model, range, with_slopes)) return TSANOM_OK;
  size_t at = 0;
  while (stays_finite(e->model, (tsn_polyfit_range){.low = e->x[at], .high = e->x[at]},
                      with_slopes)) {
    at++;
  }
  return tsn_reject_value(exec, TSANOM_E_VALUE, "x", at, TSANOM_NONE, e->x[at],
                          "an argument is expected whose value is finite for certain");
}

tsanom_status tsanom_polyfit_evaluate(const tsanom_polyfit_model *model, const double *x,
                                      size_t n, const tsanom_exec *exec,
                                      double *values,    // NOLINT: written by threads
                                      double *slopes) {  // NOLINT
  tsanom_exec own_exec;
  tsanom_status status = tsn_exec_read(&own_exec, exec);
  if (status < 0) return status;
  if ((status = check_model(model, &own_exec)) < 0) return status;
  evaluation e = {
      .kernels = tsn_polyfit_kernels_at(own_exec.isa),
      .model = model,
      .map = {.x_unit = model->unit, .center = model->center, .scale = model->scale},
      .x = x,
      .values = values,
      .slopes = slopes};
  TSN_IN_ENVIRONMENT(before);
  status = check_arguments(&e, n, &own_exec);
  if (status != TSANOM_OK) return status;
  return tsn_parallel_for(&own_exec, n, SAMPLES_PER_CHUNK, evaluate, &e, NULL);
}
