/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of code regions, one recorder per thread.
 *
 * A visit of region k adds clock(end) - clock(begin) to time[k], nested regions
 * included; of a recursive region only the outermost visit counts:
 *
 *   begin 0   begin 1   begin 1   end 1   end 1   end 0
 *   |         |<----------- time[1] ------>|         |
 *   |<------------------- time[0] ------------------>|       calls[1] = 2
 *
 * A stack of the open regions gives the parent of each, and rejects an end that does not
 * match. Its depth is fixed at creation, so that begin and end allocate nothing.
 *
 * A pair of begin and end takes 83 instructions besides the clock (callgrind), and 36.4
 * ns with two readings of CLOCK_MONOTONIC, which alone take 37.7 (docs/benchmarks.md). */
#include "core/exec.h"
#include "core/fault.h"
#include "core/versioned.h"
#include "record/cpu_clock.h"
#include "record/spmd_internal.h"

static const tsanom_spmd_recorder_options defaults = {.struct_size = sizeof defaults};
static const tsn_versioned options_type = {sizeof defaults, sizeof defaults, &defaults};

tsanom_status tsanom_spmd_recorder_options_init(tsanom_spmd_recorder_options *options,
                                                size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

static int64_t now(const tsanom_spmd_recorder *r) {
  return r->clock == TSANOM_SPMD_CLOCK_CPU ? tsn_cpu_clock_now() : tsn_elapsed_now();
}

static tsanom_status check_sizes(const tsanom_exec *exec, size_t regions, size_t depth) {
  const size_t most = INT32_MAX;
  tsanom_status status =
      tsn_require_size(exec, TSANOM_E_COUNT, "regions", regions, 1, most);
  if (status < 0) return status;
  return tsn_require_size(exec, TSANOM_E_COUNT, "depth", depth, 1, most);
}

static tsanom_status read_options(const tsanom_spmd_recorder_options *options,
                                  const tsanom_exec *exec,
                                  tsanom_spmd_recorder_options *own) {
  tsanom_status status = tsn_struct_read(exec, &options_type, own, options, "options");
  if (status < 0) return status;
  status = tsn_require_int(exec, TSANOM_E_OPTION, "options.clock", own->clock,
                           TSANOM_SPMD_CLOCK_ELAPSED, TSANOM_SPMD_CLOCK_CPU);
  if (status < 0) return status;
  return tsn_require_int(exec, TSANOM_E_OPTION, "options.reserved0", own->reserved0, 0,
                         0);
}

/* What a recorder is laid out for: the sizes, and the addresses that layout() finds. */
typedef struct {
  size_t regions, depth;
  const tsanom_exec *exec;
  tsanom_spmd_recorder **output;
  tsanom_spmd_recorder *recorder;
  tsn_spmd_visits *visit;
  int32_t *stack;
} placement;

/* Runs twice: to compute the size, and to place the parts in a block of that size. */
static void layout(tsn_arena *arena, void *context) {
  placement *p = context;
  p->recorder = tsn_arena_take(arena, 1, sizeof *p->recorder);
  p->visit = tsn_arena_take(arena, p->regions, sizeof *p->visit);
  p->stack = tsn_arena_take(arena, p->depth, sizeof *p->stack);
}

tsanom_status tsanom_spmd_recorder_size(size_t regions, size_t depth, size_t *bytes) {
  placement p = {.regions = regions, .depth = depth};
  if (!bytes) return TSANOM_E_NULL;
  tsanom_status status = check_sizes(NULL, regions, depth);
  return status < 0 ? status : tsn_layout_bytes(layout, &p, bytes);
}

static tsanom_status check_output(void *context) {
  const placement *p = context;
  return tsn_require(p->exec, p->output, "recorder");
}

/* All arguments are checked before memory is taken. */
static tsanom_status make(void *memory, size_t bytes, placement p,
                          const tsanom_spmd_recorder_options *options) {
  tsanom_spmd_recorder_options own;
  tsn_object owner;
  tsanom_status status = check_sizes(p.exec, p.regions, p.depth);
  if (status < 0) return status;
  if ((status = read_options(options, p.exec, &own)) < 0) return status;
  if ((status =
           tsn_object_place(p.exec, layout, check_output, &p, memory, bytes, &owner)) < 0)
    return status;
  for (size_t k = 0; k < p.regions; k++) {
    p.visit[k] = (tsn_spmd_visits){.parent = TSN_SPMD_UNSEEN};
  }
  *p.recorder = (tsanom_spmd_recorder){.owner = owner,
                                       .regions = p.regions,
                                       .depth = p.depth,
                                       .clock = own.clock,
                                       .made = tsn_elapsed_now(),
                                       .visit = p.visit,
                                       .stack = p.stack};
  *p.output = p.recorder;
  return TSANOM_OK;
}

tsanom_status tsanom_spmd_recorder_init(void *memory, size_t bytes, size_t regions,
                                        size_t depth,
                                        const tsanom_spmd_recorder_options *options,
                                        const tsanom_exec *exec,
                                        tsanom_spmd_recorder **recorder) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read_base(&own, exec);
  if (status < 0) return status;
  if ((status = tsn_require(&own, memory, "memory")) < 0) return status;
  placement p = {.regions = regions, .depth = depth, .exec = &own, .output = recorder};
  return make(memory, bytes, p, options);
}

tsanom_status tsanom_spmd_recorder_create(size_t regions, size_t depth,
                                          const tsanom_spmd_recorder_options *options,
                                          const tsanom_exec *exec,
                                          tsanom_spmd_recorder **recorder) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read_base(&own, exec);
  if (status < 0) return status;
  placement p = {.regions = regions, .depth = depth, .exec = &own, .output = recorder};
  return make(NULL, 0, p, options);
}

void tsanom_spmd_recorder_destroy(tsanom_spmd_recorder *r) {
  if (!r) return;
  tsn_object owner = r->owner;
  tsn_object_release(&owner);
}

/* The clock is read last: the bookkeeping before it belongs to the enclosing region. */
tsanom_status tsanom_spmd_begin(tsanom_spmd_recorder *r, int32_t region) {
  if (!r) return TSANOM_E_NULL;
  if (region < 0 || (size_t)region >= r->regions) return TSANOM_E_INDEX;
  if (r->used == r->depth) return TSANOM_E_STATE;
  tsn_spmd_visits *v = &r->visit[region];
  int32_t parent = r->used ? r->stack[r->used - 1] : TSANOM_SPMD_NONE;
  r->stack[r->used++] = region;
  if (v->open++) return TSANOM_OK;
  if (v->parent == TSN_SPMD_UNSEEN) v->parent = parent;
  r->mixed |= v->parent != parent;
  v->start = now(r);
  return TSANOM_OK;
}

/* The clock is read as soon as the visit is known to be the outermost one. A wrong
 * region is rejected and changes nothing. */
tsanom_status tsanom_spmd_end(tsanom_spmd_recorder *r, int32_t region) {
  if (!r) return TSANOM_E_NULL;
  if (!r->used || r->stack[r->used - 1] != region) return TSANOM_E_STATE;
  tsn_spmd_visits *v = &r->visit[region];
  r->used--;
  v->calls++;
  if (--v->open != 0) return TSANOM_OK;
  v->time += now(r) - v->start;
  return TSANOM_OK;
}

tsanom_status tsanom_spmd_recorder_read(const tsanom_spmd_recorder *r, double *time,
                                        uint64_t *calls, int32_t *parent) {
  if (!r) return TSANOM_E_NULL;
  for (size_t k = 0; k < r->regions; k++) {
    const tsn_spmd_visits *v = &r->visit[k];
    if (time) time[k] = 1e-9 * (double)v->time;
    if (calls) calls[k] = v->calls;
    if (parent) parent[k] = v->parent == TSN_SPMD_UNSEEN ? TSANOM_SPMD_NONE : v->parent;
  }
  return r->mixed || r->used ? TSANOM_PARTIAL : TSANOM_OK;
}
