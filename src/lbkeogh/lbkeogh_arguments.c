/* SPDX-License-Identifier: BSD-3-Clause */
/* Options and checks that several functions of the module share. */
#include "lbkeogh/lbkeogh_arguments.h"

#include "core/versioned.h"

static const tsanom_lbkeogh_options defaults = {.struct_size = sizeof defaults,
                                                .radius = SIZE_MAX,
                                                .bands = 5,
                                                .cost = TSANOM_COST_ABSOLUTE};

static const tsn_versioned options_type = {.size = sizeof(tsanom_lbkeogh_options),
                                           .first_size = sizeof(tsanom_lbkeogh_options),
                                           .defaults = &defaults};

tsanom_status tsanom_lbkeogh_options_init(tsanom_lbkeogh_options *options,
                                          size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

tsanom_status tsn_lbkeogh_options_read(tsanom_lbkeogh_options *own,
                                       const tsanom_lbkeogh_options *caller,
                                       bool uses_bands, const tsanom_exec *exec) {
  tsanom_status status = tsn_struct_read(exec, &options_type, own, caller, "options");
  if (status < 0) return status;
  status = tsn_require_int(exec, TSANOM_E_OPTION, "options.cost", own->cost, 0, 1);
  if (status < 0) return status;
  if (!uses_bands && own->bands != defaults.bands) {
    return tsn_reject_is(exec, TSANOM_E_OPTION, "options.bands", TSANOM_NONE,
                         "%zu; the function does not use it, and %zu is expected",
                         own->bands, defaults.bands);
  }
  return tsn_require_int(exec, TSANOM_E_OPTION, "options.reserved0", own->reserved0, 0,
                         0);
}

tsanom_status tsn_lbkeogh_check_finite(const tsanom_exec *exec, const double *x, size_t n,
                                       const char *name) {
  if (tsn_all_finite(x, n)) return TSANOM_OK;
  size_t at = tsn_first_nonfinite(x, n);
  return tsn_reject_value(exec, TSANOM_E_NONFINITE, name, at, TSANOM_NONE, x[at],
                          TSN_FINITE);
}
