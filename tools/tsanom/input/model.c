/* SPDX-License-Identifier: BSD-3-Clause */
/* Models of the command: the file by libtsanom-runs, the object by libtsanom. The file
 * is checked twice: its form when it is parsed, its content when the model is created
 * from it. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reserve.h"
#include "rows.h"

void model_take(owned_model *m, tsanom_hsa_model *model) {
  m->model = model;
  if (!model) return;
  m->data = (tsanom_hsa_model_data){.struct_size = sizeof m->data};
  tsanom_hsa_model_read(model, &m->data);
}

void model_free(owned_model *m) {
  tsanom_hsa_model_destroy(m->model);
  free(m->normal.range);
  free(m->normal.ledger);
  *m = (owned_model){0};
}

/* The ranges of a file are valid as long as the file. */
static void copy_normal(owned_model *m, const tsanom_diagnosis_normal *normal) {
  size_t bytes = normal->range_count * sizeof *normal->range;
  size_t numbers = normal->ledger_count * sizeof *normal->ledger;
  m->normal = *normal;
  m->normal.range = memcpy(allocate(1, bytes), normal->range, bytes);
  if (numbers) m->normal.ledger = memcpy(allocate(1, numbers), normal->ledger, numbers);
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
  tsanom_exec exec = exec_with_fault(NULL, &fault);
  tsanom_runs_model *file = NULL;
  tsanom_runs_model_data data;
  tsanom_hsa_model *model = NULL;
  *m = (owned_model){0};
  tsanom_status status = tsanom_runs_model_load(path, &exec, &file);
  if (status < 0) return fail_fault(why, file_title(path), status, &fault);
  tsanom_runs_model_get(file, &data);
  status = tsanom_hsa_model_create(data.model, &exec, &model);
  if (data.normal) copy_normal(m, data.normal);
  tsanom_runs_model_destroy(file);
  model_take(m, model);
  if (status >= 0) return 0;
  model_free(m);
  return fail_content(why, file_title(path), status, &fault);
}

int model_write(const char *path, const owned_model *m, char *const *runs, failure *why) {
  tsanom_fault fault;
  tsanom_exec exec = exec_with_fault(NULL, &fault);
  tsanom_runs_model_data data = {.model = &m->data,
                                 .run = (const char *const *)runs,
                                 .normal = m->normal.thread_count ? &m->normal : NULL};
  tsanom_status status = tsanom_runs_model_save(path, &data, &exec);
  if (ferror(stdout)) return 0; /* reported at exit */
  return status < 0 ? fail_fault(why, file_title(path), status, &fault) : 0;
}
