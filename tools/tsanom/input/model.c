/* SPDX-License-Identifier: BSD-3-Clause */
/* Models of the command: the file by libtsanom-runs, the object by libtsanom. The file
 * is checked twice: its form when it is parsed, its content when the model is created
 * from it. */
#include "model.h"

#include <stdio.h>
#include <string.h>

#include "rows.h"

void model_take(owned_model *m, tsanom_hsa_model *model) {
  m->model = model;
  tsanom_hsa_model_data_init(&m->data, sizeof m->data);
  tsanom_hsa_model_read(model, &m->data);
}

void model_free(owned_model *m) {
  tsanom_hsa_model_destroy(m->model);
  *m = (owned_model){0};
}

/* The content of a file contradicts itself: name the field as the file does. */
static int fail_content(failure *why, const char *name, tsanom_status status,
                        const tsanom_fault *fault) {
  const char *dot = strrchr(fault->argument, '.'), *field = dot ? dot + 1 : "";
  const char *sentence = tsanom_status_text(status);
  if (fault->element != TSANOM_NONE) {
    return fail(why, "%s: threads[%zu].%s: %s", name, fault->element, field, sentence);
  }
  return fail(why, "%s: %s%s: %s", name,
              strstr(fault->argument, "options.") ? "options." : "", field, sentence);
}

int model_read(const char *path, owned_model *m, failure *why) {
  tsanom_fault fault;
  tsanom_exec exec;
  tsanom_runs_model *file = NULL;
  tsanom_runs_model_data data;
  tsanom_hsa_model *model = NULL;
  *m = (owned_model){0};
  tsanom_exec_init(&exec, sizeof exec);
  tsanom_fault_init(&fault, sizeof fault);
  exec.fault = &fault;
  tsanom_status status = tsanom_runs_model_load(path, &exec, &file);
  if (status < 0) return fail_fault(why, file_title(path), status, &fault);
  tsanom_runs_model_get(file, &data);
  status = tsanom_hsa_model_create(data.model, &exec, &model);
  tsanom_runs_model_free(file);
  if (status < 0) return fail_content(why, file_title(path), status, &fault);
  model_take(m, model);
  return 0;
}

int model_write(const char *path, const tsanom_hsa_model_data *model, char *const *runs,
                failure *why) {
  tsanom_fault fault;
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  tsanom_fault_init(&fault, sizeof fault);
  exec.fault = &fault;
  tsanom_runs_model_data data = {.model = model, .run = (const char *const *)runs};
  tsanom_status status = tsanom_runs_model_save(path, &data, &exec);
  if (ferror(stdout)) return 0; /* reported at exit */
  return status < 0 ? fail_fault(why, file_title(path), status, &fault) : 0;
}
