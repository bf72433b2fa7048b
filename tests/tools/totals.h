/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs with totals, compared with runs that have all of their events. */
#ifndef TSANOM_TEST_TOTALS_H
#define TSANOM_TEST_TOTALS_H

#include <tsanom/runs.h>

/* The region times of a run, which stays open until the test ends. */
tsanom_runs_spmd_data times_of(const char *path);

/* Both runs have the same regions, and each process as many visits to each of them.
 * Times are those of two executions, and so only bounded by the run. */
void check_same_visits(const char *events, const char *totals);

/* The run, of one process, has totals in at most 64 KiB and 100 bytes for each region;
 * so have all its files if it has one thread. */
void check_totals_are_small(const char *run);

#endif
