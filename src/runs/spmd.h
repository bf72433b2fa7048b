/* SPDX-License-Identifier: BSD-3-Clause */
/* Region times of processes, from three sources, each of which fills one tsn_spmd:
 *
 *   region file              one JSON file: any number of processes        region_json.c
 *   RUN/spmd/NAME.json       one file for each process, merged by name region_merge.c
 *   region events            the threads of one process are its rows       region_tree.c
 *
 * All matrices are row-major, processes by regions; metric m begins at m * processes *
 * regions. */
#ifndef TSN_RUNS_SPMD_H
#define TSN_RUNS_SPMD_H

#include <stdio.h>
#include <tsanom/runs.h>

#include "runs/channel.h"
#include "runs/places.h"

/* Regions of a run, at most. Every process has a time for each of them, so a merged
 * matrix can be larger than its files together; this bounds it. */
enum { TSN_REGIONS_MOST = 1 << 14 };

/* Arrays and names lie in the pool. Zero it and set the pool's exec before use; free the
 * pool after a failure too. */
typedef struct {
  tsn_pool pool;
  tsanom_spmd_data data;
  /* Names; process: NULL without names. */
  const char **region, **process, **metric;
  /* By region; TSANOM_SPMD_NONE: nested in none. */
  int32_t *parent;
  /* Seconds, and the values of the metrics: NaN where one was not measured. */
  double *time, *value;
  /* Files of a directory that cannot be read are left out, and counted. */
  bool salvage;
  size_t skipped;           /* their number */
  const char *skipped_file; /* the first of them, without its directory */
} tsn_spmd;

/* Empty data. */
tsn_spmd tsn_spmd_empty(const tsanom_exec *memory);

/* Point data's arrays to the own ones. Callers get `data` only, whose pointers are to
 * constants. */
void tsn_spmd_complete(tsn_spmd *spmd);

/* Parse a region file. A part of a run names its processes, and may have no regions: a
 * process that entered none is a process of the run all the same. */
tsanom_status tsn_spmd_read_json(FILE *stream, const char *file, bool is_part,
                                 const tsanom_exec *exec, tsn_spmd *spmd);

/* Put together all region files of a directory. */
tsanom_status tsn_spmd_read_directory(const char *directory, const tsanom_exec *exec,
                                      tsn_spmd *spmd);

/* Threads of region events as processes. */
tsanom_status tsn_spmd_read_events(const tsn_channel *channel, tsn_places *places,
                                   bool symbols, const tsanom_exec *exec, tsn_spmd *spmd);

#endif
