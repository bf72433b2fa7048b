/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of code regions, one recorder per thread.
 *
 * A visit of region k adds clock(end) - clock(begin) to time[k], nested regions included;
 * of a recursive region only the outermost visit counts. */
#include <string.h>

#include "record/align.h"
#include "record/cpu_clock.h"
#include "record/spmd_internal.h"

static int32_t *stack_of(tsanom_spmd_recorder *r) {
  return (int32_t *)(r->visit + r->regions);
}

static int64_t now(const tsanom_spmd_recorder *r) {
  return r->clock == TSANOM_SPMD_CLOCK_CPU ? tsn_cpu_clock_now() : tsn_elapsed_now();
}

int32_t tsanom_spmd_cpu_clock_is_in_user_space(void) {
  return tsn_cpu_clock_is_in_user_space();
}

tsanom_status tsanom_spmd_recorder_size(size_t regions, size_t depth, size_t *bytes) {
  if (!bytes) return TSANOM_E_NULL;
  if (regions < 1 || regions > INT32_MAX || depth < 1 || depth > INT32_MAX) {
    return TSANOM_E_COUNT;
  }
  *bytes = sizeof(tsanom_spmd_recorder) + regions * sizeof(tsn_spmd_visits) +
           depth * sizeof(int32_t) + _Alignof(tsanom_spmd_recorder) - 1;
  return TSANOM_OK;
}

tsanom_status tsanom_spmd_recorder_init(void *memory, size_t bytes, size_t regions,
                                        size_t depth, int32_t clock,
                                        tsanom_spmd_recorder **recorder) {
  if (!memory || !recorder) return TSANOM_E_NULL;
  size_t needed;
  tsanom_status status = tsanom_spmd_recorder_size(regions, depth, &needed);
  if (status < 0) return status;
  if (clock != TSANOM_SPMD_CLOCK_ELAPSED && clock != TSANOM_SPMD_CLOCK_CPU) {
    return TSANOM_E_OPTION;
  }
  if (bytes < needed) return TSANOM_E_WORKSPACE;
  tsanom_spmd_recorder *r = tsn_align(memory, _Alignof(tsanom_spmd_recorder));
  memset(r, 0, needed - (_Alignof(tsanom_spmd_recorder) - 1));
  r->regions = regions;
  r->depth = depth;
  r->clock = clock;
  r->made = tsn_elapsed_now();
  for (size_t k = 0; k < regions; k++) r->visit[k].parent = TSN_SPMD_UNSEEN;
  *recorder = r;
  return TSANOM_OK;
}

tsanom_status tsanom_spmd_recorder_count(tsanom_spmd_recorder *r,
                                         tsanom_spmd_counters *counters) {
  if (!r) return TSANOM_E_NULL;
  if (r->used) return TSANOM_E_STATE;
  if (counters && tsn_spmd_counted_regions(counters) != r->regions) return TSANOM_E_COUNT;
  r->counters = counters;
  return TSANOM_OK;
}

tsanom_status tsanom_spmd_begin(tsanom_spmd_recorder *r, int32_t region) {
  if (!r) return TSANOM_E_NULL;
  if (region < 0 || (size_t)region >= r->regions) return TSANOM_E_VALUE;
  if (r->used == r->depth) return TSANOM_E_STATE;
  tsn_spmd_visits *v = &r->visit[region];
  int32_t *stack = stack_of(r);
  int32_t parent = r->used ? stack[r->used - 1] : TSANOM_SPMD_NONE;
  stack[r->used++] = region;
  if (v->open++) return TSANOM_OK;
  if (v->parent == TSN_SPMD_UNSEEN) v->parent = parent;
  r->mixed |= v->parent != parent;
  if (r->counters) tsn_spmd_count_begin(r->counters, (size_t)region);
  v->start = now(r);
  return TSANOM_OK;
}

tsanom_status tsanom_spmd_end(tsanom_spmd_recorder *r, int32_t region) {
  if (!r) return TSANOM_E_NULL;
  if (!r->used || stack_of(r)[r->used - 1] != region) return TSANOM_E_STATE;
  tsn_spmd_visits *v = &r->visit[region];
  r->used--;
  v->calls++;
  if (--v->open != 0) return TSANOM_OK;
  v->time += now(r) - v->start;
  if (r->counters) tsn_spmd_count_end(r->counters, (size_t)region);
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
