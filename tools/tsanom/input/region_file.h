/* SPDX-License-Identifier: BSD-3-Clause */
/* The region file: times and metrics of the code regions of an SPMD run, by
 * process. Its fields are explained in docs/spmd.md. */
#ifndef TSANOM_COMMAND_REGION_FILE_H
#define TSANOM_COMMAND_REGION_FILE_H

#include <jansson.h>
#include <tsanom/spmd.h>

#include "failure.h"

/* Zero it before use. */
typedef struct {
  tsanom_spmd_data data;
  char **region;  /* names */
  char **process; /* names; NULL: processes are called by their numbers */
  char **metric;  /* names */
  int32_t *parent;
  double *time, *value;
} region_file;

/* Read a file; "-" is the standard input. `tree` is one of TSANOM_SPMD_FOREST,
 * _PROGRAM. */
int region_file_read(const char *path, int32_t tree, region_file *f, failure *why);

/* region_file_read() of parsed JSON that messages call `file`. */
int region_file_from_json(const json_t *json, const char *file, int32_t tree,
                          region_file *f, failure *why);

/* Read what one process, or some, of a run wrote: their names are there, regions may
 * be none. */
int region_file_read_part(const char *path, region_file *f, failure *why);

void region_file_free(region_file *f);

#endif
