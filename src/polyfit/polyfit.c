/* SPDX-License-Identifier: BSD-3-Clause */
/* Polynomial regression of arrays: options, model struct, arguments, workspace. The fit
 * itself is tsn_polyfit_solve(); this file is what a call does around it:
 *
 *     read exec, options    -> reject what is out of range or unused
 *     tsn_workspace_run()   -> takes the scratch of the fit in exec.work or in one block,
 *                              calls body() in the default floating-point environment
 *
 * NaN, infinity and weights that are not positive are found by the pass that determines
 * the ranges, which reads the samples anyway; only then tsn_polyfit_reject() searches for
 * the first of them. */
#include <math.h>
#include <tsanom/polyfit.h>

#include "core/arena.h"
#include "core/check.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "core/versioned.h"
#include "polyfit/polyfit_call.h"
#include "polyfit/polyfit_solve.h"

/* The part of a column that is orthogonal to all lower ones must exceed this share of it:
 * 2^12 units of rounding. See tsanom_polyfit_options.tolerance. */
#define AUTOMATIC_TOLERANCE 0x1p-40

static const tsanom_polyfit_options defaults = {.struct_size = sizeof defaults,
                                                .degree = 1,
                                                .selection = TSANOM_POLYFIT_FIXED,
                                                .r2 = 0.9,
                                                .tolerance = 0,
                                                .refine = 1};

static const tsn_versioned options_type = {.size = sizeof(tsanom_polyfit_options),
                                           .first_size = sizeof(tsanom_polyfit_options),
                                           .defaults = &defaults};

/* An initialized model is a polynomial that can be evaluated: 0 everywhere. */
static const tsanom_polyfit_model zero_polynomial = {
    .struct_size = sizeof zero_polynomial, .unit = 1, .scale = 1};

/* The RSS of other degrees is the part of a model that many callers do not read. */
static const tsn_versioned model_type = {
    .size = sizeof(tsanom_polyfit_model),
    .first_size = offsetof(tsanom_polyfit_model, degree_rss),
    .defaults = &zero_polynomial};

tsanom_status tsanom_polyfit_options_init(tsanom_polyfit_options *options,
                                          size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

/* Comparisons are written so that a NaN fails them. */
static tsanom_status check_numbers(const tsanom_polyfit_options *o,
                                   const tsanom_exec *exec) {
  const tsanom_status bad = TSANOM_E_OPTION;
  static const char below_1[] = "at least 0 and less than 1 is expected";
  if (!(isgreaterequal(o->r2, 0) && isless(o->r2, 1))) {
    return tsn_reject_value(exec, bad, "options.r2", TSANOM_NONE, TSANOM_NONE, o->r2,
                            below_1);
  }
  if (o->selection != TSANOM_POLYFIT_R2 && o->r2 != defaults.r2) {
    return tsn_reject_is(exec, bad, "options.r2", TSANOM_NONE,
                         "%g; this selection does not use it, and %g is expected", o->r2,
                         defaults.r2);
  }
  if (isgreaterequal(o->tolerance, 0) && isless(o->tolerance, 1)) return TSANOM_OK;
  return tsn_reject_value(exec, bad, "options.tolerance", TSANOM_NONE, TSANOM_NONE,
                          o->tolerance, below_1);
}

static tsanom_status check_options(const tsanom_polyfit_options *o,
                                   const tsanom_exec *exec) {
  const tsanom_status bad = TSANOM_E_OPTION;
  tsanom_status status = tsn_require_int(exec, bad, "options.degree", o->degree, 0,
                                         TSANOM_POLYFIT_MAX_DEGREE);
  if (status < 0) return status;
  status = tsn_require_int(exec, bad, "options.selection", o->selection,
                           TSANOM_POLYFIT_FIXED, TSANOM_POLYFIT_BIC);
  if (status == TSANOM_OK) status = check_numbers(o, exec);
  if (status < 0) return status;
  status = tsn_require_int(exec, bad, "options.refine", o->refine, 0, 1);
  if (status < 0) return status;
  return tsn_require_int(exec, bad, "options.coefficients_only", o->coefficients_only, 0,
                         1);
}

tsanom_status tsn_polyfit_options_read(tsanom_polyfit_options *own,
                                       const tsanom_polyfit_options *caller,
                                       const tsanom_exec *exec) {
  tsanom_status status = tsn_struct_read(exec, &options_type, own, caller, "options");
  if (status < 0) return status;
  if ((status = check_options(own, exec)) < 0) return status;
  if (own->tolerance == 0) own->tolerance = AUTOMATIC_TOLERANCE;
  own->struct_size = sizeof *own;
  return TSANOM_OK;
}

tsanom_status tsn_polyfit_check_size(size_t n, const tsanom_exec *exec) {
  return tsn_require_size(exec, TSANOM_E_OVERFLOW, "n", n, 0,
                          PTRDIFF_MAX / sizeof(double));
}

/* A fixed degree needs degree + 1 samples; a selection tries the degrees that n samples
 * allow. */
tsanom_status tsn_polyfit_check_count(uint64_t n, const tsanom_polyfit_options *options,
                                      const tsanom_exec *exec) {
  uint64_t needed =
      options->selection == TSANOM_POLYFIT_FIXED ? (uint64_t)options->degree + 1 : 1;
  if (n >= needed) return TSANOM_OK;
  return tsn_reject_is(exec, TSANOM_E_COUNT, "n", TSANOM_NONE,
                       "%llu; at least %llu is expected for degree %d",
                       (unsigned long long)n, (unsigned long long)needed,
                       (int)needed - 1);
}

tsanom_status tsn_polyfit_model_check(const tsanom_polyfit_model *caller,
                                      const tsanom_exec *exec) {
  return tsn_struct_check(exec, &model_type, caller, "model");
}

/* Called after a pass found something invalid: the order of the searches, not that of the
 * pass, determines what is reported, so that it does not depend on blocks or threads. */
tsanom_status tsn_polyfit_reject(const tsn_polyfit_samples *samples,
                                 const tsanom_exec *exec) {
  static const char *const name[] = {"x", "y", "weights"};
  const double *const array[] = {samples->x, samples->y, samples->weights};
  size_t n = samples->n, at = 0;
  for (int i = 0; i < 3 && array[i]; i++) {
    at = tsn_first_nonfinite(array[i], n);
    if (at == n) continue;
    return tsn_reject_value(exec, TSANOM_E_NONFINITE, name[i], at, TSANOM_NONE,
                            array[i][at], TSN_FINITE);
  }
  const double *weights = samples->weights;
  for (at = 0; weights && at < n && weights[at] > 0;) at++;
  return tsn_reject_value(exec, TSANOM_E_VALUE, "weights", at, TSANOM_NONE,
                          weights && at < n ? weights[at] : 0,
                          "a positive weight is expected");
}

/* One call of tsanom_polyfit_fit(): the context of layout(), check() and body(). */
typedef struct {
  tsn_polyfit_samples samples;
  tsanom_polyfit_options options;
  tsanom_exec exec;
  double *scratch;
  tsanom_polyfit_model *model;
} fit_call;

static void layout(tsn_arena *arena, void *context) {
  fit_call *call = context;
  size_t count = tsn_polyfit_scratch(call->samples.n, (size_t)call->options.degree + 1,
                                     call->exec.threads);
  call->scratch = tsn_arena_take(arena, count, sizeof(double));
}

static tsanom_status body(void *context) {
  fit_call *call = context;
  return tsn_polyfit_solve(&call->samples, &call->options, &call->exec, call->scratch,
                           call->model);
}

static tsanom_status check(void *context) {
  const fit_call *call = context;
  const tsn_polyfit_samples *s = &call->samples;
  if (!s->x || !s->y) return tsn_reject_null(&call->exec, s->x ? "y" : "x", s->n);
  return tsn_require(&call->exec, call->model, "model");
}

tsanom_status tsanom_polyfit_fit(const double *x, const double *y, const double *weights,
                                 size_t n, const tsanom_polyfit_options *options,
                                 const tsanom_exec *exec, tsanom_polyfit_model *model) {
  fit_call call = {.samples = {.x = x, .y = y, .weights = weights, .n = n},
                   .model = model};
  tsanom_status status = tsn_exec_read(&call.exec, exec);
  if (status < 0) return status;
  status = tsn_polyfit_check_size(n, &call.exec);
  if (status < 0) return status;
  status = tsn_polyfit_options_read(&call.options, options, &call.exec);
  if (status == TSANOM_OK && model) status = tsn_polyfit_model_check(model, &call.exec);
  if (status == TSANOM_OK) {
    status = tsn_polyfit_check_count(n, &call.options, &call.exec);
  }
  if (status < 0) return status;
  return tsn_workspace_run(&call.exec, layout, check, body, &call);
}
