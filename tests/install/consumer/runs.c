/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <tsanom/runs.h>

int main(void) {
  tsanom_runs *run = NULL;
  return tsanom_runs_open("/nonexistent", NULL, NULL, &run) == TSANOM_E_IO ? EXIT_SUCCESS
                                                                           : EXIT_FAILURE;
}
