/* SPDX-License-Identifier: BSD-3-Clause */
/* Listing 1 of the heartbeat paper with its typing slips mended: variables
 * declared, the loop stepping the variable it tests, OpenMP's header. */
#include "Heartbeat_Support_OpenMP.h"
#define NUM_THREADS 4
#include <omp.h>

int main(void) {
  int iter, n = 1000;
  omp_set_num_threads(NUM_THREADS);
  L_Heartbeat_OpenMP_Init();
#pragma omp parallel for
  for (iter = 1; iter < n; iter++) {
    int threadnum = omp_get_thread_num();
    L_Heartbeat_OpenMP_Generate(threadnum, 1, iter);
  }
  Heartbeat_OpenMP_Finished();
  return (0);
}
