/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of all functions of the module. */
#include <math.h>

#include "change/change.h"
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

/* The first field that is out of its range, or not used by the function. */
static const char *invalid_field(const tsanom_change_options *o, tsn_change_use use) {
  if (!isfinite(o->level) || o->level < 0.001 || o->level > 0.05) return "options.level";
  if (o->reference < 50 || o->reference > 10000 ||
      (use != TSN_CHANGE_PUSH && o->reference != defaults.reference)) {
    return "options.reference";
  }
  int most = use == TSN_CHANGE_COMPARE;
  if (o->paired < 0 || o->paired > most) return "options.paired";
  if (o->sequential < 0 || o->sequential > o->paired) return "options.sequential";
  return NULL;
}

tsanom_status tsn_change_options_read(tsanom_change_options *own,
                                      const tsanom_change_options *caller,
                                      tsn_change_use use, const tsanom_exec *exec) {
  tsanom_status status = tsn_versioned_read(&options_type, own, caller);
  if (status < 0) return tsn_reject(exec, status, "options.struct_size");
  const char *invalid = invalid_field(own, use);
  return invalid ? tsn_reject(exec, TSANOM_E_OPTION, invalid) : TSANOM_OK;
}
