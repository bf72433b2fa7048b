/* SPDX-License-Identifier: BSD-3-Clause */
/* Models of the library, from files and to files. */
#ifndef TSANOM_COMMAND_MODEL_H
#define TSANOM_COMMAND_MODEL_H

#include <tsanom/hsa.h>
#include <tsanom/runs.h>

#include "failure.h"

/* A model in memory of its own. */
typedef struct {
  tsanom_hsa_model *model;
  size_t bytes;
} owned_model;

/* Memory for a model of this many threads. */
int model_allocate(owned_model *m, size_t threads, const tsanom_hsa_options *options,
                   failure *why);
void model_free(owned_model *m);

/* Read a model file. On failure `m` is empty. */
int model_read(const char *path, owned_model *m, failure *why);

/* Make a model of what a file contains; messages call it `name`. */
int model_make(const tsanom_runs_model *file, const char *name, owned_model *m,
               failure *why);

/* Write a model file; "-" is standard output. `runs` names the runs it was learned from.
 */
int model_write(const char *path, const tsanom_hsa_model *model, char *const *runs,
                failure *why);

#endif
