/* SPDX-License-Identifier: BSD-3-Clause */
/* The options and arguments that all functions of the module check. */
#include <math.h>

#include "change/change.h"
#include "core/check.h"
#include "core/fault.h"
#include "core/versioned.h"

static const tsanom_change_options defaults = {
    .struct_size = sizeof defaults, .level = 0.01, .reference = 200};

static const tsn_versioned options_type = {.size = sizeof(tsanom_change_options),
                                           .first_size = sizeof(tsanom_change_options),
                                           .defaults = &defaults};

tsanom_status tsanom_change_options_init(tsanom_change_options *options,
                                         size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

static tsanom_status reject_unused(const tsanom_exec *exec, const char *name,
                                   size_t value, size_t expected) {
  return tsn_reject_is(exec, TSANOM_E_OPTION, name, TSANOM_NONE,
                       "%zu; the function does not use it, and %zu is expected", value,
                       expected);
}

/* Of a field that has no effect only the default is accepted. */
static tsanom_status check_fields(const tsanom_change_options *o, tsn_change_use use,
                                  const tsanom_exec *exec) {
  const tsanom_status bad = TSANOM_E_OPTION;
  if (!isfinite(o->level) || o->level < 0.001 || o->level > 0.05) {
    return tsn_reject_value(exec, bad, "options.level", TSANOM_NONE, TSANOM_NONE,
                            o->level, "0.001 to 0.05 is expected");
  }
  if (use != TSN_CHANGE_PUSH && o->reference != defaults.reference) {
    return reject_unused(exec, "options.reference", o->reference, defaults.reference);
  }
  tsanom_status status =
      tsn_require_size(exec, bad, "options.reference", o->reference, 50, 10000);
  if (status < 0) return status;
  status = tsn_require_int(exec, bad, "options.paired", o->paired, 0, 1);
  if (status < 0) return status;
  status = tsn_require_int(exec, bad, "options.sequential", o->sequential, 0, 1);
  if (status < 0) return status;
  if (use != TSN_CHANGE_COMPARE && o->paired) {
    return reject_unused(exec, "options.paired", 1, 0);
  }
  if (o->sequential <= o->paired) return TSANOM_OK;
  return tsn_reject_is(exec, bad, "options.sequential", TSANOM_NONE,
                       "1; 0 is expected unless paired is 1");
}

tsanom_status tsn_change_options_read(tsanom_change_options *own,
                                      const tsanom_change_options *caller,
                                      tsn_change_use use, const tsanom_exec *exec) {
  tsanom_status status = tsn_struct_read(exec, &options_type, own, caller, "options");
  return status < 0 ? status : check_fields(own, use, exec);
}

tsanom_status tsn_change_count(size_t n, const char *name, const tsanom_exec *exec) {
  return tsn_require_size(exec, n ? TSANOM_E_OVERFLOW : TSANOM_E_COUNT, name, n, 1,
                          PTRDIFF_MAX / sizeof(double));
}

tsanom_status tsn_change_finite(const double *x, size_t n, const char *name,
                                const tsanom_exec *exec) {
  if (tsn_all_finite(x, n)) return TSANOM_OK;
  size_t at = tsn_first_nonfinite(x, n);
  return tsn_reject_value(exec, TSANOM_E_NONFINITE, name, at, TSANOM_NONE, x[at],
                          TSN_FINITE);
}
