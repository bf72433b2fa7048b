/* SPDX-License-Identifier: BSD-3-Clause */
/* The detector of nested loops: options, memory, the calls that change it. */
#include "dpd/dpd_nest.h"

#include "core/exec.h"
#include "core/versioned.h"

static const tsanom_dpd_nest_options defaults = {.struct_size = sizeof defaults,
                                                 .max_period = 1024,
                                                 .repeats = 3,
                                                 .least_events = 8,
                                                 .capacity = 64};

static const tsn_versioned options_type = {.size = sizeof(tsanom_dpd_nest_options),
                                           .first_size = sizeof(tsanom_dpd_nest_options),
                                           .defaults = &defaults};

tsanom_status tsanom_dpd_nest_options_init(tsanom_dpd_nest_options *options,
                                           size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

static tsanom_status read_options(tsanom_dpd_nest_options *own,
                                  const tsanom_dpd_nest_options *caller) {
  tsanom_status status = tsn_versioned_read(&options_type, own, caller);
  if (status < 0) return status;
  bool in_range = own->max_period >= 1 && own->max_period <= TSANOM_DPD_WINDOW_MAX / 4 &&
                  own->repeats >= 3 && own->repeats <= 16 && own->least_events <= 64 &&
                  own->capacity >= 1 && own->capacity <= TSANOM_DPD_PERIODS_MAX;
  return in_range ? TSANOM_OK : TSANOM_E_OPTION;
}

/* The pieces of the block, gathered so that measuring and carving agree. */
static tsanom_dpd_nest *layout(tsn_arena *arena, const tsanom_dpd_nest_options *options,
                               tsanom_dpd_nest *parts) {
  tsanom_dpd_nest *nest = tsn_arena_take(arena, 1, sizeof *nest);
  size_t octaves = tsn_nest_octaves(options->max_period);
  for (size_t i = 0; i < octaves; i++) {
    tsn_ngram_layout(arena, tsn_nest_window(i), &parts->octave[i]);
  }
  size_t longest = octaves ? tsn_nest_window(octaves - 1) : TSN_NEST_SHORT;
  tsn_history_layout(arena, 3 * longest + 1, &parts->history);
  parts->known = tsn_arena_take(arena, options->capacity, sizeof *parts->known);
  return nest;
}

static tsanom_status measure(const tsanom_dpd_nest_options *options,
                             tsanom_dpd_nest_options *own, tsn_arena *measured) {
  tsanom_status status = read_options(own, options);
  if (status < 0) return status;
  *measured = tsn_arena_measure();
  tsanom_dpd_nest parts;
  layout(measured, own, &parts);
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_nest_size(const tsanom_dpd_nest_options *options,
                                   size_t *bytes) {
  if (!bytes) return TSANOM_E_NULL;
  tsanom_dpd_nest_options own;
  tsn_arena measured;
  tsanom_status status = measure(options, &own, &measured);
  return status < 0 ? status : tsn_arena_bytes(&measured, bytes);
}

tsanom_status tsanom_dpd_nest_init(const tsanom_dpd_nest_options *options,
                                   const tsanom_exec *exec, void *memory, size_t bytes,
                                   tsanom_dpd_nest **nest) {
  if (!nest) return TSANOM_E_NULL;
  tsanom_dpd_nest_options own;
  tsanom_exec own_exec;
  tsn_arena measured, arena;
  tsanom_status status = measure(options, &own, &measured);
  if (status < 0) return status;
  if ((status = tsn_exec_read(&own_exec, exec)) < 0) return status;
  if ((status = tsn_object_arena(&measured, memory, bytes, &arena)) < 0) return status;
  tsanom_dpd_nest parts = {.options = own, .kernels = tsn_dpd_kernels_at(own_exec.isa)};
  tsanom_dpd_nest *made = layout(&arena, &own, &parts);
  *made = parts;
  for (size_t m = 1; m <= TSN_NEST_SHORT; m++) {
    made->needed[m - 1] = (uint32_t)tsn_nest_needed(made, m);
  }
  tsn_nest_attend(made, own.max_period);
  *nest = made;
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_nest_create(const tsanom_dpd_nest_options *options,
                                     const tsanom_exec *exec, tsanom_dpd_nest **nest) {
  if (!nest) return TSANOM_E_NULL;
  size_t bytes;
  tsn_object owner;
  tsanom_dpd_nest *made;
  tsanom_status status = tsanom_dpd_nest_size(options, &bytes);
  if (status < 0) return status;
  if ((status = tsn_object_allocate(exec, bytes, &owner)) < 0) return status;
  status = tsanom_dpd_nest_init(options, exec, owner.block, bytes, &made);
  if (status < 0) {
    tsn_object_release(&owner);
    return status;
  }
  made->owner = owner;
  *nest = made;
  return TSANOM_OK;
}

void tsanom_dpd_nest_destroy(tsanom_dpd_nest *nest) {
  if (nest) tsn_object_release(&nest->owner);
}

tsanom_status tsanom_dpd_nest_push(tsanom_dpd_nest *nest, uint64_t event,
                                   int32_t *changed) {
  if (!nest) return TSANOM_E_NULL;
  int any = tsn_nest_follow(nest, event);
  if (changed) *changed = any;
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_nest_push_many(tsanom_dpd_nest *nest, const uint64_t *events,
                                        size_t count, int32_t *changed) {
  if (!nest || (!events && count)) return TSANOM_E_NULL;
  for (size_t i = 0; i < count; i++) {
    int any = tsn_nest_follow(nest, events[i]);
    if (changed) changed[i] = any;
  }
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_nest_resize(tsanom_dpd_nest *nest, size_t max_period) {
  if (!nest) return TSANOM_E_NULL;
  if (max_period < 1 || max_period > nest->options.max_period) return TSANOM_E_OPTION;
  tsn_nest_attend(nest, max_period);
  return TSANOM_OK;
}

size_t tsanom_dpd_nest_max_period(const tsanom_dpd_nest *nest) {
  return nest ? nest->max_period : 0;
}
