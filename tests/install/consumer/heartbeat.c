/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that links only the recorder. */
#include <stdio.h>
#include <tsanom/heartbeat.h>

int main(void) {
  tsanom_status status = tsanom_heartbeat_beat(0, 0);
  printf("a beat without a run: %d\n", (int)status);
  return status == TSANOM_E_STATE ? 0 : 1;
}
