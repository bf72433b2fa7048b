/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads; the second does FACTOR times the work: shares REGIONS STEPS FACTOR. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  long regions = argc > 1 ? atol(argv[1]) : 100, steps = argc > 2 ? atol(argv[2]) : 1000;
  double factor = argc > 3 ? atof(argv[3]) : 1, sum = 0;
  for (long i = 0; i < regions; i++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
      double share = omp_get_thread_num() ? factor : 1;
      long own = (long)((double)steps * share);
      for (long k = 0; k < own; k++) sum += (double)(k % 7);
    }
  }
  printf("%g\n", sum);
  return 0;
}
