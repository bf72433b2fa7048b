/* SPDX-License-Identifier: BSD-3-Clause */
/* Totals of regions, by which a run continues where its events end: the file `profile`
 * beside the events. */
#ifndef TSN_RUNS_PROFILE_H
#define TSN_RUNS_PROFILE_H

#include "record/regions.h"
#include "runs/memory.h"

typedef struct {
  tsn_pool pool;
  /* Rows 1 to count - 1, after the rows that contain them; NULL: there is no file. */
  tsn_regions_row *row;
  size_t count;
  bool is_numbered;
} tsn_profile;

/* Read DIRECTORY/profile, if there is one; with `damage`, the rows in front of it. */
tsanom_status tsn_profile_read(const char *directory, tsanom_fault *damage,
                               const tsanom_exec *exec, tsn_profile *profile);

/* Give the rows the numbers of threads in the team of the opener that is shown, and others one that no
 * thread has. */
void tsn_profile_number(tsn_profile *profile, uint32_t opener);

/* Seconds from the moment of CLOCK_MONOTONIC at which a run began to a thread's last
 * event. */
static inline double tsn_profile_end(const tsn_regions_row *thread, uint64_t began) {
  return (double)(int64_t)(thread->useful + thread->elapsed - began) * 1e-9;
}

#endif
