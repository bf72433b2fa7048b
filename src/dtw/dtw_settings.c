/* SPDX-License-Identifier: BSD-3-Clause */
#include "dtw/dtw_settings.h"

#include <math.h>

#include "core/versioned.h"

static const tsanom_dtw_options defaults = {.struct_size = sizeof defaults,
                                            .radius = SIZE_MAX,
                                            .cutoff = INFINITY,
                                            .dimensions = 1,
                                            .cost = TSANOM_COST_ABSOLUTE};

static const tsn_versioned options_type = {.size = sizeof(tsanom_dtw_options),
                                           .first_size = sizeof(tsanom_dtw_options),
                                           .defaults = &defaults};

tsanom_status tsanom_dtw_options_init(tsanom_dtw_options *options, size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

/* The first field that is out of its range; NULL: none. */
static const char *out_of_range(const tsanom_dtw_options *o) {
  if (!(isgreaterequal(o->cutoff, 0))) return "options.cutoff";
  if (o->tails && o->open_end_x) return "options.tails";
  if (!(isgreaterequal(o->penalty, 0) && isfinite(o->penalty))) return "options.penalty";
  if (o->dimensions < 1) return "options.dimensions";
  if (o->stride != 0 && o->stride < o->dimensions) return "options.stride";
  if (o->cost != TSANOM_COST_ABSOLUTE && o->cost != TSANOM_COST_SQUARED) {
    return "options.cost";
  }
  if (o->window != TSANOM_DTW_SAKOE_CHIBA && o->window != TSANOM_DTW_SLOPE) {
    return "options.window";
  }
  if (o->path_memory != TSANOM_DTW_PATH_FULL &&
      o->path_memory != TSANOM_DTW_PATH_LINEAR) {
    return "options.path_memory";
  }
  return o->reserved0 != 0 ? "options.reserved0" : NULL;
}

/* The first field that is not the default although it is not used; NULL: none. */
static const char *not_used(const tsanom_dtw_options *o, int uses) {
  if (o->tails && !(uses & TSN_DTW_USES_TAILS)) return "options.tails";
  if (o->path_memory != TSANOM_DTW_PATH_FULL && !(uses & TSN_DTW_USES_PATH_MEMORY)) {
    return "options.path_memory";
  }
  if (uses & TSN_DTW_USES_SHAPE) return NULL;
  if (o->dimensions != 1) return "options.dimensions";
  return o->stride != 0 ? "options.stride" : NULL;
}

tsanom_status tsn_dtw_settings_read(tsn_dtw_settings *own,
                                    const tsanom_dtw_options *options,
                                    const tsanom_exec *exec, int uses) {
  tsanom_status status = tsn_exec_read(&own->exec, exec);
  if (status < 0) return status;
  status = tsn_versioned_read(&options_type, &own->options, options);
  if (status < 0) return tsn_reject(&own->exec, status, "options.struct_size");
  const char *field = out_of_range(&own->options);
  if (!field) field = not_used(&own->options, uses);
  if (field) return tsn_reject(&own->exec, TSANOM_E_OPTION, field);
  if (own->options.stride == 0) own->options.stride = own->options.dimensions;
  return TSANOM_OK;
}

static bool is_usual_exec(const tsanom_exec *e) {
  if (!e) return true;
  return e->struct_size == sizeof *e && e->threads >= 0 && e->isa == TSANOM_ISA_AUTO &&
         !e->alloc && !e->dealloc && !e->poll && !e->work_needed &&
         (e->work ? e->work_bytes >= TSN_ARENA_ALIGN : e->work_bytes == 0) &&
         (!e->fault || tsn_fault_is_prepared(e->fault));
}

static bool is_usual(const tsanom_dtw_options *o) {
  return o->struct_size == sizeof *o && o->cutoff == INFINITY && !o->tails &&
         o->penalty == 0 && o->dimensions == 1 &&
         !(o->open_begin_x | o->open_begin_y | o->open_end_x | o->open_end_y) &&
         o->stride <= 1 && o->window == TSANOM_DTW_SAKOE_CHIBA &&
         o->path_memory == TSANOM_DTW_PATH_FULL && o->reserved0 == 0 &&
         (o->cost == TSANOM_COST_ABSOLUTE || o->cost == TSANOM_COST_SQUARED);
}

const tsanom_dtw_options *tsn_dtw_usual_options(const tsanom_dtw_options *options,
                                                const tsanom_exec *exec) {
  if (!is_usual_exec(exec)) return NULL;
  if (!options) return &defaults;
  return is_usual(options) ? options : NULL;
}

tsanom_status tsn_dtw_check_counts(const tsn_dtw_settings *settings,
                                   const tsn_dtw_count *counts, size_t number) {
  for (size_t k = 0; k < number; k++) {
    if (counts[k].value >= counts[k].least) continue;
    return tsn_reject(&settings->exec, TSANOM_E_COUNT, counts[k].name);
  }
  return TSANOM_OK;
}
