/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole d(m) of a stream of events, by run lengths. */
#include <tsanom/dpd.h>

#include <string.h>

#include "core/exec.h"
#include "dpd/dpd_kernel.h"
#include "dpd/dpd_object.h"

struct tsanom_dpd_curve {
  const tsn_dpd_kernels *kernels;
  size_t max_period;
  uint64_t count;
  size_t head;     /* of the newest event */
  uint64_t *event; /* newest first; there is room for twice max_period */
  uint32_t *run;
};

static tsanom_dpd_curve *layout(tsn_arena *arena, size_t max_period,
                                tsanom_dpd_curve *parts) {
  tsanom_dpd_curve *curve = tsn_arena_take(arena, 1, sizeof *curve);
  parts->event = tsn_arena_take(arena, 2 * max_period, sizeof *parts->event);
  parts->run = tsn_arena_take(arena, max_period, sizeof *parts->run);
  return curve;
}

static tsanom_status measure(size_t max_period, tsn_arena *measured) {
  if (max_period < 1 || max_period > TSANOM_DPD_WINDOW_MAX) return TSANOM_E_OPTION;
  *measured = tsn_arena_measure();
  tsanom_dpd_curve parts;
  layout(measured, max_period, &parts);
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_curve_size(size_t max_period, size_t *bytes) {
  if (!bytes) return TSANOM_E_NULL;
  tsn_arena measured;
  tsanom_status status = measure(max_period, &measured);
  return status < 0 ? status : tsn_arena_bytes(&measured, bytes);
}

tsanom_status tsanom_dpd_curve_init(size_t max_period, const tsanom_exec *exec,
                                    void *memory, size_t bytes,
                                    tsanom_dpd_curve **curve) {
  if (!curve) return TSANOM_E_NULL;
  tsanom_exec own_exec;
  tsn_arena measured, arena;
  tsanom_status status = measure(max_period, &measured);
  if (status < 0) return status;
  if ((status = tsn_exec_read(&own_exec, exec)) < 0) return status;
  if ((status = tsn_object_arena(&measured, memory, bytes, &arena)) < 0) return status;
  tsanom_dpd_curve parts = {.kernels = tsn_dpd_kernels_at(own_exec.isa),
                            .max_period = max_period};
  tsanom_dpd_curve *made = layout(&arena, max_period, &parts);
  *made = parts;
  memset(made->run, 0, max_period * sizeof *made->run);
  *curve = made;
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_curve_push(tsanom_dpd_curve *curve, uint64_t event) {
  if (!curve) return TSANOM_E_NULL;
  size_t lags =
      curve->count < curve->max_period ? (size_t)curve->count : curve->max_period;
  curve->kernels->advance_runs(curve->event + curve->head, event, curve->run, lags);
  if (curve->head == 0) {
    size_t kept = lags < curve->max_period ? lags : curve->max_period - 1;
    curve->head = 2 * curve->max_period - kept;
    memmove(curve->event + curve->head, curve->event, kept * sizeof *curve->event);
  }
  curve->event[--curve->head] = event;
  curve->count++;
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_curve_runs(const tsanom_dpd_curve *curve, uint32_t *runs,
                                    size_t count) {
  if (!curve || !runs) return TSANOM_E_NULL;
  if (count > curve->max_period) return TSANOM_E_OPTION;
  memcpy(runs, curve->run, count * sizeof *runs);
  return TSANOM_OK;
}
