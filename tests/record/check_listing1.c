/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs listing 1 (the argument) and reads the run it leaves. */
#include <stdio.h>
#include <stdlib.h>
#include <tsanom/runs.h>

#include "support/directory.h"

int main(int count, char **argument) {
  char directory[DIRECTORY_CAPACITY], command[1024];
  tsanom_runs *run;
  tsanom_runs_info info;
  if (count != 2 || !new_directory(directory)) return 2;
  (void)snprintf(command, sizeof command, "TSANOM_HEARTBEAT_FOLDER=%s/run '%s'",
                 directory, argument[1]);
  if (system(command) != 0) return 3;
  (void)snprintf(command, sizeof command, "%s/run", directory);
  info = (tsanom_runs_info){.struct_size = sizeof info};
  if (tsanom_runs_open(command, NULL, NULL, &run) != TSANOM_OK) return 4;
  tsanom_runs_describe(run, &info);
  tsanom_runs_destroy(run);
  (void)snprintf(command, sizeof command, "rm -r '%s'", directory);
  if (system(command) != 0) return 5;
  return info.beats == 999 && info.announced == 4 && info.state == TSANOM_RUN_FINISHED
             ? 0
             : 1;
}
