/* SPDX-License-Identifier: BSD-3-Clause */
/* Models of the library, from files and to files. */
#ifndef TSANOM_COMMAND_MODEL_H
#define TSANOM_COMMAND_MODEL_H

#include <tsanom/diagnosis.h>
#include <tsanom/hsa.h>
#include <tsanom/runs.h>

#include "failure.h"

/* A model and its content. */
typedef struct {
  tsanom_hsa_model *model;
  tsanom_hsa_model_data data;
  tsanom_diagnosis_normal normal; /* no threads: the model has no ranges of signs */
} owned_model;

/* Take over a model. */
void model_take(owned_model *m, tsanom_hsa_model *model);
void model_free(owned_model *m);

/* Read a model file. On failure `m` is empty. */
int model_read(const char *path, owned_model *m, failure *why);

/* Write a model file; "-" is standard output. `runs` names the runs it was learned from.
 */
int model_write(const char *path, const owned_model *m, char *const *runs, failure *why);

#endif
