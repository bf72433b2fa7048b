/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that links only the recorder, and asks it why a call failed. */
#include <stdio.h>
#include <string.h>
#include <tsanom/heartbeat.h>
#include <tsanom/record.h>

int main(void) {
  tsanom_fault fault;
  tsanom_exec exec;
  tsanom_record *record = NULL;
  tsanom_status status = tsanom_heartbeat_beat(0, 0);
  printf("a beat without a run: %d\n", (int)status);
  if (status != TSANOM_E_STATE) return 1;
  fault = (tsanom_fault){.struct_size = sizeof fault};
  tsanom_exec_init(&exec, sizeof exec);
  exec.fault = &fault;
  status = tsanom_record_create("missing/run", 1, NULL, &exec, &record);
  printf("a run where there is no directory: %s\n", fault.text);
  return status == TSANOM_E_IO && strcmp(fault.file, "missing/run") == 0 ? 0 : 1;
}
