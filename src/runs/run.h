/* SPDX-License-Identifier: BSD-3-Clause */
/* The run object. */
#ifndef TSN_RUNS_RUN_H
#define TSN_RUNS_RUN_H

#include "runs/parts.h"

struct tsanom_runs {
  tsanom_exec exec; /* the allocator */
  tsn_pool pool;    /* of the paths */
  tsanom_runs_options options;
  tsn_place_of_run place;
  tsn_parts parts;
  tsn_spmd from_events; /* made on request; no processes: not yet */
};

/* What functions with an exec begin with: read it, and reject NULL for the run or for an
 * output of that name. */
tsanom_status tsn_run_enter(const tsanom_exec *exec, const tsanom_runs *run,
                            const void *output, const char *name, tsanom_exec *own);

#endif
