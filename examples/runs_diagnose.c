/* SPDX-License-Identifier: BSD-3-Clause */
/* A verdict for each thread of a recorded run, by a model of normal runs:
 *   tsanom learn -o MODEL NORMAL_RUN...; example_runs_diagnose MODEL RUN */
#include <stdio.h>
#include <stdlib.h>
#include <tsanom/hsa.h>
#include <tsanom/runs.h>

enum { THREADS = 256 };

int main(int count, char **argument) {
  static tsanom_hsa_verdict verdict[THREADS];
  tsanom_fault fault;
  tsanom_exec exec;
  tsanom_runs_model *file = NULL;
  tsanom_runs_model_data data = {.threads = 0};
  tsanom_runs *run = NULL;
  const tsanom_hsa_run *beats = NULL;
  tsanom_fault_init(&fault, sizeof fault);
  tsanom_exec_init(&exec, sizeof exec);
  exec.fault = &fault;
  if (count != 3) return EXIT_FAILURE;
  tsanom_status status = tsanom_runs_model_load(argument[1], &exec, &file);
  if (status == TSANOM_OK) status = tsanom_runs_model_get(file, &data);
  if (status == TSANOM_OK) status = tsanom_runs_open(argument[2], NULL, &exec, &run);
  if (status == TSANOM_OK) status = tsanom_runs_hsa(run, &exec, &beats);
  size_t bytes = 0, threads = 0;
  if (status == TSANOM_OK) {
    threads = data.threads > beats->thread_count ? data.threads : beats->thread_count;
    status = tsanom_hsa_model_size(data.threads, data.options, &bytes);
  }
  tsanom_hsa_model *model = malloc(bytes);
  if (status == TSANOM_OK) {
    status = tsanom_hsa_model_init(model, bytes, data.threads, data.runs, data.options);
  }
  for (size_t t = 0; t < data.threads && status == TSANOM_OK; t++) {
    status = tsanom_hsa_model_set(model, t, &data.reference[t]);
  }
  if (status == TSANOM_OK) {
    status = tsanom_hsa_diagnose(model, bytes, beats, &exec, NULL, 0, verdict, threads);
  }
  for (size_t t = 0; t < threads && status == TSANOM_OK; t++) {
    printf("thread %zu: %s\n", t, tsanom_hsa_status_name(verdict[t].status));
  }
  if (status < 0) (void)fprintf(stderr, "%s: %s\n", fault.file, fault.text);
  free(model);
  tsanom_runs_close(run);
  tsanom_runs_model_free(file);
  return status < 0;
}
