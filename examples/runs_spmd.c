/* SPDX-License-Identifier: BSD-3-Clause */
/* Which processes of a recorded run differ, and where: example_runs_spmd RUN */
#include <stdio.h>
#include <stdlib.h>
#include <tsanom/runs.h>
#include <tsanom/spmd.h>

int main(int count, char **argument) {
  tsanom_fault fault;
  tsanom_exec exec;
  tsanom_runs *run = NULL;
  tsanom_runs_spmd_data spmd = {0};
  tsanom_spmd_report report;
  fault = (tsanom_fault){.struct_size = sizeof fault};
  tsanom_exec_init(&exec, sizeof exec);
  report = (tsanom_spmd_report){.struct_size = sizeof report};
  exec.fault = &fault;
  if (count != 2) return EXIT_FAILURE;
  tsanom_status status = tsanom_runs_open(argument[1], NULL, &exec, &run);
  if (status == TSANOM_OK) status = tsanom_runs_spmd(run, &exec, &spmd);
  if (status == TSANOM_OK) status = tsanom_spmd_analyze(spmd.data, NULL, &exec, &report);
  if (status < 0) {
    (void)fprintf(stderr, "%s: %s\n", fault.file, fault.text);
  } else if (report.classes == 1) {
    printf("one kind of processes\n");
  } else {
    printf("%zu kinds of processes, severity %.3f\n", report.classes, report.severity);
    if (spmd.region && report.verdict_region >= 0) {
      printf("they differ in %s\n", spmd.region[report.verdict_region]);
    }
  }
  tsanom_runs_destroy(run);
  return status < 0;
}
