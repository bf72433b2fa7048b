/* SPDX-License-Identifier: BSD-3-Clause */
/* Evaluation of a model. */
#include <math.h>
#include <string.h>
#include <tsanom/polyfit.h>

#include "core/check.h"
#include "core/exec.h"
#include "core/versioned.h"

enum { SAMPLES_PER_POLL = 1 << 16 };

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

/* Whether values and slopes stay finite for |x| <= largest: T_k and its
 * derivative are below k^2 (2 |t|)^k for |t| > 1. */
static int stays_finite(const tsanom_polyfit_model *model, double largest) {
  double size = 0, t = (largest * model->unit + fabs(model->center)) * model->scale;
  for (int k = 0; k <= model->degree; k++) size = fmax(size, fabs(model->high[k]));
  if (!isfinite(t)) return 0;
  double bits = model->degree * log2(2 * fmax(t, 1)) + log2(fmax(size, 0x1p-1000)) +
                fmax(0, log2(model->unit * model->scale)) + 20;
  return bits < 1023;
}

static void evaluate(const tsanom_polyfit_model *model, const double *x, size_t n,
                     double *values, double *slopes) {
  for (size_t i = 0; i < n; i++) {
    double t = (x[i] * model->unit - model->center) * model->scale;
    double p = 0, p_before = 0, s = 0, s_before = 0;
    for (int k = model->degree; k > 0; k--) {
      double s_next = 2 * p + 2 * t * s - s_before;
      double p_next = model->high[k] + 2 * t * p - p_before;
      s_before = s;
      s = s_next;
      p_before = p;
      p = p_next;
    }
    if (slopes) slopes[i] = (p + t * s - s_before) * model->scale * model->unit;
    if (values) values[i] = model->high[0] + t * p - p_before;
  }
}

tsanom_status tsanom_polyfit_evaluate(const tsanom_polyfit_model *model, const double *x,
                                      size_t n, const tsanom_exec *exec, double *values,
                                      double *slopes) {
  tsanom_exec own_exec;
  if (!model || !x || (!values && !slopes)) return TSANOM_E_NULL;
  tsanom_status status = tsn_exec_read(&own_exec, exec);
  if (status < 0) return status;
  if (n == 0) return TSANOM_E_COUNT;
  if ((status = check_model(model)) < 0) return status;
  if (!tsn_all_finite(x, n)) return TSANOM_E_NONFINITE;
  double largest = 0;
  for (size_t i = 0; i < n; i++) largest = fabs(x[i]) > largest ? fabs(x[i]) : largest;
  if (!stays_finite(model, largest)) return TSANOM_E_VALUE;
  for (size_t i = 0; i < n; i += SAMPLES_PER_POLL) {
    size_t count = n - i < SAMPLES_PER_POLL ? n - i : SAMPLES_PER_POLL;
    if (tsn_exec_stop(&own_exec, i, n)) return TSANOM_STOPPED;
    evaluate(model, x + i, count, values ? values + i : NULL, slopes ? slopes + i : NULL);
  }
  return TSANOM_OK;
}
