/* SPDX-License-Identifier: BSD-3-Clause */
/* The causes of what is not normal in a recorded run, by a model of normal runs:
 *   tsanom learn -o MODEL NORMAL_RUN...; example_runs_diagnose MODEL RUN */
#include <stdio.h>
#include <tsanom/diagnosis.h>
#include <tsanom/runs.h>

enum { THREADS = 256, CAUSES = 4 * THREADS + 4 };

int main(int count, char **argument) {
  static tsanom_diagnosis_signs signs[THREADS];
  static tsanom_diagnosis_finding cause[CAUSES];
  tsanom_fault fault;
  tsanom_exec exec;
  tsanom_runs_model *file = NULL;
  tsanom_runs_model_data data;
  tsanom_runs *run = NULL;
  const tsanom_hsa_run *beats;
  size_t causes = 0;
  fault = (tsanom_fault){.struct_size = sizeof fault};
  tsanom_exec_init(&exec, sizeof exec);
  exec.fault = &fault;
  if (count != 3) return 1;
  tsanom_status status = tsanom_runs_model_load(argument[1], &exec, &file);
  if (status == TSANOM_OK) status = tsanom_runs_model_get(file, &data);
  if (status == TSANOM_OK) status = tsanom_runs_open(argument[2], NULL, &exec, &run);
  if (status == TSANOM_OK) status = tsanom_runs_hsa(run, &exec, &beats);
  if (status == TSANOM_OK && beats->thread_count > THREADS) status = TSANOM_E_OVERFLOW;
  if (status == TSANOM_OK) {
    status = tsanom_diagnosis_find_causes(data.normal, beats, &exec, signs, cause, CAUSES,
                                          &causes);
  }
  if (status == TSANOM_OK && !causes) printf("normal\n");
  for (size_t i = 0; i < causes; i++) {
    char evidence[512];
    (void)tsanom_diagnosis_cause_text(&cause[i], TSANOM_DIAGNOSIS_CAUSE_EVIDENCE,
                                      evidence, sizeof evidence, NULL);
    printf("thread %d: %s: %s\n", (int)cause[i].thread,
           tsanom_hsa_status_name(cause[i].cause), evidence);
  }
  if (status < 0) (void)fprintf(stderr, "%s: %s\n", fault.file, fault.text);
  tsanom_runs_destroy(run);
  tsanom_runs_model_destroy(file);
  return status < 0;
}
