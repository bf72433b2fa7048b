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
 * windows up to 1024 or 4096 (docs/benchmarks.md), where d(m) of every m would cost
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

/* Fewer than three repeats are not a loop: two equal sequences occur in streams that do not
 * iterate. */
static tsanom_status read_options(tsanom_dpd_nest_options *own,
                                  const tsanom_dpd_nest_options *caller,
                                  const tsanom_exec *exec) {
  enum { BAD = TSANOM_E_OPTION };
  tsanom_status status = tsn_struct_read(exec, &options_type, own, caller, "options");
  if (status < 0) return status;
  if ((status = tsn_require_size(exec, BAD, "options.max_period", own->max_period, 1,
                                 TSANOM_DPD_WINDOW_MAX / 4)) < 0 ||
      (status = tsn_require_size(exec, BAD, "options.repeats", own->repeats, 3, 16)) <
          0 ||
      (status = tsn_require_size(exec, BAD, "options.least_events", own->least_events, 0,
                                 64)) < 0) {
    return status;
  }
  return tsn_require_size(exec, BAD, "options.capacity", own->capacity, 1,
                          TSANOM_DPD_PERIODS_MAX);
}

/* The block of a nest: the struct, then the buffers of its parts. */
typedef struct {
  tsanom_dpd_nest parts, *placed;
  tsanom_exec exec;
  tsanom_dpd_nest **nest;
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

static tsanom_status check(void *context) {
  const nest_block *block = context;
  return tsn_require(&block->exec, block->nest, "nest");
}

/* The struct is prepared in a local copy, whose pointers the layout sets, and copied into
 * the block. */
tsanom_status tsanom_dpd_nest_create(const tsanom_dpd_nest_options *options,
                                     const tsanom_exec *exec, tsanom_dpd_nest **nest) {
  nest_block block = {.nest = nest};
  tsanom_dpd_nest *parts = &block.parts;
  tsanom_status status = tsn_exec_read(&block.exec, exec);
  if (status < 0) return status;
  if ((status = read_options(&parts->options, options, &block.exec)) < 0) return status;
  status = tsn_object_create(&block.exec, layout, check, &block, &parts->owner);
  if (status < 0) return status;
  parts->owner.saved = &tsn_dpd_nest_saved;
  for (size_t m = 1; m <= TSN_NEST_SHORT; m++) {
    parts->needed[m - 1] = (uint32_t)tsn_nest_needed(parts, m);
  }
  *block.placed = *parts;
  tsn_nest_set_max_period(block.placed, parts->options.max_period);
  *nest = block.placed;
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
