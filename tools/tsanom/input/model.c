/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>

#include "rows.h"

int model_allocate(owned_model *m, size_t threads, const tsanom_hsa_options *options,
                   failure *why) {
  *m = (owned_model){0};
  tsanom_status status = tsanom_hsa_model_size(threads, options, &m->bytes);
  if (status < 0) return fail_status(why, "the model", status);
  m->model = malloc(m->bytes);
  return m->model ? 0 : fail(why, "the model: out of memory");
}

void model_free(owned_model *m) {
  free(m->model);
  *m = (owned_model){0};
}

int model_make(const tsanom_runs_model *file, const char *name, owned_model *m,
               failure *why) {
  size_t bytes;
  tsanom_runs_model_data data;
  *m = (owned_model){0};
  tsanom_runs_model_get(file, &data);
  tsanom_status status = tsanom_hsa_model_size(data.threads, data.options, &bytes);
  if (status < 0) return fail(why, "%s: options: %s", name, tsanom_status_text(status));
  if (model_allocate(m, data.threads, data.options, why)) return -1;
  status =
      tsanom_hsa_model_init(m->model, m->bytes, data.threads, data.runs, data.options);
  int failed =
      status < 0 && fail(why, "%s: options: %s", name, tsanom_status_text(status));
  for (size_t i = 0; i < data.threads && !failed; i++) {
    status = tsanom_hsa_model_set(m->model, i, &data.reference[i]);
    failed = status < 0 &&
             fail(why, "%s: threads[%zu]: %s", name, i, tsanom_status_text(status));
  }
  if (failed) model_free(m);
  return failed ? -1 : 0;
}

int model_read(const char *path, owned_model *m, failure *why) {
  tsanom_fault fault;
  tsanom_exec exec;
  tsanom_runs_model *file = NULL;
  *m = (owned_model){0};
  tsanom_exec_init(&exec, sizeof exec);
  tsanom_fault_init(&fault, sizeof fault);
  exec.fault = &fault;
  tsanom_status status = tsanom_runs_model_load(path, &exec, &file);
  if (status < 0) return fail_fault(why, file_title(path), status, &fault);
  int failed = model_make(file, file_title(path), m, why);
  tsanom_runs_model_free(file);
  return failed;
}

int model_write(const char *path, const tsanom_hsa_model *model, char *const *runs,
                failure *why) {
  tsanom_fault fault;
  tsanom_exec exec;
  tsanom_hsa_options options;
  size_t threads = tsanom_hsa_model_threads(model);
  tsanom_hsa_reference *reference = calloc(threads, sizeof *reference);
  if (!reference) return fail(why, "%s: out of memory", file_title(path));
  tsanom_exec_init(&exec, sizeof exec);
  tsanom_fault_init(&fault, sizeof fault);
  exec.fault = &fault;
  tsanom_hsa_options_init(&options, sizeof options);
  tsanom_hsa_model_options(model, &options);
  for (size_t i = 0; i < threads; i++) tsanom_hsa_model_get(model, i, &reference[i]);
  tsanom_runs_model_data data = {.options = &options,
                                 .reference = reference,
                                 .threads = threads,
                                 .run = (const char *const *)runs,
                                 .runs = tsanom_hsa_model_runs(model)};
  tsanom_status status = tsanom_runs_model_save(path, &data, &exec);
  free(reference);
  if (ferror(stdout)) return 0; /* reported at exit */
  return status < 0 ? fail_fault(why, file_title(path), status, &fault) : 0;
}
