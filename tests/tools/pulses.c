/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs programs/pulse.c for the tests of tsanom watch: in the background while the
 * command watches it, or to its end before the command starts. */
#include "pulses.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void start_pulse(const char *run, int beats, const char *how) {
  shell_ok("'" TSANOM_PULSE "' %s %d %s & echo $! >pid", run, beats, how);
}

void end_pulse(void) {
  shell_ok("kill -9 $(cat pid)");
}

void record_pulse(const char *run, int beats, const char *how) {
  char line[1024];
  snprintf(line, sizeof line, "'" TSANOM_PULSE "' %s %d %s", run, beats, how);
  int ended = system(line);
  cr_assert((ended == 0) == (strcmp(how, "kill") != 0), "%s: %d", line, ended);
}
