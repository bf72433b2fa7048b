/* SPDX-License-Identifier: BSD-3-Clause */
/* Nested loops: options, memory, the functions that modify a nest. The definition of a
 * loop is in dpd_nest.h, the detection in dpd_nest_follow.c, the results are in
 * dpd_nest_answers.c.
 *
 * One block contains everything:
 *
 *     | nest | ends of octave 0 | of octave 1 | ... | history | known periods |
 *
 * An N-gram detector per octave costs an event O(log M) together, 29 to 50 ns with
 * windows up to 1024 or 4096 (docs/dpd.md, "Cost"), where d(m) of every m would cost
 * O(M). */
#include "dpd/dpd_nest.h"

#include "core/arena.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
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

/* The first field that is out of its range; NULL: all are valid. Fewer than three repeats
 * are not a loop: two equal sequences occur in streams that do not iterate. */
static const char *invalid_field(const tsanom_dpd_nest_options *o) {
  if (o->max_period < 1 || o->max_period > TSANOM_DPD_WINDOW_MAX / 4) {
    return "options.max_period";
  }
  if (o->repeats < 3 || o->repeats > 16) return "options.repeats";
  if (o->least_events > 64) return "options.least_events";
  if (o->capacity < 1 || o->capacity > TSANOM_DPD_PERIODS_MAX) return "options.capacity";
  return NULL;
}

static tsanom_status read_options(tsanom_dpd_nest_options *own,
                                  const tsanom_dpd_nest_options *caller,
                                  const tsanom_exec *exec) {
  tsanom_status status = tsn_versioned_read(&options_type, own, caller);
  if (status < 0) return tsn_reject(exec, status, "options");
  const char *invalid = invalid_field(own);
  if (invalid) return tsn_reject(exec, TSANOM_E_OPTION, invalid);
  return TSANOM_OK;
}

/* The block of a nest: the struct, then the buffers of its parts. */
typedef struct {
  tsanom_dpd_nest parts, *placed;
} nest_block;

/* All octaves share one history. It must contain the window and a period of the longest
 * octave; the records of loops begin up to twice as early. */
static void layout(tsn_arena *arena, void *context) {
  nest_block *block = context;
  tsanom_dpd_nest *parts = &block->parts;
  const tsanom_dpd_nest_options *options = &parts->options;
  block->placed = tsn_arena_take(arena, 1, sizeof *block->placed);
  size_t octaves = tsn_nest_octaves(options->max_period);
  for (size_t i = 0; i < octaves; i++) {
    tsn_ngram_layout(arena, tsn_nest_window(i), TSN_NGRAM_ENTRIES, &parts->octave[i]);
  }
  size_t longest = octaves ? tsn_nest_window(octaves - 1) : TSN_NEST_SHORT;
  tsn_history_layout(arena, 4 * longest, &parts->history);
  parts->known = tsn_arena_take(arena, options->capacity, sizeof *parts->known);
}

tsanom_status tsanom_dpd_nest_size(const tsanom_dpd_nest_options *options,
                                   size_t *bytes) {
  nest_block block;
  if (!bytes) return TSANOM_E_NULL;
  tsanom_status status = read_options(&block.parts.options, options, NULL);
  return status < 0 ? status : tsn_layout_bytes(layout, &block, bytes);
}

/* The struct is prepared in a local copy, whose pointers the layout sets, and copied into
 * the block. */
tsanom_status tsn_dpd_nest_make(bool create, void *memory, size_t bytes,
                                const tsanom_dpd_nest_options *options,
                                const tsanom_exec *caller, tsanom_dpd_nest **nest) {
  nest_block block = {.placed = NULL};
  tsn_object owner;
  tsanom_exec exec;
  tsanom_status status = tsn_exec_read(&exec, caller);
  if (status < 0) return status;
  if (!memory && !create) return tsn_reject(&exec, TSANOM_E_NULL, "memory");
  if (!nest) return tsn_reject(&exec, TSANOM_E_NULL, "nest");
  status = read_options(&block.parts.options, options, &exec);
  if (status < 0) return status;
  status = tsn_object_place(&exec, layout, &block, memory, bytes, &owner);
  if (status < 0) return status;
  tsanom_dpd_nest *made = block.placed;
  *made = block.parts;
  made->owner = owner;
  for (size_t m = 1; m <= TSN_NEST_SHORT; m++) {
    made->needed[m - 1] = (uint32_t)tsn_nest_needed(made, m);
  }
  tsn_nest_set_max_period(made, made->options.max_period);
  *nest = made;
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_nest_init(void *memory, size_t bytes,
                                   const tsanom_dpd_nest_options *options,
                                   const tsanom_exec *exec, tsanom_dpd_nest **nest) {
  return tsn_dpd_nest_make(false, memory, bytes, options, exec, nest);
}

tsanom_status tsanom_dpd_nest_create(const tsanom_dpd_nest_options *options,
                                     const tsanom_exec *exec, tsanom_dpd_nest **nest) {
  return tsn_dpd_nest_make(true, NULL, 0, options, exec, nest);
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
  if (!tsn_array_fits(count, sizeof *events)) return TSANOM_E_OVERFLOW;
  for (size_t i = 0; i < count; i++) {
    int any = tsn_nest_follow(nest, events[i]);
    if (changed) changed[i] = any;
  }
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_nest_resize(tsanom_dpd_nest *nest, size_t max_period) {
  if (!nest) return TSANOM_E_NULL;
  if (max_period < 1 || max_period > nest->options.max_period) return TSANOM_E_OPTION;
  tsn_nest_set_max_period(nest, max_period);
  return TSANOM_OK;
}

size_t tsanom_dpd_nest_max_period(const tsanom_dpd_nest *nest) {
  return nest ? nest->max_period : 0;
}
