/* SPDX-License-Identifier: BSD-3-Clause */
/* A verdict for each thread of a recorded run, by a model of normal runs:
 *   tsanom learn -o MODEL NORMAL_RUN...; example_runs_diagnose MODEL RUN */
#include <stdio.h>
#include <tsanom/hsa.h>
#include <tsanom/runs.h>

int main(int count, char **argument) {
  static tsanom_hsa_verdict verdict[256];
  tsanom_fault fault;
  tsanom_exec exec;
  tsanom_runs_model *file = NULL;
  tsanom_runs_model_data data;
  tsanom_hsa_model *model = NULL;
  tsanom_runs *run = NULL;
  const tsanom_hsa_run *beats;
  size_t threads = 0;
  tsanom_fault_init(&fault, sizeof fault);
  tsanom_exec_init(&exec, sizeof exec);
  tsanom_hsa_verdict_init(verdict, sizeof *verdict);
  exec.fault = &fault;
  if (count != 3) return 1;
  tsanom_status status = tsanom_runs_model_load(argument[1], &exec, &file);
  if (status == TSANOM_OK) status = tsanom_runs_model_get(file, &data);
  if (status == TSANOM_OK) status = tsanom_hsa_model_create(data.model, &exec, &model);
  if (status == TSANOM_OK) status = tsanom_runs_open(argument[2], NULL, &exec, &run);
  if (status == TSANOM_OK) status = tsanom_runs_hsa(run, &exec, &beats);
  if (status == TSANOM_OK) {
    threads = data.model->thread_count;
    status = tsanom_hsa_diagnose(model, beats, &exec, verdict, threads, NULL);
  }
  for (size_t t = 0; t < threads && status == TSANOM_OK; t++) {
    printf("thread %zu: %s\n", t, tsanom_hsa_status_name(verdict[t].status));
  }
  if (status < 0) (void)fprintf(stderr, "%s: %s\n", fault.file, fault.text);
  tsanom_runs_close(run);
  tsanom_hsa_model_destroy(model);
  tsanom_runs_model_free(file);
  return status < 0;
}
