/* SPDX-License-Identifier: BSD-3-Clause */
/* Inputs of the analyses from the parts of a run. What was read is returned by pointer
 * and not copied; what must be computed is computed on request, once, and kept in the
 * run:
 *
 *   tsanom_runs_hsa      beats                            pointer to the part's series
 *   tsanom_runs_spmd     region files, else region events pointer, or computed once
 *   tsanom_runs_place_*  places                           names looked up on request */
#include <tsanom/runs.h>

#include "core/check.h"
#include "core/exec.h"
#include "core/fault.h"
#include "runs/run.h"

/* Windowed heart rate:
 *
 *   r[i - w] = w / (t[i] - t[i - w]),     i = w ... count - 1
 *
 * in beats per second. Times must increase strictly, so that every quotient is finite.
 * All input is checked before the first output is written. O(count). */

tsanom_status tsanom_runs_rate(const double *time, size_t count, size_t window,
                               const tsanom_exec *exec, double *rates) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read_base(&own, exec);
  if (status < 0) return status;
  if (!time) return tsn_reject_null(&own, "time", count);
  if (!rates) return tsn_reject_null(&own, "rates", count > window ? count - window : 0);
  status = tsn_require_size(&own, TSANOM_E_OPTION, "window", window, 1, SIZE_MAX);
  if (status < 0) return status;
  if (window >= count) {
    return tsn_reject_is(&own, TSANOM_E_COUNT, "count", TSANOM_NONE,
                         "%zu; more than the window of %zu beats is expected", count,
                         window);
  }
  status = tsn_require_size(&own, TSANOM_E_OVERFLOW, "count", count, 1,
                            PTRDIFF_MAX / sizeof *time);
  if (status < 0) return status;
  if (!tsn_all_finite(time, count)) {
    size_t i = tsn_first_nonfinite(time, count);
    return tsn_reject_value(&own, TSANOM_E_NONFINITE, "time", i, TSANOM_NONE, time[i],
                            "finite times are expected");
  }
  for (size_t i = 1; i < count; i++) {
    if (time[i] > time[i - 1]) continue;
    return tsn_reject_is(&own, TSANOM_E_ORDER, "time", i,
                         "%.17g; more than %.17g, the time before it, is expected",
                         time[i], time[i - 1]);
  }
  for (size_t i = window; i < count; i++) {
    rates[i - window] = (double)window / (time[i] - time[i - window]);
  }
  return TSANOM_OK;
}

static tsanom_status no_memory(const tsanom_exec *exec) {
  return tsn_reject(exec, TSANOM_E_MEMORY, "exec.alloc");
}

tsanom_status tsanom_runs_hsa(const tsanom_runs *run, const tsanom_exec *exec,
                              const tsanom_hsa_run **beats) {
  tsanom_exec own;
  tsanom_status status = tsn_run_enter(exec, run, beats, "beats", &own);
  if (status < 0) return status;
  const tsanom_hsa_run *found =
      run->place.is_directory ? &run->parts.beats.beats.run : &run->parts.csv.run;
  if (!found->thread_count) {
    return tsn_run_reject(&own, run, "the run has no heartbeats");
  }
  *beats = found;
  return TSANOM_OK;
}

tsanom_status tsanom_runs_place_at(const tsanom_runs *run, size_t index,
                                   tsanom_runs_place *place) {
  if (!run || !place) return TSANOM_E_NULL;
  const tsn_places *places = &run->parts.regions.places;
  if (index >= places->count) return TSANOM_E_INDEX;
  *place = tsn_places_at(places, index)->about;
  return TSANOM_OK;
}

tsanom_status tsanom_runs_place_name(tsanom_runs *run, size_t index,
                                     const tsanom_exec *exec, const char **name) {
  tsanom_exec own;
  tsanom_status status = tsn_run_enter(exec, run, name, "name", &own);
  if (status < 0) return status;
  tsn_places *places = &run->parts.regions.places;
  if (index >= places->count) {
    return tsn_reject_is(&own, TSANOM_E_INDEX, "index", TSANOM_NONE,
                         "%zu; the run has %zu places", index, places->count);
  }
  const char *found = tsn_places_name(places, index, run->options.symbols == 1);
  if (!found) return no_memory(&own);
  *name = found;
  return TSANOM_OK;
}

/* Region times from events, kept until the run changes. The allocator is the run's,
 * because the result outlives the call; the fault is the caller's. */
static tsanom_status add_up_events(tsanom_runs *run, const tsanom_exec *exec) {
  tsn_region_part *part = &run->parts.regions;
  tsanom_exec own = run->exec;
  tsn_spmd made = tsn_spmd_empty(&run->exec);
  own.fault = exec->fault;
  const tsn_region_events of = {.directory = run->place.path,
                                .channel = &part->channel,
                                .profile = &run->parts.profile,
                                .places = &part->places,
                                .symbols = run->options.symbols == 1};
  tsanom_status status = tsn_spmd_read_events(&of, &own, &made);
  if (status == TSANOM_OK) {
    run->from_events = made;
  } else {
    tsn_pool_free(&made.pool);
  }
  return status;
}

tsanom_status tsanom_runs_spmd(tsanom_runs *run, const tsanom_exec *exec,
                               tsanom_runs_spmd_data *spmd) {
  tsanom_exec own;
  tsanom_status status = tsn_run_enter(exec, run, spmd, "spmd", &own);
  if (status < 0) return status;
  const tsn_spmd *found = &run->parts.spmd;
  if (!found->data.processes) {
    if (!(run->parts.present & TSANOM_RUNS_REGIONS)) {
      return tsn_run_reject(&own, run, "the run has no region times");
    }
    if (!run->from_events.data.processes) status = add_up_events(run, &own);
    if (status < 0) return status;
    found = &run->from_events;
  }
  *spmd = (tsanom_runs_spmd_data){.data = &found->data,
                                  .region = found->region,
                                  .process = found->process,
                                  .metric = found->metric,
                                  .waiting = found->waiting,
                                  .stalled = found->stalled,
                                  .dropped = found->dropped,
                                  .dropped_count = found->dropped_count};
  return TSANOM_OK;
}
