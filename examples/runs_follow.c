/* SPDX-License-Identifier: BSD-3-Clause */
/* Follow a program while it runs: example_runs_follow RUN [SECONDS] */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <tsanom/runs.h>

int main(int count, char **argument) {
  tsanom_fault fault;
  tsanom_exec exec;
  tsanom_runs *run = NULL;
  tsanom_runs_info info;
  uint64_t added = 0;
  fault = (tsanom_fault){.struct_size = sizeof fault};
  tsanom_exec_init(&exec, sizeof exec);
  info = (tsanom_runs_info){.struct_size = sizeof info};
  exec.fault = &fault;
  if (count < 2) return EXIT_FAILURE;
  long looks = count > 2 ? strtol(argument[2], NULL, 10) : 3600;
  tsanom_status status = tsanom_runs_open(argument[1], NULL, &exec, &run);
  while (status == TSANOM_OK) {
    tsanom_runs_describe(run, &info);
    printf("%10.3f s: %llu beats, %llu new\n", info.last, (unsigned long long)info.beats,
           (unsigned long long)added);
    if (info.state != TSANOM_RUN_RUNNING || looks-- == 0) break;
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    status = tsanom_runs_refresh(run, &exec, &added);
  }
  if (status < 0) (void)fprintf(stderr, "%s: %s\n", fault.file, fault.text);
  tsanom_runs_destroy(run);
  return status < 0;
}
