/* SPDX-License-Identifier: BSD-3-Clause */
/* The run object: what tsanom_runs_open() creates and tsanom_runs_refresh() continues.
 *
 *   tsanom_runs ── place     where it is, and which parts are wanted
 *              ├── parts     what was read and committed (parts.h)
 *              ├── from_events   region times computed from events, on request
 *              └── activities    what the last call of tsanom_runs_activities() returned
 *
 * Callers get pointers into `parts`. They are valid until the next refresh or close,
 * because a refresh may move or replace the arrays. */
#ifndef TSN_RUNS_RUN_H
#define TSN_RUNS_RUN_H

#include "runs/parts.h"
#include "runs/places.h"

/* Items, their sums by class, and the index of an item plus 1 by place and kind. */
typedef struct {
  tsn_array item, seconds, index;
  size_t count;
} tsn_activities;

struct tsanom_runs {
  /* A copy of the caller's, without work, fault and poll: its allocator serves the whole
   * life of the run, while the other members belong to one call. */
  tsanom_exec exec;
  /* Of the paths in `place`. */
  tsn_pool pool;
  tsanom_runs_options options;
  tsn_place_of_run place;
  tsn_parts parts;
  /* The first damage that salvage passed over; `damage_seen` while the run is read. */
  tsanom_fault damage, damage_seen;
  /* Computed on request and kept until the run changes; no processes: not yet. */
  tsn_spmd from_events;
  tsn_activities activities;
};

/* Open a run, or as many processes as `processes` says; 0: a run by itself. `shared`,
 * unless NULL: the run is a process whose region times are wanted, so that vital signs
 * are not read; its places are added to those of other processes, which must last as long
 * as the run. */
tsanom_status tsn_run_open(const char *const *paths, size_t processes,
                           const tsanom_runs_options *options, tsn_known_places *shared,
                           const tsanom_exec *exec, tsanom_runs **run);

/* What functions with an exec begin with: read it, and reject NULL for the run or for an
 * output of that name. */
tsanom_status tsn_run_enter(const tsanom_exec *exec, const tsanom_runs *run,
                            const void *output, const char *name, tsanom_exec *own);

#endif
