/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that links only the reader of runs. The run that it opens does not exist,
 * which must be reported as an error of the file system. */
#include <stdlib.h>
#include <tsanom/runs.h>

int main(void) {
  tsanom_runs *run = NULL;
  return tsanom_runs_open("/nonexistent", NULL, NULL, &run) == TSANOM_E_IO ? EXIT_SUCCESS
                                                                           : EXIT_FAILURE;
}
