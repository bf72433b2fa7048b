/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of an HSA model: JSON that reads back to the same model, bit for bit.
 * Its fields are explained in docs/command.md. */
#ifndef TSANOM_COMMAND_MODEL_FILE_H
#define TSANOM_COMMAND_MODEL_FILE_H

#include <jansson.h>
#include <tsanom/hsa.h>

#include "failure.h"

/* A model and its content. */
typedef struct {
  tsanom_hsa_model *model;
  tsanom_hsa_model_data data;
} owned_model;

/* Take over a model. */
void model_take(owned_model *m, tsanom_hsa_model *model);
void model_free(owned_model *m);

/* A model as JSON; `runs` names the runs it was learned from. */
json_t *model_to_json(const tsanom_hsa_model_data *data, char *const *runs);

/* Read a model back. On failure `m` is empty and `why` names the path of the
 * bad field. */
int model_read(const char *path, owned_model *m, failure *why);

/* model_read() of parsed JSON that messages call `file`. */
int model_from_json(const json_t *json, const char *file, owned_model *m, failure *why);

#endif
