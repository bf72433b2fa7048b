/* SPDX-License-Identifier: BSD-3-Clause */
/* Region times of processes, from three sources: a region file, the region files of a
 * run's processes together, and region events. */
#ifndef TSN_RUNS_SPMD_H
#define TSN_RUNS_SPMD_H

#include <stdio.h>
#include <tsanom/runs.h>

#include "runs/channel.h"
#include "runs/places.h"

enum { TSN_REGIONS_MOST = 1 << 14 }; /* of a run */

/* Arrays and names lie in the pool. Zero it and set the pool's exec before use; free the
 * pool after a failure too. */
typedef struct {
  tsn_pool pool;
  tsanom_spmd_data data;
  const char **region, **process, **metric; /* process: NULL without names */
  int32_t *parent;
  double *time, *value;
  bool salvage;             /* files of a directory that cannot be read are left out */
  size_t skipped;           /* their number */
  const char *skipped_file; /* the first of them, without its directory */
} tsn_spmd;

/* Empty data. */
tsn_spmd tsn_spmd_empty(const tsanom_exec *memory);

/* Point data's arrays to the own ones. */
void tsn_spmd_complete(tsn_spmd *spmd);

/* Parse a region file. A part of a run names its processes, and may have no regions. */
tsanom_status tsn_spmd_read_json(FILE *stream, const char *file, bool is_part,
                                 const tsanom_exec *exec, tsn_spmd *spmd);

/* Put together all region files of a directory. */
tsanom_status tsn_spmd_read_directory(const char *directory, const tsanom_exec *exec,
                                      tsn_spmd *spmd);

/* Threads of region events as processes. */
tsanom_status tsn_spmd_read_events(const tsn_channel *channel, tsn_places *places,
                                   bool symbols, const tsanom_exec *exec, tsn_spmd *spmd);

#endif
