/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs with totals, compared with runs that have all of their events. */
#ifndef TSANOM_TEST_TOTALS_H
#define TSANOM_TEST_TOTALS_H

#include <tsanom/runs.h>

/* Open a run, and its region times. Close it by tsanom_runs_destroy(). */
tsanom_runs *open_times(const char *path, tsanom_runs_spmd_data *spmd);

/* Both runs have the same regions, and each process as many visits to each of them.
 * Times are those of two executions, and so only bounded by the run. */
void check_same_visits(const char *events, const char *totals);

/* The run, of one process, has totals in at most 64 KiB and 100 bytes for each region;
 * so have all its files if it has one thread. */
void check_totals_are_small(const char *run);

#endif
