/* SPDX-License-Identifier: BSD-3-Clause */
/* Evaluation of a model. */
#include <math.h>
#include <tsanom/polyfit.h>

#include "core/check.h"
#include "core/exec.h"
#include "core/parallel.h"
#include "core/versioned.h"
#include "polyfit/polyfit_kernel.h"

enum { SAMPLES_PER_CHUNK = 1 << 14 };

static const tsanom_polyfit_model empty = {
    .struct_size = sizeof empty, .unit = 1, .scale = 1};

static const tsn_versioned model_type = {.size = sizeof(tsanom_polyfit_model),
                                         .first_size = sizeof(tsanom_polyfit_model),
                                         .defaults = &empty};

tsanom_status tsanom_polyfit_model_init(tsanom_polyfit_model *model, size_t struct_size) {
  return tsn_versioned_init(&model_type, model, struct_size);
}

static tsanom_status check_model(const tsanom_polyfit_model *model) {
  if (model->struct_size < sizeof *model) return TSANOM_E_VERSION;
  if (model->degree < 0 || model->degree > TSANOM_POLYFIT_MAX_DEGREE ||
      !tsn_all_finite(model->high, (size_t)model->degree + 1) || !isfinite(model->unit) ||
      !isfinite(model->center) || !isfinite(model->scale)) {
    return TSANOM_E_FORMAT;
  }
  return TSANOM_OK;
}

/* Whether results stay finite for x in the range: T_k is below (2 |t|)^k for
 * |t| > 1, and its derivative by t below k^2 times that. */
static int stays_finite(const tsanom_polyfit_model *model, tsn_polyfit_range x,
                        int with_slopes) {
  double low = (x.low * model->unit - model->center) * model->scale;
  double high = (x.high * model->unit - model->center) * model->scale;
  double t = fmax(fabs(low), fabs(high)), size = 0;
  for (int k = 0; k <= model->degree; k++) size = fmax(size, fabs(model->high[k]));
  if (!isfinite(t)) return 0;
  /* All in powers of two; 2^6 coefficients, 2^12 for k^2. */
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

tsanom_status tsanom_polyfit_evaluate(const tsanom_polyfit_model *model, const double *x,
                                      size_t n, const tsanom_exec *exec,
                                      double *values,    // NOLINT: written by threads
                                      double *slopes) {  // NOLINT
  tsanom_exec own_exec;
  if (!model || !x || (!values && !slopes)) return TSANOM_E_NULL;
  tsanom_status status = tsn_exec_read(&own_exec, exec);
  if (status < 0) return status;
  if (n == 0) return TSANOM_E_COUNT;
  if ((status = check_model(model)) < 0) return status;
  const tsn_polyfit_kernels *kernels = tsn_polyfit_kernels_at(own_exec.isa);
  tsn_polyfit_range range = kernels->survey(x, n);
  if (!range.finite) return TSANOM_E_NONFINITE;
  if (!stays_finite(model, range, slopes != NULL)) {
    return TSANOM_E_VALUE;
  }
  evaluation e = {
      .kernels = kernels,
      .model = model,
      .map = {.x_unit = model->unit, .center = model->center, .scale = model->scale},
      .x = x,
      .values = values,
      .slopes = slopes};
  return tsn_parallel_for(&own_exec, n, SAMPLES_PER_CHUNK, evaluate, &e, NULL);
}
