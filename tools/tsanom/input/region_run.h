/* SPDX-License-Identifier: BSD-3-Clause */
/* The times of regions in a recorded run. */
#ifndef TSANOM_COMMAND_REGION_RUN_H
#define TSANOM_COMMAND_REGION_RUN_H

#include "region_file.h"

/* Whether the path is a folder, not a file. */
int run_is_folder(const char *path);

/* Read a run folder: the processes that recorders wrote to its folder `spmd`, else the
 * threads that tsanom record noted. */
int region_run_read(const char *folder, const tsanom_exec *exec, int32_t tree,
                    region_file *f, failure *why);

/* Put together what the processes of a run wrote to a folder, each a region file .json.
 * A region that a process did not enter has no time there. */
int region_merge_read(const char *folder, region_file *f, failure *why);

/* The threads of a run by tsanom record --cpu-time: each is a process, its parallel
 * regions, as they are nested, the tree. */
int region_events_read(const char *folder, const tsanom_exec *exec, region_file *f,
                       failure *why);

#endif
