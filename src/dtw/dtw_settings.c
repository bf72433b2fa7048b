/* SPDX-License-Identifier: BSD-3-Clause */
/* Options and exec of a call, read once: ranges, and what the function does not use. */
#include "dtw/dtw_settings.h"

#include <math.h>

#include "core/versioned.h"

const tsanom_dtw_options tsn_dtw_defaults = {.struct_size = sizeof tsn_dtw_defaults,
                                             .radius = SIZE_MAX,
                                             .cutoff = INFINITY,
                                             .dimensions = 1,
                                             .cost = TSANOM_COST_ABSOLUTE};

static const tsn_versioned options_type = {.size = sizeof(tsanom_dtw_options),
                                           .first_size = sizeof(tsanom_dtw_options),
                                           .defaults = &tsn_dtw_defaults};

tsanom_status tsanom_dtw_options_init(tsanom_dtw_options *options, size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

static tsanom_status check_range(const tsanom_dtw_options *o, const tsanom_exec *exec) {
  const tsanom_status option = TSANOM_E_OPTION;
  tsanom_status status;
  if (!(isgreaterequal(o->cutoff, 0))) {
    return tsn_reject_value(exec, option, "options.cutoff", TSANOM_NONE, TSANOM_NONE,
                            o->cutoff, "at least 0 is expected");
  }
  if (o->tails && o->open_end_x) {
    return tsn_reject_is(exec, option, "options.tails", TSANOM_NONE,
                         "set; NULL is expected with open_end_x %zu", o->open_end_x);
  }
  if (!(isgreaterequal(o->penalty, 0) && isfinite(o->penalty))) {
    return tsn_reject_value(exec, option, "options.penalty", TSANOM_NONE, TSANOM_NONE,
                            o->penalty, "at least 0, and finite, is expected");
  }
  size_t least = o->stride ? o->dimensions : 0;
  if ((status = tsn_require_size(exec, option, "options.dimensions", o->dimensions, 1,
                                 SIZE_MAX)) < 0 ||
      (status = tsn_require_size(exec, option, "options.stride", o->stride, least,
                                 SIZE_MAX)) < 0 ||
      (status = tsn_require_int(exec, option, "options.cost", o->cost, 0, 1)) < 0 ||
      (status = tsn_require_int(exec, option, "options.window", o->window, 0, 1)) < 0 ||
      (status = tsn_require_int(exec, option, "options.path_memory", o->path_memory, 0,
                                1)) < 0) {
    return status;
  }
  return tsn_require_int(exec, option, "options.reserved0", o->reserved0, 0, 0);
}

/* Reject what is not the default although the function does not use it. */
static tsanom_status check_use(const tsanom_dtw_options *o, const tsanom_exec *exec,
                               int uses) {
  const tsanom_status option = TSANOM_E_OPTION;
  if (o->tails && !(uses & TSN_DTW_USES_TAILS)) {
    return tsn_reject_is(exec, option, "options.tails", TSANOM_NONE,
                         "set; the function does not use it, and NULL is expected");
  }
  if (o->path_memory != TSANOM_DTW_PATH_FULL && !(uses & TSN_DTW_USES_PATH_MEMORY)) {
    return tsn_reject_is(exec, option, "options.path_memory", TSANOM_NONE,
                         "%d; the function does not use it, and 0 is expected",
                         (int)o->path_memory);
  }
  if (uses & TSN_DTW_USES_SHAPE) return TSANOM_OK;
  if (o->dimensions != 1) {
    return tsn_reject_is(exec, option, "options.dimensions", TSANOM_NONE,
                         "%zu; a set has its own, and 1 is expected", o->dimensions);
  }
  if (o->stride != 0) {
    return tsn_reject_is(exec, option, "options.stride", TSANOM_NONE,
                         "%zu; a set has its own, and 0 is expected", o->stride);
  }
  return TSANOM_OK;
}

tsanom_status tsn_dtw_settings_read(tsn_dtw_settings *own,
                                    const tsanom_dtw_options *options,
                                    const tsanom_exec *exec, int uses) {
  tsanom_status status = tsn_exec_read(&own->exec, exec);
  if (status < 0) return status;
  status = tsn_struct_read(&own->exec, &options_type, &own->options, options, "options");
  if (status < 0) return status;
  if ((status = check_range(&own->options, &own->exec)) < 0 ||
      (status = check_use(&own->options, &own->exec, uses)) < 0) {
    return status;
  }
  if (own->options.stride == 0) own->options.stride = own->options.dimensions;
  return TSANOM_OK;
}
