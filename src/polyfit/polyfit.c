/* SPDX-License-Identifier: BSD-3-Clause */
/* Polynomial regression: options, arguments and workspace. */
#include <tsanom/polyfit.h>

#include "core/arena.h"
#include "core/exec.h"
#include "core/versioned.h"
#include "polyfit/polyfit_options.h"
#include "polyfit/polyfit_solve.h"

static const tsanom_polyfit_options defaults = {.struct_size = sizeof defaults,
                                                .degree = 1,
                                                .selection = TSANOM_POLYFIT_FIXED,
                                                .r2 = 0.9,
                                                .tolerance = 0,
                                                .refine = 1};

static const tsn_versioned options_type = {.size = sizeof(tsanom_polyfit_options),
                                           .first_size = sizeof(tsanom_polyfit_options),
                                           .defaults = &defaults};

tsanom_status tsanom_polyfit_options_init(tsanom_polyfit_options *options,
                                          size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

tsanom_status tsn_polyfit_options_read(tsanom_polyfit_options *own,
                                       const tsanom_polyfit_options *caller) {
  tsanom_status status = tsn_versioned_read(&options_type, own, caller);
  if (status < 0) return status;
  if (own->degree < 0 || own->degree > TSANOM_POLYFIT_MAX_DEGREE ||
      own->selection < TSANOM_POLYFIT_FIXED || own->selection > TSANOM_POLYFIT_BIC ||
      !(own->r2 >= 0 && own->r2 < 1) || !(own->tolerance >= 0 && own->tolerance < 1) ||
      (own->refine != 0 && own->refine != 1) || own->reserved0 != 0) {
    return TSANOM_E_OPTION;
  }
  if (own->tolerance == 0) own->tolerance = 0x1p-40;
  return TSANOM_OK;
}

tsanom_status tsanom_polyfit_workspace(size_t n, const tsanom_polyfit_options *options,
                                       const tsanom_exec *exec, size_t *bytes) {
  tsanom_polyfit_options own_options;
  tsanom_exec own_exec;
  tsanom_status status;
  if (!bytes) return TSANOM_E_NULL;
  if ((status = tsn_polyfit_options_read(&own_options, options)) < 0) return status;
  if ((status = tsn_exec_read(&own_exec, exec)) < 0) return status;
  if (n == 0) return TSANOM_E_COUNT;
  tsn_arena arena = tsn_arena_measure();
  tsn_polyfit_buffers buffers;
  tsn_polyfit_layout(&arena, n, (size_t)own_options.degree + 1, own_exec.threads,
                     &buffers);
  return tsn_arena_bytes(&arena, bytes);
}

tsanom_status tsanom_polyfit_fit(const double *x, const double *y, const double *weights,
                                 size_t n, const tsanom_polyfit_options *options,
                                 const tsanom_exec *exec, void *work, size_t work_bytes,
                                 tsanom_polyfit_model *model) {
  tsanom_polyfit_options own_options;
  tsanom_exec own_exec;
  tsanom_status status;
  if (!x || !y || !model) return TSANOM_E_NULL;
  if ((status = tsn_polyfit_options_read(&own_options, options)) < 0) return status;
  if ((status = tsn_exec_read(&own_exec, exec)) < 0) return status;
  if (model->struct_size < sizeof *model) return TSANOM_E_VERSION;
  if (n == 0 || (own_options.selection == TSANOM_POLYFIT_FIXED &&
                 n <= (size_t)own_options.degree)) {
    return TSANOM_E_COUNT;
  }
  size_t terms = (size_t)own_options.degree + 1;
  tsn_arena measured = tsn_arena_measure();
  tsn_polyfit_buffers buffers;
  tsn_polyfit_layout(&measured, n, terms, own_exec.threads, &buffers);
  tsn_workspace workspace;
  status = tsn_workspace_borrow(&workspace, &measured, &own_exec, work, work_bytes);
  if (status < 0) return status;
  tsn_polyfit_layout(&workspace.arena, n, terms, own_exec.threads, &buffers);
  tsn_polyfit_samples samples = {.x = x, .y = y, .weights = weights, .n = n};
  status = tsn_polyfit_solve(&samples, &own_options, &own_exec, &buffers, model);
  tsn_workspace_close(&workspace);
  return status;
}
